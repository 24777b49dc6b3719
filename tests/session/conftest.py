"""What the tests of sessions share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.session.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Where the processes that are killed come from: their start-up is not what is looked at."""
    with Nursery() as found:
        yield found

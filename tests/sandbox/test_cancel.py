from __future__ import annotations

import pytest

from codur.errors import Interrupted
from codur.sandbox.cancel import CancelToken


def test_before_and_after() -> None:
    token = CancelToken()
    token.raise_if_cancelled()
    assert (token.cancelled, token.wait(0.0), token.wait(-1.0)) == (False, False, False)
    token.cancel()
    token.cancel()
    assert (token.cancelled, token.wait(60.0)) == (True, True)
    with pytest.raises(Interrupted, match="interrupted"):
        token.raise_if_cancelled()

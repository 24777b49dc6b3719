from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codur.errors import Interrupted, LimitReached
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher


def test_before_and_after() -> None:
    token = CancelToken()
    token.raise_if_cancelled()
    assert (token.cancelled, token.wait(0.0), token.wait(-1.0)) == (False, False, False)
    token.cancel()
    token.cancel()
    assert (token.cancelled, token.wait(60.0)) == (True, True)
    with pytest.raises(Interrupted, match="interrupted"):
        token.raise_if_cancelled()


def test_what_is_to_end_with_a_time_ends_with_it_or_with_the_token_that_it_follows() -> None:
    left, other = [1.0], CancelToken()
    end = Until(other, lambda: left[0])
    end.raise_if_cancelled()
    assert (end.cancelled, other.cancelled) == (False, False)
    left[0] = 0.0
    assert (end.cancelled, other.cancelled) == (True, False)
    with pytest.raises(LimitReached):
        end.raise_if_cancelled()
    left[0] = 1.0
    other.cancel()
    assert (end.cancelled, other.cancelled) == (True, True)
    with pytest.raises(Interrupted):
        end.raise_if_cancelled()


def test_a_program_ends_with_the_time_of_its_token_whatever_its_own_limit_is(tmp_path: Path) -> None:
    """The clock goes on whenever it is read; nothing else would end this program."""
    left = iter(range(20, -1_000_000, -1))
    with Launcher({"PATH": os.environ["PATH"]}, cancel=Until(CancelToken(), lambda: next(left))) as launcher:
        result = launcher.run([sys.executable, "-c", "while True: pass"], cwd=tmp_path, timeout_s=86_400.0)
        held = launcher.run([sys.executable, "-c", ""], cwd=tmp_path, timeout_s=86_400.0)
    assert (result.cancelled, held.cancelled) == (True, True)

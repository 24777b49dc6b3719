"""Judging candidates: write the texts, run the check, put the files back. The one place that starts anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codur.types import Check, Verdict
from codur.verification.checker import Checker
from codur.workspace.workspace import Workspace

_SLOWER = 4.0
_LEAST_S = 1.0
_AFTER_HANG_S = 2.0


class Judge:
    """Runs the check on candidates in a scratch workspace, one at a time.

    A candidate has a few times the time that the program took before, at least a second; after a program that did
    not end, two seconds.
    """

    def __init__(self, workspace: Workspace, checker: Checker, check: Check, before: Verdict) -> None:
        limit = _AFTER_HANG_S if before.timed_out else max(_LEAST_S, _SLOWER * before.duration_s)
        self._workspace = workspace
        self._checker = checker
        self._check = replace(check, timeout_s=min(check.timeout_s, limit))

    def judge(self, texts: Mapping[str, str]) -> Verdict:
        """The verdict with these files' texts in place; the files are as before afterwards."""
        originals = {path: self._workspace.read_bytes(path) for path in texts}
        try:
            for path, text in texts.items():
                self._workspace.write_text(path, text)
            return self._checker.run(self._check)
        finally:
            for path, data in originals.items():
                self._workspace.write_bytes(path, data)

"""What a pass is tested against when it is confirmed: the texts of the change and of the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codur.types import Check, Verdict
from codur.verification.canned.find import find_canned
from codur.verification.pristine import Pristine
from codur.workspace.workspace import Workspace


def tampered(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that does not count, and why."""
    return replace(verdict, status="tampered", note=reason, signature=f"tampered: {reason}")


def expected_of(check: Check, workspace: Workspace, pristine: Pristine) -> str:
    """The expected output as it was when the check was guarded.

    Raises:
        WorkspaceError: its file cannot be read.
    """
    if check.expected_file is None:
        return check.expected_text or ""
    return pristine.text(check.expected_file, workspace)


def names_expected(workspace: Workspace, expected_file: str, before: Mapping[str, bytes | None]) -> str:
    """Which changed file names the expected output's file and did not before, as a reason; or an empty text."""
    name = Path(expected_file).name.encode()
    for changed, old in before.items():
        if workspace.is_file(changed):
            new = workspace.read_bytes(changed)
            if name in new and name not in (old or b""):
                return f"{changed} names the file with the expected output"
    return ""


def canned_reason(
    check: Check, workspace: Workspace, pristine: Pristine, before: Mapping[str, bytes | None], prompt: str
) -> str:
    """Why a change is a canned answer, or an empty text."""
    after = {path: workspace.read_bytes(path) if workspace.is_file(path) else None for path in before}
    expected = expected_of(check, workspace, pristine) if check.kind == "output" else ""
    tests = {
        path: check.text if check.text and path == check.entry else pristine.text(path, workspace)
        for path in check.protected
        if check.kind != "output" and path.endswith(".py")
    }
    return find_canned(before, after, expected, prompt=prompt, tests=tests) or ""

"""The least that can be said of Python files: whether they parse."""

import ast
import warnings

from codur.checks.entry import is_document
from codur.checks.signature import signature_of
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace

NOT_FOUND = "no expected output and no tests were found"
NOT_ALLOWED = "not checked: running programs is not allowed (tools.allow_run is off)"


def syntax_verdict(workspace: Workspace, check: Check | None, *, sandbox: str) -> Verdict:
    """Parse the Python files in question; nothing is executed."""
    changed = workspace.changed_files()
    wanted = [*changed, *([check.entry] if check and check.entry else [])]
    for path in dict.fromkeys(wanted):
        if path.endswith(".py") and workspace.is_file(path):
            problem = syntax_problem(workspace.read_bytes(path), path)
            if problem:
                return Verdict(
                    status="failed",
                    check=f"syntax of {path}",
                    error=problem,
                    signature=signature_of(kind="syntax", error=problem),
                    sandbox=sandbox,
                )
    why = NOT_FOUND if check is None else check.source if check.kind == "syntax" else NOT_ALLOWED
    if changed and why == NOT_FOUND and all(map(is_document, changed)):
        return Verdict(status="no_check", note="only documents were changed", progress=0.0, sandbox=sandbox)
    looked = check is not None and check.kind == "syntax" and any(path.endswith(".py") for path in wanted)
    note = f"{why}; only the syntax was looked at" if looked else why
    # Never `passed`: that files parse says nothing of what they do.
    return Verdict(status="no_check", note=note, progress=0.0, sandbox=sandbox)


def syntax_problem(data: bytes, path: str) -> str:
    """What is wrong with a source, as a traceback would say it; empty if it parses."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(data, filename=path)
    except SyntaxError as error:
        return f'File "{path}", line {error.lineno}\n{type(error).__name__}: {error.msg}'
    except ValueError as error:
        return f'File "{path}"\nValueError: {error}'
    return ""

"""A request that is nothing but another name for a symbol everywhere: a tool does it, and the check judges it."""

import re

from codur.checks.entry import is_test_code
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.types import Step
from codur.workspace.workspace import Workspace

_MAX_FILES = 2_000
_NAME = r"[`'\"]?([A-Za-z_]\w*)(?:\(\))?[`'\"]?"
_REQUEST = regex(
    rf"(?:please )?rename (?:the )?(?:(?:function|class|constant|variable|symbol|name) )?{_NAME} (?:to|into|as) {_NAME}"
    r"(?: everywhere| throughout(?: the (?:project|code|codebase))?| in (?:all (?:the )?files|the (?:whole )?project))"
    r"[.!]?",
    re.IGNORECASE,
)
_DEFINES = r"^(?:(?:async[ \t]+)?def|class)[ \t]+{0}\b|^{0}[ \t]*(?::[^=\n]+)?=(?!=)"
"""A line at the top of a module that defines a name."""


def rename_step(prompt: str, workspace: Workspace) -> Step | None:
    """The call that does it; None if more is asked for, or it is not clear which definition is meant."""
    found = _REQUEST.fullmatch(" ".join(prompt.split()))
    if found is None:
        return None
    old, new = found.groups()
    paths = workspace.list_files(pattern="*.py", limit=_MAX_FILES)
    places = [path for path in paths if not is_test_code(path) and _defines(path, old, workspace)]
    if len(places) != 1:
        return None
    return Step(
        id="rename",
        action="tool",
        capability="rename_symbol",
        objective=f"Rename {old} to {new} in {places[0]} and wherever it is used.",
        arguments={"path": places[0], "name": old, "new_name": new},
    )


def _defines(path: str, name: str, workspace: Workspace) -> bool:
    try:
        text = workspace.peek_text(path)
    except WorkspaceError:
        return False
    return re.search(_DEFINES.format(re.escape(name)), text, re.MULTILINE) is not None

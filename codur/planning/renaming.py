"""A request that is nothing but another name for a symbol everywhere: a tool does it, and the check judges it."""

import re

from codur.checks.entry import is_test_code
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.types import Step
from codur.workspace.workspace import Workspace

_MAX_FILES = 2_000
_NAME = r"[`'\"]?([A-Za-z_]\w*)(?:\(\))?[`'\"]?"
_REQUEST = regex(
    r"(?:please )?rename (?:the )?(?:(?:function|class|constant|variable|symbol|name) )?"
    rf"(?:[`'\"]?((?:\w+\.)+)(?=\w))?{_NAME} (?:to|into|as) {_NAME}"
    r"(?: everywhere| throughout(?: the (?:project|code|codebase))?| in (?:all (?:the )?files|the (?:whole )?project))?"
    r"[.!]?",
    re.IGNORECASE,
)
_DEFINES = r"^(?:(?:async[ \t]+)?def|class)[ \t]+{0}\b|^{0}[ \t]*(?::[^=\n]+)?=(?!=)"
"""A line at the top of a module that defines a name."""


def renamed(prompt: str) -> str:
    """The name that is to be another one wherever it is used, if a request is nothing else; else empty."""
    found = _REQUEST.fullmatch(" ".join(prompt.split()))
    return found[2] if found else ""


def rename_step(prompt: str, workspace: Workspace) -> Step | str:
    """The call that does it; or why it is not clear what is meant, empty if more is asked for."""
    found = _REQUEST.fullmatch(" ".join(prompt.split()))
    if found is None:
        return ""
    module, old, new = found.groups()
    inside = f"/{(module or '').replace('.', '/')}".removesuffix("/")
    paths = workspace.list_files(pattern="*.py", limit=_MAX_FILES)
    places = [
        path
        for path in paths
        if f"/{path}".removesuffix(".py").removesuffix("/__init__").endswith(inside)
        and not is_test_code(path)
        and _defines(path, old, workspace)
    ]
    if not places:
        return f"No module defines {module or ''}{old} at its top level; only a model can rename it."
    if len(places) > 1:
        example = places[0].rpartition("/")[2].removesuffix(".py")
        return f"{old} is defined in {listed(places, 6)}: name one of them, as in `rename {example}.{old} to {new}`."
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

"""Names whose definition a change took out, and that other files still use: a program that no check runs may break."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from posixpath import basename, splitext

from codur.checks.entry import is_code, text_of
from codur.lazy import regex
from codur.workspace.history.diff import FileChange
from codur.workspace.workspace import Workspace

_DEFINED = regex(
    r"^(?:(?:export|default|pub(?:\([a-z]+\))?|async|static|public|final|abstract)[ \t]+){0,4}"
    r"(?:def|class|function\*?|fn|func|struct|enum|interface|trait|const|let|var)[ \t]+(\w{3,})"
    r"|\bexports\.(\w{3,})[ \t]*=",
    re.MULTILINE,
)
"""What a module defines, for others to use."""
_MAKES = r"\b(?:def|class|function|fn|func|struct|enum|interface|trait|const|let|var)[ \t]+{0}\b|\b{0}[ \t]*[:=](?!=)"
_IMPORTS = regex(r"\b(?:import|require|use|from)\b")
_COMMENT = regex(r"\s*(?:#|//|/?\*|--)")
_AROUND = 200  # characters of a line, in front of a name
_MOST_FILES = 500
_MOST_NAMES = 20


def dangling(changes: Sequence[FileChange], workspace: Workspace) -> tuple[str, ...]:
    """Each name that no file defines any more and some file still uses, as `NAME (FILE:LINE)`."""
    gone: dict[str, str] = {}
    for change in changes:
        if is_code(change.path) and change.before is not None:
            before, after = (text.decode("utf-8", "replace") for text in (change.before, change.after or b""))
            names = {name for found in _DEFINED.findall(before) for name in found if name}
            module = splitext(basename(change.path))[0]
            gone |= {name: module for name in sorted(names) if not re.search(rf"\b{name}\b", after)}
    files = [path for path in workspace.list_files() if is_code(path)] if gone else []
    if len(files) > _MOST_FILES:
        return ()
    texts = {path: text_of(workspace, path) for path in files}
    return tuple(filter(None, (_use(name, module, texts) for name, module in list(gone.items())[:_MOST_NAMES])))


def _use(name: str, module: str, texts: Mapping[str, str]) -> str:
    having = {path: text for path, text in texts.items() if name in text}
    if any(re.search(_MAKES.format(name), text) for text in having.values()):
        return ""
    for path, text in having.items():
        for found in islice(re.finditer(rf"\b{name}\b", text), _MOST_FILES):
            if _is_use(text, found.start(), found.end(), module):
                return f"{name} ({path}:{text.count(chr(10), 0, found.start()) + 1})"
    return ""


def _is_use(text: str, start: int, end: int, module: str) -> bool:
    """Whether a name is called, imported, or taken from what the file has of the module, and not only spoken of."""
    head = text[max(text.rfind("\n", 0, start) + 1, start - _AROUND) : start]
    if _COMMENT.match(head) or head.count('"') % 2 or head.count("'") % 2:
        return False
    if head.endswith("."):
        return module in text
    return text[end : end + 1] == "(" or _IMPORTS.search(head) is not None

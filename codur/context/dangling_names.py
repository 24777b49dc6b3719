"""Names whose definition a change took out, and that other files still use: a program that no check runs may break."""

import re
from collections.abc import Sequence

from codur.checks.entry import is_code, text_of
from codur.lazy import regex
from codur.workspace.history.diff import FileChange
from codur.workspace.workspace import Workspace

_DEFINED = regex(
    r"^[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|async|static|public|private|final|abstract)\s+)*"
    r"(?:def|class|function\*?|fn|func|struct|enum|interface|trait)\s+(\w{3,})"
    r"|^(?:export\s+)?(?:const|let|var)\s+(\w{3,})|\bexports\.(\w{3,})\s*=",
    re.MULTILINE,
)
_MAKES = r"(?:\b(?:def|class|function|fn|func|struct|enum|interface|trait|const|let|var)\s+{0}\b|\b{0}\s*[:=](?!=))"
_USES = r"(?:\.{0}\b(?!\s*=[^=])|(?<![\w.]){0}\s*\(|\b(?:import|require|use|from)\b[^\n]*\b{0}\b)"
_MOST_FILES = 500
_MOST_NAMES = 20


def dangling(changes: Sequence[FileChange], workspace: Workspace) -> tuple[str, ...]:
    """Each name that no file defines any more and some file still uses, as `NAME (FILE:LINE)`."""
    gone: dict[str, None] = {}
    for change in changes:
        if is_code(change.path) and change.before is not None:
            before, after = (text.decode("utf-8", "replace") for text in (change.before, change.after or b""))
            names = {name for found in _DEFINED.findall(before) for name in found if name}
            gone |= dict.fromkeys(sorted(name for name in names if not re.search(rf"\b{name}\b", after)))
    files = [path for path in workspace.list_files() if is_code(path)] if gone else []
    if len(files) > _MOST_FILES:
        return ()
    texts = {path: text_of(workspace, path) for path in files}
    return tuple(filter(None, (_use(name, texts) for name in list(gone)[:_MOST_NAMES])))


def _use(name: str, texts: dict[str, str]) -> str:
    if any(name in text and re.search(_MAKES.format(name), text) for text in texts.values()):
        return ""
    uses = re.compile(_USES.format(name))
    for path, text in texts.items():
        if name in text and (found := uses.search(text)):
            return f"{name} ({path}:{text.count(chr(10), 0, found.start()) + 1})"
    return ""

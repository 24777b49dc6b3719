"""The files that a code task is about: those named, the program, and in a small workspace what these import."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codur.errors import WorkspaceError
from codur.planning.patterns.named_paths import FileNames

SMALL_WORKSPACE = 8
"""Up to this many source files, those that the program imports belong to the files in question."""

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+([\w \t,*(]+)|import[ \t]+([\w. \t,]+))", re.M
)


def involved_files(names: FileNames, named: tuple[str, ...], entry: str | None) -> tuple[str, ...]:
    """Named files first, then the program, then the sources that they import, directly or not."""
    known = dict.fromkeys((*named, entry) if entry else named)
    sources = set(names.sources)
    if len(sources) > SMALL_WORKSPACE:
        return tuple(known)
    waiting = [path for path in known if path.endswith(".py")]
    while waiting:
        new = [path for path in _imported(names, waiting.pop(0)) if path in sources and path not in known]
        known.update(dict.fromkeys(new))
        waiting.extend(new)
    return tuple(known)


def _imported(names: FileNames, path: str) -> Iterator[str]:
    """Paths that the file's import lines may stand for; none if it cannot be read."""
    try:
        text = names.workspace.peek_text(path)
    except WorkspaceError:
        return
    directory = path.rpartition("/")[0]
    for found in _IMPORT.finditer(text):
        dots, module, members, plain = found.groups()
        modules = [part.split(" as ")[0].strip() for part in plain.split(",")] if plain else [module]
        if members:
            modules += [f"{module}.{word}".strip(".") for word in re.findall(r"\w+", members)]
        bases = [_above(directory, len(dots) - 1)] if dots else [directory, "", "src"]
        yield from (target for name in modules for base in bases for target in _targets(base, name))


def _above(directory: str, levels: int) -> str:
    for _ in range(levels):
        directory = directory.rpartition("/")[0]
    return directory


def _targets(base: str, module: str) -> tuple[str, ...]:
    """A module's file, or its package's."""
    if not module:
        return (f"{base}/__init__.py".removeprefix("/"),)
    stem = f"{base}/{module.replace('.', '/')}".removeprefix("/")
    return (f"{stem}.py", f"{stem}/__init__.py")

"""The git repository that a workspace is a part of: what of it lies around the workspace."""

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES, fold
from codur.workspace.private import may_hold_secrets

_INSTALLED = frozenset({"node_modules", "site-packages", ".venv", "venv"})
"""What others wrote: large, and given as it is."""
_MOST_ENTRIES = 50_000


def repository_around(root: Path, home: Path | None = None) -> Path | None:
    """The top of the git repository that a directory without links is a part of; None if it is the top, or in none.

    It is the user's own, as git wants it, and no directory that holds the user's home, or settings in it.

    Args:
        home: the user's home directory; None for the one of the environment.
    """
    top = next((above for above in (root, *root.parents) if os.path.lexists(above / ".git")), root)
    home = Path(os.path.realpath(home or Path.home()))
    if top == root or home.is_relative_to(top):
        return None
    below = top.relative_to(home).parts if top.is_relative_to(home) else ()
    others = any(path.lstat().st_uid != os.geteuid() for path in (top, top / ".git"))
    return None if others or any(part.startswith(".") for part in below) else top


def directories_of(top: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """The directories of a repository, those near its top first, and what is in each but for links.

    Not those that are protected, or installed by a package manager, nor those beyond the first 50,000 entries.
    """
    waiting, left = deque([top]), _MOST_ENTRIES
    while waiting:
        place = waiting.popleft()
        try:
            entries = [each for each in os.scandir(place) if not each.is_symlink()]
        except OSError:
            continue
        if (left := left - len(entries)) < 0:
            return
        yield place, entries
        waiting += [Path(each.path) for each in entries if each.is_dir() and _is_looked_into(each.name)]


def readable_around(root: Path, home: Path) -> tuple[Path, ...]:
    """What programs in a workspace may read of the rest of its repository: all but what is protected or private.

    A directory that holds neither is one path. Links are left out.
    """
    top = repository_around(root, home)
    if top is None:
        return ()
    split, given = {*root.parents}, dict[Path, list[Path]]()
    for place, entries in directories_of(top):
        if place == root or root in place.parents:
            continue
        own = [each for each in entries if Path(each.path) != root]
        kept = [Path(each.path) for each in own if not _is_withheld(each.path, top)]
        given[place] = kept
        if len(kept) < len(own):
            split |= {place, *place.parents}
    found, waiting = list[Path](), [top]
    while waiting:
        place = waiting.pop()
        for path in given.get(place, ()):
            if path in given and path in split:
                waiting.append(path)
            elif path in given or path.is_file() or not _is_looked_into(path.name):
                found.append(path)
    return tuple(found)


def _is_looked_into(name: str) -> bool:
    return name not in _INSTALLED and fold(name) not in PROTECTED_NAMES


def _is_withheld(path: str, top: Path) -> bool:
    return fold(path.rpartition("/")[2]) in PROTECTED_NAMES or may_hold_secrets(os.path.relpath(path, top))

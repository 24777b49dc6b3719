"""The git repository that a workspace is a part of: what of it lies around the workspace."""

import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES, fold, is_repository
from codur.lazy import regex
from codur.structs import Struct
from codur.workspace.private import may_hold_secrets

_INSTALLED = frozenset({"node_modules", "site-packages", ".venv", "venv"})
"""What others wrote: large, and given as it is."""
_CHALLENGE = ("prompt.txt", "challenge.yaml", "expected.txt")
_SECRET = regex(
    r"(?:.*\.(?:tfstate|tfvars|pem|key|p12|pfx|jks|keystore|kdbx|ovpn)(?:\..*)?|id_(?:rsa|dsa|ecdsa|ed25519).*"
    r"|kubeconfig.*|.*\.env(?:\..*)?|.*(?:secret|credential|password|token)s?[^.]*(?:\.(?:json|ya?ml|toml|ini|txt|cfg|conf|csv))?)",
    re.IGNORECASE,
)
"""Names of what a part needs of no sibling; a workspace's own files are judged less strictly."""
_SEEN = frozenset({".venv", ".yarn", ".pnp.cjs", ".babelrc", ".swcrc", ".python-version", ".nvmrc", ".tool-versions"})
"""Hidden names that programs need; others hold settings of people and of services."""
_MOST_ENTRIES, _MOST_PATHS = 20_000, 100  # each path costs every program a mount or a rule


def repository_around(root: Path) -> Path | None:
    """The top of the git repository that a directory without links is a part of; None if it is the top, or in none.

    It is the user's own, as git wants it, and no directory that holds the user's home, or settings in it.
    """
    top = next((above for above in (root, *root.parents) if os.path.lexists(above / ".git")), root)
    try:
        home = Path(os.path.realpath(Path.home()))
        owners = {path.lstat().st_uid for path in (top, top / ".git")}
    except (OSError, RuntimeError):  # there is none
        return None
    below = top.relative_to(home).parts if top.is_relative_to(home) else ()
    wide = home.is_relative_to(top) or any(part.startswith(".") for part in below)
    return None if top == root or wide or owners != {os.geteuid()} else top


def directories_of(top: Path, *, without: Path | None = None) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """The directories of a repository, those near its top first, and what is in each but for links.

    Not those that are protected, or installed by a package manager, nor those beyond the first 20,000 entries.

    Args:
        without: a directory that is left out.
    """
    waiting, left = deque([top]), _MOST_ENTRIES
    while waiting:
        place = waiting.popleft()
        try:
            found = (each for each in os.scandir(place) if not each.is_symlink())
            entries = [each for each in found if without is None or Path(each.path) != without]
        except OSError:
            continue
        if (left := left - len(entries)) < 0:
            return
        yield place, entries
        waiting += [Path(each.path) for each in entries if each.is_dir() and _is_looked_into(each.name)]


class Around(Struct):
    """What programs in a workspace may read of the rest of its repository: all but what is protected or private."""

    top: Path
    root: Path  # the workspace, or what it is a copy of
    paths: tuple[Path, ...]  # files and directories, without links

    def seen_from(self, within: Path) -> tuple[Path, ...]:
        """The same for a program in the workspace or in a copy of it, with the links that lead there from the copy."""
        top = self.top_of(within)
        links = [(top / path.relative_to(self.top), path) for path in self.paths] if top not in {None, self.top} else []
        # What else may lie there was not put there by `link`.
        return (*self.paths, *(link for link, path in links if link.is_symlink() and link.readlink() == path))

    def place_in(self, target: Path) -> Path:
        """Where a copy is to lie in a directory, so that what is around it can be linked where it was."""
        return target / self.root.relative_to(self.top)

    def link(self, target: Path) -> None:
        """Link what lies around to its places in the directory of a copy."""
        for path in self.paths:
            place = target / path.relative_to(self.top)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)

    def top_of(self, within: Path) -> Path | None:
        """The top for the workspace or a copy of it; None for any other directory."""
        parts = self.root.relative_to(self.top).parts
        return within.parents[len(parts) - 1] if within.parts[-len(parts) :] == parts else None


def around(root: Path) -> Around | None:
    """What of a repository lies around a workspace; None if that is no part of one, or a challenge.

    A directory that holds nothing protected or private is one path. At most 100 paths, those near the top first.
    """
    top = repository_around(root)
    # A challenge stands alone: what lies around it may be the answers.
    if top is None or any((root / name).exists() for name in _CHALLENGE):
        return None
    split, given, directories = {*root.parents}, dict[Path, list[Path]](), list[Path]()
    for place, entries in directories_of(top, without=root):
        own = [Path(each.path) for each in entries if not _is_withheld(each.name)]
        if is_repository({each.name for each in entries}):
            own.clear()
        given[place] = own
        directories += [Path(each.path) for each in entries if each.is_dir() and _is_looked_into(each.name)]
        if len(own) < len(entries):
            split |= {place, *place.parents}
    for unknown in (path for path in directories if path not in given):  # too many entries, or not to be read
        split |= {*unknown.parents}
    found, waiting = list[Path](), deque([top])
    while waiting:
        for path in given.get(waiting.popleft(), ()):
            if path in given and path in split:
                waiting.append(path)
            elif path in given or path.is_file() or path.name in _INSTALLED:
                found.append(path)
    return Around(top=top, root=root, paths=tuple(found[:_MOST_PATHS]))


def _is_looked_into(name: str) -> bool:
    return name not in _INSTALLED and fold(name) not in PROTECTED_NAMES


def _is_withheld(name: str) -> bool:
    # Directories of settings are hidden ones, and not looked into.
    hidden = name.startswith(".") and name not in _SEEN
    return hidden or fold(name) in PROTECTED_NAMES or bool(_SECRET.fullmatch(name)) or may_hold_secrets(name)

"""Which files `.gitignore` leaves out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from codur.structs import Struct
from codur.workspace.disk.file_access import read_image
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAME = ".gitignore"
_MAX_BYTES = 262_144
_MAX_PATTERN = 1_000
_MAX_STARS = 6
"""Longer and more starry patterns are left out: matching them can take for ever."""


class IgnoreRules(Struct):
    """The patterns of one `.gitignore`, and those of the directories above it."""

    base: str  # the directory of the file, as a prefix of paths: empty or ending in `/`
    spec: GitIgnoreSpec
    above: IgnoreRules | None

    def ignores(self, path: str) -> bool:
        """Whether the path (a directory's ends in `/`) is left out; the nearest file that says anything decides."""
        rules: IgnoreRules | None = self
        while rules is not None:
            include = rules.spec.check_file(path[len(rules.base) :]).include
            if include is not None:
                return include
            rules = rules.above
        return False


def load(root: Root, base: str, above: IgnoreRules | None) -> IgnoreRules | None:
    """The rules of the `.gitignore` in directory `base`; those from above if it cannot be read, as git does."""
    try:
        data = read_image(root, f"{base}{NAME}", max_bytes=_MAX_BYTES).data
    except FileError:
        return above
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - lazy: most workspaces of one file have no .gitignore

    spec = GitIgnoreSpec([])
    for line in filter(_usable, data.decode("utf-8", "replace").splitlines()):
        with suppress(ValueError):  # no pattern, which for git matches nothing
            spec += GitIgnoreSpec.from_lines([line])
    return IgnoreRules(base=base, spec=spec, above=above) if spec.patterns else above


def _usable(line: str) -> bool:
    pattern = line.strip()
    if not pattern or pattern.startswith("#") or not pattern.strip("!/"):
        return False
    return len(pattern) <= _MAX_PATTERN and pattern.count("*") <= _MAX_STARS

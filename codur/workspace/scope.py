"""Which files of a workspace may change: globs, and how many files at most."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codur.parsing.bounded_text import listed
from codur.types import ScopeRules
from codur.workspace import paths
from codur.workspace.listing import Glob
from codur.workspace.problems import FileError

_SHOWN = 4


class Scope:
    """The files that may change: those that all of the rules allow.

    A pattern without `/` means a name at any depth, one that begins with `/` or `./` a path from the root; `**` stands
    for any directories. What a pattern says of a directory it says of all that is below. A denied path stays denied in
    any letter case and Unicode form.

    Args:
        root: the workspace's directory, without links.
        rules: none allows everything.

    Attributes:
        max_files: how many files may change; 0 is no bound.

    Raises:
        WorkspaceError: a pattern that can name nothing in the workspace.
    """

    def __init__(self, root: Path, *rules: ScopeRules) -> None:
        self._root = root
        self._rules = tuple(rule for rule in rules if rule != ScopeRules())
        self._allow = [tuple(map(_Pattern, rule.allow)) for rule in self._rules if rule.allow]
        # Folded, or `Secrets.PY` would pass a rule for `secrets.py` where both are one file.
        self._deny = [_Pattern(paths.fold(glob)) for rule in self._rules for glob in rule.deny]
        self.max_files = min((rule.max_files for rule in self._rules if rule.max_files), default=0)

    @property
    def is_narrow(self) -> bool:
        """Whether anything is left out at all."""
        return bool(self._rules)

    def on(self, root: Path) -> Scope:
        """The same for a copy of the workspace."""
        return Scope(root, *self._rules)

    def allows(self, path: str | Path) -> bool:
        """Whether a path, and what it leads to through links, may change; what is outside of the workspace may not."""
        if not self._allow and not self._deny:
            return True
        forms = self._forms(path)
        return bool(forms) and all(map(self._allows, forms))

    def require(self, path: str | Path, changed: Iterable[str]) -> None:
        """Make sure that a file may be changed.

        Args:
            changed: what has been changed so far.

        Raises:
            WorkspaceError: it is out of scope, or would be one file too many.
        """
        if not self.allows(path):
            denied = any(map(self._is_denied, self._forms(path)))
            raise FileError(
                f"{path} {'is denied by scope.deny' if denied else 'is out of scope'} and must not be changed"
                f"{'' if denied else self._words()}",
                code="refused",
                remedy="Change other files, or "
                + ("take it out of scope.deny." if denied else "widen the scope (--scope, scope.allow)."),
            )
        others = sorted(set(changed) - {paths.normalise(self._root, path), paths.real(self._root, path)})
        if self.max_files and len(others) >= self.max_files:
            raise FileError(
                f"{path} would be one file too many: at most {self.max_files} may change, "
                f"and {listed(others, _SHOWN)} did already",
                code="refused",
                remedy="Change fewer files, or allow more (--max-files, scope.max_files).",
            )

    def _forms(self, path: str | Path) -> set[str]:
        """A path, and what it leads to through links; none of one that leads out of the workspace."""
        try:
            return {paths.normalise(self._root, path), paths.real(self._root, path)}
        except FileError:
            return set()

    def _allows(self, path: str) -> bool:
        if self._is_denied(path):
            return False
        return all(any(pattern.covers(path) for pattern in group) for group in self._allow)

    def _is_denied(self, path: str) -> bool:
        return any(pattern.covers(paths.fold(path)) for pattern in self._deny)

    def _words(self) -> str:
        globs = [glob for rule in self._rules for glob in rule.allow]
        return f"; only {listed(globs, _SHOWN)} may change" if globs else ""


class _Pattern:
    def __init__(self, text: str) -> None:
        if ".." in text.split("/") or not text.strip("/. "):
            raise FileError(
                f"the scope {text!r} names nothing in the workspace",
                code="invalid",
                remedy="Give globs relative to the workspace, for example 'src/**' or '*.py'.",
            )
        self._glob = Glob(text)
        self._top = text.startswith(("/", "./")) and "/" not in text.removeprefix(".").strip("/")

    def covers(self, path: str) -> bool:
        """Whether it names the path or a directory above it."""
        parts = path.split("/")
        depths = range(1, 2 if self._top else len(parts) + 1)
        return any(self._glob.matches("/".join(parts[:depth])) for depth in depths)

"""The sources of a workspace: what each defines, mentions and imports, kept in memory while a run lasts."""

from __future__ import annotations

import math
import posixpath
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from codur.context.file_facts import Facts, facts_of
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.tools.code.syntax_trees import family_of, grammar_of
from codur.workspace.workspace import Workspace

MAX_CHARS = 1_000_000
"""A longer file is a table or was made by a program; its name is all that is looked at. This much takes 0.4 s."""
_MAX_LINEAGE = 12
_ENTRIES = frozenset({"index", "mod", "lib"})  # files that stand for their folder
_WORDS = regex(r"\w[\w-]*(?:\.\w+){0,9}(?=/)|\w[\w-]*")
_SUFFIX = regex(r"\.(?:[cm]?[jt]sx?|[ch](?:c|h|pp|xx)?|rb|php)['\"]?$|^import\b(?:\s+static\b)?")
_NO_WORDS = frozenset({"crate", "super", "self", "std", "as"})
_SOURCE_DIRECTORIES = ("", "src", "lib")

Node = tuple[str, int]
"""A block: its file and its number in it."""


class RepositoryIndex:
    """Looks into each file once, and again when its time or size changed.

    Args:
        max_files: files looked into at most for one question; those near to what it is about come first.
    """

    def __init__(self, workspace: Workspace, *, max_files: int) -> None:
        self._workspace = workspace
        self._max_files = max_files
        self._seen: dict[str, tuple[tuple[int, int], Facts | None]] = {}  # behind the time and size that it is of
        self._last = View({})

    def view(self, files: Sequence[str], near: Sequence[str] = ()) -> View:
        """The files as they are now.

        Args:
            files: the workspace's files.
            near: files that the question is about.
        """
        sources = [path for path in files if path.endswith(".py") or grammar_of(path) is not None]
        if len(sources) > self._max_files:
            sources = _nearest_first(sources, near)[: self._max_files]
        facts = {path: found for path in sources if (found := self._facts(path)) is not None}
        # A view holds what was worked out of imports and lineages; the same files need not be worked out again.
        if facts != self._last.facts:
            self._last = View(facts)
        return self._last

    def _facts(self, path: str) -> Facts | None:
        try:
            status = (self._workspace.root / path).stat()
        except OSError:
            return None
        # Both: two edits can fall into one tick of the file system's clock. No content is read to find out.
        stamp = (status.st_mtime_ns, status.st_size)
        seen = self._seen.get(path)
        if seen is None or seen[0] != stamp:
            seen = self._seen[path] = (stamp, self._look(path, status.st_size))
        return seen[1]

    def _look(self, path: str, size: int) -> Facts | None:
        if size > MAX_CHARS:
            return None
        try:
            return facts_of(path, self._workspace.peek_text(path))
        except WorkspaceError:  # no text, or gone meanwhile
            return None


def _nearest_first(paths: Sequence[str], near: Sequence[str]) -> list[str]:
    """The paths that share most directories with one of `near` first; then those that lie high up."""
    wanted = {"/".join(path.split("/")[:depth]) for path in near for depth in range(1, path.count("/") + 1)}

    def distance(path: str) -> tuple[int, int, str]:
        parts = path.split("/")
        shared = 0
        while shared < len(parts) - 1 and "/".join(parts[: shared + 1]) in wanted:
            shared += 1
        return -shared, len(parts), path

    return sorted(paths, key=distance)


class View:
    """The blocks of a workspace at one time, and which block may call which.

    Attributes:
        facts: by path.
    """

    def __init__(self, facts: dict[str, Facts]) -> None:
        self.facts = facts
        self._imports: dict[str, tuple[str, ...]] = {}
        self._lineages: dict[tuple[str, str], frozenset[Node]] = {}
        self._defined: dict[str, list[Node]] = {}
        self._mentioned: Counter[str] = Counter()
        self._homes = _Homes(facts)
        for path, found in facts.items():
            for number, block in enumerate(found.blocks):
                if block.name:
                    self._defined.setdefault(block.name, []).append((path, number))
                self._mentioned.update(block.mentions)
            for name in found.constants:
                self._defined.setdefault(name, []).append((path, 0))

    def defined(self, name: str) -> Sequence[Node]:
        """The blocks that define a name."""
        return self._defined.get(name, ())

    def names(self) -> Iterator[str]:
        """All names that are defined."""
        return iter(self._defined)

    def rarity(self, name: str) -> float:
        """How much a mention of a name tells: 1 for one that is mentioned once, less for one that is everywhere."""
        return 1 / (1 + math.log(max(1, self._mentioned[name])))

    def at(self, path: str, line: int) -> Node | None:
        """The block that a line (1-based) belongs to."""
        found = self.facts.get(path)
        if found is None:
            return None
        # Block 0 is the module itself: what no definition is around belongs to it.
        return path, bisect_right(found.blocks, line, lo=1, key=lambda block: block.line) - 1

    def function(self, path: str, name: str, owner: str | None = None) -> Node | None:
        """The block of a name in a file, in the class `owner` if there is one; any if that is None."""
        here = [node for node in self.defined(name) if node[0] == path]
        exact = [node for node in here if self.facts[path].blocks[node[1]].owner == owner]
        return next(iter(exact or here), None)

    def lineage(self, path: str, owner: str) -> frozenset[Node]:
        """The blocks of a class and of its bases, as far as they are found."""
        if (path, owner) not in self._lineages:
            found: set[Node] = set()
            waiting = [(path, owner)]
            while waiting and len(found) < _MAX_LINEAGE:
                here, name = waiting.pop()
                homes = [node for node in self.defined(name) if node not in found]
                imported = self.imports(here) if homes else ()
                near = [node for node in homes if node[0] == here] or [node for node in homes if node[0] in imported]
                for node in near or homes[:1]:
                    found.add(node)
                    waiting += [(node[0], base) for base in self.facts[node[0]].blocks[node[1]].bases]
            self._lineages[path, owner] = frozenset(found)
        return self._lineages[path, owner]

    def imports(self, path: str) -> tuple[str, ...]:
        """The files of the workspace that a file imports, and what a package among them passes on."""
        if path not in self._imports:
            direct = self._direct(path) if path.endswith(".py") else self._elsewhere(path)
            passed = [far for item in direct if item.endswith("__init__.py") for far in self._direct(item)]
            self._imports[path] = tuple(dict.fromkeys((*direct, *passed)))
        return self._imports[path]

    def _direct(self, path: str) -> list[str]:
        found = self.facts.get(path)
        if found is None:
            return []
        tries = (candidate for dotted in found.imports for candidate in self._candidates(dotted, path))
        return [item for item in dict.fromkeys(tries) if item != path]

    def _elsewhere(self, path: str) -> list[str]:
        """What a file of another language imports, and what it sees without an import."""
        grammar, facts = grammar_of(path), self.facts.get(path)
        if grammar is None or facts is None:  # too large to be read
            return []
        found = [far for text in facts.imports for far in self._homes.meant(text, path)]
        near = self._homes.beside(path) if grammar.package_wide else []
        return [item for item in dict.fromkeys((*found, *near)) if item != path and family_of(item) == grammar.family]

    def _candidates(self, dotted: str, path: str) -> Iterator[str]:
        """The file that an import in `path` stands for, if it is in the workspace."""
        here = posixpath.dirname(path)
        module = dotted.lstrip(".")
        level = len(dotted) - len(module)
        bases = [_up(here, level - 1)] if level else _bases(here)
        for base in bases:
            stem = posixpath.join(base, *module.split(".")) if module else base
            for candidate in (f"{stem}.py", posixpath.join(stem, "__init__.py")):
                if candidate in self.facts:
                    yield candidate
                    return


class _Homes:
    """Finds the files that an import of a language other than Python means, by the ends of their paths."""

    def __init__(self, facts: Mapping[str, Facts]) -> None:
        self._stems: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}
        for path in facts:
            if not path.endswith(".py"):
                folder, stem = posixpath.split(posixpath.splitext(path)[0])
                self._folders.setdefault(folder, []).append(path)
                self._stems.setdefault(posixpath.basename(folder) if stem in _ENTRIES else stem, []).append(path)

    def beside(self, path: str) -> list[str]:
        """The files of the same folder."""
        return self._folders.get(posixpath.dirname(path), [])

    def meant(self, text: str, path: str) -> list[str]:
        """The files that an import in `path` may mean: those whose paths end with most of its words."""
        if text.startswith("."):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
            plain = {there, posixpath.splitext(there)[0]}
            stems = self._stems.get(posixpath.basename(there), []) + self._stems.get(
                posixpath.splitext(posixpath.basename(there))[0], []
            )
            return [far for far in stems if not plain.isdisjoint(_stems(far))]
        words = [word for word in _WORDS.findall(_SUFFIX.sub("", text)) if word not in _NO_WORDS]
        for end in range(len(words), max(0, len(words) - 2), -1):
            for start in range(end):
                tail = "/" + "/".join(words[start:end])
                near = self._stems.get(words[end - 1], ())
                found = [far for far in near if any(f"/{stem}".endswith(tail) for stem in _stems(far))]
                found = found or [
                    far for folder in self._folders if f"/{folder}".endswith(tail) for far in self._folders[folder]
                ]
                if found:
                    return found
        return []


def _stems(path: str) -> tuple[str, str]:
    """A path without its suffix, and the folder's where the file stands for it."""
    stem = posixpath.splitext(path)[0]
    folder, name = posixpath.split(stem)
    return stem, folder if name in _ENTRIES else stem


def _up(directory: str, levels: int) -> str:
    for _ in range(levels):
        directory = posixpath.dirname(directory)
    return directory


def _bases(directory: str) -> Iterator[str]:
    """Where an absolute import may begin: the file's directory and those above it, and what they call `src`."""
    while True:
        for source in _SOURCE_DIRECTORIES:
            yield posixpath.join(directory, source) if source else directory
        if not directory:
            return
        directory = posixpath.dirname(directory)

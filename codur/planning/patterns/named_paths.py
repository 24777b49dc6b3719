"""Which files a prompt names, and which of them exist."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from codur.checks.entry import text_of
from codur.context.file_order import standing
from codur.errors import WorkspaceError
from codur.lazy import late
from codur.planning.patterns.phrases import words
from codur.planning.patterns.prompt_tokens import PromptText, Token, read_prompt
from codur.structs import Struct
from codur.workspace.workspace import Workspace

difflib = late("difflib")


SOURCE_SUFFIXES = words("source suffixes")
"""Suffixes of program text, without the dot."""
MADE = 2
"""The standing of files that nobody writes here: hidden, generated or vendored ones."""
_MENTION = r"[\w@.~+\-/\\ ()\[\]&,=$#%!]{1,240}"
_LINES = r"(?::(\d{1,7})(?:[-:](\d{1,7}))?|#L(\d{1,7})(?:-L?(\d{1,7}))?)$"
_INNER_NAME = r"[\w@./~+\-\\]{1,200}\.[A-Za-z]\w{0,9}\b"
_LISTED = 10_000
_MAX_MENTIONS = 60


class Mention(Struct):
    """A file that the prompt names."""

    name: str  # as written, without `@`, quotes and line numbers
    # the workspace-relative path of the file it stands for; None if there is no such file or it is not clear
    path: str | None = None
    exact: bool = False  # the name is that path, letter by letter
    lines: tuple[int, int] | None = None  # first and last line, if the name carries them (`app.py:3-9`)
    candidates: tuple[str, ...] = ()  # the files it may stand for, if there are several
    outside: bool = False  # the name leads out of the workspace

    @property
    def missing(self) -> bool:
        """Whether no file of the workspace can be meant."""
        return self.path is None and not self.candidates and not self.outside


class FileNames:
    """What names stand for in a workspace; files are listed only when looking them up by name is not enough."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[str, Mention | None] = {}

    @cached_property
    def listing(self) -> tuple[str, ...]:
        """Paths of the workspace's files, at most 10,000."""
        return tuple(self.workspace.list_files(limit=_LISTED))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Those that hold program text and are the project's own: neither hidden nor made nor vendored."""
        return tuple(path for path in self.listing if suffix_of(path) in SOURCE_SUFFIXES and standing(path) < MADE)

    def defining(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The project's own Python files in which functions or classes of these names are defined, by their text."""
        either = "|".join(map(re.escape, names))
        pattern = re.compile(rf"^[ \t]*(?:async )?(?:def|class) ({either})\b", re.MULTILINE)
        found: dict[str, list[str]] = {}
        for path in self.sources if either else ():
            for name in set(pattern.findall(text_of(self.workspace, path))) if path.endswith(".py") else ():
                found.setdefault(name, []).append(path)
        return found

    def find(self, written: str) -> Mention | None:
        """The file that a word or quoted text names; None if it is no file name."""
        if written not in self._known:
            self._known[written] = self._find(written)
        return self._known[written]

    def directory(self, written: str) -> str | None:
        """The workspace-relative directory that a word names (`.` is empty), or None."""
        name = _cleaned(written)[0].rstrip("/") or "."
        if not re.fullmatch(_MENTION, name) or name.startswith("~"):
            return None
        try:
            relative = self.workspace.relative(name)
        except WorkspaceError:
            return None
        return relative if self.workspace.is_dir(relative or ".") else None

    def new_path(self, written: str) -> str | None:
        """The workspace-relative path that a word names, for a file to be made; None if it is no plain inside path."""
        name = _cleaned(written)[0]
        if not re.fullmatch(r"[\w.+\-/]{1,200}", name) or name.endswith(("/", ".")) or "//" in name:
            return None
        try:
            relative = self.workspace.relative(name)
        except WorkspaceError:
            return None
        return relative or None

    def near(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Paths whose last part is most like the name's."""
        wanted = name.rpartition("/")[2].casefold()
        by_name: dict[str, list[str]] = {}
        for path in self.listing:
            last = path.rpartition("/")[2].casefold()
            if abs(len(last) - len(wanted)) <= 4:
                by_name.setdefault(last, []).append(path)
        close = difflib.get_close_matches(wanted, list(by_name)[:2_000], n=count, cutoff=0.6)
        return tuple(path for last in close for path in by_name[last])[:count]

    def _find(self, written: str) -> Mention | None:
        name, lines = _cleaned(written)
        if not re.fullmatch(_MENTION, name) or "://" in name or name in {".", ".."} or name.endswith("/"):
            return None
        try:
            relative = self.workspace.relative(name)
        except WorkspaceError:
            return Mention(name=name, outside=True) if is_file_like(name) else None
        if relative and self.workspace.is_file(relative):
            return Mention(name=name, path=relative, exact=True, lines=lines)
        if name.casefold() in words("files without suffix"):
            return self._known_name(name.casefold())
        if not is_file_like(name) or relative == "" or self.workspace.is_dir(relative):
            return None
        found = self._like(relative)
        path = found[0] if len(found) == 1 else None
        if path is None and not found and "/" not in name and suffix_of(name) in words("shy suffixes"):
            return None
        return Mention(name=name, path=path, lines=lines, candidates=found if path is None else ())

    def _known_name(self, name: str) -> Mention | None:
        """README and the like are named without their suffix; only the one at the top is meant."""
        found = [path for path in self.listing if "/" not in path and path.partition(".")[0].casefold() == name]
        return Mention(name=name, path=found[0]) if len(found) == 1 else None

    def _like(self, relative: str) -> tuple[str, ...]:
        """Files of that name further down, else files of that name in other letter case."""
        if " " in relative:
            return ()
        below = tuple(path for path in self.listing if path.endswith(f"/{relative}"))
        if below:
            return below
        folded = relative.casefold()
        same = tuple(path for path in self.listing if path.casefold() == folded)
        return same or tuple(path for path in self.listing if path.casefold().endswith(f"/{folded}"))


def suffix_of(path: str) -> str:
    """The suffix in lower case without the dot, or an empty text."""
    return path.rpartition("/")[2].rpartition(".")[2].casefold() if "." in path.rpartition("/")[2] else ""


def mentions(text: PromptText, names: FileNames) -> tuple[Mention, ...]:
    """The files that the prompt names, in its order; those in pasted text come last, and only if they exist."""
    found: dict[str, Mention] = {}
    for written in _written(text.tokens, names):
        mention = names.find(written)
        if mention is not None:
            found.setdefault(mention.path or mention.name, mention)
        if len(found) >= _MAX_MENTIONS:
            break
    for inner in re.finditer(_INNER_NAME, text.pasted()[:8_000]):
        mention = names.find(inner[0])
        if mention is not None and mention.path and len(found) < _MAX_MENTIONS:
            found.setdefault(mention.path, mention)
    return tuple(found.values())


def _written(tokens: Iterable[Token], names: FileNames) -> Iterator[str]:
    """Words and quoted texts that may be file names."""
    for token in tokens:
        if token.kind in {"quote", "code"} and token.text and len(token.text) <= 400:
            # The quoted text, if it is a file's name as a whole, else the names in it
            if _may_be_file(token) and (" " not in token.text or names.find(token.text)):
                yield token.text
            elif " " in token.text:
                yield from (
                    inner.text for inner in read_prompt(token.text).tokens if inner.kind == "word" and "." in inner.text
                )
        elif token.kind == "word" and _may_be_file(token):
            yield token.text


def _may_be_file(token: Token) -> bool:
    return any(char in token.text for char in "./\\@") or token.text.casefold() in words("files without suffix")


def _cleaned(written: str) -> tuple[str, tuple[int, int] | None]:
    """The name without `@`, possessive `'s` and a test in the file, with forward slashes; and the lines it carries."""
    name = written.strip().removesuffix("'s").removesuffix("’s")
    name = name[1:] if name.startswith("@") and len(name) > 1 else name
    file, test, _ = name.partition(".py::")  # a test, as pytest names it
    name = f"{file}.py" if test else name
    numbers = re.search(_LINES, name[-20:]) if ":" in name or "#L" in name else None
    lines = None
    if numbers and len(name) > len(numbers[0]):
        name = name[: -len(numbers[0])]
        first = int(numbers[1] or numbers[3])
        column = numbers[0].startswith(":") and "-" not in numbers[0]
        last = first if column else int(numbers[2] or numbers[4] or first)
        lines = (first, last)
    if "\\" in name and "/" not in name:
        name = name.replace("\\", "/")
    return name, lines


def is_file_like(name: str) -> bool:
    """Whether the name has a file's form: a known suffix, no shell or call signs, and no product's name."""
    if name.casefold() in words("products") or any(char in name for char in "()[]=,&$!~ ") or name.startswith("-"):
        return False
    last = name.rpartition("/")[2]
    stem, dot, suffix = last.rpartition(".")
    known = suffix.casefold() in SOURCE_SUFFIXES or suffix.casefold() in words("other suffixes")
    return bool(dot) and bool(stem.strip(".")) and known

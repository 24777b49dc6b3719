"""Unified diffs as data: files, what becomes of each, and its hunks."""

from codur.lazy import regex
from codur.structs import Struct
from codur.tools.tool import ToolError

_HUNK = regex(r"@@+ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@+")
_NOTHING = "/dev/null"


class Hunk(Struct):
    """Lines that stand in the place of others."""

    start: int  # 1-based line at which it says that the old ones begin
    lines: tuple[str, ...]  # each with its mark, blank, `-` or `+`, in front
    # open_old, open_new: whether the last line of that side has no line end
    open_old: bool = False
    open_new: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] != "+"]

    @property
    def new(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] != "-"]


class FilePatch(Struct):
    """What becomes of one file; None for one that is absent before or after."""

    source: str | None
    target: str | None
    hunks: tuple[Hunk, ...]


def read_patch(text: str) -> list[FilePatch]:
    """The files of a unified diff, as git or diff -u writes it; text around them is passed over.

    Raises:
        ToolError: `invalid`.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    found: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith(("diff --git ", "--- ")):
            patch, at = _file(lines, at)
            found.append(patch)
        # Passed over like the text around patches, its changes would be lost without a word.
        elif lines[at].startswith("@@ "):
            raise ToolError("invalid", f"line {at + 1} of the patch begins a hunk of no file; give --- and +++ lines")
        else:
            at += 1
    if not found:
        raise ToolError("invalid", "there is no file in the patch; give a unified diff with --- and +++ lines")
    return found


def _file(lines: list[str], at: int) -> tuple[FilePatch, int]:
    source: str | None = None
    target: str | None = None
    if lines[at].startswith("diff --git "):
        source, target, at = _git_header(lines, at)
    if at + 1 < len(lines) and lines[at].startswith("--- ") and lines[at + 1].startswith("+++ "):
        source, target = _named(lines[at]), _named(lines[at + 1])
        at += 2
    elif source is None and target is None:
        raise ToolError("invalid", f"line {at + 1} of the patch needs a +++ line after it")
    if target and source and _stripped(source) == _stripped(target):
        source = target = _stripped(target)
    hunks = []
    while at < len(lines) and (found := _HUNK.match(lines[at])):
        hunk, at = _hunk(lines, at + 1, int(found[1]))
        hunks.append(hunk)
    return FilePatch(source=source and _stripped(source), target=target and _stripped(target), hunks=tuple(hunks)), at


def _git_header(lines: list[str], at: int) -> tuple[str | None, str | None, int]:
    names = lines[at].removeprefix("diff --git ")
    half = (len(names) - 1) // 2
    same = names[half : half + 1] == " " and names[:half].strip('"')[2:] == names[half + 1 :].strip('"')[2:]
    # Two names that differ are told again, by `rename` or by `---` and `+++`.
    source: str | None = _unquoted(names[:half]) if same else None
    goal: str | None = _unquoted(names[half + 1 :]) if same else None
    at += 1
    while at < len(lines) and not lines[at].startswith(("--- ", "@@ ", "diff --git ")):
        line = lines[at]
        if line.startswith(("GIT binary patch", "Binary files ")):
            raise ToolError("invalid", "the patch holds a binary file, which is not applied")
        source = None if line.startswith("new file mode") else source
        goal = None if line.startswith("deleted file mode") else goal
        source = f"a/{_unquoted(line[12:])}" if line.startswith("rename from ") else source
        goal = f"b/{_unquoted(line[10:])}" if line.startswith("rename to ") else goal
        at += 1
    return source, goal, at


def _named(line: str) -> str | None:
    name = _unquoted(line[4:].partition("\t")[0].rstrip())
    return None if name == _NOTHING else name


def _unquoted(name: str) -> str:
    """A name as git writes it: in quotes, with bytes in octal, if it has odd characters."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return name[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1").decode()
    except UnicodeError as error:
        raise ToolError("invalid", f"the patch names a file whose name is no text: {name:.80}") from error


def _stripped(name: str) -> str:
    return name[2:] if name[:2] in ("a/", "b/") else name


def _hunk(lines: list[str], at: int, start: int) -> tuple[Hunk, int]:
    """The hunk whose lines begin at `at`. Its own counts are not trusted: models write wrong ones."""
    body: list[str] = []
    opened = {"-": False, "+": False}
    while at < len(lines):
        line = lines[at]
        if line.startswith("\\"):
            mark = body[-1][0] if body else " "
            opened = {"-": opened["-"] or mark in " -", "+": opened["+"] or mark in " +"}
        elif line[:1] in ("+", " ", "-") and not _begins_file(lines, at):
            body.append(line)
        elif not line and _goes_on(lines, at + 1):
            body.append(" ")
        else:
            break
        at += 1
    if not any(line[0] in "+-" for line in body):
        raise ToolError("invalid", f"the hunk at line {start} changes nothing")
    return Hunk(start=start, lines=tuple(body), open_old=opened["-"], open_new=opened["+"]), at


def _begins_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _goes_on(lines: list[str], at: int) -> bool:
    """Whether an empty line is one of the hunk's: editors cut the blank that stands for it."""
    while at < len(lines) and not lines[at]:
        at += 1
    return at < len(lines) and lines[at][:1] in ("+", " ", "-", "\\") and not _begins_file(lines, at)

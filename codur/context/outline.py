"""The files that a request does not show, in short: signatures of sources, first lines and names of others."""

from collections.abc import Callable, Collection, Iterator, Sequence

from codur.context.file_order import TABLES, is_vendored, standing
from codur.lazy import regex
from codur.structs import Struct
from codur.tools.code.definitions import Defined, definitions_in, is_read
from codur.tools.tool import ToolError

MAX_FILES = 60
"""Sources that are described in one outline at most."""
MAX_DATA_FILES = 20
MAX_LINES = 25
MAX_LINE_CHARS = 110
_DATA_ENDINGS = (*TABLES, ".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".sql", ".txt", ".xml")
_ROWS = 2  # of a table, which are shown with its first line
_NAMES_SHARE = 0.3
_WORD = regex(r"\w")


class Outline(Struct):
    """What can be said of files that are not shown, the most relevant first."""

    entries: Sequence[tuple[str, str]] = ()  # path and description of one or more lines
    names: Sequence[str] = ()  # all files

    def text(self, *, budget_chars: int, shown: Collection[str]) -> str:
        """As many descriptions as there is room for, then names of further files, then how many there are beside."""
        left = int(budget_chars * (1 - _NAMES_SHARE))
        lines: list[str] = []
        told = set(shown)
        for path, text in self.entries:
            if path not in told and len(text) + 1 <= left:
                lines.append(text)
                told.add(path)
                left -= len(text) + 1
        names = _names([path for path in self.names if path not in told], left + int(budget_chars * _NAMES_SHARE))
        return "\n".join([*lines, *names])


NOTHING_ELSE = Outline()
"""There is no other file."""


def outline_of(
    ranked: Sequence[str],
    files: Sequence[str],
    read: Callable[[str], str | None],
    beginning: Callable[[str], tuple[str, int]] = lambda _: ("", 0),
) -> Outline:
    """Describe files.

    Args:
        ranked: sources, the most relevant first.
        files: all files; the names of sources are told first.
        read: the text of a file, empty if it cannot be read whole; None if it is not to be shown.
        beginning: of data that cannot be, the first lines and the size in bytes.
    """
    files = sorted((path for path in files if not is_vendored(path)), key=standing)
    data = [path for path in files if path.endswith(_DATA_ENDINGS) and standing(path) < 2][:MAX_DATA_FILES]
    looked = (*ranked[:MAX_FILES], *data)
    entries = [(path, _described(path, text)) for path in looked if (text := read(path)) is not None]
    told = {path for path, text in entries if text}
    large = {path: beginning(path) for path in data if path not in told and read(path) is not None}
    entries += [(path, _begins(path, text, f"{size // 1024} KiB")) for path, (text, size) in large.items()]
    order = dict.fromkeys((*ranked, *files))
    known = frozenset(files)
    return Outline(
        entries=[entry for entry in entries if entry[1] and entry[0] in known],
        names=[path for path in order if path in known],
    )


def _described(path: str, text: str) -> str:
    if not is_read(path):
        return _begins(path, text, f"{len(text.splitlines())} lines")
    try:
        found = definitions_in(path, text)
    except ToolError:
        return f"{path} (has a syntax error)"
    signatures = list(_signatures(found))
    if not signatures:
        return ""
    more = [f"  … {len(signatures) - MAX_LINES} more"] if len(signatures) > MAX_LINES else []
    return "\n".join([path, *signatures[:MAX_LINES], *more])


def _begins(path: str, text: str, size: str) -> str:
    """A file with its size and its first line, of a table the first rows as well; nothing of one without text."""
    rows = text.lstrip("\ufeff").split("\n", _ROWS + 1)
    first = rows[0].strip()
    # A brace or a rule tells nothing of what is in it.
    told = f": {_cut(first)}" if _WORD.search(first) else ""
    table = rows[1 : _ROWS + 1] if path.endswith(TABLES) else ()
    lines = [f"{path} ({size}){told}", *(f"  {_cut(row)}" for row in table if row)]
    return "\n".join(lines) if first else ""


def _cut(row: str) -> str:
    """The beginning of a row, up to the end of a field: half of a secret is not known for one."""
    if len(row) <= MAX_LINE_CHARS:
        return row
    ends = [row.rfind(mark, 0, MAX_LINE_CHARS) for mark in ",;\t| "]
    return f"{row[: max(ends) + 1]}…"


def _signatures(found: Sequence[Defined]) -> Iterator[str]:
    """Classes with their methods, and functions; what is inside of functions is left out."""
    classes = {item.qualname for item in found if item.kind in {"class", "module"}}
    for item in found:
        around = item.qualname.rpartition(".")[0]
        if item.top or around in classes:
            line = f"  {'  ' * item.qualname.count('.')}{item.signature}"
            yield line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


def _names(paths: Sequence[str], room: int) -> list[str]:
    """One line of names, as far as there is room."""
    if not paths:
        return []
    line = "Names only: "
    kept: list[str] = []
    room -= len(line) + len(f", … and {len(paths)} more")
    for path in paths:
        room -= len(path) + 2
        if room < 0:
            break
        kept.append(path)
    more = len(paths) - len(kept)
    if not kept:
        return []
    return [f"{line}{', '.join(kept)}{f', … and {more} more' if more else ''}"]

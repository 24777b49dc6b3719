"""Which files can hold a match, by ripgrep where it is installed; every file where it is not or cannot tell.

Ripgrep gets the files' directories and looks for bytes that every match holds, in whatever encoding; what it finds
beside that does no harm, since the lines are matched again.
"""

import re
from collections.abc import Set
from pathlib import Path

from codur.lazy import regex
from codur.structs import Struct
from codur.tools.tool import ToolContext
from codur.workspace.disk.file_access import OVERLAP

_FEWEST_FILES = 50  # fewer are read faster than a program is started
_MOST_ARGUMENT_BYTES = 600_000
_MOST_OUTPUT_BYTES = 32_000_000
_TIMEOUT_S = 20.0
_OTHER_CASES = {"i": "ıİ", "k": "\u212a", "s": "ſ"}
"""What Python takes for the same letter beside the two of ASCII when letter case makes no difference."""
_ODD_ENCODING = r"coding[:=][ \t]*(?:[^uUaAlLiI \t]|[uU](?:[^tT]|[tT][fF][-_]?[^-_8])|[iI][^sS])"
"""A coding cookie of an encoding in which the bytes of ASCII may stand for something else, or the other way round."""
_NOT_ITSELF = regex(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.")
"""A set of characters, or what is escaped."""
_WORDS = regex(r"[A-Za-z0-9_ ]+(?![*?])")


class Wanted(Struct):
    """What is looked for: a text, or a Python regular expression."""

    pattern: str
    regex: bool
    ignore_case: bool


def required_bytes(wanted: Wanted) -> re.Pattern[bytes] | None:
    """Bytes of which every file with a line that matches holds some; None if none can be told.

    It is what ripgrep looks for, so that both ways agree about files that are too large to be read.
    """
    literal = _literal(wanted)
    if not literal:
        return None
    texts = (_in_bytes(char) if wanted.ignore_case else re.escape(char.encode()) for char in literal)
    return re.compile(b"".join(texts) + b"|" + _ODD_ENCODING.replace("[^", r"[^\n").encode())


def candidates(context: ToolContext, paths: list[str], links: Set[str], wanted: Wanted) -> list[str]:
    """The paths, in their order, without files that surely hold no line that matches.

    Args:
        links: those of the paths that are links, which ripgrep passes over; they stay in.
    """
    literal = _literal(wanted)
    folders = {path.rpartition("/")[0] for path in paths}
    too_many = sum(len(folder.encode()) + 16 for folder in folders) > _MOST_ARGUMENT_BYTES
    if len(paths) < _FEWEST_FILES or too_many or not literal:
        return paths
    program = context.launcher.find("rg", outside=context.workspace.root)
    if program is None:
        return paths
    found = _search(context, program, _expression(literal, ignore_case=wanted.ignore_case), folders)
    return paths if found is None else [path for path in paths if path in found or path in links]


def _literal(wanted: Wanted) -> str:
    """A text of ASCII that every match holds; empty if none can be told."""
    literal = _required(wanted.pattern) if wanted.regex else wanted.pattern
    return literal if literal.isascii() and 4 * len(literal) <= OVERLAP else ""


def _search(context: ToolContext, program: str, expression: str, folders: Set[str]) -> set[str] | None:
    """The paths of files with a match directly in some directories; None if ripgrep failed or could not read one."""
    root = context.workspace.root
    outcome = context.launcher.run(
        [
            program,
            *("--no-config", "--files-with-matches", "--null", "--text", "--encoding=none", "--no-ignore", "--hidden"),
            *("--max-depth=1", f"--regexp={expression}", f"--regexp=(?-u:{_ODD_ENCODING})", "--"),
            *(f"./{folder}" for folder in folders),
        ],
        cwd=root,
        root=Path("/"),
        readable=(root,),
        timeout_s=min(_TIMEOUT_S, context.timeout_s),
        max_output_bytes=_MOST_OUTPUT_BYTES,
    )
    if outcome.exit_status not in (0, 1) or outcome.truncated:
        return None
    return {path.removeprefix("./") for path in outcome.stdout.split("\0") if path}


def _expression(literal: str, *, ignore_case: bool) -> str:
    """A regular expression of ripgrep's that matches the text as Python's would."""
    return "".join(_letter(char) if ignore_case and char.isalpha() else f"\\x{{{ord(char):x}}}" for char in literal)


def _letter(char: str) -> str:
    lower = char.lower()
    return f"[{lower}{lower.upper()}{_OTHER_CASES.get(lower, '')}]"


def _in_bytes(char: str) -> bytes:
    others = (*{char.lower(), char.upper()}, *_OTHER_CASES.get(char.lower(), ""))
    return b"(?:" + b"|".join(re.escape(other.encode()) for other in others) + b")"


def _required(pattern: str) -> str:
    """A text that every match of a Python regular expression holds; empty if none can be told.

    Only letters, digits and blanks count, where there is no group, no alternative and no count.
    """
    plain = _NOT_ITSELF.sub("\n", pattern)
    if re.search(r"\\[xuUN0-9]", pattern) or re.search(r"[|(){}]", plain):
        return ""
    return max(_WORDS.findall(plain), key=len, default="")

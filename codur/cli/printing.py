"""How commands print, and say that a file cannot be used: sanitised, as text or as JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import to_builtins

from codur.errors import Refused, UsageError, reason_of
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise
from codur.ui.stream import SafeStream


def say(text: str) -> None:
    """Print on standard output."""
    show(sanitise(text), sys.stdout)


def say_json(value: object) -> None:
    """Print as one line of JSON on standard output."""
    say(json.dumps(to_builtins(value)))


def say_found(
    value: object, lines: Iterable[str], *, as_json: bool, redact: Callable[[str], str] = str, none: str = ""
) -> None:
    """Print what was found: as one line of JSON, or in words, with `none` where there are no lines."""
    say(redact(json.dumps(to_builtins(value)) if as_json else "\n".join(lines) or none))


def say_json_with(value: Mapping[str, object], name: str, rows: Iterable[object]) -> None:
    """Print an object with one more member, a long list: each of its rows is made when it is printed."""
    stream = SafeStream(sys.stdout)
    stream.write(sanitise(f'{json.dumps(value)[:-1]}, "{name}": ['))
    for number, row in enumerate(rows):
        stream.write(sanitise(f"{', ' if number else ''}{json.dumps(row)}"))
    stream.put(sanitise("]}"))


def tell(text: str) -> None:
    """Print on standard error."""
    show(sanitise(text), sys.stderr)


def warn(text: str) -> None:
    """Print a warning of one line on standard error."""
    show(sanitise(f"warning: {text}", keep_newlines=False), sys.stderr)


def require_yes(question: str, *, refused: str, unasked: str, declined: str) -> None:
    """Ask the user, and go on only after a yes.

    Raises:
        Refused: the answer is no, or there is no terminal to ask in; `declined` and `unasked` say what to do then.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused(f"{refused}: there is no terminal to ask in", remedy=unasked)
    say(f"{question} [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refused(refused, remedy=declined)


def write(path: Path, text: str, *, new: bool = False, remedy: str) -> None:
    """Write a file; with `new`, one that is not there yet. Raises UsageError: it cannot be written."""
    try:
        with path.open("x" if new else "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise unwritable(path, error, remedy) from error


def unwritable(path: Path | str, error: OSError, remedy: str) -> UsageError:
    """The error for a file that cannot be written."""
    return UsageError(f"{path}: cannot be written: {reason_of(error)}", remedy=remedy)

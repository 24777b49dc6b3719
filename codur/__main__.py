"""The console script. `--version` and `--help` are answered here, before anything is loaded."""

import gc
import os
import sys

from codur import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HELP_COLUMNS = 80
"""Of the prepared help; the parser makes it no wider, and narrower where the terminal is."""
_YOUNG = 100_000
"""Objects after which a collection looks for garbage: what a fix loads is none, and to look costs 13 of 800 ms."""


def main() -> int:
    """Run the command line and give the exit code."""
    sys.path[:] = _elsewhere(sys.path)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the whole process
    if sys.argv[1:] in (["--version"], ["-V"]):
        return _say(f"codur {__version__}\n")
    if sys.argv[1:] in (["--help"], ["-h"]) and _columns() >= _HELP_COLUMNS:
        with open(os.path.join(os.path.dirname(__file__), "help.txt"), encoding="utf-8") as prepared:
            return _say(prepared.read())
    gc.set_threshold(_YOUNG)
    import signal  # noqa: PLC0415 - lazy: the version needs nothing of it

    heard = signal.getsignal(signal.SIGINT)
    if heard is signal.default_int_handler:  # else it is ignored, as by nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while it loads Ctrl-C ends it, with no traceback of an import
    _load_msgspec()
    from codur.cli.main import run_guarded  # noqa: PLC0415 - lazy: the version needs nothing of it

    if heard is signal.default_int_handler:
        signal.signal(signal.SIGINT, heard)
    try:
        return run_guarded(sys.argv[1:])
    finally:
        gc.freeze()  # else the interpreter's end goes through every object once more: a fifth of a run with a model


def _load_msgspec() -> None:
    """Load it without `typing_extensions`, of which it takes what `typing` has as well: 11 of 130 ms of a start."""
    modules: dict[str, Any] = sys.modules
    modules.setdefault("typing_extensions", None)  # whoever imports it is told that there is none
    from codur import structs  # noqa: PLC0415, F401 - lazy: the version needs nothing of it

    if modules["typing_extensions"] is None:
        del modules["typing_extensions"]


def _say(text: str) -> int:
    """Print it, and give the exit code; nothing is said to who has gone."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _columns() -> int:
    """How wide the terminal is, as the parser counts it."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(1).columns or _HELP_COLUMNS
    except OSError:
        return _HELP_COLUMNS


def _elsewhere(path: list[str]) -> list[str]:
    """The import path without the current directory, whose `json.py` would be imported in place of Python's own.

    `python -m codur` puts it first, and `PYTHONPATH` may name it. It stays if Codur itself is imported from it.
    """
    # os.path: pathlib takes time to load, and would be loaded from that very path.
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it has been removed
        return path
    return path if here == own else [item for item in path if os.path.realpath(item or ".") != here]


if __name__ == "__main__":
    sys.exit(main())

"""The outermost boundary: whatever a command raises becomes a line, if asked for a JSON object, and an exit code."""

from collections.abc import Callable
from typing import Literal

from codur import cli
from codur.errors import CodurError, Interrupted, internal_error
from codur.lazy import late
from codur.session.stop import code_of

traceback = late("traceback")

JsonKind = Literal["json", "json_stream"]


def exit_code_of(command: Callable[[], int], *, json: JsonKind | None, debug: bool) -> int:
    """Carry out a command and tell what it raises: on standard error for people, on standard output as JSON.

    Args:
        command: gives the exit code.
        json: the form of JSON that was asked for; standard output then gets a `RunResult` in that form.
        debug: also show the traceback.
    """
    try:
        return command()
    except KeyboardInterrupt as stop:
        return _told(Interrupted("interrupted"), json, debug=debug, code=code_of(stop))
    except CodurError as error:
        return _told(error, json, debug=debug)
    except Exception as error:  # noqa: BLE001 - the outermost boundary
        return _told(internal_error(error), json, debug=debug)


def _told(error: CodurError, json: JsonKind | None, *, debug: bool, code: int | None = None) -> int:
    cli.told_error.show_error(error, trace=traceback.format_exc() if debug else "")
    if json:
        cli.told_error.show_result(error, json, code or error.exit_code)
    return code or error.exit_code

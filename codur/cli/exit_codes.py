"""The outermost boundary: whatever a command raises becomes a line, if asked for a JSON object, and an exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Literal

from codur.errors import CodurError, InternalError, Interrupted, internal_error
from codur.session.stop import code_of

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
    from codur.ui.output_formats import make_output, show  # noqa: PLC0415 - lazy: only an error needs it
    from codur.ui.sanitise import sanitise  # noqa: PLC0415 - lazy: only an error needs it
    from codur.ui.shown.tables import error_text  # noqa: PLC0415 - lazy: only an error needs it

    if debug:
        show(sanitise(traceback.format_exc().rstrip()), sys.stderr)
    show(error_text(error), sys.stderr)
    if json:
        from codur.types import EXIT_CODES, RunResult, Usage  # noqa: PLC0415 - lazy: only JSON needs it

        outcome = next(name for name, code in EXIT_CODES.items() if code == error.exit_code)
        usage = (error.usage if isinstance(error, InternalError) else None) or Usage()
        result = RunResult(
            outcome=outcome,
            exit_code=code or error.exit_code,
            reason=error.message,
            remedy=error.remedy,
            usage=usage,
            model_calls=usage.calls,
        )
        make_output(json, stdout=sys.stdout, stderr=sys.stderr, verbose=False, color=False).result(result)
    return code or error.exit_code

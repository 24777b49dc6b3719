"""How an error that ends a command is told: in words, and as the result that JSON was asked for."""

import sys
from typing import Literal

from codur.cli.printing import tell
from codur.errors import CodurError, InternalError
from codur.types import EXIT_CODES, RunResult, Usage
from codur.ui.output_formats import make_output, show
from codur.ui.shown.tables import error_text


def show_error(error: CodurError, *, trace: str) -> None:
    """Show it on standard error, below its traceback if there is one."""
    if trace:
        tell(trace.rstrip())
    show(error_text(error), sys.stderr)


def show_result(error: CodurError, form: Literal["json", "json_stream"], exit_code: int) -> None:
    """Print it on standard output as the result of a run."""
    outcome = next(name for name, code in EXIT_CODES.items() if code == error.exit_code)
    usage = (error.usage if isinstance(error, InternalError) else None) or Usage()
    result = RunResult(
        outcome=outcome,
        exit_code=exit_code,
        reason=error.message,
        remedy=error.remedy,
        usage=usage,
        model_calls=usage.calls,
    )
    make_output(form, stdout=sys.stdout, stderr=sys.stderr).result(result)

"""The user's own editor, on the user's own terminal."""

import os
import shlex
import signal
from pathlib import Path

from codur.errors import UsageError, reason_of

_EDITORS = ("VISUAL", "EDITOR")
_REMEDY = "Set EDITOR to an editor that is installed."
_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2


def edit(path: Path) -> None:
    """Let the user change a file; comes back when the editor has ended.

    It is the user's own program and not contained. It is shown where questions are, on standard error, as standard
    output may go to a file; Ctrl-C in it is the editor's.

    Raises:
        UsageError: there is none that can be started, or it ended with an error, which throws its changes away.
    """
    command = next((value for name in _EDITORS if (value := os.environ.get(name, "").strip())), "vi")
    try:
        words = [*shlex.split(command), str(path)]
    except ValueError as error:
        raise UsageError(f"the editor {command} cannot be started: {error}", remedy=_REMEDY) from error
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        pid = os.posix_spawnp(
            words[0],
            words,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, _STANDARD_ERROR, _STANDARD_OUTPUT)],
            setsigdef=[signal.SIGINT],
        )
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except OSError as error:
        raise UsageError(f"the editor {words[0]} cannot be started: {reason_of(error)}", remedy=_REMEDY) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        raise UsageError(
            f"the editor {words[0]} ended with {code}; its changes are not used", remedy="The plan is as it was."
        )

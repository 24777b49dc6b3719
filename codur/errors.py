"""The tree of Codur's errors. Each class says who must act, and with which exit code a run ends.

CodurError
├── UsageError          2  the command line, the prompt, the workspace or the machine cannot be used
│   ├── ConfigError     2  a settings file or variable is wrong (file, line, key)
│   ├── WorkspaceError  2  a path or file is refused or unreadable
│   └── StateError      2  the state directory, or a file in it, cannot be used
├── ModelError          3  a model was needed and gave no usable answer
│   ├── ModelUnavailable   no key, refused key, no connection, or service errors that outlast the retries
│   └── ModelAnswerError   it answered, but the answer cannot be used
├── ClusterUnavailable  3  no cluster answers where one was named (`batch.engines.ray_engine`)
├── LimitReached        4  calls, tokens, money, time or steps
├── Refused             5  policy or the user said no
│   └── WorkspaceBusy      another run works in the workspace
├── Interrupted       130  Ctrl-C or a stop signal
└── InternalError       1  a fault of ours
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from codur.types import Usage

_MAX_INTERNAL_CHARS = 500


class CodurError(Exception):
    """Base of all errors that Codur raises on purpose.

    Args:
        message: one line that says what is wrong.
        remedy: one line that says what to do about it; may be empty.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class UsageError(CodurError):
    """The caller's input, or the machine, cannot be used."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is wrong.

    Args:
        file: the file (or variable) that holds it; empty if none.
        line: its 1-based line, or 0 if unknown.
        key: dotted path of the setting, or empty.
    """

    def __init__(self, message: str, *, file: str = "", line: int = 0, key: str = "", remedy: str = "") -> None:
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{place}{key + ': ' if key else ''}{message}", remedy=remedy)
        self.file = file
        self.line = line
        self.key = key


class WorkspaceError(UsageError):
    """A path or file of the workspace is refused or cannot be read or written."""


class StateError(UsageError):
    """The state directory, or a file in it, cannot be used: unwritable, full, damaged, someone else's."""


class ModelError(CodurError):
    """A model was needed and gave no usable answer; `usage` is what the failed attempts cost, so that it is counted."""

    exit_code = 3

    def __init__(self, message: str, *, remedy: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.usage = usage


class ModelUnavailable(ModelError):
    """No model could be reached: no key, a refused key, no connection, or errors that outlast the retries."""


class ModelAnswerError(ModelError):
    """The model answered, but not in a form that can be used (bad JSON, cut off, refused)."""


class LimitReached(CodurError):
    """A limit of the run was reached: calls, tokens, money, time or steps."""

    exit_code = 4


class Refused(CodurError):
    """Policy or the user refused a step."""

    exit_code = 5


class WorkspaceBusy(Refused):
    """Another run works in the workspace; `pid` is 0 and `run_id` empty where they are not known."""

    def __init__(self, message: str, *, pid: int = 0, run_id: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.pid = pid
        self.run_id = run_id


class Interrupted(CodurError):
    """The user or the system asked the run to stop."""

    exit_code = 130


class InternalError(CodurError):
    """A fault of ours: something was raised that nothing was prepared for; `usage` is what the run had cost by then."""

    def __init__(self, message: str, *, remedy: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.usage = usage


def reason_of(error: OSError) -> str:
    """What the operating system says, as the end of a sentence."""
    return (error.strerror or str(error) or "unknown error").lower()


ALLOW_IT = "Allow it in the settings or with a CODUR_TOOLS__… variable; `codur config show` names the files read."
"""What to do where `tools.allow_*` is off."""


def out_of_time() -> LimitReached:
    """The error for a run whose time is used up."""
    return LimitReached("the run's time is used up", remedy="Give it more time with --timeout.")


def internal_error(error: Exception, *, usage: Usage | None = None) -> InternalError:
    """The error for a fault of ours: what was raised that nothing was prepared for, bounded; or a full disk."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Make room where output and temporary files go (TMPDIR names another place for these)."
        return InternalError("no space is left on a disk", remedy=remedy, usage=usage)
    message = " ".join(str(error).split())[:_MAX_INTERNAL_CHARS]
    return InternalError(
        f"internal error: {type(error).__name__}{': ' if message else ''}{message}",
        remedy="Run it again with --debug, and report what that shows.",
        usage=usage,
    )


def may_not_run() -> Refused:
    """The error where the settings allow no program to be run."""
    return Refused("running programs is not allowed (tools.allow_run is off)", remedy=ALLOW_IT)

"""`challenge.yaml`: what a challenge directory says about its own check."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from codur.errors import WorkspaceError
from codur.structs import Struct

if TYPE_CHECKING:
    from codur.config.reading.origin import Source
    from codur.workspace.workspace import Workspace

NAME = "challenge.yaml"
SPLIT_REMEDY = "Close the quote."
_LONGEST_S = 86_400


class ChallengeFile(Struct):
    """What the file states; None where it says nothing.

    Attributes:
        entry: workspace-relative path of the program, which may not exist yet.
        check: command whose exit status is the verdict.
        timeout_s: time limit of one run, in seconds.
        args: the program's arguments.
        scope: globs of the files that may change.
    """

    entry: str | None = None
    check: str | None = None
    timeout_s: float | None = None
    args: tuple[str, ...] | None = None
    scope: tuple[str, ...] | None = None


def read_challenge(workspace: Workspace) -> ChallengeFile:
    """The workspace's `challenge.yaml`; one that says nothing if there is none.

    Raises:
        ConfigError: not YAML, an unknown key, or a value that the key cannot have; with the line.
    """
    if not workspace.is_file(NAME):
        return ChallengeFile()
    from codur.config.reading.yaml_source import read_yaml  # noqa: PLC0415 - lazy: PyYAML, and few workspaces have the file

    source = read_yaml(workspace.resolve(NAME), NAME)
    for key in source.values:
        if key not in _KEYS:
            raise source.error((key,), "there is no such key", _known(key))
    return ChallengeFile(
        entry=_given(source, "entry", lambda value: _entry(workspace, value)),
        check=_given(source, "check", _check),
        timeout_s=_given(source, "timeout", _timeout),
        args=_given(source, "args", _args),
        scope=_given(source, "scope", _scope),
    )


class _WrongError(Exception):
    """A value that its key cannot have: what is wrong, and what to write."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def _given(source: Source, key: str, read: Callable[[Any], Any]) -> Any:
    if source.values.get(key) is None:
        return None
    try:
        return read(source.values[key])
    except _WrongError as error:
        raise source.error((key,), error.message, error.remedy) from error


def _known(key: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only for a message

    near = get_close_matches(key, _KEYS, n=1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else f"Known here: {', '.join(_KEYS)}."


def _entry(workspace: Workspace, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _WrongError("must be the path of the program", "Write it as entry: main.py.")
    try:
        path = workspace.relative(value.strip())
    except WorkspaceError as error:
        raise _WrongError("leads out of the directory", "Name a program inside it.") from error
    if not path.endswith(".py"):
        raise _WrongError("must be a Python file", "For another program, give the command that checks it as check.")
    return path


def _check(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _WrongError("must be a command", "Write it as check: python -m unittest.")
    return value.strip()


def _timeout(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not 0 < value <= _LONGEST_S:  # type: ignore[arg-type, operator]
        raise _WrongError(f"must be a number of seconds, more than 0 and at most {_LONGEST_S}", "Write timeout: 10.")
    return float(value)  # type: ignore[arg-type]


def _args(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return split_args(value)
        except ValueError as error:
            raise _WrongError(str(error), SPLIT_REMEDY) from error
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) or not isinstance(item, str | int) for item in items):
        raise _WrongError("must be one text or a list of texts", 'Write args: --name "A B", or put values in quotes.')
    return tuple(str(item) for item in items)


def _scope(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    globs = tuple(item.strip() for item in items if isinstance(item, str) and item.strip())
    if not globs or len(globs) < len(items):
        raise _WrongError("must be one glob or a list of globs", "Write scope: main.py, or scope: [src/**, '*.py'].")
    return globs


def split_args(text: str) -> tuple[str, ...]:
    """A command line's arguments, split as a shell does. Raises ValueError with a sentence's end if that fails."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"cannot be split into arguments: {str(error).lower()}") from error


_KEYS = ("entry", "check", "timeout", "args", "scope")

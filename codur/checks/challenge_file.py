"""`challenge.yaml`: what a challenge directory says about its own check."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from codur.config import reading
from codur.errors import WorkspaceError
from codur.structs import Struct, convert

if TYPE_CHECKING:
    from codur.config.reading.origin import Source
    from codur.workspace.workspace import Workspace

NAME = "challenge.yaml"
SPLIT_REMEDY = "Close the quote."
_GLOBS = "one glob or a list of globs"
_GLOBS_REMEDY = "Write scope: main.py, or scope: [src/**, '*.py']."


class ChallengeFile(Struct, frozen=True, kw_only=True):
    """What the file states; None where it says nothing."""

    entry: str | None = None  # workspace-relative path of the program, which may not exist yet
    check: str | None = None  # command whose exit status is the verdict
    timeout_s: float | None = None  # time limit of one run, in seconds
    args: tuple[str, ...] | None = None  # the program's arguments
    scope: tuple[str, ...] | None = None  # globs of the files that may change


_Path = Annotated[
    str, Meta(pattern=r"\S", description="the path of the program", extra={"remedy": "Write it as entry: main.py."})
]
_Command = Annotated[
    str, Meta(pattern=r"\S", description="a command", extra={"remedy": "Write it as check: python -m unittest."})
]
_Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=86_400,
        description="a number of seconds, more than 0 and at most 86400",
        extra={"remedy": "Write timeout: 10."},
    ),
]
_Words = Annotated[
    str | int | tuple[str | int, ...],
    Meta(
        description="one text or a list of texts",
        extra={"remedy": 'Write args: --name "A B", or put values in quotes.'},
    ),
]
# No pattern here: beside a list in a union, msgspec (0.22) looks for it in the wrong place, and crashes.
_Globs = Annotated[str | tuple[str, ...], Meta(description=_GLOBS, extra={"remedy": _GLOBS_REMEDY})]


class Keys(Struct, frozen=True, kw_only=True):
    """The file's keys; null says nothing."""

    entry: _Path | None = None
    check: _Command | None = None
    timeout: _Seconds | None = None
    args: _Words | None = None
    scope: _Globs | None = None


def read_challenge(workspace: Workspace) -> ChallengeFile:
    """The workspace's `challenge.yaml`, if any. Raises ConfigError, with the line: no YAML, a wrong key or value."""
    if not workspace.is_file(NAME):
        return ChallengeFile()
    source = reading.yaml_source.read_yaml(workspace.resolve(NAME), NAME)
    keys = convert(reading.values.check(source, Keys, noun="key"), Keys)
    return ChallengeFile(
        entry=None if keys.entry is None else _entry(workspace, keys.entry, source),
        check=None if keys.check is None else keys.check.strip(),
        timeout_s=keys.timeout,
        args=None if keys.args is None else _args(keys.args, source),
        scope=None if keys.scope is None else _globs(keys.scope, source),
    )


def _entry(workspace: Workspace, stated: str, source: Source) -> str:
    try:
        path = workspace.relative(stated.strip())
    except WorkspaceError as error:
        raise source.error(("entry",), "leads out of the directory", "Name a program inside it.") from error
    if not path.endswith(".py"):  # a program of another language has no interpreter here to be run by
        remedy = "For another program, give the command that checks it as check."
        raise source.error(("entry",), "must be a Python file", remedy)
    return path


def _globs(stated: str | tuple[str, ...], source: Source) -> tuple[str, ...]:
    globs = tuple(glob.strip() for glob in ([stated] if isinstance(stated, str) else stated))
    if not globs or not all(globs):
        raise source.error(("scope",), f"must be {_GLOBS}", _GLOBS_REMEDY)
    return globs


def _args(stated: str | int | tuple[str | int, ...], source: Source) -> tuple[str, ...]:
    if not isinstance(stated, str):
        return tuple(str(item) for item in (stated if isinstance(stated, tuple) else [stated]))
    try:
        return split_args(stated)
    except ValueError as error:
        raise source.error(("args",), str(error), SPLIT_REMEDY) from error


def split_args(text: str) -> tuple[str, ...]:
    """A command line's arguments, split as a shell does. Raises ValueError with a sentence's end if that fails."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"cannot be split into arguments: {str(error).lower()}") from error

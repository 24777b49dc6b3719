"""What a warm worker is set up for: the job that a check's command stands for."""

import os
import re
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path, PurePath

from codur.checks.checker import Checker
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.python.test_command import plain_words
from codur.python.test_run import TO_THE_END, narrowed
from codur.repair.judge.warm_worker import Command, Files, Job
from codur.structs import replace
from codur.types import Check
from codur.workspace.workspace import Workspace

REPORT = "{report}"
_PYTHON = "{python}"
_FLAGS = frozenset({"-u", "-B", "-E", "-s", "-O", "-OO", "-q", "-v"})
_PYTHON_NAME = regex(r"python(?:3(?:\.\d+)?)?")
_MAX_FILES = 8_000  # all of them go to each worker in one frame
_MAX_BYTES = 32_000_000
_NO_CACHE = ("-p", "no:cacheprovider")
"""It would be written below the workspace."""
_IMPORT = regex(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
# they print, open a browser, or need a display when they are imported
_SHOWY = frozenset({"this", "antigravity", "idlelib", "turtle", "turtledemo", "tkinter", "test", "lib2to3"})
_OFTEN = frozenset({"ast", "copy", "pathlib"})
"""What tracebacks and our own programs load: 4 of the 7 ms of a candidate that raises."""
_AT_EXIT = regex(rb"^[ \t]*(?:def __del__\b|__del__\s*=)", re.MULTILINE)
"""A fork ends without the interpreter's own end, in which objects that remain are deleted one by one."""


def job_of(check: Check, checker: Checker, places: Sequence[str] = ()) -> tuple[Job | None, str]:
    """The job of a check; or None, and why it has none.

    Args:
        places: of a check of some tests, the files or tests that pytest runs in place of those that it names.
    """
    if not checker.allow_run:
        return None, "running programs is not allowed"
    workspace, programs, (settings, words) = checker.workspace, checker.programs, _words(check)
    if not words:
        return None, "the check is no Python program"
    files, reason = _files(workspace)
    if reason:
        return None, reason
    if check.kind == "tests" and "pytest" in check.argv:
        words = programs.pytest_argv(replace(check, argv=tuple(words)), Path(REPORT))
    elif words[1:3] == ["-m", "pytest"]:
        words = [*words, *_NO_CACHE]
    if check.tests:
        words = [*words[:3], *(narrowed(words[3:], places) if places else words[3:]), *TO_THE_END]
    interpreter, rest = (programs.python if words[0] == _PYTHON else words[0]), words[1:]
    flags = list(takewhile(_FLAGS.__contains__, rest))
    command = _command(rest[len(flags) :], workspace.root)
    if command is None:
        return None, "the check's command is not one of a script, a module or tests"
    script = command.target if command.kind == "script" else ""
    if script and (target := Path(script)).is_relative_to(workspace.root):
        files = {**files, target.relative_to(workspace.root).as_posix(): target.read_bytes()}
    job = Job(
        python=(interpreter, *flags),
        command=command,
        root=workspace.root,
        files=files,
        stdin=checker.stdin_of(check),
        hidden=programs.hidden(check),
        tests=check.tests,
        env={**programs.environment(check), **dict(each.split("=", 1) for each in settings)},
    )
    return job, ""


def _words(check: Check) -> tuple[Sequence[str], list[str]]:
    """The variables that a command sets, and its words with `{python}` first; none if it is none of Python."""
    settings, words = plain_words(check.argv)
    if not words:
        return (), []
    name = PurePath(words[0]).name
    # A check by output compares what pytest prints, times included, and no fork prints the same.
    if words[0] in {"pytest", "py.test"} and check.kind != "output":
        return settings, [_PYTHON, "-m", "pytest", *words[1:]]
    # Another interpreter that is named by its path may have other packages, or be another Python.
    own = words[0] == _PYTHON or (words[0] == name and _PYTHON_NAME.fullmatch(name))
    return settings, [_PYTHON, *words[1:]] if own else []


def _command(words: Sequence[str], root: Path) -> Command | None:
    """What follows the interpreter and its options."""
    first, *others = words or ("",)
    if first in {"-m", "-c"} and others:
        kind, path = ("module", str(root)) if first == "-m" else ("code", "")
        return Command(kind=kind, target=others[0], argv=(first, *others[1:]), path=path)
    target = root / first
    if not first or first.startswith("-") or not target.is_file() or target.is_symlink():
        return None
    return Command(kind="script", target=str(target), argv=(first, *others), path=str(target.parent))


def at_exit(check: Check, job: Job, loaded: Sequence[str] | None) -> str:
    """Why what the interpreter does at its end may not be left out; empty if it may.

    Args:
        loaded: absolute paths of files of the workspace that the program loads; None if that is not known.
    """
    paths = job.files if loaded is None else [os.path.relpath(path, job.root) for path in loaded]
    found = [] if check.tests else [path for path in paths if _AT_EXIT.search(job.files.get(path, b""))]
    return f"{found[0]} has a __del__ method" if found else ""


def _files(workspace: Workspace) -> tuple[dict[str, bytes], str]:
    """The workspace's Python files; or why they are not kept in memory."""
    found: dict[str, bytes] = {}
    size = 0
    for path in workspace.list_files(pattern="*.py", limit=_MAX_FILES + 1):
        try:
            found[path] = workspace.read_bytes(path)
        except WorkspaceError:
            return {}, f"{path} cannot be read"
        size += len(found[path])
        if len(found) > _MAX_FILES or size > _MAX_BYTES:
            return {}, "the workspace has too many Python files"
    return found, ""


def library(files: Files) -> list[str]:
    """Modules of the standard library that the files import by name, and those that most forks load."""
    texts = (data.decode("utf-8", "replace") for data in files.values())
    named = {name for text in texts for name in _IMPORT.findall(text)}
    own = {Path(path).stem for path in files} | {path.partition("/")[0] for path in files}
    # A module of the workspace hides the standard library's of the same name.
    return sorted(((named | _OFTEN) & sys.stdlib_module_names) - _SHOWY - own)

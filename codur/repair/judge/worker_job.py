"""What a warm worker is set up for: the job that a check's command stands for."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from codur.checks.suites.pytest_command import pytest_argv
from codur.errors import WorkspaceError
from codur.python.test_run import TO_THE_END, narrowed
from codur.repair.judge.warm_worker import Files, Job
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check
from codur.workspace.workspace import Workspace

REPORT = "{report}"
_PYTHON = "{python}"
_FLAGS = frozenset({"-u", "-B", "-E", "-s", "-O", "-OO", "-q", "-v"})
_PLAIN_COMMAND = re.compile(r"[\w./=:@%+,\[\]-]+(?: +[\w./=:@%+,\[\]-]+)*")
_PYTHON_NAME = re.compile(r"python(?:3(?:\.\d+)?)?")
_MAX_FILES = 4_000
_MAX_BYTES = 16_000_000
_NO_CACHE = ("-p", "no:cacheprovider")
"""It would be written below the workspace."""
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
_SHOWY = frozenset({"this", "antigravity", "idlelib", "turtle", "turtledemo", "tkinter", "test", "lib2to3"})
_AT_EXIT = b"__del__"
"""A fork ends without the interpreter's own end, in which objects that remain are deleted one by one."""


def job_of(
    check: Check,
    workspace: Workspace,
    launcher: Launcher,
    *,
    python: str,
    stdin: bytes,
    env: Mapping[str, str],
    narrow: bool = True,
) -> tuple[Job | None, str]:
    """The job of a check; or None, and why it has none.

    Args:
        python: the workspace's interpreter.
        stdin: what the check gives on standard input.
        env: variables of the program's environment.
        narrow: of a check of some tests, only their files are loaded.
    """
    words = _words(check)
    if not words:
        return None, "the check is no Python program"
    files, reason = _files(workspace, at_exit=bool(check.tests))
    if reason:
        return None, reason
    if check.kind == "tests" and "pytest" in check.argv:
        words = pytest_argv(words, python, workspace, launcher, Path(REPORT), search=bool(check.tests))
    elif words[1:3] == ["-m", "pytest"]:
        words = [*words, *_NO_CACHE]
    if check.tests:
        words = [*words[:3], *(narrowed(words[3:], check.tests) if narrow else words[3:]), *TO_THE_END]
    interpreter, rest = (python if words[0] == _PYTHON else words[0]), words[1:]
    flags = [word for word in rest[: _leading(rest)] if word]
    job = _job((interpreter, *flags), rest[len(flags) :], workspace.root, files, stdin)
    if job is None:
        return None, "the check's command is not one of a script, a module or tests"
    return replace(job, tests=check.tests, env=env), ""


def _words(check: Check) -> list[str]:
    """The command with `{python}` first; empty if it is none of Python."""
    words = list(check.argv)
    if words[:2] == ["sh", "-c"]:
        command = words[2].strip()
        words = command.split() if _PLAIN_COMMAND.fullmatch(command) else []
    if not words:
        return []
    name = PurePath(words[0]).name
    if words[0] in {"pytest", "py.test"} and check.kind != "output":
        return [_PYTHON, "-m", "pytest", *words[1:]]
    own = words[0] == _PYTHON or (words[0] == name and _PYTHON_NAME.fullmatch(name))
    return [_PYTHON, *words[1:]] if own else []


def _leading(words: Sequence[str]) -> int:
    return next((place for place, word in enumerate(words) if word not in _FLAGS), len(words))


def _job(python: tuple[str, ...], words: Sequence[str], root: Path, files: Files, stdin: bytes) -> Job | None:
    first, *others = words or ("",)
    if first == "-m" and others[:1] == ["pytest"]:
        arguments = tuple(others[1:])
        return Job(
            python=python, kind="pytest", argv=("pytest", *arguments), path=str(root), arguments=arguments, root=root,
            files=files, stdin=stdin,
        )  # fmt: skip
    if first in {"-m", "-c"} and others:
        kind, path = ("module", str(root)) if first == "-m" else ("code", "")
        argv = (first, *others[1:])
        return Job(
            python=python, kind=kind, target=others[0], argv=argv, path=path, root=root, files=files, stdin=stdin
        )
    target = root / first
    if not first or first.startswith("-") or not target.is_file() or target.is_symlink():
        return None
    known = {**files, first: target.read_bytes()} if target.is_relative_to(root) else files
    argv = (first, *others)
    return Job(
        python=python, kind="script", target=str(target), argv=argv, path=str(target.parent), root=root, files=known,
        stdin=stdin,
    )  # fmt: skip


def _files(workspace: Workspace, *, at_exit: bool) -> tuple[dict[str, bytes], str]:
    """The workspace's Python files; or why they are not kept in memory.

    Args:
        at_exit: whether what the interpreter does at its end may be left out.
    """
    found: dict[str, bytes] = {}
    size = 0
    for path in workspace.list_files(pattern="*.py", limit=_MAX_FILES + 1):
        try:
            found[path] = workspace.read_bytes(path)
        except WorkspaceError:
            return {}, f"{path} cannot be read"
        size += len(found[path])
        if not at_exit and _AT_EXIT in found[path]:
            return {}, f"{path} has a __del__ method"
        if len(found) > _MAX_FILES or size > _MAX_BYTES:
            return {}, "the workspace has too many Python files"
    return found, ""


def library(files: Files) -> list[str]:
    """Modules of the standard library that the files import by name."""
    texts = (data.decode("utf-8", "replace") for data in files.values())
    named = {name for text in texts for name in _IMPORT.findall(text)}
    own = {Path(path).stem for path in files} | {path.partition("/")[0] for path in files}
    return sorted((named & sys.stdlib_module_names) - _SHOWY - own)

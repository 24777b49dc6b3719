"""Tools that run the workspace's programs and tests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.python.pytest_runner import pytest_runner
from codur.structs import replace
from codur.tools.arguments import argument
from codur.tools.flow.outputs import CheckResult, ProgramResult
from codur.tools.named_secrets import require_none_in_command, require_none_named
from codur.tools.tool import RUNNING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult

if TYPE_CHECKING:
    from codur.sandbox.launcher import ProcessResult

_COUNT = re.compile(r"(?<!\d)(\d+) (passed|failed|errors?|skipped)")
_PYTEST_NO_TESTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPythonFile:
    path: str = argument("Program to run, relative to the workspace.", accepts="python_path")
    args: tuple[str, ...] = argument("Command-line arguments.", ())
    stdin: str = argument("Text on standard input.", "")


@tool(
    RunPythonFile,
    ProgramResult,
    "Run a Python program of the workspace; shows what it prints, and its exit status if it is not 0.",
    side_effect="run",
    task_types=RUNNING_TASKS,
)
def run_python_file(context: ToolContext, given: RunPythonFile) -> ToolResult:
    """Run a program in the workspace: `ok` with its exit status, whichever it is; `failed` if it gave none."""
    path = context.workspace.relative(given.path)
    if context.workspace.is_dir(path):
        raise ToolError("not_a_file", f"{path or '.'} is a directory, not a file")
    if not context.workspace.is_file(path):
        raise ToolError("not_found", f"there is no file {path}")
    context.workspace.require_readable(path)
    require_none_named(given.args, context.workspace)
    argv = [context.python, f"./{path}" if path.startswith("-") else path, *given.args]
    outcome = context.launcher.run(
        argv, cwd=context.workspace.root, stdin=given.stdin.encode(), timeout_s=context.timeout_s
    )
    return _reported(outcome, path, context.timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPytest:
    paths: tuple[str, ...] = argument(
        "Test files, directories or test ids; all tests if left out.", (), accepts=("python_path", "directory")
    )


@tool(RunPytest, ProgramResult, "Run the workspace's tests with pytest.", side_effect="run", task_types=RUNNING_TASKS)
def run_pytest(context: ToolContext, given: RunPytest) -> ToolResult:
    """Run tests with pytest: `ok` with their counts, failing ones too; `failed` if there are none."""
    targets = [_target(context, path) for path in given.paths]
    python, options = pytest_runner(context.python, context.workspace.root, context.launcher)
    argv = [python, "-m", "pytest", *options, "-q", "--color=no", "-p", "no:cacheprovider", *targets]
    outcome = context.launcher.run(argv, cwd=context.workspace.root, timeout_s=context.timeout_s)
    result = _reported(outcome, "pytest", context.timeout_s)
    if outcome.exit_status == _PYTEST_NO_TESTS:
        return ToolResult(code="failed", text="pytest found no tests", data=result.data)
    counts = {
        word.rstrip("s") if word.startswith("error") else word: int(n) for n, word in _COUNT.findall(outcome.stdout)
    }
    return replace(result, data=replace(result.data, counts=counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    command: str = argument("Command line for the shell, run in the workspace.")
    stdin: str = argument("Text on standard input.", "")


@tool(
    RunCommand,
    ProgramResult,
    "Run a shell command in the workspace, in the sandbox and without a network.",
    side_effect="run",
    task_types=RUNNING_TASKS,
)
def run_command(context: ToolContext, given: RunCommand) -> ToolResult:
    """Run a command line with `sh`: `ok` with its exit status, whichever it is."""
    if not given.command.strip() or "\0" in given.command:
        raise ToolError("invalid", "command must be a command line that is not empty")
    require_none_in_command(given.command, context.workspace)
    outcome = context.launcher.run(
        ["sh", "-c", given.command],
        cwd=context.workspace.root,
        stdin=given.stdin.encode(),
        timeout_s=context.timeout_s,
    )
    return _reported(outcome, "the command", context.timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    pass


@tool(
    RunCheck,
    CheckResult,
    "Run the check that decides whether the task is done.",
    side_effect="run",
    task_types=RUNNING_TASKS,
)
def run_check(context: ToolContext, given: RunCheck) -> ToolResult:  # noqa: ARG001 - every tool takes its input
    """The check's verdict: `ok` if there is one, whichever it is."""
    verdict = context.check() if context.check is not None else None
    if verdict is None:
        raise ToolError("not_found", "there is no check for this task; run a program or tests instead")
    progress = f"{verdict.progress:.0%} of it passes" if verdict.status == "failed" else ""
    parts = [f"{verdict.status}: {verdict.check}".rstrip(": "), progress, verdict.note, verdict.error or verdict.actual]
    data = CheckResult(
        status=verdict.status, command=verdict.check, progress=verdict.progress, signature=verdict.signature
    )
    return ToolResult(text="\n".join(part for part in parts if part), data=data)


def _target(context: ToolContext, given: str) -> str:
    """A path with its test id (`file.py::test`) kept, inside the workspace and no option."""
    path, mark, test = given.partition("::")
    relative = context.workspace.relative(path) or "."
    if not context.workspace.exists(relative):
        raise ToolError("not_found", f"there is no test file {relative}")
    context.workspace.require_readable(relative)
    return f"./{relative}{mark}{test}" if relative.startswith("-") else f"{relative}{mark}{test}"


def _reported(outcome: ProcessResult, name: str, timeout_s: float) -> ToolResult:
    data = ProgramResult(
        exit_status=outcome.exit_status,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        timed_out=outcome.timed_out,
        truncated=outcome.truncated,
        limit=outcome.limit,
        tripped=outcome.tripped,
        counts={},
    )
    parts = [part.rstrip("\n") for part in (outcome.stdout, outcome.stderr) if part.strip()]
    if outcome.tripped:
        parts.append(f"{name} wrote to {', '.join(outcome.tripped)}, which other programs act on; that was undone")
    if outcome.timed_out:
        return ToolResult(
            code="timeout", text="\n".join([f"{name} ran longer than {timeout_s:g} s", *parts]), data=data
        )
    if outcome.exit_status is None:
        reason = ": its output did not end" if outcome.flooded else ""
        reason = f": it used more {outcome.limit} than it may" if outcome.limit and not outcome.flooded else reason
        return ToolResult(code="failed", text="\n".join([*parts, f"{name} was stopped{reason}"]), data=data)
    if not outcome.started:
        return ToolResult(code="failed", text=outcome.stderr, data=data)
    if outcome.exit_status != 0:
        # What was asked for is what the program does; that it fails is the answer.
        parts.append(f"{name} ended with status {outcome.exit_status}")
    return ToolResult(text="\n".join(parts) or f"{name} printed nothing", data=data)


TOOLS = (run_python_file, run_pytest, run_command, run_check)

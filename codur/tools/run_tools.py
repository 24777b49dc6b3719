"""Tools that run the workspace's programs and tests."""

import glob
from collections.abc import Iterable, Iterator
from typing import Annotated

from codur.lazy import regex
from codur.parsing.bounded_text import beginning, plain
from codur.python.pytest_runner import PytestRunner
from codur.structs import replace
from codur.tools.flow.outputs import CheckResult, ProgramResult
from codur.tools.tool import RUNNING_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.workspace import Workspace

_BEGINS = regex(r"(?:^|[;&|]\s*)git\s+init\b")
_TOLD_CHARS = 200
_WORD = regex(r"[^\s;|&<>()'\"=`]+")
_QUOTED = regex(r"'([^']*)'|\"([^\"]*)\"")


def _expanded(base: str, pattern: str, workspace: Workspace) -> Iterator[str]:
    """What a pattern stands for in a directory of the workspace; nothing for one that leads out of it."""
    pattern = pattern.removeprefix(f"{glob.escape(str(workspace.root))}/")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return
    for path in glob.iglob(pattern, root_dir=workspace.resolve(base)):  # noqa: PTH207 - as a shell: no hidden ones
        yield f"{base}/{path}" if base else path


def _refuse(names: Iterable[str], workspace: Workspace) -> None:
    named = next(filter(workspace.hides, names), "")
    if named:
        raise ToolError("refused", f"{named} may hold keys or passwords, which no model is shown")


_COUNT = regex(r"(?<!\d)(\d+) (passed|failed|errors?|skipped)")
_PYTEST_NO_TESTS = 5
_Tests = Arg("Test files, directories or test ids; all tests if left out.", "python_path", "directory")


@tool(ProgramResult, side_effect="run", task_types=RUNNING_TASKS)
def run_python_file(
    context: ToolContext,
    path: Annotated[str, Arg("Program to run, relative to the workspace.", "python_path")],
    args: Annotated[tuple[str, ...], Arg("Command-line arguments.")] = (),
    stdin: Annotated[str, Arg("Text on standard input.")] = "",
) -> ToolResult:
    """Run a Python program of the workspace; shows what it prints, and its exit status if it is not 0.

    `ok` with its exit status, whichever it is; `failed` if it gave none.
    """
    path = context.workspace.relative(path)
    if context.workspace.is_dir(path):
        raise ToolError("not_a_file", f"{path or '.'} is a directory, not a file")
    if not context.workspace.is_file(path):
        raise ToolError("not_found", f"there is no file {path}")
    context.workspace.require_readable(path)
    _refuse((part for word in args for part in _WORD.findall(word)), context.workspace)
    # Python would take a file named `-c` for an option.
    return _run(context, path, [context.python, f"./{path}" if path.startswith("-") else path, *args], stdin)


@tool(ProgramResult, side_effect="run", task_types=RUNNING_TASKS)
def run_pytest(context: ToolContext, paths: Annotated[tuple[str, ...], _Tests] = ()) -> ToolResult:
    """Run the workspace's tests with pytest.

    `ok` with their counts, failing ones too; `failed` if there are none.
    """
    targets = [_target(context, path) for path in paths]
    root, top = context.workspace.root, context.workspace.top
    runner = PytestRunner(python=context.python, root=root, launcher=context.launcher, top=top)
    python, options = runner.options()
    argv = [python, "-m", "pytest", *options, "-q", "--color=no", "-p", "no:cacheprovider", *targets]
    result = _run(context, "pytest", argv)
    if result.data.exit_status == _PYTEST_NO_TESTS:
        return ToolResult(code="failed", text="pytest found no tests", data=result.data)
    counts = {
        word.rstrip("s") if word.startswith("error") else word: int(n) for n, word in _COUNT.findall(result.data.stdout)
    }
    return replace(result, data=replace(result.data, counts=counts))


@tool(ProgramResult, side_effect="run", task_types=RUNNING_TASKS)
def run_command(
    context: ToolContext,
    command: Annotated[str, Arg("Command line for the shell, run in the workspace.")],
    stdin: Annotated[str, Arg("Text on standard input.")] = "",
) -> ToolResult:
    """Run a shell command in the workspace, sandboxed: no network, .git stays as is.

    `ok` with its exit status, whichever it is.
    """
    if not command.strip() or "\0" in command:
        raise ToolError("invalid", "command must be a command line that is not empty")
    if _BEGINS.search(command):
        raise ToolError("refused", "no program can make .git here; `codur commit --init` does, and commits the files")
    # Its patterns too, in the root and in each directory that it names, as the line may go there first.
    words = _WORD.findall(command)
    _refuse(words, context.workspace)
    bases = ["", *dict.fromkeys(word for word in words if context.workspace.is_dir(word))]
    # A shell does not expand what stands in quotes.
    bare = _QUOTED.sub(lambda found: glob.escape(found[1] or found[2] or ""), command)
    patterns = [word for word in _WORD.findall(bare) if glob.has_magic(word)]
    _refuse(
        (path for base in bases for pattern in patterns for path in _expanded(base, pattern, context.workspace)),
        context.workspace,
    )
    told = f"the command printed nothing: {beginning(' '.join(command.split()), _TOLD_CHARS)}"
    return _run(context, "the command", ["sh", "-c", command], stdin, silent=told)


@tool(CheckResult, side_effect="run", task_types=RUNNING_TASKS)
def run_check(context: ToolContext) -> ToolResult:
    """Run the check that decides whether the task is done.

    The check's verdict: `ok` if there is one, whichever it is.
    """
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


def _run(context: ToolContext, name: str, argv: list[str], stdin: str = "", *, silent: str = "") -> ToolResult:
    timeout_s = context.timeout_s
    outcome = context.launcher.run(argv, cwd=context.workspace.root, stdin=stdin.encode(), timeout_s=timeout_s)
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
    parts = [plain(part).rstrip("\n") for part in (outcome.stdout, outcome.stderr) if part.strip()]
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
    return ToolResult(text="\n".join(parts) or silent or f"{name} printed nothing", data=data)


TOOLS = (run_python_file, run_pytest, run_command, run_check)

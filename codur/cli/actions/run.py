"""What `codur run` and `codur repair` do with what they were given."""

import os
import select
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.cli import machine
from codur.cli.ask_user import approving, shows_plans, user_at
from codur.cli.machine import Showing
from codur.cli.printing import tell, warn
from codur.config.reading.agent_files import shipped_names
from codur.errors import StateError, UsageError
from codur.events import Note
from codur.parsing import bounded_text
from codur.patches import RepairRequest
from codur.questions import Guidance
from codur.session.host import redactor_of
from codur.session.record.exchanges import Exchanges
from codur.session.scoping import bounded
from codur.session.stop import code_of
from codur.session.task_run import resume_task, run_task
from codur.store.atomic import write_private
from codur.store.directory import StateDirectory
from codur.store.run_records import RunDirectory
from codur.structs import replace
from codur.tools import git
from codur.types import RunResult, Task
from codur.ui.output_formats import Output, show
from codur.ui.shown.tables import route_text
from codur.ui.styled_lines import count

NO_HOME = "no home directory is known that can be entered."

FIRST_S, NEXT_S = 3.0, 60.0
"""A pipe that says nothing for so long, at its beginning or later, is one that was left open: it is not waited for."""
_PIPED_CHARS = 20_000
_LEFT_OUT = ": verification.command: ignored"  # in the note on a project's file that is not accepted
_MAX_BYTES = 4_000_000  # of what goes on without an end, as `yes` does


def carry_out(task: Task, showing: Showing, **given: Any) -> int:
    """Carry out one task and show it; gives the exit code. What is given: see `carried_out`."""
    result, shown = carried_out(task, showing, **given)
    if result.command:  # a conversation carries it out; here nothing was done
        lines = " and ".join(f"`codur {line}`" for line in result.command.splitlines())
        told = f"Run {lines}"
        result = replace(
            result, outcome="not_achieved", exit_code=1, answer="", reason="a command of its own does that", remedy=told
        )
    code = _ended(result, shown, showing)
    if task.dry_run and showing.is_for_people and result.outcome == "done":
        # Lay down what a dry run would have changed, and say how it is taken over: another run may find something else.
        root = machine.state_directory()
        if result.diff and root is not None:
            state = StateDirectory(root)
            state.prepare()
            path = state.cache / "dry-run.patch"
            write_private(path, result.diff.encode("utf-8", "surrogateescape"), durable=False)
            tell(f"next: patch -p1 < {shlex.quote(str(path))}")
    return code


def _ended(result: RunResult, shown: Output, showing: Showing) -> int:
    code = shown_result(result, shown, explain_route=showing.explain_route)
    if showing.is_for_people:
        tell_next(result, "codur ")
    return code


def resume_run(run: RunDirectory, showing: Showing, *, wait: bool, yes: bool, **given: Any) -> int:
    """Go on with a run; gives the exit code.

    Args:
        yes: the user approves of any plan.
        given: of `settings_for`.
    """
    record = run.record()
    workspace = Path(record.workspace)
    loaded = machine.settings_for(workspace, agents=shipped_names(), **given)
    shown = showing.output()
    try:
        for note in loaded.notes:
            shown.event(Note(level="warning", text=note))
        patience = loaded.settings.verification.answer_s
        user = user_at(shown, task=record.prompt, workspace=workspace, answer_s=patience)
        user = approving(user, shown) if yes else user
        host = replace(machine.host(), stream=showing.shows_words(), consult=user)
        result = resume_task(run, loaded.settings, host=host, emit=shows_plans(shown), wait=wait)
    finally:
        shown.close()
    return _ended(result, shown, showing)


def tell_next(result: RunResult, mark: str) -> None:
    """Say what can be done about what a task changed; commands begin with the mark."""
    if result.outcome == "done" and result.changed_files and result.run_id:
        names = ("diff", "undo", *(("commit",) if in_repository(Path(result.workspace)) else ()))
        tell(f"next: {' · '.join(f'{mark}{name}' for name in names)}")


def in_repository(directory: Path) -> bool:
    """Whether a directory, or one above it, has a repository."""
    return any(os.path.lexists(above / ".git") for above in (directory, *directory.parents))


def is_gate(task: Task) -> bool:
    """Whether a task is no more than to say whether the project's own check passes (`codur verify`)."""
    return _only_judges(task) and not (task.check_command or task.expect_file)


def _only_judges(task: Task) -> bool:
    return task.repair is not None and task.repair.until == "verdict"


def carried_out(
    task: Task,
    showing: Showing,
    *,
    config: Path | None = None,
    overrides: Mapping[str, Any],
    exchanges: Exchanges | None = None,
) -> tuple[RunResult, Output]:
    """Carry out one task; its result is still to be shown.

    Args:
        task: what the options say of it; limits and scope are those of the settings.
        overrides: settings of the command line.
        exchanges: what is done with the exchange with models.
    """
    workspace = Path(task.workspace)
    if machine.home_is_closed() and not _only_judges(task):
        raise StateError("the home directory may not be entered", remedy="Set HOME to a directory of your own.")
    loaded = machine.settings_for(workspace, config, overrides, agents=(task.agent,) if task.agent else ())
    settings = loaded.settings
    task = bounded(task, settings)
    if is_gate(task) and not settings.verification.command and any(_LEFT_OUT in note for note in loaded.notes):
        raise UsageError(
            "the project's check command (verification.command) is not accepted, and what else is found says less",
            remedy="Look at the file and accept it with `codur trust`, or give the command with --check.",
        )
    if not (task.offline or task.repair or task.plan):
        # Before it is cut: half of a secret is not known for one.
        given = redactor_of(settings, os.environ, workspace)(task.given or piped_text())
        task = replace(task, given=bounded_text.bounded(given, _PIPED_CHARS))
    shown = showing.output()
    host = replace(
        machine.host(),
        exchanges=exchanges or Exchanges(),
        stream=showing.shows_words(),
        memory=showing.memory,
        consult=user_at(
            shown, task=task.prompt, workspace=workspace, typed=showing.typed, answer_s=settings.verification.answer_s
        ),
        guidance=showing.typed.guidance if showing.typed is not None else Guidance(),
    )
    unkept = "" if task.dry_run else _not_kept(task, host.state)
    if unkept:
        host = replace(host, state=None, cache=None)
    notes = (*loaded.notes, *([f"the run is not kept: {unkept} {machine.STATE_REMEDY}"] if unkept else ()))
    try:
        for note in notes:
            shown.event(Note(level="warning", text=note))
        result = run_task(task, settings, host=host, emit=shows_plans(shown))
    finally:
        shown.close()
    if showing.json:  # the one object is all that is printed
        result = replace(result, notes=(*notes, *result.notes))
    return result, shown


def _not_kept(task: Task, state: Path | None) -> str:
    """Why a run is not kept; empty if it is. Only one that changes nothing goes on where the directory is of no use."""
    try:
        inside = state is not None and state.resolve().is_relative_to(Path(task.workspace).resolve())
        if state is not None and _only_judges(task) and not inside:  # that is refused, and nothing is left there
            StateDirectory(state).prepare()
    except StateError as error:
        return f"{error.message}."
    return "" if state else NO_HOME


def exchanges(record: Path | None, replay: Path | None, *, show: bool, offline: bool) -> Exchanges:
    """What is done with the exchange with models."""
    if replay is not None and (record is not None or offline):
        other = "--offline" if offline else "--record"
        raise UsageError(f"--replay and {other} cannot be given together", remedy="Leave one of the two out.")
    return Exchanges(
        record=record.absolute() if record else None, replay=replay.absolute() if replay else None, show=show
    )


def repair_place(paths: Sequence[Path], directory: Path) -> tuple[Path, tuple[str, ...]]:
    """The workspace of a repair, and the files in it to look in first.

    A directory is the workspace itself. A file outside of `directory` makes its own directory the workspace.
    """
    for path in paths:
        if not (directory / path).exists():
            raise UsageError(
                f"{path}: there is no such file or directory",
                remedy='Name a Python file, or a directory; a task in words goes in quotes: codur "repair …"',
            )
    if len(paths) == 1 and (directory / paths[0]).is_dir():
        return directory / paths[0], ()
    # `..` is taken out of the words, not by `resolve`: a link in the workspace is named as the user named it.
    root, *full = (Path(os.path.normpath(path.absolute())) for path in (directory, *map(directory.joinpath, paths)))
    if full and not any(path.is_relative_to(root) for path in full):
        root = full[0].parent
    outside = [path for path in full if not path.is_relative_to(root) or path.is_dir()]
    if outside:
        raise UsageError(
            f"{outside[0]}: is not a file in {root}", remedy="Name files of one directory, or the directory alone."
        )
    return root, tuple(path.relative_to(root).as_posix() for path in full)


def repair_request(files: Sequence[str], *, every: bool, pick: int, since: str | None) -> RepairRequest:
    """What `codur repair` asks for."""
    if every and pick > 1:
        raise UsageError("--all changes nothing, and --pick applies a repair", remedy="Leave one of the two out.")
    return RepairRequest(files=tuple(files), every=every, pick=pick, since=read_revision("--since", since))


def read_revision(option: str, text: str | None) -> str:
    """What an option names as a revision; empty if it was not given."""
    if text is not None and not git.git_repository.REVISION.fullmatch(text):
        raise UsageError(f"{option}: {text!r:.60} is no revision", remedy="Give a commit, branch or tag like HEAD~3.")
    return text or ""


def shown_result(result: RunResult, output: Output, *, explain_route: bool) -> int:
    """Show a result; give the exit code."""
    route = route_text(result.route) if explain_route else None
    try:
        output.result(result)
        if route is not None:
            show(route, sys.stderr)
    except KeyboardInterrupt as stop:  # not passed on: standard output has (part of) the result and gets no other one
        return code_of(stop)
    finally:
        output.close()
    return result.exit_code


def piped_text() -> str:
    """The text that a pipe gives on standard input, as in `pytest | codur "what is wrong"`; empty if there is none.

    A file there is left alone: it may be what a loop reads (`while read line; do codur …; done < list`).
    """
    data = b""
    try:
        descriptor = sys.stdin.fileno()
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return ""
        while len(data) < _MAX_BYTES:
            if not select.select([descriptor], [], [], NEXT_S if data else FIRST_S)[0]:
                warn("standard input stays open and says nothing more; `< /dev/null` says that there is none")
                break
            if not (more := os.read(descriptor, 1 << 16)):
                break
            data += more
    except (AttributeError, OSError, ValueError):  # it was closed before the start, or cannot be read
        return ""
    text = data.decode("utf-8", "replace").strip()
    if text:
        tell(f"standard input is part of the task: {count(text.count(chr(10)) + 1, 'line')}")
    return text

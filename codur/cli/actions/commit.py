"""What `codur commit` and `codur run --commit` do: a commit of what a run changed, told by its task and explanation."""

import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.cli import machine
from codur.cli.actions.run import carried_out, in_repository, shown_result
from codur.cli.actions.undo import changed_run, is_not_undone, journal_of
from codur.cli.machine import Showing
from codur.cli.printing import say_found, tell
from codur.errors import CodurError, UsageError
from codur.sandbox.launcher import Launcher
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.store.run_records import RunDirectory
from codur.store.workspace_lock import workspace_lock
from codur.structs import Struct, replace
from codur.tools.flow.code_outputs import Commit
from codur.tools.git.git_change_commit import Versions, Wanted, commit_changes, known_files
from codur.tools.git.git_commits import identity
from codur.tools.git.git_repository import Repository, repository_around
from codur.tools.tool import ToolError
from codur.types import Task
from codur.ui.styled_lines import count
from codur.workspace.disk.path_state import PathState, same
from codur.workspace.history.journal import Journal
from codur.workspace.history.net_changes import net_changes
from codur.workspace.history.undo_run import RunChange, run_changes

_GIT_TIMEOUT_S = 60.0
_SUBJECT = 72
_MAX_BODY = 2_000
_EXECUTABLE = 0o111
_REMEDIES: Mapping[str, str] = {
    "not_found": "Begin one with `git init`; `codur undo` needs none.",
    "no_match": "`git log` shows it.",
    "many_matches": "Commit or stash that first, or commit it yourself: git add -p, then git commit.",
    "refused": "Commit it yourself with git, or leave hooks out: codur commit --no-verify",
}


class Wish(Struct):
    """How a run is to be committed."""

    message: str | None = None  # in place of the one that is made; None: that one
    hooks: bool = True  # the repository's hooks see it
    dry: bool = False  # nothing is committed


class Committed(Struct):
    """What came of it."""

    run: str
    message: str
    files: tuple[str, ...]
    left: tuple[str, ...]  # files that the run changed and that stay out: programs made them, or git ignores them
    commit: Commit | None = None  # None if nothing was to be committed


def commit_run(wanted: str | None, directory: Path, wish: Wish, *, json: bool) -> int:
    """Commit what a run changed, and tell it; gives the exit code.

    Args:
        wanted: the run's id or the beginning of one; None for the newest of the directory that changed something.
    """
    done = committed(changed_run(wanted, directory, fits=is_not_undone), wish)
    say_found(done, _lines(done), as_json=json)
    return 0


def carry_out(task: Task, showing: Showing, **given: Any) -> int:
    """Carry out a task, and commit what it changed if it is done; gives the exit code."""
    if task.dry_run:
        raise UsageError("--commit and --dry-run cannot be given together", remedy="Leave one of the two out.")
    runs = machine.kept_runs()
    if not in_repository(Path(task.workspace)):
        raise UsageError("the workspace is not in a git repository", remedy=_REMEDIES["not_found"])
    result, shown = carried_out(task, showing, **given)
    told = ""
    if result.outcome == "done" and result.changed_files and result.run_id:
        try:
            told, code = "\n".join(_lines(committed(runs.open(result.run_id), Wish()))), result.exit_code
        except CodurError as error:
            told, code = f"not committed: {error.message}\n{error.remedy}", error.exit_code
        result = replace(result, exit_code=code, notes=(*result.notes, told))
    ended = shown_result(result, shown, explain_route=showing.explain_route)
    if told and not showing.json:
        tell(told)
    return ended


def committed(run: RunDirectory, wish: Wish) -> Committed:
    """Commit what a run changed and is still so."""
    record, state = run.record(), machine.kept_state()
    state.prepare()
    workspace = Path(record.workspace)
    settings = machine.settings_for(machine.existing(workspace), None, {}).settings
    with (
        workspace_lock(state.locks, workspace, run_id=record.id),
        Launcher(os.environ, sandbox=settings.sandbox, state_cache=state.cache) as launcher,
    ):
        try:
            return _made(run, wish, repository_around(workspace, launcher, _GIT_TIMEOUT_S), state)
        except ToolError as error:
            raise UsageError(error.message, remedy=_remedy(error)) from error


def _made(run: RunDirectory, wish: Wish, repository: Repository, state: StateDirectory) -> Committed:
    record = run.record()
    journal = journal_of(run, state)
    changes = _still_there(journal, record)
    paths = [change.path for change in changes]
    tracked, new = (known_files(repository, paths, new=new) for new in (False, True))
    taken = [item for item in changes if item.path in tracked or (item.path in new and "tool" in item.by)]
    files = tuple(item.path for item in taken)
    found = Committed(
        run=record.id,
        message=message_of(record, run.result() or {}, files) if wish.message is None else wish.message.strip(),
        files=files,
        left=tuple(path for path in paths if path not in files),
    )
    if not found.message:
        raise UsageError("the commit message is empty", remedy="Say what was done, or leave --message out.")
    if not files:
        raise UsageError("git ignores all that the run changed", remedy="Add it yourself: git add -f")
    if wish.dry:
        return found
    wanted = Wanted(message=found.message, who=identity(repository, machine.home()), hooks=wish.hooks)
    versions = [_versions(item, journal) for item in taken]
    with repository.launcher.temporary_directory() as scratch:
        return replace(found, commit=commit_changes(repository, versions, wanted, scratch))


def _still_there(journal: Journal, record: RunRecord) -> list[RunChange]:
    """The files that the run changed, without those that were put back since."""
    found = [item for item in run_changes(journal) if "directory" not in {_kind(item.before), _kind(item.after)}]
    if not found:
        raise UsageError(f"run {record.id} left nothing changed", remedy="`codur runs` lists the runs.")
    now = net_changes(journal.entries)
    there = [item for item in found if not same(now[item.path].before, now[item.path].after) or _mode_alone(item)]
    if not there or (journal.undone_at() is not None and len(there) == sum(map(_mode_alone, there))):
        raise UsageError(
            f"what run {record.id} changed was put back", remedy=f"`codur undo {record.id} --redo` brings it back."
        )
    return there


def _kind(state: PathState | None) -> str:
    return state.kind if state else ""


def _mode_alone(change: RunChange) -> bool:
    return same(change.before, change.after)


def _versions(change: RunChange, journal: Journal) -> Versions:
    after = change.after
    mode = "120000" if _kind(after) == "link" else "100755" if after and after.mode & _EXECUTABLE else "100644"
    before, now = (_content(change.path, state, journal) for state in (change.before, after))
    return Versions(path=change.path, before=before, after=now, mode=mode)


def _content(path: str, state: PathState | None, journal: Journal) -> bytes | None:
    if state is None:
        return None
    if state.kind == "link":
        return os.fsencode(state.target)
    if state.content not in journal.blobs:
        raise UsageError(f"the content of {path} was not kept", remedy="Commit it yourself: git add, git commit.")
    return journal.blobs.get(state.content)


def _remedy(error: ToolError) -> str:
    if "git config" in error.message:
        return "For example: git config user.name 'Ann'; git config user.email ann@example.org"
    return _REMEDIES.get(error.code, "Commit it yourself with git.")


# --- words ------------------------------------------------------------------------------------------------------------


def message_of(record: RunRecord, result: Mapping[str, Any], files: Sequence[str]) -> str:
    """A commit message: the task, what was wrong, and how it was checked.

    Args:
        result: the run's, as it was kept.
    """
    task = " ".join(record.prompt.split()) or f"Change {', '.join(files)}"
    subject = textwrap.shorten(task, _SUBJECT, placeholder=" …")
    parts = [subject, *([task] if subject != task else ()), str(result.get("explanation") or ""), _checked(result)]
    said = [textwrap.fill(part[:_MAX_BODY], _SUBJECT, break_long_words=False) for part in parts if part]
    return "\n\n".join(said)


def _checked(result: Mapping[str, Any]) -> str:
    verdict = result.get("verdict") or {}
    if verdict.get("status") != "passed":
        return ""
    tests = verdict.get("tests_total")
    passed = f" passes: {count(tests, 'test')}" if tests else ""
    return f"Checked: {verdict.get('check')}{passed}"


def _lines(done: Committed) -> list[str]:
    if done.commit is None:
        lines = [*done.message.splitlines(), "", *(f"would be committed: {path}" for path in done.files)]
    else:
        lines = [f"committed {done.commit.hash[:10]}: {done.commit.subject}", *(f"  {path}" for path in done.files)]
    lines += [f"left out: {path} (git ignores it, or a program made it)" for path in done.left]
    return lines if done.commit is None else [*lines, "to undo: git reset --soft HEAD~1, or codur undo for the files"]

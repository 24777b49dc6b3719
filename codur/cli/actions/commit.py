"""What `codur commit` and `codur run --commit` do: a commit of what runs changed, told by tasks and explanation."""

import contextlib
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from codur.cli import machine
from codur.cli.actions.run import carried_out, in_repository, shown_result
from codur.cli.actions.undo import changed_run, changed_runs, is_not_undone, journal_of, that_changed
from codur.cli.machine import Showing
from codur.cli.printing import say_found, tell
from codur.config.instructions import load_instructions
from codur.config.settings import Settings
from codur.errors import CodurError, ConfigError, StateError, UsageError
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.questions import NOT_COMMITTED
from codur.sandbox.environment import child_environment
from codur.sandbox.launcher import Launcher
from codur.session.accepted import trust_of
from codur.session.commit_message import Material, Suggested, suggested
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.store.run_records import RunDirectory
from codur.store.workspace_lock import workspace_lock
from codur.structs import Struct, replace
from codur.tools.flow.code_outputs import Commit
from codur.tools.git.git_change_commit import (
    Versions,
    Wanted,
    commit_changes,
    commit_files,
    commit_staged,
    files_of,
    full_message,
    joined,
    known_files,
    own_last,
    require_rest,
    staged_files,
    take_back,
    uncommitted,
)
from codur.tools.git.git_commit_notes import require_hooks, secrets, unsigned
from codur.tools.git.git_commits import commit_of, identity
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import Repository, begun, repository_around
from codur.tools.tool import ToolError
from codur.types import Task
from codur.ui.styled_lines import count
from codur.workspace.disk.path_state import PathState, present, same
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Journal
from codur.workspace.history.net_changes import net_changes
from codur.workspace.history.undo_run import RunChange, run_changes
from codur.workspace.listing import SKIPPED_DIRECTORIES
from codur.workspace.private import may_hold_secrets

_GIT_TIMEOUT_S = 60.0
_FIRST_TEST = regex(r"^python -m pytest (\S+)(?: && |$)")
_SUBJECT = 72
_LONG_CHECK = 200
_MAX_BODY = 2_000
_EXECUTABLE = 0o111
_LISTED = 8
_OF_COMMITS, _FORM = regex(r"(?i)\bcommits?\b(?!tee)"), 1_000  # what speaks of them, and characters at most
_PARTS = regex(r"(?m)^(?=#)|(?<=\n)\n(?![-*\d])")
"""Instructions are told by headings with what is below them, else by paragraphs."""
_FEW_WORDS, _NAMED = 2, 3
_DATA = frozenset({".db", ".sqlite", ".sqlite3", ".log", ".pyc", ".tfstate", ".tfvars"})
_HISTORY = "_history"
_MOST_FILES = 10_000
_SEARCHED = 20  # how many of the newest runs may have left something uncommitted
_REMEDIES: Mapping[str, str] = {
    "not_found": "Begin one with `codur commit --init`; `codur undo` needs none.",
    "no_match": "`git log` shows it.",
    "many_matches": "Commit that first (if staged: codur commit --staged), or do it yourself: git add -p, git commit.",
    "refused": "Commit it yourself with git, or leave hooks out: codur commit --no-verify",
}


class Wish(Struct):
    """What is to be committed of what runs changed, and how."""

    message: str | None = None  # in place of the one that is made; None: that one
    hooks: bool = True  # the repository's hooks see it
    dry: bool = False  # nothing is committed
    only: Sequence[str] = ()  # paths in the workspace that it is bound to, whoever changed them; none: all
    everything: bool = False  # also what else is changed of the files that git has
    staged: bool = False  # what is staged and nothing else, whoever changed it
    offline: bool = False  # no model is asked for a message
    amend: bool = False  # it goes into the last commit, which Codur made, under that one's message if none is given


class Committed(Struct):
    """What came of it."""

    run: str  # the newest of the runs; empty if there is none
    message: str
    files: tuple[str, ...]
    left: tuple[str, ...]  # new files that stay out: programs made them, or git ignores them, or no run made them
    commit: Commit | None = None  # None if nothing was to be committed
    runs: tuple[str, ...] = ()  # the oldest first
    by: str = ""  # the profile that worded the message
    unanswered: str = ""  # the profile that was asked for it, and gave none
    notes: tuple[str, ...] = ()  # what is not as a commit of git's own, and which secrets are in it


class _Kept(Struct):
    """A run, and what it changed and did not put back."""

    run: RunDirectory
    record: RunRecord
    journal: Journal
    changes: Sequence[RunChange]


def commit_runs(wanted: Sequence[str], directory: Path, wish: Wish, *, json: bool) -> int:
    """Commit what runs changed, and tell it; gives the exit code.

    Args:
        wanted: the runs' ids or beginnings; none: those of the directory of which something is left uncommitted, else
            the newest that changed something.
    """
    runs = [changed_run(each, directory) for each in wanted]
    places = {run.record().workspace for run in runs} or {str(directory.absolute().resolve())}
    if len(places) > 1:
        raise UsageError("these runs are of several directories", remedy="Commit those of one at a time.")
    done = committed(runs, Path(places.pop()), wish)
    say_found(done, _lines(done, wish), as_json=json)
    return 0


def take_back_last(directory: Path, *, dry: bool, json: bool) -> int:
    """Take back the last commit, if Codur made it, and tell it; gives the exit code."""
    with _at(directory.absolute().resolve(), "commit") as (repository, _):
        commit, files = take_back(repository, dry=dry)
    told = "would be taken back" if dry else "taken back"
    lines = [f"{told}: {commit.hash[:10]} {commit.subject}", *(f"  {path}" for path in files)]
    say_found(
        {"commit": commit, "files": files},
        [*lines, "The files stay as they are: `codur commit`, or `codur undo`."],
        as_json=json,
    )
    return 0


def reword(directory: Path, message: str, *, json: bool) -> int:
    """Give the last commit, if Codur made it, another message, and tell it; gives the exit code."""
    if not message.strip():
        raise UsageError("the commit message is empty", remedy="Say what was done.")
    with _at(directory.absolute().resolve(), "commit") as (repository, _):
        commit = joined(repository, own_last(repository), message.strip(), identity(repository, os.environ))
        files = files_of(repository, commit.hash)
        notes = unsigned(repository, os.environ)
    found = Committed(run="", message=message.strip(), files=files, left=(), commit=commit, notes=notes)
    say_found(found, [f"it says now: {commit.hash[:10]} {commit.subject}", *_notes(found)], as_json=json)
    return 0


def begin(directory: Path, message: str | None, *, json: bool) -> int:
    """Begin a repository where there is none, commit the files that are there, and tell it; gives the exit code."""
    root, said = directory.absolute().resolve(), (message or "Initial commit").strip()
    if not said:
        raise UsageError("the commit message is empty", remedy="Say what was done, or leave --message out.")
    if root in {Path(os.environ.get("HOME") or "/"), Path("/")}:
        raise UsageError(
            "the home directory is no project", remedy="Go to the project's directory, or name it with -C."
        )
    if above := next((top for top in root.parents if os.path.lexists(top / ".git")), None):
        raise UsageError(f"the directory is in the repository of {above}", remedy="`codur commit` commits to that one.")
    with _at(root, "commit", new=True) as (repository, _):
        with contextlib.suppress(ToolError):  # it has no commit
            commit_of(repository, "HEAD")
            raise UsageError("there is a git repository already", remedy="What is changed: `codur commit --all`")
        try:
            there = _would_be_added(repository)
            wanted = [path for path in there if not _stays_out(path)]
            commit = _first_commit(repository, wanted, said)
        except ToolError as error:
            raise ToolError(error.code, f"{error.message}; the repository was begun all the same") from error
        files = files_of(repository, commit.hash) if commit else ()
        notes = (*unsigned(repository, os.environ), *secrets(repository, files))
    left = tuple(path for path in there if path not in files)
    found = Committed(run="", message=said, files=files, left=left, commit=commit, notes=notes)
    made = f"committed {commit.hash[:10]}: {commit.subject}" if commit else "there is nothing to commit yet"
    lines = ["a git repository was begun", made, *([f"  {listed(files, _LISTED)}"] if files else [])]
    if left:
        lines.append(
            f"left out: {listed(left, _LISTED)} (caches, data, secrets, repositories; .gitignore may name them)"
        )
    say_found(found, [*lines, *_notes(found)], as_json=json)
    return 0


def _would_be_added(repository: Repository) -> list[str]:
    """The files that git would add, as the user's own git does: without what his settings ignore everywhere."""
    home = Path(os.environ.get("HOME") or "/")
    named = repository.own_setting("core.excludesFile", os.environ) or str(home / ".config" / "git" / "ignore")
    path = Path(named.replace("~", str(home), 1) if named.startswith("~/") else named)
    own = (path,) if path.is_absolute() and path.is_file() else ()
    words = ["--others", "--exclude-standard", *(f"--exclude-from={file}" for file in own)]
    found = repository.safe("ls-files", "-z", *words, readable=own).split("\0")
    # What is no text in UTF-8 cannot be named.
    return sorted(path for path in found if path and "\ufffd" not in path)


def _first_commit(repository: Repository, files: Sequence[str], message: str) -> Commit | None:
    files = [path for path in files if not path.endswith("/")]  # of another repository
    if len(files) > _MOST_FILES:
        raise ToolError("invalid", f"{len(files):,} files are too many to commit at once")
    if not files:
        return None
    wish = Wanted(message=message, who=identity(repository, os.environ))
    with repository.launcher.temporary_directory() as scratch:
        return commit_files(repository, files, wish, scratch)


def _stays_out(path: str) -> bool:
    """Whether nobody means a file when he puts all under git: a cache's, a database's, or one that may hold secrets."""
    parts = PurePosixPath(path)
    hidden = parts.suffix in _DATA or parts.name.endswith(_HISTORY)
    return hidden or not SKIPPED_DIRECTORIES.isdisjoint(parts.parts) or may_hold_secrets(path)


@contextlib.contextmanager
def _at(workspace: Path, run_id: str, *, new: bool = False) -> Iterator[tuple[Repository, Settings]]:
    """The repository of a workspace that nobody else is at work in, and the settings; git's no is the user's error.

    Args:
        new: it is made if there is none.
    """
    state = machine.kept_state()
    state.prepare()
    with workspace_lock(state.locks, workspace, run_id=run_id), _repository(workspace, state, new=new) as found:
        yield found


@contextlib.contextmanager
def _repository(workspace: Path, state: StateDirectory, *, new: bool = False) -> Iterator[tuple[Repository, Settings]]:
    settings = machine.settings_for(machine.existing(workspace), None, {}).settings
    with Launcher(os.environ, sandbox=settings.sandbox, state_cache=state.cache) as launcher:
        try:
            if new:
                yield begun(workspace, launcher, _GIT_TIMEOUT_S, os.environ), settings
            else:
                yield repository_around(workspace, launcher, _GIT_TIMEOUT_S), settings
        except ToolError as error:
            raise UsageError(error.message, remedy=_remedy(error)) from error


def carry_out(task: Task, showing: Showing, **given: Any) -> int:
    """Carry out a task, and commit what it changed if it is done; gives the exit code."""
    if task.dry_run:
        raise UsageError("--commit and --dry-run cannot be given together", remedy="Leave one of the two out.")
    runs = machine.kept_runs()
    if not in_repository(Path(task.workspace)):
        raise UsageError("the workspace is not in a git repository", remedy=_REMEDIES["not_found"])
    with _repository(Path(task.workspace), machine.kept_state()) as (repository, _):
        identity(repository, os.environ)  # who commits is asked for before the work, not after it
        require_hooks(repository, os.environ)
    result, shown = carried_out(task, showing, **given)
    told = ""
    if result.reason == NOT_COMMITTED:  # which is done now
        result = replace(result, outcome="done", exit_code=0, reason="", remedy="")
    if result.outcome == "done" and result.changed_files and result.run_id:
        run, wish = runs.open(result.run_id), Wish(offline=True)
        try:
            told = "\n".join(_lines(committed([run], Path(run.record().workspace), wish), wish))
            code = result.exit_code
        except CodurError as error:
            told, code = f"not committed: {error.message}\n{error.remedy}", error.exit_code
            if showing.json:
                result = replace(result, reason=f"not committed: {error.message}", remedy=error.remedy)
        result = replace(result, exit_code=code)
        if showing.json:
            result = replace(result, notes=(*result.notes, "; ".join(map(str.strip, told.splitlines()))))
    ended = shown_result(result, shown, explain_route=showing.explain_route)
    if told and not showing.json:
        tell(told)
    return ended


def committed(runs: Sequence[RunDirectory], workspace: Path, wish: Wish) -> Committed:
    """Commit what runs changed and is still so; without any, what the newest ones left uncommitted."""
    with _at(workspace, runs[-1].id if runs else "commit") as (repository, settings):
        require_rest(repository)
        if wish.hooks:
            require_hooks(repository, os.environ)
        last = own_last(repository) if wish.amend else ""
        if last and wish.message is None:
            wish = replace(wish, message=full_message(repository, last))
        if wish.staged:
            found = _of_index(repository, wish, settings)
        else:
            kept = [_kept(run) for run in runs] or _found(repository, workspace, wish)
            if len(runs) > 1:  # of a conversation: what was committed since is not told again
                kept = _not_committed(sorted(kept, key=_begun, reverse=True), workspace, repository) or kept
            kept.sort(key=_begun)
            found = _made(kept, repository, wish, settings)
        seen = replace(repository, root=repository.top) if wish.staged else repository
        words = (
            (*(["--cached"] if wish.staged else []), *(["HEAD"] if _subjects(repository) else [])) if wish.dry else ()
        )
        found = replace(found, notes=(*unsigned(repository, os.environ), *secrets(seen, found.files, *words)))
        if not last:
            return found
        commit = joined(repository, last, found.message, identity(repository, os.environ))
        return replace(found, commit=commit, files=files_of(repository, commit.hash))


def _of_index(repository: Repository, wish: Wish, settings: Settings) -> Committed:
    files = staged_files(repository)
    if not files:
        raise UsageError("nothing is staged", remedy="Stage it first (git add FILE), or commit all: codur commit --all")
    top = replace(repository, root=repository.top)
    who, said = () if wish.dry else identity(repository, os.environ), None
    if wish.message is None and not (wish.offline or wish.dry):
        shown = [path for path in files if not may_hold_secrets(path)]
        diff = top.safe("diff", *DIFF_OPTIONS, "--cached", "--", *shown) if shown else ""
        material = Material(tasks=(), files=files, diff=diff, before=_subjects(repository))
        material = replace(material, form=_form(settings, repository.root))
        said = suggested(material, settings, os.environ, repository.root)
    found = _worded(Committed(run="", message="", files=files, left=()), (), said, wish, repository.root)
    if wish.dry:
        return found
    with repository.launcher.temporary_directory() as scratch:
        commit = commit_staged(repository, _wanted(found, who, wish), scratch)
    return replace(found, commit=commit)


def _begun(kept: _Kept) -> tuple[str, str]:
    return kept.record.started, kept.record.id


def left_of(ids: Iterable[str]) -> tuple[str, ...]:
    """Those of the runs of which something is left; if that is none, all that changed something."""
    changed, runs = that_changed(ids), machine.kept_runs()
    return tuple(kept.run.id for kept in _those_left(map(runs.open, changed))) or changed


def _found(repository: Repository, workspace: Path, wish: Wish) -> list[_Kept]:
    """The newest runs of which something is left uncommitted, without the rest; else the newest with a change."""
    found = _those_left(islice(filter(is_not_undone, changed_runs(workspace)), _SEARCHED))
    left = _not_committed(found, workspace, repository)
    if left or wish.everything:
        return left
    return found[:1] or [_kept(changed_run(None, workspace, fits=is_not_undone))]


def _not_committed(runs: Sequence[_Kept], workspace: Path, repository: Repository) -> list[_Kept]:
    """The runs, the newest first, without changes of files that were committed since.

    The newest change of a file counts also then, if the file is as it left it: not all of it was committed.
    """
    paths = sorted({item.path for kept in runs for item in kept.changes})
    open_ = uncommitted(repository, paths) | known_files(repository, paths, new=True)
    moments = {path: _committed_at(repository, path) for path in paths if path in open_}
    left, seen, root = list[_Kept](), set[str](), Root(workspace)
    for kept in runs:
        ended = datetime.fromisoformat(kept.record.started).timestamp() + kept.record.summary.duration_s
        changes = [
            item
            for item in kept.changes
            if moments.get(item.path, 0) <= ended
            or (item.path not in seen and same(present(root, item.path), item.after))
        ]
        seen.update(item.path for item in kept.changes)
        left += [replace(kept, changes=changes)] if changes else []
    return left


def _committed_at(repository: Repository, path: str) -> float:
    """When a file was last committed; 0 if it never was."""
    with contextlib.suppress(ToolError):  # there is no commit
        shown = repository.safe("log", "--max-count=1", "--no-show-signature", "--format=%ct", "--", path)
        return float(shown or 0)
    return 0.0


def _those_left(runs: Iterable[RunDirectory]) -> list[_Kept]:
    """Those of the runs of which something is left."""
    found = []
    for run in runs:
        with contextlib.suppress(UsageError, StateError):
            found.append(_kept(run))
    return found


def _kept(run: RunDirectory) -> _Kept:
    record, journal = run.record(), journal_of(run, machine.kept_state())
    # The files that the run changed, without those that were put back since
    found = [item for item in run_changes(journal) if "directory" not in {_kind(item.before), _kind(item.after)}]
    if not found:
        raise UsageError(f"run {record.id} left nothing changed", remedy="`codur runs` lists the runs.")
    now = net_changes(journal.entries)
    there = [item for item in found if not same(now[item.path].before, now[item.path].after) or _mode_alone(item)]
    if not there or (journal.undone_at() is not None and len(there) == sum(map(_mode_alone, there))):
        raise UsageError(
            f"what run {record.id} changed was put back", remedy=f"`codur undo {record.id} --redo` brings it back."
        )
    return _Kept(run=run, record=record, journal=journal, changes=there)


def _made(runs: Sequence[_Kept], repository: Repository, wish: Wish, settings: Settings) -> Committed:
    all_made = {item.path for kept in runs for item in kept.changes if "tool" in item.by}
    runs = _bound(runs, wish)
    by_tool = {item.path for kept in runs for item in kept.changes if "tool" in item.by}
    paths = sorted({item.path for kept in runs for item in kept.changes})
    changed = uncommitted(repository, ["."] if wish.everything else paths)
    new = known_files(repository, ["."] if wish.everything else paths, new=True) - {""}
    # What `--all` alone would take along
    private = {
        path
        for path in changed - by_tool - set(wish.only)
        if may_hold_secrets(path) and (repository.root / path).exists()
    }
    known = (changed - private) | (new & (by_tool | set(wish.only)))
    files = tuple(sorted(known.intersection(wish.only or changed | new)))
    absent = [path for path in wish.only if path not in changed | new and not os.path.lexists(repository.root / path)]
    if absent:
        raise UsageError(
            f"there is no file {absent[0]}", remedy="Name a file below the workspace, as `git status` does."
        )
    # Not those of which all is committed: their words say nothing of what is left.
    of = [kept for kept in runs if not {item.path for item in kept.changes}.isdisjoint(files)]
    theirs = {item.path for kept in of or runs for item in kept.changes}
    left = (new - all_made if wish.everything else _unknown(repository, sorted(theirs))) - set(files) | private
    if not files:
        raise _nothing(sorted(left), wish)
    who = () if wish.dry else identity(repository, os.environ)  # before a model is asked
    asks = wish.message is None and not (wish.offline or wish.dry)  # the commit afterwards would be worded anew
    said = None
    if asks:
        material = replace(_material(of, files, repository, wish), form=_form(settings, repository.root))
        said = suggested(material, settings, os.environ, repository.root)
    ids = tuple(kept.record.id for kept in of)
    found = Committed(run=ids[-1] if ids else "", message="", files=files, left=tuple(sorted(left)), runs=ids)
    found = _worded(found, of, said, wish, repository.root)
    if wish.dry:
        return found
    wanted = _wanted(found, who, wish)
    with repository.launcher.temporary_directory() as scratch:
        if wish.everything:
            commit = commit_files(repository, files, wanted, scratch)
        else:
            versions = [_versions(item, kept.journal) for kept in of for item in kept.changes if item.path in files]
            commit = commit_changes(repository, versions, wanted, scratch)
    return replace(found, commit=commit, files=files_of(repository, commit.hash))


def _worded(found: Committed, runs: Sequence[_Kept], said: Suggested | None, wish: Wish, root: Path) -> Committed:
    """With its message: the user's, the one that a model has suggested, or the one that is made of the runs."""
    after = {item.path: item.after for kept in runs for item in kept.changes}
    # Not of edits that the check has not seen
    seen = all(path in after and same(present(Root(root), path), after[path]) for path in found.files)
    seen = seen or not wish.everything
    message = message_of(runs, found.files, said, seen=seen) if wish.message is None else wish.message.strip()
    if not message:
        raise UsageError("the commit message is empty", remedy="Say what was done, or leave --message out.")
    answered = said is not None and bool(said.subject)
    profile = said.profile if said is not None else ""
    return replace(found, message=message, by=profile if answered else "", unanswered="" if answered else profile)


def _wanted(found: Committed, who: tuple[tuple[str, str], ...], wish: Wish) -> Wanted:
    path = child_environment(os.environ)["PATH"]
    return Wanted(message=found.message, who=who, path=path, hooks=wish.hooks)


def _bound(runs: Sequence[_Kept], wish: Wish) -> Sequence[_Kept]:
    """The runs with what they changed of the files that are meant."""
    if not wish.only:
        return runs
    bound = (replace(kept, changes=[item for item in kept.changes if item.path in wish.only]) for kept in runs)
    return [kept for kept in bound if kept.changes]


def _material(runs: Sequence[_Kept], files: Sequence[str], repository: Repository, wish: Wish) -> Material:
    """What a model is told for the message; nothing of files that may hold secrets."""
    shown = [path for path in files if not may_hold_secrets(path)]
    diffs, before = [item.diff for kept in runs for item in kept.changes if item.path in shown], _subjects(repository)
    with contextlib.suppress(ToolError):  # there is no commit before it
        if (wish.everything or len(runs) > 1) and shown:
            new = {item.path for kept in runs for item in kept.changes if item.before is None}
            tracked = known_files(repository, shown, new=False).intersection(shown)  # what is not, goes or is new
            own = repository.safe("diff", *DIFF_OPTIONS, "HEAD", "--", *sorted(tracked)) if tracked else ""
            diffs = [
                own,
                *(item.diff for kept in runs for item in kept.changes if item.path in new.intersection(shown)),
            ]
    return Material(tasks=tuple(_tasks(runs)), files=tuple(files), diff="".join(diffs), before=tuple(before))


def _subjects(repository: Repository) -> list[str]:
    """The first lines of the last commits, the latest first; none before the first one."""
    with contextlib.suppress(ToolError):
        return repository.safe("log", f"--max-count={_LISTED}", "--no-show-signature", "--format=%s").splitlines()
    return []


def _form(settings: Settings, root: Path) -> str:
    """What the user's own and the project's accepted instructions say of commits."""
    host = machine.host()
    try:
        found = load_instructions(settings, root, environ=host.environ, home=host.home, trust_of=trust_of(host))
    except ConfigError:  # of a file of the user's, which a task tells; a commit needs none
        return ""
    texts = "\n\n".join((found.user, *(each.text for each in found.project)))
    parts = (part.strip() for part in _PARTS.split(texts))
    return "\n".join(part for part in parts if _OF_COMMITS.search(part.partition("\n")[0]))[:_FORM]


def _tasks(runs: Sequence[_Kept]) -> list[str]:
    return [" ".join(kept.record.prompt.split()) for kept in runs if kept.record.prompt.strip()]


def _unknown(repository: Repository, paths: Sequence[str]) -> set[str]:
    """Those of the paths that are there and that git does not have."""
    there = {path for path in paths if os.path.lexists(repository.root / path)}
    return there - known_files(repository, sorted(there), new=False)


def _nothing(left: Sequence[str], wish: Wish) -> UsageError:
    """Why there is nothing to commit."""
    if not left:
        return UsageError("the last commit has all of it already", remedy=_REMEDIES["no_match"])
    why, how = ("no task made", "git add") if wish.everything else ("git ignores or a program made", "git add -f")
    return UsageError(
        f"the last commit has all of it already, but for what {why}: {listed(left, _LISTED)}",
        remedy=f"If it is to be committed, add it yourself: {how} FILE",
    )


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
    if error.remedy:
        return error.remedy
    if "git config" in error.message:
        return "Run git config user.name 'Ann' and git config user.email ann@example.org."
    return _REMEDIES.get(error.code, "Commit it yourself with git.")


# --- words ------------------------------------------------------------------------------------------------------------


def message_of(runs: Sequence[_Kept], files: Sequence[str], said: Suggested | None, *, seen: bool) -> str:
    """A commit message: the task, what was wrong, and how it was checked; of several runs the first task, and a list.

    Args:
        runs: the oldest first.
        said: what a model has suggested in place of tasks and explanation.
        seen: all that is committed was checked.
    """
    tasks = _tasks(runs)
    first = tasks[0] if tasks else f"Change {', '.join(files)}"
    if len(first.split()) <= _FEW_WORDS and not any(Path(path).name in first for path in files):  # "try again"
        first = f"Change {listed(files, _NAMED)}: {first}"
    subject = textwrap.shorten(first, _SUBJECT, placeholder=" …")
    result = (runs[-1].run.result() or {}) if runs else {}
    parts = [subject]
    if said is not None and said.subject:
        parts = [said.subject, *([filled(said.body)] if said.body else [])]
    elif len(runs) > 1:
        parts.append("\n".join(f"- {textwrap.shorten(task, _SUBJECT - 2, placeholder=' …')}" for task in tasks))
    else:
        more = [*([first] if subject != first else ()), str(result.get("explanation") or "")]
        parts += [filled(part) for part in more if part]
    return "\n\n".join([*parts, *filter(None, (filled(_checked(result) if seen else ""),))])


def filled(text: str) -> str:
    """A paragraph of a commit message."""
    return textwrap.fill(text[:_MAX_BODY], _SUBJECT, break_long_words=False)


def _checked(result: Mapping[str, Any]) -> str:
    verdict = result.get("verdict") or {}
    if verdict.get("status") != "passed":
        return ""
    left = f", {len(excused)} failing as before" if (excused := verdict.get("excused")) else ""
    # The project's own: a test that was made for the task alone is not among what is committed.
    check = str(verdict.get("check"))
    first = _FIRST_TEST.match(check)
    if first and not (Path(str(result.get("workspace"))) / first[1]).exists():
        check = check[first.end() :]
    # Of a long one the last command, which runs all tests; a part of a command would check nothing.
    check = check.rpartition(" && ")[2] if len(check) > _LONG_CHECK else check
    return f"Checked: {check}{left}" if 0 < len(check) <= _LONG_CHECK else ""


def _notes(done: Committed) -> list[str]:
    return [f"note: {note}" for note in done.notes]


def _lines(done: Committed, wish: Wish) -> list[str]:
    if done.commit is None:
        lines = [*done.message.splitlines(), "", *(f"would be committed: {path}" for path in done.files)]
    else:
        lines = [f"committed {done.commit.hash[:10]}: {done.commit.subject}"]
        if done.by:
            rest = [line for line in done.message.splitlines()[1:] if line]
            lines += [
                *(f"    {line}" for line in rest),
                f"    (worded by {done.by}; to word it anew: codur commit --reword TEXT)",
            ]
        if done.unanswered:
            lines.append(
                f"    ({done.unanswered} gave no message in time; to word it anew: codur commit --reword TEXT)"
            )
        lines += [f"  {path}" for path in done.files]
    if done.left and wish.everything:
        lines.append(f"left out: {listed(done.left, _LISTED)} (not in git, or with secrets, and no task made them)")
    elif done.left:
        what = "that git ignores, that a program made, or of a submodule"
        lines.append(f"left out: {count(len(done.left), 'file')} {what}")
    lines += _notes(done)
    return lines if done.commit is None else [*lines, "to undo: codur commit --undo, or codur undo for the files"]

"""Which files a run may change, and what is told of changes that went beyond."""

from collections.abc import Callable, Iterable
from pathlib import Path

from codur.checks.challenge_file import read_challenge
from codur.config.settings import ScopeSettings, Settings, StateSettings
from codur.events import Note
from codur.nodes.run_state import RunContext
from codur.parsing.bounded_text import listed
from codur.session.host import limits_of
from codur.store.blobs import BlobStore
from codur.structs import replace
from codur.types import RunResult, ScopeRules, ScopeViolation, Task
from codur.workspace.history.journal import Journal
from codur.workspace.scope import Scope
from codur.workspace.workspace import Workspace

_SHOWN = 5


def rules_of(settings: ScopeSettings) -> ScopeRules:
    """The rules that the settings state."""
    return ScopeRules(allow=settings.allow, deny=settings.deny, max_files=settings.max_files)


def bounded(task: Task, settings: Settings) -> Task:
    """The task with the limits and the scope of the settings."""
    return replace(task, limits=limits_of(settings), scope=rules_of(settings.scope))


def scoped(
    workspace: Workspace, task: Task, settings: Settings, *, kept: bool, scratch: Callable[[], Path]
) -> Workspace:
    """The workspace with the scope of the task (or of the settings) and of its `challenge.yaml`.

    A run that is not `kept` and has a scope gets a journal of its own, as what programs change out of scope cannot be
    put back without. Raises WorkspaceError: a pattern that can name nothing; ConfigError: `challenge.yaml` is wrong.
    """
    stated = read_challenge(workspace).scope
    rules = task.scope if task.scope is not None else rules_of(settings.scope)
    # Both must allow a path: a challenge can narrow what the user allows, never widen it.
    scope = Scope(workspace.root, rules, ScopeRules(allow=stated or ()))
    if scope.is_narrow and not kept:
        place = scratch()
        journal = new_journal(place / "journal.jsonl", place / "blobs", scratch(), settings.state)
        workspace = Workspace.open(workspace.root, max_file_bytes=workspace.max_file_bytes, journal=journal)
    workspace.scope = scope
    return workspace


def new_journal(path: Path, blobs: Path, cache: Path, settings: StateSettings) -> Journal:
    """A journal with the bounds of the settings."""
    store, max_bytes = BlobStore(blobs), settings.command_mb << 20
    return Journal(path, store, cache=cache, max_files=settings.command_files, max_bytes=max_bytes)


def within_scope(result: RunResult, context: RunContext) -> RunResult:
    """Put back what programs changed out of scope at last, and tell of all that they did."""
    found = (*result.scope_violations, *context.workspace.enforce_scope())
    if not found:
        return result
    last = {item.path: item for item in found}  # one that could not be put back is not put back later
    told = tuple(sorted(last.values(), key=lambda item: item.path))
    notes = [
        *_note("out of scope, so put back", (item for item in told if item.reverted)),
        *_note("out of scope, but not put back", (item for item in told if not item.reverted)),
    ]
    for note in notes:
        context.emit(Note(level="warning", text=note))
    return replace(result, scope_violations=told, notes=(*result.notes, *notes))


def _note(title: str, items: Iterable[ScopeViolation]) -> list[str]:
    words = [f"{item.path} ({item.change})" for item in items]
    return [f"{title}: {listed(words, _SHOWN)}"] if words else []

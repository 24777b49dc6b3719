"""The tasks that came before in a directory: those of its conversation, and those that were given alone since then."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from codur.cli import actions, machine
from codur.cli.project_names import ProjectNames
from codur.context.file_order import standing
from codur.errors import UsageError
from codur.parsing.bounded_text import listed
from codur.questions import lets_tests_change
from codur.session.turns import Turn, Turns, since, turn_of
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.structs import replace
from codur.types import Task
from codur.ui.shown.run_list import result_of

_MOST = 12  # runs that are read again
_EDITED = 2  # sources that the user edited, which are shown with his next task
_LISTED = 20  # files that the user changed, which a model is told


def kept_turns(directory: Path) -> Turns:
    """What is kept of a directory's conversation."""
    state = machine.state_directory()
    return Turns(StateDirectory(state).conversations if state else None, directory)


def earlier_turns(directory: Path) -> list[Turn]:
    """The turns of the last conversation and the runs since then, oldest first, with what was undone of them.

    Raises:
        StateError, UsageError: what is kept cannot be read, or nobody knows where it is.
    """
    kept, runs = kept_turns(directory), machine.kept_runs()
    turns, others = kept.read(), [kept.read(path) for path in kept.aside()]
    # What was told in a conversation that was left for another one is no part of that.
    last = max((turn.ended for told in ([turns] if turns else others) for turn in told), default=0.0)
    known = {turn.run_id for told in (turns, *others) for turn in told}
    records = [record for record in runs.list(directory.absolute().resolve()) if _is_task(record)][:_MOST]
    alone = [record for record in reversed(records) if record.id not in known and _ended(record) > last]
    for record in alone:
        with suppress(UsageError, ValueError):  # what is damaged, or of another version, is told by `codur show`
            result = runs.open(record.id).result()
            turns += [_turn(record, result)] if result is not None else []
    gone = {turn.undid for turn in turns}
    changed = (turn.run_id for turn in turns[-_MOST:] if turn.diff and turn.run_id and turn.run_id not in gone)
    undone = [run for run in map(runs.open, changed) if actions.undo.undone_since(run) == "all"]
    turn = Turn(asked="undo", outcome="done")
    return [*turns, *(replace(turn, undid=run.id, ended=run.journal.stat().st_mtime) for run in undone)]


def going_on(task: Task, turns: Sequence[Turn], moment: float = 0.0) -> Task:
    """A task that is told of earlier ones, and of what the user edited since.

    Args:
        moment: till then, in seconds since the epoch, nothing was edited by the user; with no turn it is not known.
    """
    earlier = since(turns, asked=task.prompt)
    last = max(moment, *(turn.ended for turn in turns)) if turns else 0.0
    edited = ProjectNames(Path(task.workspace)).changed_since(last) if last else ()
    told = f"Changed by the user since then: {listed(edited, _LISTED)}" if edited else ""
    sources = [path for path in edited if not standing(path)]
    # What he works at is mostly what he speaks of.
    return replace(
        task,
        earlier="\n\n".join(filter(None, (told, earlier.told))),
        places=(*task.places, *sources[:_EDITED], *earlier.places),
        made=earlier.made,
    )


def continued(task: Task) -> Task:
    """A task that goes on with the earlier ones of its directory. Raises UsageError: there is none."""
    turns = earlier_turns(Path(task.workspace))
    if not turns:
        raise UsageError("there is no earlier task here to go on with", remedy="Give the task without --continue.")
    if turns[-1].outcome == "not_achieved" and lets_tests_change(turns[-1].said, task.prompt):
        task = replace(task, prompt=turns[-1].asked, may_edit_tests=True)
    return going_on(task, turns)


def _is_task(record: RunRecord) -> bool:
    """Whether a run came to its end, and was more than a look at the check."""
    repair = record.task.get("repair") or {}
    return record.status == "finished" and repair.get("until") != "verdict"


def _ended(record: RunRecord) -> float:
    """When it was, in seconds since the epoch; 0 if that cannot be read."""
    try:
        return datetime.fromisoformat(record.started).timestamp() + record.summary.duration_s
    except ValueError:
        return 0.0


def _turn(record: RunRecord, result: Mapping[str, Any]) -> Turn:
    return replace(turn_of(record.prompt, result_of(result)), run_id=record.id, ended=_ended(record))

"""The steps of a run, kept as they finish, so that a run that is cut off goes on after its last one."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import ValidationError, to_builtins

from codur.graph.walk import Done
from codur.nodes.run_state import NodeName, RunUpdate
from codur.session.record.codec import DamagedRecord, decode, encode
from codur.store.append_log import AppendLog
from codur.structs import Struct, convert, field
from codur.types import Usage


class Marks(Struct):
    """When the best attempt was there, if there was one, and how far it came; and what the next one starts from."""

    best_mark: str = ""
    best_progress: float = -1.0
    start_mark: str = ""
    start_progress: float = -1.0
    part_mark: str = ""  # when an attempt was there that stays though other tests fail as before
    apart: tuple[str, ...] = ()  # those tests
    harmless_mark: str = ""  # when an edit was there that broke nothing
    first_mark: str = ""  # when the first attempt was there that came no further
    lost: bool = False  # and lost something


MARKS = {
    "snapshot": "best_mark",
    "harmless": "harmless_mark",
    "first": "first_mark",
    "part": "part_mark",
    "start": "start_mark",
}
"""Of the states in `BestState`, the fields that tell when they were there."""


class Kept(Struct):
    """What the earlier part of a run left to go on from."""

    done: tuple[Done, ...] = ()  # the finished nodes with their updates
    mark: str = ""  # the workspace's mark after the last of them; empty if nothing had finished
    marks: Marks = Marks()
    usage: Usage = field(default_factory=Usage)  # what models have cost, also in the node that was cut off
    used_s: float = 0.0  # seconds that the run has used


class _Spent(Struct):
    """A line of the log: what was spent until then."""

    usage: Usage = Usage()
    used_s: float = 0.0


class _Step(Marks):
    """A line of a finished node."""

    usage: Usage = Usage()
    used_s: float = 0.0
    number: int
    node: NodeName
    mark: str
    update: dict[str, Any]
    whole: bool


class StepLog:
    """Writes the steps of a part of a run: of the first, or of one that was gone on with so many times."""

    def __init__(self, log: AppendLog, *, redact: Callable[[str], str], part: int, kept: Kept) -> None:
        self._log = log
        self._redact = redact
        self._part = part
        self._count = len(kept.done)

    def next_mark(self) -> str:
        """The workspace's mark for the step that finishes now."""
        return f"{self._part}.{self._count + 1}"

    def step(self, node: NodeName, update: RunUpdate, *, usage: Usage, used_s: float, marks: Marks) -> None:
        """Keep a finished node. Raises StateError: it cannot be written; TypeError: it holds what cannot be kept."""
        mark, plan = self.next_mark(), update.get("plan")
        self._count += 1
        self._append(
            {
                "number": self._count,
                "node": node,
                "mark": mark,
                **to_builtins(marks),
                "update": encode(update, self._redact),
                # A plan with a blanked secret in it must not be carried out.
                "whole": bool(encode(plan) == encode(plan, self._redact)),
            },
            usage,
            used_s,
        )

    def spent(self, usage: Usage, used_s: float) -> None:
        """Keep what was spent within a step. Raises StateError: it cannot be written."""
        self._append({}, usage, used_s)

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def _append(self, record: Mapping[str, Any], usage: Usage, used_s: float) -> None:
        # a killed process loses nothing that was written; only a loss of power would, and then a step is done again
        self._log.append({**record, "usage": encode(usage), "used_s": round(used_s, 3)}, durable=False)


def read_steps(log: AppendLog, *, on_damage: Callable[[str], None]) -> Kept:
    """What the steps of a run are to be gone on from; where the log is damaged, which is told, those before that.

    Raises StateError: it cannot be read; DamagedRecord: a step is not one of this version.
    """
    steps: list[_Step] = []
    spent: _Spent | _Step = _Spent()
    try:
        for record in log.read(on_damage=on_damage):
            kind: type[_Step | _Spent] = _Step if "number" in record else _Spent
            spent = convert(record, kind)
            if isinstance(spent, _Step):
                del steps[max(0, spent.number - 1) :]  # a later part of the run did it again
                if spent.number == len(steps) + 1:
                    steps.append(spent)
    except ValidationError as error:
        raise DamagedRecord(f"a step of the run does not fit: {error}") from error
    # Up to the first step that lost a secret: what comes after it was done with the whole plan.
    steps = steps[: next((place for place, step in enumerate(steps) if not step.whole), len(steps))]
    if not steps:
        return Kept(usage=spent.usage, used_s=spent.used_s)
    last = steps[-1]
    return Kept(
        done=tuple((step.node, cast("RunUpdate", decode(step.update))) for step in steps),
        mark=last.mark,
        marks=convert(to_builtins(last), Marks),
        usage=spent.usage,
        used_s=spent.used_s,
    )

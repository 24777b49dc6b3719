"""What a run's models are asked with, beside its settings and limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from codur.events import ignore
from codur.llm.clock import Clock
from codur.structs import Struct, field

if TYPE_CHECKING:
    from codur.events import Emit, ModelPrompted
    from codur.llm.model import ChatModel
    from codur.llm.rate_limits.shared_limits import SharedModels
    from codur.llm.remembered_sizes import Remembered
    from codur.llm.replay import Recorder
    from codur.redaction import Redactor
    from codur.types import Usage


class PoolOptions(Struct):
    """How one run asks."""

    emit: Emit = ignore  # gets an event for every request, answer, wait and switch
    offline: bool = False  # ask nobody
    # models by profile name, instead of the ones that the settings describe; they need no key
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)  # what waits go by
    time_left: Callable[[], float] | None = None  # seconds left of the run; None if it has no end
    # takes secrets out of all that is sent to a model; None: one that knows the secrets of the environment and the keys
    # of all providers
    redactor: Redactor | None = None
    spent: Usage | None = None  # what an earlier part of the run has spent; it counts
    # the budget and the rate limits that this run shares with others; None if it goes on alone
    shared: SharedModels | None = None
    # what this run's wait for its turn among others is wrapped in, so that it can be counted
    waiting: Callable[[], AbstractContextManager[None]] | None = None
    recorder: Recorder | None = None  # keeps each exchange
    prompted: Callable[[ModelPrompted], None] | None = None  # gets each request as it is sent
    stream: bool = False  # tell answers in words while they come (`AnswerDelta`), if the settings allow it
    # what services have told of how large requests may be, in earlier runs; None keeps nothing
    remembered: Remembered | None = None

    def left(self) -> float:
        """Seconds left of the run; infinity if it has no end."""
        return math.inf if self.time_left is None else self.time_left()

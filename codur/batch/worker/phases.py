"""What a challenge is at, told to the supervisor; and its turn for what keeps the processors busy for long."""

from collections.abc import Iterator
from contextlib import contextmanager

from codur.batch.worker.frames import FrameWriter
from codur.batch.worker.messages import Phase, Prompted
from codur.events import Event, ModelAnswered, ModelCalled, ModelPrompted, ModelWaiting, NodeEntered
from codur.sandbox.processor_turns import Turns
from codur.session.host import Host

QUEUED = "queued"
"""The phase in which it waits for its turn to search."""
WAITING = "waiting"
"""The phase in which it waits until a service may be asked: this is not its own time."""
_SEARCH = "repair"


class Phases:
    """Takes the events of one run, and gives it turns for its searches.

    Args:
        number: the job's.
        searches: turns for searches.
        host: of the run; what cancels it ends the wait for a turn, and it gets the seconds of that wait.
        prompts: requests to models are told as they are sent.
    """

    def __init__(self, number: int, frames: FrameWriter, searches: Turns, host: Host, *, prompts: bool = False) -> None:
        self._number = number
        self._frames = frames
        self._searches = searches
        self._host = host
        self._prompts = prompts
        self._calls = self._tokens = 0
        self._cost_usd = 0.0
        self._phase = ""

    def __call__(self, event: Event) -> None:
        """Take an event."""
        match event:
            case NodeEntered():
                self._tell(event.node)
            case ModelCalled():
                self._tell("asking")
            case ModelAnswered():
                self._calls += 1
                self._tokens += event.prompt_tokens + event.completion_tokens
                self._cost_usd += event.cost_usd
                self._tell("reading")
            case ModelWaiting():
                self._tell(WAITING)
            case ModelPrompted() if self._prompts:
                self._frames.send(Prompted(number=self._number, event=event))

    @contextmanager
    def searching(self) -> Iterator[None]:
        """A turn for a search, which the node that searches waits for; none comes if the run is cancelled meanwhile."""
        self._tell(QUEUED)
        with self._searches.turn(self._host.cancel, waited=self._host.waited):
            self._tell(_SEARCH)
            yield

    def _tell(self, phase: str) -> None:
        if phase != self._phase:
            self._phase = phase
            calls, tokens, cost_usd = self._calls, self._tokens, self._cost_usd
            self._frames.send(Phase(number=self._number, name=phase, calls=calls, tokens=tokens, cost_usd=cost_usd))

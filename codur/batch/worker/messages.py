"""What the supervisor of a batch and its worker tell each other; a job is named by the number of its work."""

from codur.batch.results.challenge_record import Attempted
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.events import ModelPrompted
from codur.structs import Struct


class Begin(Struct, tag=True):
    """The first message."""

    setup: Setup


class Start(Struct, tag=True):
    """What is asked for; `key`: see `ChallengeResult`."""

    work: Work
    key: str


class Cancel(Struct, tag=True):
    number: int


ToWorker = Begin | Start | Cancel


class Ready(Struct, tag=True):
    """Challenges can be taken."""

    pid: int


class Started(Struct, tag=True):
    number: int


class Waits(Struct, tag=True):
    """A job begins to wait for its turn (`now`), or has ended to."""

    number: int
    now: bool


class Phase(Struct, tag=True):
    """What a job is at, and what it has spent so far."""

    number: int
    name: str
    calls: int
    tokens: int
    cost_usd: float


class Prompted(Struct, tag=True):
    """A request of a job as it is sent."""

    number: int
    event: ModelPrompted


class AllSpent(Struct, tag=True):
    """What all jobs have spent so far."""

    tokens: int
    cost_usd: float


class Done(Struct, tag=True):
    """What came of a job."""

    number: int
    done: Attempted


FromWorker = Ready | Started | Waits | Phase | Prompted | AllSpent | Done

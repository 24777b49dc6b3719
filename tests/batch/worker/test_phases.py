"""What a challenge is at: told as it comes, and a search that waits for its turn keeps nobody else waiting."""

from __future__ import annotations

import threading
from typing import cast

from codur.batch.worker.frames import FrameWriter
from codur.batch.worker.messages import Phase
from codur.batch.worker.phases import Phases
from codur.events import NodeEntered
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import Turns, Waited
from codur.structs import replace
from tests.runs.kit import host


class Frames:
    """Keeps the phases that are sent."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    def send(self, message: Phase) -> bool:
        self.phases.append(message.name)
        return True


def phases_of(turns: Turns, waited: Waited, cancel: CancelToken) -> tuple[Phases, Frames]:
    frames = Frames()
    return Phases(1, cast("FrameWriter", frames), turns, replace(host(), cancel=cancel, waited=waited)), frames


def test_an_event_never_waits_and_a_search_waits_for_its_turn() -> None:
    turns, waited = Turns(1), Waited()
    phases, frames = phases_of(turns, waited, CancelToken())
    searching = threading.Event()

    def search() -> None:
        with phases.searching():
            searching.set()

    with turns.turn():
        phases(NodeEntered(node="repair"))
        other = threading.Thread(target=search)
        other.start()
        assert not searching.wait(0.2)
        assert frames.phases == ["repair", "queued"]
    other.join(timeout=300)
    assert searching.is_set()
    assert frames.phases == ["repair", "queued", "repair"]
    assert waited.seconds > 0


def test_a_cancelled_run_waits_for_no_turn() -> None:
    turns, cancel = Turns(1), CancelToken()
    phases, _ = phases_of(turns, Waited(), cancel)
    cancel.cancel()
    with turns.turn(), phases.searching():
        pass

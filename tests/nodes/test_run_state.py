"""What a run knows of the states of its workspace."""

from codur.nodes.run_state import BestState
from codur.workspace.history.edits import Snapshot


def test_the_first_state_is_one_as_well() -> None:
    assert BestState(snapshot=Snapshot(0), harmless=Snapshot(2)).furthest == 0
    assert BestState(harmless=Snapshot(0), first=Snapshot(1)).furthest == 0
    assert BestState(first=Snapshot(0)).furthest == 0
    assert BestState(first=Snapshot(0), lost=True).furthest is None

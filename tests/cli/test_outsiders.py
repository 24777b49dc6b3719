"""One attack of each family by the command line, with the first back end that works here, and its control."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adversarial.backends import AVAILABLE
from tests.adversarial.handed_rows import ATTACKS
from tests.adversarial.outsiders import run_attack

SAMPLE = (
    "mcp-result-secret agent-link escapes-runs page-output git-filter python-conftest link-prompt link-input "
    "pipe-project-settings flood-aliases process-directory undo-through-link quarantine-link kept-solve kept-model "
    "shared-locale quoted-fence url-result-escapes results-names odd-instructions"
).split()
BY_NAME = {attack.name: attack for attack in ATTACKS}


@pytest.fixture
def root() -> Iterator[Path]:
    """Where the stage of an attack is built."""
    with tempfile.TemporaryDirectory(prefix="codur-outsider-", dir="/tmp") as directory:
        yield Path(directory) / "stage"


@pytest.mark.parametrize("name", SAMPLE)
def test_an_attack_gains_nothing_and_its_control_does(name: str, root: Path) -> None:
    codur = (sys.executable, str(Path(sys.executable).with_name("codur")))
    for arm, status in ((AVAILABLE[0], "held"), ("control", "BROKEN")):
        outcome = run_attack(BY_NAME[name], arm, root, codur)
        assert outcome.status == status, outcome.detail


def test_there_are_more_than_sixty_of_ten_families() -> None:
    assert len(BY_NAME) == len(ATTACKS) >= 60
    assert len({attack.family for attack in ATTACKS}) >= 10
    assert {BY_NAME[name].family for name in SAMPLE} == {attack.family for attack in ATTACKS}

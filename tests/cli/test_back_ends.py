"""The same projects under every back end that works here, each forced, also as another user: the same verdicts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.adversarial.backends import AGAIN, has_loopback
from tests.cli.kit import ROOT, codur

BACK_ENDS = AGAIN if os.environ.get("CODUR_TESTED_BARE") else tuple(dict.fromkeys((*AGAIN, "none")))
ORDINARY = 65534
CHECK = "python -m pytest -q"

WRONG = "def total(start, end):\n    return sum(range(start, end))\n"
RIGHT = WRONG.replace("end))", "end + 1))")
TEST = "from area import total\n\n\ndef test_total():\n    assert total(1, 3) == 6\n    assert total(2, 5) == 14\n"
MEETING = """
import socket
import threading

from area import total


def serve(server):
    connection, _ = server.accept()
    with connection:  # closed at once if `total` fails, so that nobody waits for an answer
        connection.sendall(str(total(*map(int, connection.recv(64).split()))).encode())


def test_total_is_served():
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        with socket.create_connection(server.getsockname(), timeout=300) as client:
            client.sendall(b"1 3")
            assert client.recv(64) == b"6"
"""
PROJECTS: dict[str, dict[str, str]] = {
    "plain": {"area.py": WRONG, "test_area.py": TEST},
    "conftest": {
        "area.py": WRONG,
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
        "test_area.py": TEST.replace("test_total()", "test_total(three)").replace("(1, 3)", "(1, three)"),
    },
    "pyproject": {
        "area.py": WRONG,
        "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n',
        "tests/test_area.py": TEST,
    },
    "src layout": {
        "src/area.py": WRONG,
        "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
        "tests/test_area.py": TEST,
    },
    "sockets": {"area.py": WRONG, "test_area.py": TEST, "test_served.py": MEETING},
}


@dataclass(frozen=True)
class Place:
    """A home and a project of one who runs `codur` with one back end."""

    root: Path
    back_end: str
    before: tuple[str, ...]

    @property
    def work(self) -> Path:
        return self.root / "work"

    def fill(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if self.before:
            for path in (self.root, *self.root.rglob("*")):
                os.chown(path, ORDINARY, ORDINARY)

    def files(self) -> dict[str, str]:
        """What is in the project, without what Python leaves behind."""
        found = {str(path.relative_to(self.work)): path for path in self.work.rglob("*.py")}
        return {name: path.read_text() for name, path in found.items()}

    def codur(self, *words: str) -> tuple[int, dict[str, Any]]:
        """The exit code, and the object that is printed."""
        ran = codur(
            *words,
            "--json",
            cwd=self.work,
            home=self.root / "home",
            before=self.before,
            CODUR_SANDBOX__BACKEND=self.back_end,
            TMPDIR=str(self.root / "temporary"),
        )
        assert ran.out, ran.err
        return ran.code, json.loads(ran.out)


@cache
def other_user() -> tuple[str, ...]:
    """What runs a command as another user; nothing where that cannot be."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return ()
    before = ("setpriv", "--reuid", str(ORDINARY), "--regid", str(ORDINARY), "--clear-groups", "--")
    whole = "import os, sys, codur.cli.main, pytest; sys.exit(not os.access(os.path.realpath(sys.executable), os.X_OK))"
    probe = [*before, sys.executable, "-c", whole]
    done = subprocess.run(probe, cwd="/", env={"PATH": os.environ["PATH"]}, capture_output=True, check=False)
    return before if done.returncode == 0 else ()


@pytest.fixture
def place(back_end: str, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Of this user, or, with a parameter, of another one."""
    before = other_user() if hasattr(request, "param") else ()
    if hasattr(request, "param") and not before:
        pytest.skip("nobody else can run this Python here")
    with tempfile.TemporaryDirectory(prefix="codur-back-ends-", dir="/tmp") as root:
        for name in ("home", "work", "temporary"):
            (Path(root) / name).mkdir()
        place = Place(Path(root), back_end, before)
        place.fill({})
        yield place


def repaired_and_undone(place: Place, layout: str) -> None:
    place.fill(PROJECTS[layout])
    before = place.files()
    code, told = place.codur("repair", "--check", CHECK)
    assert (code, told["outcome"], told["solved_by"]) == (0, "done", "repair"), told["reason"]
    assert place.files() == {name: RIGHT if text == WRONG else text for name, text in before.items()}
    code, told = place.codur("undo")
    assert (code, told["conflicts"]) == (0, [])
    assert place.files() == before


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("layout", PROJECTS)
def test_a_repair_and_its_undoing(layout: str, place: Place) -> None:
    if layout == "sockets" and not has_loopback(place.back_end):
        pytest.skip("programs have no loopback here")
    repaired_and_undone(place, layout)


@pytest.mark.parametrize("place", ["another user"], indirect=True)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_repair_and_its_undoing_by_another_user(place: Place) -> None:
    repaired_and_undone(place, "pyproject")


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("layout", ["conftest", "src layout"])
def test_a_fix(layout: str, place: Place) -> None:
    place.fill(PROJECTS[layout])
    named = next(name for name, text in PROJECTS[layout].items() if text == WRONG)
    code, told = place.codur(f"the tests fail, fix {named}", "--offline")
    assert (code, told["outcome"], told["solved_by"]) == (0, "done", "repair"), told["reason"]
    assert place.files()[named] == RIGHT


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("layout", ["plain", "sockets"])
def test_the_tests_are_run(layout: str, place: Place) -> None:
    if layout == "sockets" and not has_loopback(place.back_end):
        pytest.skip("programs have no loopback here")
    for text, outcome in ((WRONG, "not_achieved"), (RIGHT, "done")):
        place.fill({name: text if old == WRONG else old for name, old in PROJECTS[layout].items()})
        _, told = place.codur("run the tests", "--offline")
        assert told["outcome"] == outcome, told["reason"]


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_challenge_is_solved(place: Place) -> None:
    shutil.copytree(ROOT / "challenges" / "09-room-bookings", place.work / "09-room-bookings")
    unconfined = ("--no-sandbox",) if place.back_end == "none" else ()
    code, told = place.codur("solve", "09-room-bookings", "--offline", *unconfined)
    assert (code, [row["status"] for row in told["results"]]) == (0, ["solved"])

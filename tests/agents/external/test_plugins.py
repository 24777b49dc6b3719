"""Agents that installed packages bring along: a real distribution on the path, with an entry point."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codur.agents.external.protocol import find_plugin
from tests.agents.external.kit import RIGHT, WRONG, delegate

MODULE = """
import threading
from codur.agents.external.protocol import Answer, Said, Used
from codur.types import Usage

GO_ON, TOLD = threading.Event(), threading.Event()


class Right:
    def work(self, job):
        job.tell(Used(tool="edit", summary="main.py"))
        (job.directory / "main.py").write_text("print(2)\\n")
        return Answer(text=f"had {job.prompt}", usage=Usage(calls=1, prompt_tokens=5))


class Breaks:
    def work(self, job):
        (job.directory / "main.py").write_text("print(3)\\n")
        raise LookupError("no model")


class Hangs:
    def work(self, job):
        (job.directory / "main.py").write_text("print(2)\\n")
        GO_ON.wait()
        job.tell(Used(tool="late"))
        TOLD.set()


class Odd:
    def work(self, job):
        return "done"
"""


PROGRAM = """
import asyncio
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from codur.agents.external.protocol import run_plugin
from codur.agents.external.protocol import Job

place = Path(sys.argv[2])
job = Job(prompt="", directory=place, home=place, timeout_s=0.2, tell=lambda happening: None)
print(asyncio.run(asyncio.to_thread(run_plugin, "hangs", job)).end)
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "site"
    lay_out(place)
    monkeypatch.syspath_prepend(str(place))


def lay_out(place: Path) -> None:
    info = place / "its_agents-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "its_agents.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: its-agents\nVersion: 1.0\n")
    names = "\n".join(f"{name.lower()} = its_agents:{name}" for name in ("Right", "Breaks", "Hangs", "Odd", "Absent"))
    (info / "entry_points.txt").write_text(f"[codur.agents]\n{names}\n")


def by_class(name: str) -> dict[str, Any]:
    return {"type": "python", "command": (), "key_env": (), "entry_point": name}


@pytest.mark.usefixtures("installed")
def test_a_class_works_in_the_copy(tmp_path: Path) -> None:
    did = delegate(tmp_path, [], **by_class("right"))

    assert did.changed == ("main.py",)
    assert did.read("main.py") == RIGHT
    assert did.delegated.answer.text == "had Fix main.py"
    assert did.delegated.answer.usage.prompt_tokens == 5
    assert did.tools == [("its:edit", "ok", "main.py")]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("breaks", "LookupError: no model"),
        ("odd", "it gave back str, not an Answer"),
        ("absent", "AttributeError: module 'its_agents' has no attribute 'Absent'"),
    ],
)
def test_what_goes_wrong_in_it_is_its_error(name: str, error: str, tmp_path: Path) -> None:
    did = delegate(tmp_path, [], **by_class(name))

    assert did.error == error
    assert did.read("main.py") == ("print(3)\n" if name == "breaks" else WRONG["main.py"])


@pytest.mark.usefixtures("installed")
def test_it_is_imported_only_when_it_works() -> None:
    sys.modules.pop("its_agents", None)

    assert find_plugin("right") is not None
    assert "its_agents" not in sys.modules


@pytest.mark.usefixtures("installed")
def test_one_that_does_not_end_is_left_behind_when_its_time_is_over(tmp_path: Path) -> None:
    sys.modules.pop("its_agents", None)

    did = delegate(tmp_path, [], timeout_s=0.5, **by_class("hangs"))

    assert did.delegated.answer.end == "timed_out"
    assert did.error == "it was given up after 0.5 s, its time limit"
    assert did.read("main.py") == RIGHT  # the check says what that is worth
    left = sys.modules["its_agents"]
    left.GO_ON.set()
    assert left.TOLD.wait(60)
    assert did.tools == [], "what it tells afterwards is not heard"


def test_the_process_ends_although_one_hangs(tmp_path: Path) -> None:
    place = tmp_path / "site"
    lay_out(place)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), str(place), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("timed_out\n", 0), done.stderr

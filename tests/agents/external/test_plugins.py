"""Agents that installed packages bring along: a real distribution on the path, with an entry point."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from codur.agents.external.plugins import find_plugin
from tests.agents.external.kit import RIGHT, WRONG, delegate

MODULE = """
from codur.agents.external.protocol import Answer, Said, Used
from codur.types import Usage


class Right:
    def work(self, job):
        job.tell(Used(tool="edit", summary="main.py"))
        (job.directory / "main.py").write_text("print(2)\\n")
        return Answer(text=f"had {job.prompt}", usage=Usage(calls=1, prompt_tokens=5))


class Breaks:
    def work(self, job):
        (job.directory / "main.py").write_text("print(3)\\n")
        raise LookupError("no model")


class Odd:
    def work(self, job):
        return "done"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "site"
    info = place / "its_agents-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "its_agents.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: its-agents\nVersion: 1.0\n")
    names = "\n".join(f"{name.lower()} = its_agents:{name}" for name in ("Right", "Breaks", "Odd", "Absent"))
    (info / "entry_points.txt").write_text(f"[codur.agents]\n{names}\n")
    monkeypatch.syspath_prepend(str(place))


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

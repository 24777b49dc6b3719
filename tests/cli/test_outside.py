"""Programs under check that reach for the process that judges them, which nothing contains."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from tests.adversarial.backends import AVAILABLE
from tests.cli.kit import bound_by_permissions, codur, the_object
from tests.runs.kit import EDIT, KEY, fill
from tests.support.groq_server import GroqServer, ServerReply, calls

LINKS = """\
import os, sys
for name in ("other0.txt", "other1.txt", "other2.txt", "input.txt", "copy.dat"):
    if os.getcwd() != {project!r}:
        try:
            os.path.lexists(name) and os.unlink(name)
            os.symlink({victim!r}, name)
        except OSError:
            pass
sys.stdin.read()
print("6\\n15")
"""
LOCKED = """\
import json, os, sys


def lock(place):
    if os.path.isdir(place) and not os.path.lexists(place + "/d"):
        os.mkdir(place + "/d")
        os.symlink({victim!r}, place + "/d/x")
        os.chmod(place + "/d", 0o500)


if os.getcwd() != {project!r}:
    lock(os.getcwd())
if "events" in sys.orig_argv[-1]:
    lock(os.path.dirname(json.loads(sys.orig_argv[-1])["events"]))


def f():
    return 2
"""


@pytest.fixture
def victim(home: Path) -> Path:
    """A file of the user's that is nobody's business."""
    path = home / ".bashrc"
    path.write_text("export A=1\n")
    path.chmod(0o640)
    return path


def run(project: Path, home: Path, backend: str, source: str, entry: str, *words: str) -> dict[str, Any]:
    """A run in which the model writes this source."""
    answer = calls(("replace_file_content", {"path": entry, "content": source}))

    def reply(body: Any) -> ServerReply:
        tools = {tool["function"]["name"] for tool in body.get("tools", ())}
        return answer if "replace_file_content" in tools else EDIT

    with GroqServer(reply) as server:
        settings = f"providers:\n  groq:\n    api: groq\n    base_url: {server.url}\nrepair: {{mode: 'off'}}\n"
        fill(home, {".config/codur/config.yaml": settings + f"sandbox: {{backend: {backend}}}\n"})
        words = (f"fix {entry}", *words, "--max-iterations", "1", "--json")
        ran = codur(*words, cwd=project, home=home, before=bound_by_permissions(), GROQ_API_KEY=KEY)
    return the_object(ran.out)


@pytest.mark.parametrize("backend", AVAILABLE)
def test_nothing_is_written_through_links_in_a_copy(backend: str, project: Path, home: Path, victim: Path) -> None:
    source = LINKS.format(victim=str(victim), project=str(project))
    expected = "6\n15\n"
    fill(project, {"main.py": "print(1)\n", "expected.txt": expected, "copy.dat": expected, "input.txt": "1 5\n4 5\n"})
    run(project, home, backend, source, "main.py")
    assert victim.read_text() == "export A=1\n"


@pytest.mark.parametrize("backend", AVAILABLE)
def test_no_mode_is_changed_through_links_in_a_copy(backend: str, project: Path, home: Path, victim: Path) -> None:
    source = LOCKED.format(victim=str(victim), project=str(project))
    fill(
        project,
        {"app.py": "def f():\n    return 1\n", "test_app.py": "from app import f\ndef test(): assert f() == 2\n"},
    )
    run(project, home, backend, source, "app.py", "--check", "python -m pytest -q")
    assert stat.S_IMODE(victim.stat().st_mode) == 0o640


def test_files_and_outputs_of_blank_lines_keep_nobody(project: Path, home: Path) -> None:
    """To read a quarter of a megabyte of them took longer than the two minutes after which `codur` is stopped here."""
    blank = "\n" * 250_000
    program = "import sys\nprint('\\n' * 100_000 + '1' * 100_000)\nsys.exit(1)\n"
    make = f"all:\n\tpython app.py\n{blank}x\n"
    fill(project, {"Makefile": make, "app.py": program, "setup.cfg": f"{blank}[x]\n", "test_app.py": f"{blank}x = 1\n"})
    assert codur("repair", "--check", "make", cwd=project, home=home).code != 0
    assert codur("repair", cwd=project, home=home).code != 0

"""The command line on real projects: a bug of one statement is found by the project's tests, mended, and put back.

`make tests` downloads the projects (`requirements.txt`): a single module with unittest; a large module with a
`conftest.py` that imports it; a `src` layout, installed editable in an environment of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.kit import ROOT, Ran, codur, the_object
from tests.support import plain_python

DOWNLOADED = ROOT / ".venv" / "projects"


@dataclass(frozen=True)
class Bug:
    """An edit that breaks a few tests of a release."""

    release: str
    file: str
    right: str
    wrong: str
    editable: bool = False


BUGS = {
    "module": Bug("xmltodict-0.14.2", "xmltodict.py", "len(self.path) >= self.item", "len(self.path) > self.item"),
    "conftest": Bug("configobj-5.0.9", "src/configobj/__init__.py", "lower() not in BOM_LIST", "lower() in BOM_LIST"),
    "editable": Bug(
        "cachetools-5.5.2",
        "src/cachetools/__init__.py",
        "return self.timer() < link",
        "return self.timer() <= link",
        editable=True,
    ),
}


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("named", [False, True], ids=["bare", "named"])
def test_a_bug_is_mended_and_put_back(name: str, named: bool, tmp_path: Path) -> None:
    bug = BUGS[name]
    project = _project(bug, tmp_path)
    planted = (project / bug.file).read_bytes()
    task = f"the tests fail, fix the bug in {bug.file}" if named else "the tests fail, fix the bug"
    ran = _codur("--offline", task, "--timeout", "60", "--json", project=project)
    result = the_object(ran.out)
    assert result["before"], result["reason"]
    assert result["before"]["status"] == "failed", result["before"]
    assert ran.code == 0, (result["reason"], result["records"])
    assert result["changed_files"] == [bug.file]
    assert result["verdict"]["tests_passed"] > result["before"]["tests_passed"]
    assert _git("diff", "--name-only", project=project) == f"{bug.file}\n"
    assert _codur("undo", project=project).code == 0
    assert (project / bug.file).read_bytes() == planted
    assert _git("status", "--porcelain", project=project) == ""


def _codur(*words: str, project: Path) -> Ran:
    """Run Codur with the project's environment first on the PATH, as if that were active."""
    home = project.parent / "home"
    home.mkdir(exist_ok=True)
    active = f"{project / '.venv' / 'bin'}{os.pathsep}" if (project / ".venv").is_dir() else ""
    return codur(*words, cwd=project, home=home, PATH=f"{active}{os.environ['PATH']}")


def _project(bug: Bug, place: Path) -> Path:
    """A git repository of the release with the bug."""
    release = DOWNLOADED / bug.release
    if not release.is_dir():
        pytest.skip(f"{bug.release} is not here: `make tests` downloads it")
    project = place / "project"
    shutil.copytree(release, project)
    text = (project / bug.file).read_text()
    occurrences = text.count(bug.right)
    assert occurrences == 1
    (project / bug.file).write_text(text.replace(bug.right, bug.wrong))
    _git("init", "--quiet", project=project)
    (project / ".git" / "info" / "exclude").write_text(".venv\n__pycache__\n.pytest_cache\n")
    if bug.editable:
        _install(project)
    _git("add", "--all", "--force", ".", ":!.venv", project=project)
    _git("commit", "--quiet", "--message", "A release with a bug", project=project)
    return project


def _install(project: Path) -> None:
    """An environment with what `pip install --editable` leaves in it, and with the pytest of the other projects."""
    environment = project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "__editable__.project.pth").write_text(f"{project / 'src'}\n")
    (tools,) = Path(plain_python.executable()).parents[1].glob("lib/python*/site-packages")
    (packages / "tools.pth").write_text(f"{tools}\n")


def _git(*words: str, project: Path) -> str:
    person = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid"]
    return subprocess.run(["git", *person, *words], cwd=project, check=True, capture_output=True, text=True).stdout

"""What a check does beyond its workspace, or to the disk: through the command line, under every back end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.adversarial.backends import AVAILABLE
from tests.cli.kit import Ran, codur

_BACK_ENDS = [*AVAILABLE, "none"]


def run(root: Path, check: str, home: Path, **variables: Any) -> Ran:
    """A run whose check is this program, which fails."""
    (root / "check.py").write_text(check + "\nraise SystemExit(1)\n")
    words = ("run", "add a median function to calc.py", "--check", "python check.py", "--timeout", "60")
    return codur(*words, cwd=root, home=home, **variables)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    place = tmp_path / "w"
    place.mkdir()
    (place / "calc.py").write_text("def mean(values):\n    return sum(values) / len(values)\n")
    return place


@pytest.mark.parametrize("backend", _BACK_ENDS)
def test_a_package_cache_whose_files_are_linked_into_an_environment_stays(root: Path, backend: str) -> None:
    cache = root.parent / "cache.py"
    cache.write_text("mine\n")
    package = root / ".venv" / "lib" / "package"
    package.mkdir(parents=True)
    os.link(cache, package / "__init__.py")
    check = "print('theirs', file=open('.venv/lib/package/__init__.py', 'a'))"
    ran = run(root, check, root.parent / "home", CODUR_SANDBOX__BACKEND=backend)
    if backend in ("landlock", "none"):  # the control: nothing there keeps it from being written
        assert cache.read_text().startswith("mine\ntheirs\n")
        assert "a program changed what is linked from elsewhere" in ran.err + ran.out
    else:
        assert cache.read_text() == "mine\n"


@pytest.mark.parametrize("backend", _BACK_ENDS)
@pytest.mark.parametrize("outside", [True, False])
def test_a_file_linked_from_elsewhere_is_parted(root: Path, backend: str, outside: bool) -> None:
    """With the other name in the workspace, too, both are the same file still: the control."""
    other = (root.parent if outside else root) / "other.txt"
    other.write_text("mine\n")
    os.link(other, root / "linked.txt")
    check = "open('linked.txt', 'w').write('theirs')"
    run(root, check, root.parent / "home", CODUR_SANDBOX__BACKEND=backend)
    assert (root / "linked.txt").read_text() == "theirs"
    assert other.read_text() == ("mine\n" if outside else "theirs")


@pytest.mark.parametrize("backend", _BACK_ENDS)
@pytest.mark.parametrize(("bound", "held"), [("300", True), ("50000", False)])
def test_a_flood_of_files_is_ended_and_removed(root: Path, backend: str, bound: str, held: bool) -> None:
    """Others may free as many in the same moment, so there are more of them, until it is ended."""
    rounds = 300 if held else 20
    check = (
        f"import os, time\nos.mkdir('made')\nfor k in range({rounds}):\n    time.sleep(0.1)\n"
        "    for n in range(100): open(f'made/{k}-{n}', 'w').close()"
    )
    more: dict[str, Any] = {"CODUR_SANDBOX__BACKEND": backend, "CODUR_SANDBOX__NEW_FILES": bound}
    ran = run(root, check, root.parent / "home", **more)
    assert (root / "made").exists() == (not held)
    assert ("new files (over 300)" in ran.out + ran.err) == held
    assert (root / "calc.py").is_file()


@pytest.mark.parametrize("backend", _BACK_ENDS)
def test_a_pipe_in_place_of_the_report_does_not_keep_the_run(root: Path, backend: str) -> None:
    (root / "conftest.py").write_text(
        "import os\n\ndef pytest_sessionfinish(session):\n    path = session.config.option.xmlpath\n"
        "    if path:\n        os.path.exists(path) and os.unlink(path)\n        os.mkfifo(path)\n"
        "        os._exit(1)\n"
    )
    (root / "test_calc.py").write_text("from calc import mean\n\ndef test_mean():\n    assert mean([1, 3]) == 1\n")
    words = ("run", "the tests fail", "--timeout", "15")
    home, brief = root.parent / "home", "2"  # nothing is found, however long the search
    ran = codur(*words, cwd=root, home=home, CODUR_SANDBOX__BACKEND=backend, CODUR_REPAIR__OFFLINE_BUDGET_S=brief)
    assert ran.code != 0

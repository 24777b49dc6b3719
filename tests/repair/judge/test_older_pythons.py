"""What runs in the workspace's own Python runs in the older ones that a machine has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import codur
from codur.repair.evidence.tracing import run_traced
from codur.repair.judge.candidate_judge import Judge
from tests.repair.support import bench

PLACE = Path(codur.__file__).parent
PROGRAMS = ("repair/choice/probe_program.py", "repair/evidence/trace_program.py", "python/pytest_program.py")


def _pythons() -> list[str]:
    """Interpreters beside our own and where systems keep them, of a version that is still met."""
    own = Path(sys.base_prefix)
    places = [*own.parent.glob("*/bin/python3"), *own.parent.parent.glob("*/x64/bin/python3"), Path("/usr/bin/python3")]
    asked = "import sys; print(sys.implementation.name, (3, 7) <= sys.version_info < (3, 11))"
    found = (str(path) for path in sorted(set(places)) if path.is_file())
    return [path for path in found if subprocess.run([path, "-c", asked], stdout=-1).stdout == b"cpython True\n"]


PYTHONS = _pythons()
WRONG = "name = 'total'\ntotal = 0\nfor number in (1, 2, 3):\n    total -= number\nprint(total)\n"


@pytest.mark.parametrize("python", PYTHONS)
def test_all_programs_can_be_loaded(python: str) -> None:
    load = (
        "import sys, unittest.mock; sys.path.insert(0, sys.argv[1]); absent = unittest.mock.MagicMock();"
        "sys.modules.update(dict.fromkeys(('pytest', '_pytest', '_pytest.assertion', '_pytest.config'), absent));"
        "[__import__('worker.' + name) for name in sys.argv[2:]]"
    )
    names = [path.stem for path in (PLACE / "repair/worker").glob("[a-z]*.py") if path.stem != "worker_program"]
    subprocess.run([python, "-I", "-c", load, str(PLACE / "repair"), *names], check=True)
    load = "import runpy, sys; [runpy.run_path(path, run_name='loaded') for path in sys.argv[1:]]"
    subprocess.run([python, "-I", "-c", load, *(str(PLACE / name) for name in PROGRAMS)], check=True)


@pytest.mark.parametrize("python", PYTHONS)
def test_what_a_test_fails_for_is_told(python: str) -> None:
    tell = (
        "import runpy, sys, unittest.mock; absent = unittest.mock.MagicMock();"
        "sys.modules.update(dict.fromkeys(('pytest', '_pytest', '_pytest.assertion', '_pytest.config'), absent));"
        "print(runpy.run_path(sys.argv[1], run_name='loaded')['reasons'](ImportError('no such module'))['blocked'])"
    )
    words = [python, "-I", "-c", tell, str(PLACE / "python/pytest_program.py")]
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert told in ("ImportError: no such module\n", "\n")


@pytest.mark.parametrize("python", [path for path in PYTHONS if "3.7" not in path])
def test_a_program_is_traced_and_judged_in_a_warm_worker(python: str, tmp_path: Path) -> None:
    made = bench(tmp_path, {"main.py": WRONG, "expected.txt": "6\n"}, python=python)
    with Judge(made.checker, made.check, made.before, workers=1) as judge:
        judge.prepare()
        traced = run_traced(made.checker, made.check, made.before, there=judge.run_there)
    assert traced is not None
    assert {("main.py", line) for line in range(1, 6)} <= traced.lines
    assert traced.values["main.py", 2][0]["name"] == "'total'"
    outcome = made.search(workers=1)
    assert outcome.repairs[0].files["main.py"] == WRONG.replace("-=", "+=")
    assert (judge.note, outcome.note) == ("", "")

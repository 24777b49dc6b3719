"""A change of the C of a Python package is judged by what is built of it, and not by what was built before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from codur.events import Note
from tests.runs.kit import Played, fill, play
from tests.runs.test_make_check import MAKES
from tests.runs.test_plans import classified
from tests.support.groq_server import ServerReply, calls

pytest.importorskip("setuptools")
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not Path(sysconfig.get_path("include"), "Python.h").is_file(),
    reason="no C compiler, or nothing to build for Python with",
)

SETUP = """\
from setuptools import Extension, setup

setup(name="fast", version="1", packages=["fast"], ext_modules=[Extension("fast._sum", ["src/sum.c"])])
"""
SOURCE = """\
#include <Python.h>

static PyObject *add(PyObject *self, PyObject *args) {
    long a, b;
    if (!PyArg_ParseTuple(args, "ll", &a, &b)) return NULL;
    return PyLong_FromLong(a - b);
}

static PyMethodDef methods[] = {{"add", add, METH_VARARGS, "The sum of two numbers."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_sum", NULL, -1, methods};

PyMODINIT_FUNC PyInit__sum(void) { return PyModule_Create(&module); }
"""
FILES = {
    "setup.py": SETUP,
    "src/sum.c": SOURCE,
    "fast/__init__.py": "from fast._sum import add\n",
    "tests/test_add.py": "from fast import add\n\n\ndef test_add():\n    assert add(2, 1) == 3\n",
    ".gitignore": "*.so\nbuild/\n",
}


def change(old: str, new: str) -> ServerReply:
    return calls(("replace_in_file", {"path": "src/sum.c", "old": old, "new": new}))


def built(place: Path, files: dict[str, str]) -> Path:
    project = place / "project"
    fill(project, files)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    shutil.rmtree(project / "build")
    return next(project.glob("fast/*.so"))


def notes(run: Played) -> str:
    return "\n".join(event.text for event in run.events if isinstance(event, Note))


@pytest.fixture(autouse=True)
def _builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs run by an interpreter that has setuptools."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def test_a_fix_is_judged_by_what_is_built_of_it(tmp_path: Path) -> None:
    library = built(tmp_path, FILES)
    before = library.read_bytes()
    wrong, right = change("a - b", "a * b"), change("a - b", "a + b")

    run = play(tmp_path, {}, "add in src/sum.c is wrong", [wrong, right])

    assert run.result.outcome == "done"
    assert "assert 2 == 3" in run.message(-1)
    assert library.read_bytes() == before
    assert not (library.parents[1] / "build").exists()
    assert "yours is still of the code before: `python setup.py build_ext --inplace`" in run.result.notes[-1]


def test_what_does_not_compile_is_told_as_the_compiler_says_it(tmp_path: Path) -> None:
    built(tmp_path, FILES)

    run = play(tmp_path, {}, "add in src/sum.c is wrong", [change("a - b", "a + c"), change("a - b", "a + b")])

    assert run.result.outcome == "done"
    assert "error: ‘c’ undeclared" in run.message(-1) or "undeclared identifier 'c'" in run.message(-1)


def test_a_refactoring_that_breaks_is_not_told_as_one_that_passes(tmp_path: Path) -> None:
    files = {**FILES, "src/sum.c": SOURCE.replace("a - b", "a + b")}
    built(tmp_path, files)
    kind = classified(task_type="refactor", suggested_action="edit", confidence=0.95, detected_files=["src/sum.c"])
    breaks, keeps = change("a + b", "a + b + 1"), change("a + b", "b + a")

    run = play(tmp_path, {}, "simplify add in src/sum.c", [kind, breaks, keeps])

    assert (run.result.outcome, len(run.result.attempts)) == ("done", 1)


def test_what_was_left_unbuilt_before_is_built_too(tmp_path: Path) -> None:
    library = built(tmp_path, FILES)
    late = library.stat().st_mtime + 10

    source = library.parents[1] / "src/sum.c"
    fill(library.parents[1], {"src/sum.c": SOURCE.replace("a - b", "a + b")})
    os.utime(source, (late, late))

    run = play(tmp_path, {}, "the tests fail, fix add in src/sum.c", [])

    assert run.result.before is not None
    assert run.result.before.passed


def test_what_was_built_anew_in_place_is_not_taken_for_the_code_before(tmp_path: Path) -> None:
    """A test that is asked for has to fail without the change, whatever lies in the workspace by now."""
    files = {**FILES, "tests/test_add.py": FILES["tests/test_add.py"].replace("== 3", "== 1")}
    library = built(tmp_path, files)
    test = "\n\ndef test_none():\n    assert add(1, 0) == 2\n"
    source = ("replace_in_file", {"path": "src/sum.c", "old": "a - b", "new": "a - b + (b == 0)"})
    added = ("replace_file_content", {"path": "tests/test_add.py", "content": files["tests/test_add.py"] + test})
    replies = [classified(task_type="code_generation", suggested_action="edit", confidence=0.95), calls(source, added)]

    def reply(request: object) -> ServerReply:
        if len(replies) == 1:  # as a step of a plan that builds it would
            fill(library.parents[1], {"src/sum.c": SOURCE.replace("a - b", "a - b + (b == 0)")})
            command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
            subprocess.run(command, cwd=library.parents[1], check=True, capture_output=True)
            fill(library.parents[1], {"src/sum.c": SOURCE})
        return replies.pop(0)

    run = play(tmp_path, {}, "add in src/sum.c should add one where b is 0, with a test", reply)

    assert (run.result.outcome, run.result.iterations) == ("done", 1), run.result.attempts


def test_what_fails_in_a_copy_for_another_reason_is_left_out(tmp_path: Path) -> None:
    """As the version that a package takes from the history of its repository."""
    version = "import os\n\n\ndef test_place():\n    assert os.path.isdir('.git')\n"
    library = built(tmp_path, {**FILES, "tests/test_place.py": version})

    subprocess.run(["git", "init", "-q"], cwd=library.parents[1], check=True)

    run = play(tmp_path, {}, "add in src/sum.c is wrong", [change("a - b", "a * b"), change("a - b", "a + b")])

    assert run.result.outcome == "done", run.result.reason
    assert run.result.attempts[0].signature.startswith("tests")
    assert library.is_file()


def test_a_failure_of_the_machine_is_none_of_the_change(tmp_path: Path) -> None:
    """Though the compiler names the source: what it was built of before cannot be built either."""
    files = {**FILES, "src/sum.c": SOURCE.replace("a - b", "a + b")}
    built(tmp_path, files)
    missing = files["src/sum.c"].replace("<Python.h>\n", "<Python.h>\n#include <no_such_header.h>\n")
    fill(tmp_path / "project", {"src/sum.c": missing})
    kind = classified(task_type="refactor", suggested_action="edit", confidence=0.95, detected_files=["src/sum.c"])

    run = play(tmp_path, {}, "simplify add in src/sum.c", [kind, change("a + b", "b + a")])

    assert run.result.outcome == "done"
    assert run.result.verdict is not None
    assert "cannot be built here: src/sum.c" in run.result.verdict.note


def test_what_a_program_prints_is_compared_with_what_is_built_of_it(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if not path.startswith("tests/")}
    built(tmp_path, {**files, "main.py": "from fast import add\n\nprint(add(2, 1))\n"})
    replies = [change("a - b", "a - b + 1"), change("a - b", "-b + a")]

    run = play(tmp_path, {}, "simplify add in src/sum.c, same output", replies, sections=MAKES)

    assert "`python main.py` prints something else than before, line 1: expected '1', got '2'" in run.message(-1)
    assert (run.result.outcome, run.result.iterations) == ("done", 2)


def test_what_cannot_be_built_here_is_told_as_not_checked(tmp_path: Path) -> None:
    files = {**FILES, "src/sum.c": SOURCE.replace("a - b", "a + b")}
    built(tmp_path, files)
    fill(tmp_path / "project", {"setup.py": f"import no_such_tool\n{SETUP}"})
    kind = classified(task_type="refactor", suggested_action="edit", confidence=0.95, detected_files=["src/sum.c"])

    run = play(tmp_path, {}, "simplify add in src/sum.c", [kind, change("a + b", "b + a")])

    assert run.result.outcome == "done"
    assert run.result.verdict is not None
    assert run.result.verdict.status == "no_check"
    assert "cannot be built here: ModuleNotFoundError: No module named 'no_such_tool'" in run.result.verdict.note

"""Running programs and tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.support.patience import until_begun
from tests.tools.conftest import toolbox_on


@pytest.mark.parametrize(
    ("source", "arguments", "code", "text"),
    [
        ("print('hi')", {}, "ok", "hi"),
        (
            "import sys; print(sys.argv[1:], sys.stdin.read())",
            {"args": ["-a", "b c"], "stdin": "in"},
            "ok",
            "['-a', 'b c'] in",
        ),
        ("", {}, "ok", "main.py printed nothing"),
        (
            "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)",
            {},
            "ok",
            "out\nerr\nmain.py ended with status 3",
        ),
    ],
)
def test_run_python_file(
    tmp_path: Path, toolbox: Toolbox, source: str, arguments: dict[str, object], code: str, text: str
) -> None:
    (tmp_path / "main.py").write_text(source)
    result = toolbox.call("run_python_file", {"path": "main.py", **arguments})
    assert (result.code, result.text) == (code, text)
    assert result.data["exit_status"] == (3 if "status 3" in text else 0)


def test_a_program_that_kills_itself_has_a_status_too(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "main.py").write_text("import os; os.kill(os.getpid(), 9)")
    result = toolbox.call("run_python_file", {"path": "main.py"})
    assert (result.code, result.text, result.data["exit_status"]) == ("ok", "main.py ended with status -9", -9)


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print('hi')")
    result = toolbox_on(tmp_path, python="/nowhere/python").call("run_python_file", {"path": "main.py"})
    assert (result.code, result.text) == (
        "failed",
        "/nowhere/python: cannot be started: no such file or directory",
    )


def test_a_program_whose_output_does_not_end(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "main.py").write_text("while True: print('x' * 1_000_000)")
    result = toolbox.call("run_python_file", {"path": "main.py"})
    assert (result.code, result.text.splitlines()[-1]) == ("failed", "main.py was stopped: its output did not end")


def test_a_program_with_an_odd_name(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "-c.py").write_text("print('odd')")
    assert toolbox.call("run_python_file", {"path": "-c.py"}).text == "odd"
    assert toolbox.call("run_python_file", {"path": "no.py"}).text == "there is no file no.py"


def test_a_program_that_does_not_end(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print('started', flush=True)\nwhile True: pass")

    def call(limit_s: float) -> tuple[float, ToolResult]:
        return limit_s, toolbox_on(tmp_path, timeout_s=limit_s).call("run_python_file", {"path": "main.py"})

    limit_s, result = until_begun(call, lambda found: "started" in found[1].text, 0.5)
    assert (result.code, result.text) == ("timeout", f"main.py ran longer than {limit_s:g} s\nstarted")


def test_run_pytest(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "test_a.py").write_text("def test_one(): pass\ndef test_two(): assert 1 == 2\n")
    result = toolbox.call("run_pytest", {"paths": ["test_a.py::test_one", "test_a.py::test_two"]})
    assert (result.code, result.data["counts"]) == ("ok", {"passed": 1, "failed": 1})
    assert (result.data["exit_status"], result.text.splitlines()[-1]) == (1, "pytest ended with status 1")
    assert "assert 1 == 2" in result.text
    absent = toolbox.call("run_pytest", {"paths": ["--help"]})
    assert (absent.code, absent.text) == ("not_found", "there is no test file --help")


def test_run_pytest_without_tests(toolbox: Toolbox) -> None:
    result = toolbox.call("run_pytest", {})
    assert (result.code, result.text) == ("failed", "pytest found no tests")

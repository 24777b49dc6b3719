"""Bad input: one clear line each, exit 2, nothing changed, no traceback."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.kit import Ran, bound_by_permissions, codur, codur_anew, codur_here, the_object
from tests.runs.kit import REPAIRABLE, contents, fill


@pytest.fixture
def project(project: Path) -> Path:
    return fill(project, REPAIRABLE)


def refused(ran: Ran, *words: str) -> None:
    """Exit 2, no traceback, and a first line with these words."""
    assert ran.code == 2, ran
    assert "Traceback" not in ran.err
    lines = [line for line in ran.err.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 2, ran.err
    for word in words:
        assert word in ran.err, ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fix main.py", "-C", "nowhere"), ("nowhere",)),
        (("fix main.py", "-C", "main.py"), ("main.py", "not a directory")),
        (("fix main.py", "-C", "/"), ("/",)),
        (("",), ("empty",)),
        (("   \n ",), ("empty",)),
        (("--json",), ("empty",)),
        (("fix main.py", "--colour"), ("--colour",)),
        (("fix main.py", "--max-llm-calls", "many"), ("--max-llm-calls",)),
        (("fix main.py", "--file", "task.txt"), ("twice",)),
        (("--file", "absent.txt"), ("absent.txt",)),
        (("fix main.py", "--config", "absent.yaml"), ("absent.yaml",)),
        (("fix main.py", "--agent", "codur-codin"), ("codur-codin", "codur-coding")),
        (("fix main.py", "--agent", "llm:nothing"), ("nothing",)),
        (("fix main.py", "--expect", "absent.txt"), ("absent.txt",)),
        (("fix main.py", "--check", ""), ("--check",)),
        (("solv", "dir"), ("did you mean solve",)),
        (("fix other.py",), ("other.py",)),
        (("solve", "nowhere"), ("nowhere",)),
        (("config", "shwo"), ("shwo",)),
        (("graph", "--svg", "absent/graph.svg"), ("absent/graph.svg",)),
    ],
)
def test_one_clear_line(words: tuple[str, ...], said: tuple[str, ...], project: Path, home: Path) -> None:
    before = contents(project)
    refused(codur_here(*words, cwd=project, home=home), *said)
    assert contents(project) == before


def test_a_process_of_its_own_says_and_gives_the_same(project: Path, home: Path) -> None:
    words = ("fix main.py", "--colour")
    assert codur_anew(*words, cwd=project, home=home) == codur_here(*words, cwd=project, home=home)


BEFORE_A_RUN = [
    (("",), "the task is empty"),
    (("fix main.py", "--colour"), "No such option: --colour"),
    (("--max-llm-calls", "many", "fix main.py"), "--max-llm-calls must be a whole number, 0 or more"),
    (("--timeout", "abc", "fix main.py"), "--timeout must be a number of seconds, 0.1 or more"),
    (("--timeout", "0", "fix main.py"), "--timeout must be a number of seconds, 0.1 or more"),
    (("--budget", "-1", "fix main.py"), "--budget must be an amount of dollars, 0 or more"),
    (("fix main.py", "--config", "absent.yaml"), "absent.yaml"),
    (("--file", "absent.txt"), "absent.txt: cannot be read: no such file or directory"),
    (("--file", "."), "cannot be read: is a directory"),
    (("solve", "nowhere"), "nowhere: no such directory"),
    (("route", ""), "the task is empty"),
]


@pytest.mark.parametrize(("words", "said"), BEFORE_A_RUN)
def test_json_is_an_object_also_before_a_run(words: tuple[str, ...], said: str, project: Path, home: Path) -> None:
    ran = codur_here("--json", *words, cwd=project, home=home)
    value = the_object(ran.out)
    assert (ran.code, value["exit_code"], value["outcome"]) == (2, 2, "usage")
    assert said in value["reason"]
    assert value["remedy"]
    plain = codur_here(*words, cwd=project, home=home)
    assert (ran.err, plain.out) == (plain.err, "")
    assert ran.err.startswith(f"✘ {value['reason']}\n→ ")


def test_a_json_stream_ends_with_a_result_also_before_a_run(project: Path, home: Path) -> None:
    ran = codur("", "--json-stream", cwd=project, home=home)
    (line,) = ran.out.splitlines()
    value = json.loads(line)
    assert (ran.code, value["event"]) == (2, "run_finished")
    assert the_object(json.dumps(value["result"]))["reason"] == "the task is empty"


def test_json_as_a_word_of_the_task_asks_for_nothing(project: Path, home: Path) -> None:
    ran = codur_here("--config", "absent.yaml", "--", "--json", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")


def test_the_home_directory_is_refused(project: Path, home: Path) -> None:
    refused(codur_here("fix main.py", "-C", str(home), cwd=project, home=home), "home")


def test_a_prompt_of_ten_megabytes(project: Path, home: Path) -> None:
    refused(codur("-", cwd=project, home=home, stdin=b"fix main.py " * 850_000), "too long")


def test_a_prompt_that_is_no_text(project: Path, home: Path) -> None:
    refused(codur("-", cwd=project, home=home, stdin=b"\xff\xfe\x00fix"), "UTF-8")


def test_a_binary_file(project: Path, home: Path) -> None:
    (project / "data.py").write_bytes(b"\x00\x01\x02" * 100)
    refused(codur_here("fix data.py", cwd=project, home=home), "data.py")


def test_a_file_that_may_not_be_read(project: Path, home: Path) -> None:
    (project / "main.py").chmod(0)
    refused(codur("fix main.py", cwd=project, home=home, before=bound_by_permissions()), "main.py", "no permission")


def test_a_directory_that_may_not_be_written(project: Path, home: Path) -> None:
    project.chmod(0o555)
    try:
        refused(codur("fix main.py", cwd=project, home=home, before=bound_by_permissions()), "main.py")
        assert contents(project) == REPAIRABLE
    finally:
        project.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("llm: [\n", (r"codur\.yaml:\d+",)),
        ("runtime:\n  max_llm_cals: 3\n", (r"codur\.yaml:2", "max_llm_cals", "max_llm_calls")),
        ("runtime:\n  max_llm_calls: many\n", (r"codur\.yaml:2", r"runtime\.max_llm_calls")),
        ("just text\n", (r"codur\.yaml",)),
    ],
)
def test_broken_settings(text: str, said: tuple[str, ...], project: Path, home: Path) -> None:
    fill(project, {"codur.yaml": text})
    ran = codur_here("fix main.py", cwd=project, home=home)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    for pattern in said:
        assert re.search(pattern, ran.err), ran.err


def test_debug_shows_a_traceback(project: Path, home: Path) -> None:
    ran = codur("--debug", "", cwd=project, home=home)
    assert "Traceback" in ran.err
    assert "UsageError" in ran.err
    assert ran.code == 2
    assert codur_here("", cwd=project, home=home, CODUR_DEBUG="1").err.startswith("Traceback")


def test_a_check_command_that_does_not_exist(project: Path, home: Path) -> None:
    ran = codur("fix main.py", "--check", "no-such-command", cwd=project, home=home)
    assert ran.code == 2
    assert "the check cannot be run: " in ran.err
    assert "no-such-command" in ran.err
    assert contents(project) == REPAIRABLE


def test_a_check_that_names_what_programs_cannot_see_ends_before_a_model_is_asked(
    project: Path, home: Path, tmp_path: Path
) -> None:
    if not tmp_path.is_relative_to("/tmp"):
        pytest.skip("only /tmp is another one to programs")
    script = tmp_path / "judge.py"
    script.write_text("raise SystemExit(1)\n")
    ran = codur("fix main.py", "--check", f"python3 {script}", "--offline", cwd=project, home=home)
    if "WITHOUT a sandbox" not in ran.err:
        refused(ran, f"there is no {script}", "--no-sandbox")


@pytest.mark.parametrize("runs", ["python", "node"])
def test_a_check_of_a_file_that_programs_cannot_see_is_refused(runs: str, project: Path, home: Path) -> None:
    if shutil.which(runs) is None:
        pytest.skip(f"{runs} is not here")
    outside = home / f"repro.{runs[:2]}"
    outside.write_text("")
    ran = codur_here("fix main.py", "--offline", "--check", f"{runs} {outside}", cwd=project, home=home)
    refused(ran, "contained, there is no")

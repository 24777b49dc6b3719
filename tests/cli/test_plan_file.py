"""Plan files that cannot be carried out: each is told with file and line and what is allowed, and nothing is run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.kit import codur, codur_here, the_object
from tests.runs.kit import contents, fill

PROGRAM = {"main.py": "open('ran', 'w').close()\nprint(1)\n", "expected.txt": "2\n"}
"""A program that leaves a mark if it is run."""
HEAD = "codur_plan: 1\ntask: fix main.py\n"
READ = "- {id: look, action: tool, capability: read_file, arguments: {path: main.py}}\n"


def steps(*lines: str) -> str:
    return HEAD + "steps:\n" + "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        pytest.param(HEAD + "stepps:\n" + READ, ":3: ", "Did you mean steps?", id="unknown key"),
        pytest.param(
            steps("- id: look", "  action: tool", "  tool: x"), ":6: ", "there is no such key", id="of a step"
        ),
        pytest.param(steps("- {id: look, action: jump}"), ":4: ", "delegate", id="unknown action"),
        pytest.param(
            steps("- {id: a, action: tool, capability: read_fil}"), ":4: ", "the nearest are read_file", id="tool gone"
        ),
        pytest.param(
            steps("- {id: a, action: coding, capability: nobody}"), ":4: ", "there are: codur-coding", id="agent gone"
        ),
        pytest.param(
            steps("- {id: a, action: tool, capability: read_file, arguments: {where: x}}"),
            ":4: ",
            "path",
            id="argument",
        ),
        pytest.param(
            steps(
                "- {id: a, action: coding, inputs: [b]}",
                "- {id: c, action: coding}",
                "- {id: b, action: coding, inputs: [a]}",
            ),
            ":4: ",
            "need each other's output",
            id="loop",
        ),
        pytest.param(steps("- {id: a, action: coding, inputs: [z]}"), ":4: ", "which is no earlier step", id="input"),
        pytest.param(
            steps("- {id: a, action: coding}", "- {id: b, action: coding}", "- {id: a, action: coding}"),
            ":6: ",
            "there is a step a already, on line 4",
            id="same id",
        ),
        pytest.param(
            HEAD + "workspace: /somewhere/else\nsteps:\n" + READ, ":3: ", "made for /somewhere/else", id="workspace"
        ),
        pytest.param("task: x\nsteps:\n" + READ, ": ", "Begin it with codur_plan: 1", id="no plan"),
        pytest.param("codur_plan: 2\ntask: x\nsteps:\n" + READ, ":1: ", "version 1", id="version"),
        pytest.param(HEAD + "steps: []\n", ":3: ", "the plan has no steps", id="no steps"),
        pytest.param(HEAD + "steps: look\n", ":3: ", "list", id="steps are no list"),
        pytest.param(HEAD + "steps: [\n", ":4: ", "not valid YAML", id="YAML"),
        pytest.param("- a\n", ":1: ", "mapping", id="no mapping"),
        pytest.param("", ": ", "this is no plan file", id="empty"),
        pytest.param(HEAD + "x: \x1b[2J\n", ":3: ", "is not allowed", id="escape"),
    ],
)
def test_a_plan_file_that_is_wrong(text: str, place: str, told: str, project: Path, home: Path) -> None:
    fill(project, PROGRAM)
    (project.parent / "plan.yaml").write_text(text)
    ran = codur_here("run", "--plan-file", "../plan.yaml", cwd=project, home=home)
    assert ran.code == 2, ran.err
    assert f"../plan.yaml{place}" in ran.err
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert "\x1b" not in ran.err
    assert contents(project) == PROGRAM


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff\xfe" + HEAD.encode("utf-16-le"), "../plan.yaml:1: is not UTF-8 text"),
        (HEAD.encode() + b"steps:\n\xe9\n", "../plan.yaml:4: is not UTF-8 text"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", "../plan.yaml:1: not valid YAML"),
        (b"#" * 2_000_000, "../plan.yaml: is larger than 1 MiB, too large for a plan"),
        ((HEAD + "steps:\n" + "".join(f"- {{id: a{n}, action: coding}}\n" for n in range(200))).encode(), "200 steps"),
        ((HEAD + "steps: " + "[" * 100).encode(), "holds more than 32 levels"),
    ],
    ids=["UTF-16", "Latin-1", "binary", "huge", "many steps", "deep"],
)
def test_what_is_no_text_or_too_much(data: bytes, told: str, project: Path, home: Path) -> None:
    fill(project, PROGRAM)
    (project.parent / "plan.yaml").write_bytes(data)
    ran = codur_here("run", "--plan-file", "../plan.yaml", cwd=project, home=home)
    assert ran.code == 2, ran.err
    assert told in ran.err
    assert contents(project) == PROGRAM


def test_paths_that_are_no_file(project: Path, home: Path) -> None:
    fill(project, PROGRAM)
    (project.parent / "lost").symlink_to("nowhere")
    for name, told in (("..", "is a directory"), ("../absent", "no such file"), ("../lost", "no such file")):
        ran = codur_here("run", "--plan-file", name, cwd=project, home=home)
        assert ran.code == 2
        assert told in ran.err.lower()
        assert f"{name}: " in ran.err
    assert contents(project) == PROGRAM


def test_a_link_and_a_pipe_are_read_as_what_they_lead_to(project: Path, home: Path) -> None:
    fill(project, {"main.py": "print(1)\n"})
    text = "codur_plan: 1\ntask: look\nsteps:\n" + READ
    (project.parent / "plan.yaml").write_text(text)
    (project.parent / "link").symlink_to("plan.yaml")
    assert codur_here("run", "--plan-file", "../link", cwd=project, home=home).code == 0
    piped = codur("run", "--plan-file", "/dev/stdin", cwd=project, home=home, stdin=text.encode())
    assert piped.code == 0, piped.err


def test_json_says_it_too(project: Path, home: Path) -> None:
    fill(project, PROGRAM)
    (project.parent / "plan.yaml").write_text(steps("- {id: a, action: tool, capability: read_fil}"))
    ran = codur_here("run", "--plan-file", "../plan.yaml", "--json", cwd=project, home=home)
    result = the_object(ran.out)
    assert (ran.code, result["outcome"]) == (2, "usage")
    assert result["reason"].startswith("the plan cannot be carried out: ../plan.yaml:4: there is no tool named")
    assert contents(project) == PROGRAM


def test_a_plan_is_never_written_over_a_file_or_through_a_link(project: Path, home: Path) -> None:
    fill(project, {"kept.yaml": "kept\n"})
    (project / "link.yaml").symlink_to("elsewhere")
    for name, told in (
        ("kept.yaml", "kept.yaml is there already"),
        ("link.yaml", "link.yaml is there already"),
        ("absent/plan.yaml", "there is no directory absent"),
        (".", "is a directory"),
    ):
        ran = codur_here("plan", "fix main.py", "-o", name, cwd=project, home=home)
        assert ran.code == 2
        assert told in ran.err
    assert (project / "kept.yaml").read_text() == "kept\n"
    assert not os.path.lexists(project / "elsewhere")


def test_help_tells_what_the_options_do(project: Path, home: Path) -> None:
    for words, told in (
        (("run",), ("--plan ", "--plan-file", "--yes")),
        (("resume",), ("--yes",)),
        (("solve",), ("--yes",)),
        (("plan",), ("--output", "--force")),
    ):
        ran = codur_here(*words, "--help", cwd=project, home=home, COLUMNS="120")
        assert ran.code == 0
        for option in told:
            assert option in ran.out, json.dumps(words)

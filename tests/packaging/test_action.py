"""The action for GitHub: its form, and its steps one by one, with a real repository and real files of the runner."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.kit import ROOT, environment
from tests.packaging.workflow import Runner
from tests.runs.kit import REPAIRABLE, fill

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
UPLOAD, COMMENT, OPEN = "Keep the report and the trace", "Comment on the pull request", "Open a pull request"


def git(repository: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def action(place: Path, files: dict[str, str], **given: str) -> Runner:
    """A call of the action in a repository with these files; Codur stands where an earlier step has installed it."""
    origin, repository, temporary = (place / name for name in ("origin.git", "repository", "temporary"))
    fill(repository, {**files, "README": "of the project\n"})
    temporary.mkdir()
    (temporary / "codur").symlink_to(sys.prefix)
    (place / "home").mkdir()
    git(place, "init", "-q", "--bare", str(origin))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "red"], ["remote", "add", "origin", str(origin)]):
        git(repository, *words)
    contexts = {"github.action_path": str(ROOT), "runner.temp": str(temporary), "github.run_id": "7"}
    contexts |= {"github.run_attempt": "1", "github.ref_name": "main", "github.event.pull_request.number": "5"}
    variables = environment(place / "home", RUNNER_TEMP=str(temporary), GIT_CONFIG_NOSYSTEM="1")
    return Runner(place, repository, {"offline": "true", **given}, contexts, variables)


def test_a_fix_is_told_in_the_summary_and_kept_as_a_report(tmp_path: Path) -> None:
    runner = action(tmp_path, REPAIRABLE)
    runner.run()
    assert runner.not_run == [UPLOAD, COMMENT]
    outputs = {name: runner.filled(value["value"]) for name, value in ACTION["outputs"].items()}
    report = tmp_path / "temporary" / "codur-report"
    assert outputs == {"outcome": "done", "exit-code": "0", "changed": "true", "report": str(report), "branch": ""}
    assert {path.name for path in report.iterdir()} == {"result.json", "summary.md", "codur.patch", "run.html"}
    assert runner.summary.read_text() == (report / "summary.md").read_text()
    assert "```diff\ndiff --git a/main.py b/main.py\n" in runner.summary.read_text()
    git(runner.repository, "checkout", "-q", ".")
    git(runner.repository, "apply", str(report / "codur.patch"))


def test_a_pull_request_is_prepared_with_what_the_run_changed_alone(tmp_path: Path) -> None:
    runner = action(tmp_path, REPAIRABLE, then="pull-request")
    (runner.repository / "made-by-the-tests.txt").write_text("not a part of the fix\n")
    runner.run()
    assert runner.not_run == [UPLOAD, OPEN]
    assert runner.filled(ACTION["outputs"]["branch"]["value"]) == "codur/7-1"
    assert git(tmp_path / "origin.git", "show", "--format=%an", "--name-only", "codur/7-1").split("\n") == [
        "github-actions[bot]",
        "",
        "main.py",
    ]


def test_what_cannot_be_fixed_is_told_and_fails_no_step(tmp_path: Path) -> None:
    runner = action(
        tmp_path, {}, check="echo '```'; exit 1", then="pull-request", task='x"; touch pwned; $(touch it) #'
    )
    runner.run()
    assert runner.not_run == [UPLOAD]
    assert runner.outputs["steps.run.outputs.changed"] == "false"
    assert runner.outputs["steps.run.outputs.exit-code"] not in ("0", "2")
    assert not {"pwned", "it"}.intersection(path.name for path in runner.repository.iterdir())


def test_wrong_inputs_fail_the_step_and_are_told(tmp_path: Path) -> None:
    runner = action(tmp_path, {}, budget="much")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        runner.run()
    assert failed.value.returncode == 2
    assert "budget" in failed.value.stderr


def test_a_summary_keeps_what_others_wrote_inside_its_fences(tmp_path: Path) -> None:
    runner = action(tmp_path, REPAIRABLE)
    runner.run()
    report = tmp_path / "temporary" / "codur-report"
    result = json.loads((report / "result.json").read_text())
    result["reason"] = "````\n## Approved\n````"
    (report / "result.json").write_text(json.dumps(result))
    subprocess.run([sys.executable, str(ROOT / ".github" / "summary.py"), str(report)], check=True, capture_output=True)
    assert "\n`````\n````\n## Approved\n````\n`````\n" in (report / "summary.md").read_text()


def test_the_form_is_that_of_the_documentation() -> None:
    assert set(ACTION) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    assert all(set(value) <= {"description", "required", "default"} for value in ACTION["inputs"].values())
    assert all(set(value) == {"description", "value"} for value in ACTION["outputs"].values())
    assert all(value["description"] for key in ("inputs", "outputs") for value in ACTION[key].values())
    known = {"name", "id", "if", "shell", "run", "env", "working-directory", "uses", "with", "continue-on-error"}
    for step in STEPS:
        assert set(step) <= known, step
        assert ("run" in step) != ("uses" in step)
        assert ("run" in step) == ("shell" in step)
        assert "${{" not in step.get("run", ""), "an expression in a script is code that anyone may have written"


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: str(path.name)
)
def test_workflows(path: Path) -> None:
    workflow: dict[Any, Any] = yaml.safe_load(path.read_text())
    assert {"name", True, "permissions", "jobs"} <= set(workflow)  # YAML reads `on` as true
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            if step.get("uses") == "./":
                assert set(step["with"]) <= set(ACTION["inputs"])

"""Whole runs with a scope: what a model may edit, and what programs leave behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from codur.config.settings import ScopeSettings
from codur.errors import WorkspaceError
from codur.events import ignore
from codur.planning.patterns.refusals import may_edit
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import ScopeRules, ScopeViolation, Task
from tests.runs.kit import (
    EDIT,
    MEDIAN_EXPECTED,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    REPAIRABLE,
    contents,
    fill,
    host,
    play,
    settings_for,
)
from tests.support.groq_server import GroqServer, calls

FIX = "main.py is wrong"
RIGHT = ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT})
STRAY = ("replace_file_content", {"path": "helper.py", "content": "x = 1\n"})
LITTERS = (
    "import pathlib\npathlib.Path('litter.txt').write_text('x')\npathlib.Path('notes.txt').write_text('gone')\n"
    + NEEDS_MODEL["main.py"]
)


def test_an_edit_out_of_scope_is_refused_and_the_model_is_told_why(tmp_path: Path) -> None:
    scope = ScopeRules(allow=("main.py",))
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, calls(RIGHT, STRAY), calls(RIGHT)], scope=scope)
    assert (run.result.outcome, run.result.iterations) == ("done", 2)
    assert "helper.py is out of scope and must not be changed; only main.py may change" in run.message(2)
    assert sorted(run.files) == ["expected.txt", "main.py"]
    assert run.result.scope_violations == ()


def test_one_file_too_many_is_refused(tmp_path: Path) -> None:
    replies = [EDIT, calls(RIGHT, STRAY), calls(RIGHT)]
    run = play(tmp_path, NEEDS_MODEL, FIX, replies, sections={"scope": {"max_files": 1}})
    assert (run.result.outcome, run.result.changed_files) == ("done", ("main.py",))
    assert "at most 1 may change" in run.message(2)


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_the_checked_program_changes_out_of_scope_is_put_back(dry_run: bool, tmp_path: Path) -> None:
    files = {"main.py": LITTERS, "expected.txt": MEDIAN_EXPECTED, "notes.txt": "milk\n"}
    run = play(tmp_path, files, FIX, [EDIT, calls(RIGHT)], scope=ScopeRules(allow=("main.py",)), dry_run=dry_run)
    assert run.result.outcome == "done"
    assert run.result.scope_violations == (
        ScopeViolation(path="litter.txt", change="made"),
        ScopeViolation(path="notes.txt", change="changed"),
    )
    assert "out of scope, so put back: litter.txt (made), notes.txt (changed)" in run.result.notes
    assert sorted(run.files) == ["expected.txt", "main.py", "notes.txt"]
    assert run.files["notes.txt"] == "milk\n"
    assert run.result.to_json()["scope_violations"][0] == {"path": "litter.txt", "change": "made", "reverted": True}


def test_a_run_that_is_kept_can_be_undone_as_ever(tmp_path: Path) -> None:
    files = {"main.py": LITTERS, "expected.txt": MEDIAN_EXPECTED, "notes.txt": "milk\n"}
    workspace = tmp_path / "w"
    workspace.mkdir()
    fill(workspace, files)
    with GroqServer([EDIT, calls(RIGHT)]) as server:
        settings = structs.replace(settings_for(server), scope=ScopeSettings(allow=("main.py",)))
        task = Task(prompt=FIX, workspace=str(workspace))
        result = run_task(task, settings, host=replace(host(), state=tmp_path / "state"), emit=ignore)
    assert [item.path for item in result.scope_violations] == ["litter.txt", "notes.txt"]
    assert not [note for note in result.notes if note.startswith("changed while programs ran")]
    assert contents(workspace) == {**files, "main.py": contents(workspace)["main.py"]}


@pytest.mark.parametrize(("rules", "told"), [("out/\n", None), ("a.*\nc.o\n", "out/b.xml")])
def test_what_git_ignores_is_not_told(rules: str, told: str | None, tmp_path: Path) -> None:
    """What a build makes, and the reports that a test run writes anew each time."""
    builds = "import pathlib\nout = pathlib.Path('out')\n(out / 'c.o').write_text('x')\n"
    changes = "(out / 'a.xml').write_text('new')\n(out / 'b.xml').unlink(True)\n"
    files = {"main.py": builds + changes + NEEDS_MODEL["main.py"], "expected.txt": MEDIAN_EXPECTED}
    workspace = tmp_path / "w"
    workspace.mkdir()
    fill(workspace, {**files, "out/a.xml": "old", "out/b.xml": "old", ".gitignore": rules})
    with GroqServer([EDIT, calls(RIGHT)]) as server:
        task = Task(prompt=FIX, workspace=str(workspace))
        result = run_task(task, settings_for(server), host=replace(host(), state=tmp_path / "state"), emit=ignore)
    notes = [note for note in result.notes if note.startswith("changed while programs ran")]
    assert notes == ([f"changed while programs ran: {told}; `codur undo` puts that back"] if told else [])


def test_a_check_that_writes_where_other_programs_act_is_told_before_a_model_is_asked(tmp_path: Path) -> None:
    test = "open('sub/.envrc', 'w').close()\nfrom main import median\ndef test_it():\n    assert median([1, 3]) == 2\n"
    run = play(tmp_path, {"main.py": NEEDS_MODEL["main.py"], "test_main.py": test, "sub/a": ""}, FIX, [])
    assert (run.result.outcome, run.requests) == ("usage", [])
    assert run.result.reason.startswith(
        "the check cannot be used: the program wrote to sub/.envrc, which other programs"
    )


def test_a_task_that_writes_files_itself_says_nothing_of_where_the_check_writes(tmp_path: Path) -> None:
    test = "open('.envrc', 'w').close()\nfrom main import median\ndef test_it():\n    assert median([1, 3]) == 2\n"
    prompt = f"{FIX}. It is to create a parser for csv files"
    run = play(tmp_path, {"main.py": NEEDS_MODEL["main.py"], "test_main.py": test}, prompt, [EDIT] * 2)
    assert run.result.reason.startswith("the check cannot be used: the program wrote to .envrc")


def test_that_a_program_writes_there_may_be_what_is_to_be_mended(tmp_path: Path) -> None:
    main, write = "def one():\n{}    return 1\n", "    open('.envrc', 'w').close()\n"
    test = "from main import one\n\n\ndef test_it():\n    assert one() == 1\n"
    mend = calls(("replace_in_file", {"path": "main.py", "old": write, "new": ""}))
    files = {"main.py": main.format(write), "test_main.py": test}
    run = play(tmp_path, files, "Fix one() in main.py: it writes a file where it should not", [EDIT, mend])
    assert (run.result.outcome, run.files["main.py"]) == ("done", main.format(""))


def test_a_link_that_a_program_made_and_that_leads_out_is_told(tmp_path: Path) -> None:
    main = (
        f"import os\nif not os.path.lexists('data'):\n    os.symlink('/etc/passwd', 'data')\n{NEEDS_MODEL['main.py']}"
    )
    files = {"main.py": main, "expected.txt": MEDIAN_EXPECTED}
    run = play(tmp_path, files, FIX, [EDIT, calls(RIGHT)], state=tmp_path / "state")
    assert "changed while programs ran: data; `codur undo` puts that back" in run.result.notes


def test_a_models_edit_of_codurs_own_settings_is_refused(tmp_path: Path) -> None:
    files = {**NEEDS_MODEL, "codur.yaml": "{}\n"}
    wrong = ("replace_file_content", {"path": "codur.yaml", "content": "sandbox: {enabled: false}\n"})
    run = play(tmp_path, files, FIX, [EDIT, calls(RIGHT, wrong), calls(RIGHT)])
    assert "codur.yaml is protected and is not edited" in run.message(2)
    assert run.files["codur.yaml"] == "{}\n"


@pytest.mark.parametrize(
    ("prompt", "free"),
    [
        ("Set max_llm_calls to 5 in codur.yaml", True),
        ("Set it in ./codur.yaml; don't touch main.py", True),
        ("codur.yaml: please allow runs. The rest is fine", True),
        ("Now I want you to set agents.default in codur.yaml to x", True),
        ("Set max_llm_calls to 5 and max_iterations to 3 in codur.yaml", True),
        ("Fix f in main.py, and set the timeout in codur.yaml to 5", True),
        ("Add a loader to main.py that reads codur.yaml", False),
        ("codur.yaml: the file is fine, fix f in main.py", False),
        ("codur.yaml: unknown key makes f in main.py return 1, not 2; fix it", False),
        ("Fix f in main.py, which should add its value to codur.yaml", False),
        ("main.py should create codur.yaml", False),
        ("replace the parser of codur.yaml in main.py", False),
        ("codur.yaml: allow runs; keep the rest as it is", True),
        ("set agents.default in codur.yaml to x", True),
        ("In codur.yaml, replace 5 by 6", True),
        ("Create codur.yaml with make_check: auto", True),
        ("In codur.yaml a time is set, which f in main.py does not read", False),
        ("Fix main.py. Do not touch codur.yaml!", False),
        ("Fix main.py; codur.yaml must stay", False),
        ("Fix f in main.py. codur.yaml stays unchanged", False),
        ("main.py fails where codur.yaml is there, fix it", False),
        ("Fix f in main.py, see codur.yaml for the timeout", False),
        ("what is in codur.yaml", False),
        ("Fix main.py and don't touch a.py and codur.yaml", False),
        ("codur.yaml must stay as it is", False),
        ("Write codur.yaml.example", False),
        ("Fix sub/codur.yaml", False),
        ("Fix it:\n```\nerror in codur.yaml\n```", False),
    ],
)
def test_codurs_own_settings_are_free_where_the_task_says_that_they_change(prompt: str, free: bool) -> None:
    assert may_edit(prompt, "codur.yaml") is free


def test_a_ban_of_codurs_own_settings_does_not_free_them(tmp_path: Path) -> None:
    files = {**NEEDS_MODEL, "codur.yaml": "{}\n"}
    wrong = ("replace_file_content", {"path": "codur.yaml", "content": "sandbox: {enabled: false}\n"})
    run = play(tmp_path, files, f"{FIX}. Do not touch codur.yaml!", [EDIT, calls(RIGHT, wrong), calls(RIGHT)])
    assert "codur.yaml is protected and is not edited" in run.message(2)
    assert run.files["codur.yaml"] == "{}\n"


def test_a_task_that_speaks_of_what_its_check_writes_there_is_carried_out(tmp_path: Path) -> None:
    program = "from pathlib import Path\n\n\ndef setup():\n    Path('.envrc').write_text('x')\n    return 1\n"
    test = "from app import setup\n\n\ndef test_setup():\n    assert setup() == 1\n"
    right = ("replace_in_file", {"path": "app.py", "old": "    Path('.envrc').write_text('x')\n", "new": ""})
    prompt = "Fix setup() in app.py: it must not write .envrc"
    run = play(tmp_path, {"app.py": program, "test_app.py": test}, prompt, [EDIT, calls(right)])
    assert (run.result.outcome, ".envrc" in run.files["app.py"]) == ("done", False)


def test_the_offline_search_keeps_to_the_scope(tmp_path: Path) -> None:
    run = play(tmp_path, REPAIRABLE, FIX, [], search=True, key=None, scope=ScopeRules(deny=("main.py",)))
    assert run.result.outcome != "done"
    assert run.files == REPAIRABLE


def test_a_challenge_may_state_its_scope(tmp_path: Path) -> None:
    files = {**NEEDS_MODEL, "challenge.yaml": "scope: [src/**]\n"}
    run = play(tmp_path, files, FIX, [EDIT, *[calls(RIGHT)] * 3], check_is_goal=True)
    assert run.result.outcome == "not_achieved"
    assert "main.py is out of scope" in run.result.attempts[0].error
    assert run.files == files


def test_a_scope_that_names_nothing_ends_the_run_before_it_begins(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [], scope=ScopeRules(allow=("../other",)))
    assert run.result.exit_code == WorkspaceError.exit_code
    assert "names nothing in the workspace" in run.result.reason
    assert run.requests == []

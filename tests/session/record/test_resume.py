"""Runs that are killed, and gone on with."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.kit import codur_here
from tests.runs.kit import EDIT, REPAIRABLE
from tests.runs.test_part_mended import SHOP, TESTS, double
from tests.runs.test_unrelated_failures import FILES, FINISH, PROMPT, TAXED, kind, write
from tests.session.kill_loop import kill_loop
from tests.session.kit import (
    KEY,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    PATIENCE_S,
    contents,
    edit,
    place,
)
from tests.support.groq_server import calls

RIGHT_AT_LAST = ("llm_pre_plan", "coding", "review", "coding", "review")


@pytest.mark.parametrize("steps", [1, 3, 4])
def test_a_killed_run_is_finished_without_asking_twice(steps: int, tmp_path: Path) -> None:
    path = RIGHT_AT_LAST[:steps]
    with place(tmp_path) as here:
        here.killed_at(*path)
        (run,) = here.runs()
        assert run["status"] == "crashed"
        result = here.json("resume")
        assert (result["outcome"], result["run_id"]) == ("done", run["id"])
        assert here.asked_again() == 0 if path[-1] == "review" else here.asked_again() <= 1
        assert len(here.server.requests) - here.asked_again() == 3
        assert result["model_calls"] >= 3
        assert [step["node"] for step in result["route"]].count("review") == 2
        (listed,) = here.runs()
        assert (listed["status"], listed["resumed"]) == ("finished", 1)
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]
        again = here.here("resume", run["id"])
        assert again.code == 2
        assert "has ended: done" in again.err


def test_the_same_result_as_without_a_kill(tmp_path: Path) -> None:
    results = []
    for name, path in (("whole", ()), ("killed", ("llm_pre_plan", "coding", "review", "coding", "review"))):
        (tmp_path / name).mkdir()
        with place(tmp_path / name) as here:
            if path:
                here.killed_at(*path)
                results.append(here.json("resume"))
            else:
                results.append(here.json("main.py is wrong"))
    for result in results:
        for part in (result, *result["attempts"]):
            for key in ("run_id", "duration_s", "workspace"):
                part.pop(key, None)
        for verdict in ("before", "verdict"):
            result[verdict].pop("duration_s")
    assert results[0] == results[1]


def test_several_answers_at_once_are_asked_for_again(tmp_path: Path) -> None:
    several = {"CODUR_AGENTS__CODING__SAMPLES": "3"}
    with place(tmp_path) as here:
        here.killed_at("llm_pre_plan", "coding", **several)
        assert contents(here.project) == NEEDS_MODEL
        result = here.json("resume", **several)
        assert (result["outcome"], result["changed_files"]) == ("done", ["main.py"])
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]
        assert here.here("undo").code == 0
        assert contents(here.project) == NEEDS_MODEL


def test_edits_of_finished_nodes_are_built_on(tmp_path: Path) -> None:
    """Killed while its first edit is checked: the edit is there again, and is judged as it would have been."""
    with place(tmp_path) as here:
        here.killed_at("coding", "review")
        assert MEDIAN_ODD_ONLY in contents(here.project)["main.py"]
        result = here.json("resume")
        removed = [line for line in result["diff"].splitlines() if line.startswith("-")]
        assert removed == ["--- a/main.py", "-    raise NotImplementedError"]
        assert len(result["attempts"]) == 1
        modes = {path.relative_to(here.state): stat.S_IMODE(path.stat().st_mode) for path in here.state.rglob("*")}
        assert {path.name for path in modes} >= {"run.json", "steps.jsonl", "journal.jsonl", "result.json"}
        assert {path: mode for path, mode in modes.items() if mode & 0o077} == {}  # its owner's alone


def test_what_mends_all_tests_that_run_it_still_stays(tmp_path: Path) -> None:
    """Killed after the attempt that stays: the part that goes on says that the other test lacks something."""
    lacks = calls(("cannot", {"reason": "it asks for another machine"}))
    with place(
        tmp_path, [double("return n * 2"), lacks, lacks, lacks], {"shop.py": SHOP, "test_shop.py": TESTS}
    ) as here:
        here.killed_at("coding", "review", "coding", prompt="the tests fail, fix the bug", CODUR_REPAIR__MODE="off")
        ended = here.run("resume", "--json", CODUR_REPAIR__MODE="off")
        result = json.loads(ended.out)
        assert (result["outcome"], result["changed_files"]) == ("not_achieved", ["shop.py"])
        assert result["best"]["kept"]
        assert "return n * 2\n" in contents(here.project)["shop.py"]


def test_an_edit_that_broke_nothing_can_still_be_what_was_asked_for(tmp_path: Path) -> None:
    """Killed after it was judged and put back: the agent says then that it is all."""
    with place(tmp_path, [kind("code_generation"), write(TAXED), FINISH, FINISH, FINISH], FILES) as here:
        here.killed_at("coding", "review", "coding", prompt=PROMPT)
        assert contents(here.project)["shop.py"] == FILES["shop.py"]
        assert here.json("resume")["outcome"] == "done"
        assert contents(here.project)["shop.py"] == TAXED


def test_no_secret_is_kept(tmp_path: Path) -> None:
    replies = [EDIT, edit(MEDIAN_ODD_ONLY, f"I know {KEY}"), edit(MEDIAN_RIGHT, f"Still {KEY}")]
    with place(tmp_path, replies) as here:
        assert here.run("main.py is wrong").code == 0
        refused = here.run(f"explain {KEY} to me", "--offline")
        assert refused.code == 3
        kept = here.bytes_kept()
        assert b"main.py is wrong" in kept
        assert KEY.encode() not in kept
        assert KEY not in refused.err + refused.out


def test_a_task_with_a_secret_is_not_gone_on_with(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.killed_at("coding", prompt=f"main.py is wrong, not {KEY}")
        refused = here.here("resume")
        assert refused.code == 2
        assert "held a secret" in refused.err
        assert KEY not in refused.err
        assert here.runs()[0]["status"] == "crashed"


def test_a_workspace_that_was_changed_meanwhile_is_left(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.killed_at("coding", "review")
        (here.project / "main.py").write_text("mine\n")
        refused = here.here("resume")
        assert refused.code == 2
        assert "changed meanwhile: main.py" in refused.err
        assert contents(here.project)["main.py"] == "mine\n"
        assert here.runs()[0]["status"] in {"crashed", "interrupted"}
        here.project.rename(here.home / "away")
        here.project.symlink_to(here.home / "nowhere")
        (run,) = here.state.glob("runs/*")
        gone = codur_here("resume", run.name, cwd=here.home, home=here.home)
        assert gone.code == 2
        assert "not there" in gone.err
        here.project.unlink()
        (here.home / "away").rename(here.project)
        assert here.runs()[0]["status"] in {"crashed", "interrupted"}


def test_what_was_spent_counts_on(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.killed_at("coding", "review", CODUR_RUNTIME__MAX_LLM_CALLS="2")
        ended = here.run("resume", "--json")
        assert ended.code == 4
        result = json.loads(ended.out)
        assert (result["outcome"], result["model_calls"]) == ("limit", 2)
        assert len(here.server.requests) == 2


def test_steps_that_are_damaged_are_set_aside_and_done_again(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.killed_at("coding", "review")
        (path,) = here.state.glob("runs/*/steps.jsonl")
        before = path.read_bytes()
        place_of_last = before.rindex(b'"number"')
        path.write_bytes(before[:place_of_last] + before[place_of_last:].replace(b'"coding"', b'"codinG"', 1))
        ran = here.run("resume")
        assert ran.code == 0, ran.err
        assert "set aside" in ran.err
        assert list(path.parent.glob("steps.jsonl.damaged-*"))
        assert here.asked_again() == 1


def test_a_newer_record_is_told_and_left(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.killed_at("coding")
        (path,) = here.state.glob("runs/*/run.json")
        data = json.dumps({**json.loads(path.read_bytes()), "schema": 99}).encode()
        path.write_bytes(data)
        for words in (("resume", path.parent.name), ("show", path.parent.name)):
            refused = here.here(*words)
            assert refused.code == 2
            assert "newer version" in refused.err
        assert "newer version" in here.here("runs").err
        assert path.read_bytes() == data


def test_a_model_free_run_is_gone_on_with_too(tmp_path: Path) -> None:
    with place(tmp_path, [], REPAIRABLE) as here:
        process = here.start("main.py is wrong", "--offline", "--json-stream", CODUR_REPAIR__MODE="before_model")
        here.until(process, "repair")
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        result = here.json("resume", CODUR_REPAIR__MODE="before_model")
        assert (result["outcome"], result["solved_by"]) == ("done", "repair")
        assert not here.server.requests


def test_killed_again_and_again(tmp_path: Path) -> None:
    count = kill_loop(8, tmp_path, seed=3)
    assert count.kills == 8
    assert (count.finished, count.damaged, count.lost) == (count.runs, 0, 0)
    assert count.asked_again <= count.kills

"""Whole batches: solved in copies, judged by the check, kept, and gone on with."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from codur.batch.results.challenge_outcome import NO_CHECK, NOT_ALONE, PASSES_ALREADY, is_solved, outcome_of
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.earlier import Mode
from codur.batch.results.results_directory import read_results, read_spent
from codur.batch.work import Work
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.structs import replace
from codur.types import Attempt, Limits, RunResult, Verdict
from tests.batch.kit import BUG, SEARCH_OFF, Watched, many, rows, solve, table
from tests.cli.kit import bound_by_permissions
from tests.runs.kit import EDIT as DECISION
from tests.runs.kit import MEDIAN_RIGHT, NEEDS_MODEL, REPAIRABLE, contents, fill, host, settings_for
from tests.support.groq_server import GroqServer, ServerReply, calls

GREEN = {"main.py": "print(1)\n", "expected.txt": "1\n"}
RIGHT = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))


def right(body: dict[str, object]) -> ServerReply:
    """A model that decides to edit, and edits rightly."""
    return RIGHT if body.get("tools") else DECISION


def test_each_is_solved_in_a_copy_and_one_bad_one_costs_only_itself(tmp_path: Path) -> None:
    given = tmp_path / "given"
    fill(given / "1 bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    fill(given / "2 grün\nund neu", {**GREEN, "prompt.txt": "fix main.py\n"})
    fill(given / "3 broken", {**GREEN, "challenge.yaml": "entry: main.py\nentri: [\n"})
    (given / "4 no text").mkdir()
    (given / "4 no text" / "prompt.txt").write_bytes(b"\xff\xfe\x00")
    fill(given / "5 key", {**GREEN, "challenge.yaml": "entry: main.py\nentri: main.py\n"})
    before = {path: path.read_bytes() for path in given.rglob("*") if path.is_file()}
    batch = solve(given, tmp_path / "out", settings=Settings(), jobs=3)
    assert rows(batch) == [
        ("1 bug", "solved"),
        ("2 grün\nund neu", "passes"),
        ("3 broken", "error"),
        ("4 no text", "error"),
        ("5 key", "error"),
    ]
    assert (batch.code, batch.ended) == (1, "all")
    bug, green, broken, _, key = batch.results
    assert (bug.tier, bug.solved_by, bug.verdict, bug.calls) == ("repair", "repair", "passed", 0)
    assert bug.changed_files == ("main.py",)
    assert green.reason == PASSES_ALREADY
    assert broken.reason.startswith("challenge.yaml:")
    assert key.reason == "challenge.yaml:2: entri: there is no such key"
    assert {path: path.read_bytes() for path in given.rglob("*") if path.is_file()} == before
    assert len(read_results(tmp_path / "out"))


def test_the_patch_applies_and_gives_the_verified_bytes(tmp_path: Path) -> None:
    given = fill(tmp_path / "bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    (result,) = solve(given, tmp_path / "out", settings=Settings()).results
    subprocess.run(["git", "apply", tmp_path / "out" / result.patch], cwd=given, check=True)
    data = (given / "main.py").read_bytes()
    assert hashlib.sha256(f"main.py\0{len(data)}\0".encode() + data).hexdigest() == result.verified
    (prediction,) = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    assert json.loads(prediction) == {
        "instance_id": "bug",
        "model_name_or_path": "agent:codur-coding",
        "model_patch": (tmp_path / "out" / result.patch).read_text(),
    }


def test_the_patch_of_a_file_in_another_encoding_applies_to_the_byte(tmp_path: Path) -> None:
    given = fill(tmp_path / "bug", {"expected.txt": "1\n2\n3\n", "prompt.txt": "fix main.py\n"})
    program = b"# -*- coding: latin-1 -*-\r\n# caf\xe9\r\nfor i in range(1, 3):\r\n    print(i)\r\n"
    (given / "main.py").write_bytes(program)
    (result,) = solve(given, tmp_path / "out", settings=Settings()).results
    assert "-for i in range(1, 3):" in result.diff
    (prediction,) = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    patch = (tmp_path / "out" / result.patch).read_bytes()
    assert json.loads(prediction)["model_patch"].encode("ascii") == patch
    subprocess.run(["git", "apply", tmp_path / "out" / result.patch], cwd=given, check=True)
    assert (given / "main.py").read_bytes() == program.replace(b"range(1, 3)", b"range(1, 4)")


def test_reports_are_written(tmp_path: Path) -> None:
    batch = solve(many(tmp_path / "given", 1), tmp_path / "out", junit=tmp_path / "junit.xml")
    assert {path.name for path in batch.reports} == {"report.html", "report.md", "junit.xml"}
    assert all(path.stat().st_size for path in batch.reports)


def test_what_cannot_be_copied_costs_one_challenge_and_special_files_are_left_out(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 4)
    (given / "1" / "data").mkdir()
    os.mkfifo(given / "1" / "data" / "pipe")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener, contextlib.chdir(given / "2"):
        listener.bind("socket")
    (given / "3" / "prompt.txt").rename(given / "3" / "challenge.yaml")
    os.mkfifo(given / "3" / "prompt.txt")
    batch = solve(given, tmp_path / "out", jobs=2)
    assert rows(batch) == [("1", "failed"), ("2", "failed"), ("3", "error"), ("4", "failed")]
    assert next(iter(batch.results)).notes == ("data/pipe: left out of the copy: not a regular file",)
    assert [*batch.results][1].notes == ("socket: left out of the copy: not a regular file",)
    assert [*batch.results][2].reason == f"{given / '3' / 'prompt.txt'}: is not a regular file"


def test_a_task_that_leads_out_of_its_challenge_is_not_read(tmp_path: Path) -> None:
    """Such a link in a challenge of somebody else would have any file of the user's sent to a model."""
    given = many(tmp_path / "given", 2)
    (tmp_path / "private").write_text("mine")
    (given / "1" / "task.txt").write_text("fix main.py")
    for name, target in (("1", "task.txt"), ("2", "../../private")):
        (given / name / "prompt.txt").unlink()
        (given / name / "prompt.txt").symlink_to(target)
    batch = solve(given, tmp_path / "out")
    assert rows(batch) == [("1", "failed"), ("2", "error")]
    assert [*batch.results][1].reason == f"{given / '2' / 'prompt.txt'}: leads out of the challenge"


def test_a_program_keeps_its_own_prompt_file(tmp_path: Path) -> None:
    """Only the task itself stays behind."""
    program = "import os\nprint(os.path.exists('prompt.txt'), open('data/prompt.txt').read())\n"
    files = {"main.py": program, "expected.txt": "no\n", "data/prompt.txt": "mine", "prompt.txt": "fix main.py\n"}
    (result,) = solve(fill(tmp_path / "given", files), tmp_path / "out").results
    assert result.output_before == "False mine"


BATCH = """
import sys
from collections.abc import Sequence
from pathlib import Path
from tests.batch.kit import solve
for item in solve(Path(sys.argv[1]), Path(sys.argv[2])).results:
    print(item.name, item.status, item.reason, sep="|")
"""


def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 3)
    fill(given / "2", {"data/a.txt": "", "data/b.txt": ""})
    for name in ("1/main.py", "2/data/a.txt", "2/data/b.txt", "3/prompt.txt"):
        (given / name).chmod(0)
    words = [*bound_by_permissions(), sys.executable, "-c", BATCH, str(given), str(tmp_path / "out")]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert [line.split("|") for line in done.stdout.splitlines()] == [
        ["1", "error", "main.py cannot be copied"],
        ["2", "error", "data/a.txt and 1 more cannot be copied"],
        ["3", "error", f"{given}/3/prompt.txt: cannot be read as UTF-8 text"],
    ]


FORKS = """
import os, time
for _ in range(400):
    try:
        if os.fork() == 0:
            time.sleep(600)
    except OSError:
        break
time.sleep(600)
"""
FILLS = """
with open("large", "wb", buffering=0) as stream:
    for _ in range(64):
        stream.write(bytes(1 << 20))
print("all " + "of it")
"""
EATS = """
held = [bytes(1 << 20) for _ in range(1000)]
print("all " + "of it")
"""


def test_programs_that_take_all_cost_only_themselves(tmp_path: Path) -> None:
    given, temporary = tmp_path / "given", tmp_path / "temporary"
    temporary.mkdir()
    for name, program in (("1 forks", FORKS), ("2 fills", FILLS), ("3 eats", EATS), ("4", BUG["main.py"])):
        fill(given / name, {**BUG, "main.py": program})
    sandbox = structs.replace(Settings().sandbox, processes=32, file_mb=8, memory_mb=128)
    here = replace(host(key=None), environ={**host(key=None).environ, "TMPDIR": str(temporary)})
    batch = solve(given, tmp_path / "out", settings=structs.replace(SEARCH_OFF, sandbox=sandbox), jobs=4, host=here)
    forks, fills, eats, other = batch.results
    assert "all of it" not in fills.output_before + eats.output_before
    assert (other.status, other.output_before, other.reason) == (
        "failed",
        "2",
        "needs a model: line 1: expected `1`, got `2`",
    )
    assert forks.status == "failed"
    assert list(temporary.iterdir()) == []
    assert not [pid for pid in Path("/proc").glob("[0-9]*") if cwd_of(pid).startswith(str(temporary))]


def cwd_of(process: Path) -> str:
    try:
        return str((process / "cwd").readlink())
    except OSError:  # it has ended
        return ""


def test_a_full_disk_costs_the_challenges_that_do_not_fit(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        given = many(tmp_path / "given", 2)
        (given / "1" / "data").write_bytes(bytes(4 << 20))
        environ = {**host(key=None).environ, "TMPDIR": str(small)}
        batch = solve(given, tmp_path / "out", host=replace(host(key=None), environ=environ))
    finally:
        subprocess.run(["umount", small], check=True)
    assert rows(batch) == [("1", "error"), ("2", "failed")]


@pytest.mark.parametrize(
    ("before", "after", "solved"),
    [
        ("failed", "passed", True),
        ("passed", "passed", False),
        ("no_check", "no_check", False),
        ("failed", "tampered", False),
    ],
)
def test_only_red_to_green_counts(before: str, after: str, solved: bool) -> None:
    result = RunResult(
        outcome="done",
        exit_code=0,
        before=Verdict(status=before),  # type: ignore[arg-type]
        verdict=Verdict(status=after),  # type: ignore[arg-type]
    )
    assert is_solved(result) is solved


@pytest.mark.parametrize(
    ("by", "way"),
    [
        (["a"], "agent"),
        (["a", "a"], "retry 1"),
        (["repair", "a", "a", "a"], "retry 2"),
        (["a", "b"], "agent"),
    ],
)
def test_the_way_that_solved_it_says_which_retry(by: list[str], way: str) -> None:
    result = RunResult(
        outcome="done",
        exit_code=0,
        before=Verdict(status="failed"),
        verdict=Verdict(status="passed"),
        attempts=tuple(Attempt(number=number, by=name) for number, name in enumerate(by, start=1)),
    )
    base = ChallengeResult(name="a", directory="/a", key="k", status="error")
    assert outcome_of(result, base).way == way


# --- going on ---------------------------------------------------------------------------------------------------------


def test_results_are_not_written_over_unless_that_is_said(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 1)
    solve(given, tmp_path / "out")
    with pytest.raises(UsageError, match="holds results already") as caught:
        solve(given, tmp_path / "out")
    assert "--resume" in caught.value.remedy
    assert "--fresh" in caught.value.remedy


def test_resuming_does_what_is_missing_and_only_that(tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 4), tmp_path / "out"
    first = solve(given, out)
    lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join((*lines[:2], lines[3], lines[2][:40])))
    watch = Watched()
    again = solve(given, out, mode="resume", watch=watch)
    assert watch.starts == [json.loads(lines[2])["name"]]
    assert table(again.results) == table(first.results)
    assert again.code == first.code
    quiet = Watched()
    assert table(solve(given, out, mode="resume", watch=quiet).results) == table(first.results)
    assert quiet.starts == []


def test_changed_challenges_other_agents_and_other_settings_are_new(tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 3), tmp_path / "out"
    solve(given, out)
    fill(given / "2", {"main.py": "print(3)\n"})
    changed = Watched()
    assert len(solve(given, out, mode="resume", watch=changed).results) == 3
    assert changed.starts == ["2"]
    other = Watched()
    batch = solve(given, out, mode="resume", watch=other, which={"agents": ["codur-coding"], "limit": 1})
    assert other.starts == ["1 (codur-coding)"]
    assert [(item.name, item.agent) for item in batch.results] == [("1", "codur-coding")]
    assert batch.others == ""
    settings = Watched()
    batch = solve(
        given,
        out,
        mode="resume",
        watch=settings,
        settings=structs.replace(Settings(), repair=structs.replace(Settings().repair, mode="off", budget_s=1.0)),
    )
    assert sorted(settings.starts) == ["1", "2", "3"]
    told = "3 earlier results belong to other settings or options, such as --offline or --timeout"
    assert batch.others == f"{told}: this work is done again"
    assert batch.notes == ("the reports also hold 1 result of the directory that this command does not ask for",)


def test_the_reports_hold_all_results_of_the_directory(tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 3), tmp_path / "out"
    solve(given, out)
    whole = {path.name: path.read_bytes() for path in out.iterdir() if path.name in ("report.md", "predictions.jsonl")}
    fill(given / "2", {"main.py": "print(3)\n"})
    part = solve(given, out, mode="resume", which={"patterns": ["2"]}, junit=tmp_path / "junit.xml")
    assert rows(part) == [("2", "failed")]
    assert part.notes == ("the reports also hold 2 results of the directory that this command does not ask for",)
    assert (out / "predictions.jsonl").read_bytes() == whole["predictions.jsonl"]
    names = [line.split("|")[1].strip() for line in (out / "report.md").read_text().splitlines() if "failed" in line]
    assert names == ["1", "2", "3"]
    assert (tmp_path / "junit.xml").read_text().count("<testcase ") == 3
    renamed = solve(tmp_path, out, mode="resume")  # from further above: the same challenges by other names
    assert [item.name for item in renamed.results] == ["given/1", "given/2", "given/3"]
    assert renamed.notes == ()


def test_rerunning_the_failed_ones_and_starting_over(tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 1), tmp_path / "out"
    fill(given / "good", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    solve(given, out, settings=Settings())
    failed = Watched()
    batch = solve(given, out, mode="rerun_failed", watch=failed, settings=Settings())
    assert failed.starts == ["1"]
    assert rows(batch) == [("1", "failed"), ("good", "solved")]
    longer = Watched()  # what was solved stays so, whatever the settings then
    batch = solve(given, out, mode="rerun_failed", watch=longer, settings=Settings(), limits=Limits(max_runtime_s=99.0))
    assert longer.starts == ["1"]
    assert rows(batch) == [("1", "failed"), ("good", "solved")]
    fill(given / "good", {"notes.txt": "the challenge is another one now\n"})
    other = Watched()
    solve(given, out, mode="rerun_failed", watch=other, settings=Settings())
    assert sorted(other.starts) == ["1", "good"]
    fresh = Watched()
    batch = solve(given, out, mode="fresh", watch=fresh, settings=Settings())
    assert sorted(fresh.starts) == ["1", "good"]
    (aside,) = out.glob("earlier-*")
    assert batch.notes == (f"earlier results are in {aside}",)
    assert len(read_results(aside)) == 2


def test_the_patch_of_an_earlier_result_does_not_stay_beside_one_without(tmp_path: Path) -> None:
    given = fill(tmp_path / "bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    (solved,) = solve(given, tmp_path / "out", settings=Settings()).results
    assert (tmp_path / "out" / solved.patch).exists()
    fill(given, BUG)
    (failed,) = solve(given, tmp_path / "out", mode="resume").results
    assert (failed.status, failed.patch) == ("failed", "")
    assert list((tmp_path / "out" / "patches").iterdir()) == []


def test_attempts_are_independent_and_one_that_solves_it_is_enough(tmp_path: Path) -> None:
    given = fill(tmp_path / "given", {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    replies = iter([DECISION, RIGHT])

    def once(body: dict[str, object]) -> ServerReply:
        return next(replies, DECISION) if not body.get("tools") else next(replies, calls())

    with GroqServer(once) as server:
        batch = solve(
            given,
            tmp_path / "out",
            which={"attempts": 2, "agents": ["codur-coding"]},
            settings=settings_for(server, runtime={"max_iterations": 1}),
            host=host(),
            offline=False,
        )
    assert [(item.attempt, item.status) for item in batch.results] == [(1, "solved"), (2, "failed")]
    assert batch.code == 0
    assert len({item.key for item in batch.results}) == 2


# --- writing back -----------------------------------------------------------------------------------------------------


def about_writing(notes: Sequence[str]) -> list[str]:
    """Without that other repairs pass, too."""
    return [note for note in notes if not note.startswith(NOT_ALONE)]


def test_in_place_writes_back_what_was_verified_and_can_be_undone(tmp_path: Path) -> None:
    given = tmp_path / "given"
    fill(given / "bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    fill(given / "hard", BUG)
    here = replace(host(key=None), state=tmp_path / "state")
    batch = solve(given, tmp_path / "out", settings=Settings(), in_place=True, host=here)
    bug, hard = batch.results
    data = (given / "bug" / "main.py").read_bytes()
    assert hashlib.sha256(f"main.py\0{len(data)}\0".encode() + data).hexdigest() == bug.verified
    assert contents(given / "hard") == BUG
    assert (about_writing(bug.notes), hard.status) == ([], "failed")
    (run,) = (tmp_path / "state" / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["changed_files"] == ["main.py"]
    again = Watched()
    same = solve(given, tmp_path / "out", mode="resume", settings=Settings(), in_place=True, host=here, watch=again)
    assert again.starts == []
    assert table(same.results) == table(batch.results)


def test_in_place_writes_back_what_was_solved_in_a_copy_before(tmp_path: Path) -> None:
    given = fill(tmp_path / "bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    solve(given, tmp_path / "out", settings=Settings())
    watch = Watched()
    batch = solve(given, tmp_path / "out", mode="resume", settings=Settings(), in_place=True, watch=watch)
    assert (watch.starts, about_writing(next(iter(batch.results)).notes)) == (["bug"], [])
    assert (given / "main.py").read_text() != REPAIRABLE["main.py"]


def test_in_place_leaves_a_challenge_alone_that_was_changed_meanwhile(tmp_path: Path) -> None:
    given = fill(tmp_path / "bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    mine = REPAIRABLE["main.py"] + "# mine\n"

    def edit(work: Work, phase: str) -> None:
        if phase == "repair":
            (given / "main.py").write_text(mine)

    batch = solve(given, tmp_path / "out", settings=Settings(), in_place=True, watch=Watched(on_phase=edit))
    assert (given / "main.py").read_text() == mine
    notes = about_writing(next(iter(batch.results)).notes)
    assert notes == ["not written back: the challenge was changed meanwhile"]
    assert next(iter(batch.results)).status == "solved"


# --- models -----------------------------------------------------------------------------------------------------------


def test_side_by_side_with_a_model(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 6, {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    with GroqServer(right) as server:
        batch = solve(given, tmp_path / "out", settings=settings_for(server), host=host(), offline=False, jobs=4)
    assert {status for _, status in rows(batch)} == {"solved"}
    assert batch.code == 0
    assert {item.calls for item in batch.results} == {1}
    assert {item.tier for item in batch.results} == {"pre_plan"}
    assert len(server.requests) == 6


def test_many_at_a_time_give_the_results_of_one_after_the_other(tmp_path: Path) -> None:
    """Each of these programs would fail if it saw another's temporary files, name or answers."""
    given = tmp_path / "given"
    for number in range(1, 7):
        program = (
            "import os, tempfile, time\n"
            "place = os.path.join(tempfile.gettempdir(), 'same-name')\n"
            "assert not os.path.exists(place)\n"
            f"open(place, 'w').write('{number}')\n"
            "time.sleep(0.01)\n"
            "value = int(open(place).read())\n"
            f"print(value - {number % 3})\n"
        )
        fill(given / f"{number:02}", {"main.py": program, "expected.txt": f"{number}\n", "prompt.txt": "fix main.py\n"})
    settings = structs.replace(Settings(), repair=structs.replace(Settings().repair, max_order=1, workers=1))
    told = []
    for jobs in (1, 6):
        results = solve(given, tmp_path / f"out {jobs}", settings=settings, jobs=jobs).results
        told.append([(each.name, each.status, each.verdict, each.changed_files, each.verified) for each in results])
    assert told[0] == told[1]
    assert {status for _, status, *_ in told[0]} == {"solved", "passes"}


def test_a_rate_limit_slows_the_batch_and_fails_nothing(tmp_path: Path) -> None:
    """Far more refusals than one run alone would bear."""
    given = many(tmp_path / "given", 4, {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    asked = iter(range(10_000))

    def limited(body: dict[str, object]) -> ServerReply:
        return (
            right(body)
            if next(asked) % 3 == 2
            else ServerReply(
                status=429, headers={"retry-after": "0.05"}, body={"error": {"message": "Slow down.", "type": "tokens"}}
            )
        )

    with GroqServer(limited) as server:
        settings = settings_for(server)
        settings = structs.replace(settings, llm=structs.replace(settings.llm, max_attempts=2, retry_budget_s=1.0))
        batch = solve(given, tmp_path / "out", settings=settings, host=host(), offline=False, jobs=4)
    assert {status for _, status in rows(batch)} == {"solved"}
    assert len(server.requests) == 12


def test_at_the_budget_it_stops_and_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 4, {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    out = tmp_path / "out"
    usage = {"prompt_tokens": 4000, "completion_tokens": 2000, "total_tokens": 6000}

    def dear(body: dict[str, object]) -> ServerReply:
        reply = right(body)
        assert isinstance(reply.body, dict)
        return replace(reply, body={**reply.body, "usage": usage})

    with GroqServer(dear) as server:
        common = {"settings": settings_for(server), "host": host(), "offline": False}
        first = solve(given, out, max_tokens=20_000, **common)  # type: ignore[arg-type]
        assert (first.code, first.ended) == (4, "budget")
        assert rows(first) == [("1", "solved"), ("2", "solved"), ("3", "limit")]
        last = [*first.results][-1]
        assert last.status == "limit"
        assert last.reason.startswith("The batch's budget is used up: ")
        assert sum(item.tokens for item in first.results) == 12_000
        watch = Watched()
        again = solve(given, out, mode="resume", max_tokens=100_000, watch=watch, **common)  # type: ignore[arg-type]
    assert (again.code, len(again.results)) == (0, 4)
    assert len(watch.starts) == 4 - sum(item.solved for item in first.results)


def test_what_was_spent_on_unfinished_work_counts_when_it_is_gone_on_with(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 1, {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    out = tmp_path / "out"
    out.mkdir()
    (out / "spent.json").write_text('{"tokens": 11900, "cost_usd": 0.5}\n')  # of a supervisor that was killed
    with GroqServer(right) as server:
        common = {"settings": settings_for(server), "host": host(), "offline": False, "max_tokens": 12_000}
        batch = solve(given, out, mode="resume", **common)  # type: ignore[arg-type]
        assert (batch.ended, server.requests) == ("budget", [])
        assert next(iter(batch.results)).reason.startswith("The batch's budget is used up: 11,900 of 12,000")
        anew = solve(given, out, mode="fresh", **common)  # type: ignore[arg-type]
    assert (anew.code, anew.ended) == (0, "all")
    assert read_spent(out)[0] == next(iter(anew.results)).tokens
    assert read_spent(tmp_path) == (0, 0.0)


@pytest.mark.parametrize("mode", ["resume", "rerun_failed"])
def test_both_ways_of_going_on_count_what_was_spent(mode: Mode, tmp_path: Path) -> None:
    given = many(tmp_path / "given", 1, {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    out = tmp_path / "out"
    with GroqServer(right) as server:
        common = {"settings": settings_for(server), "host": host(), "offline": False, "max_tokens": 12_000}
        solve(given, out, settings=Settings())  # without a model, nothing comes of it
        (out / "spent.json").write_text('{"tokens": 11900, "cost_usd": 0.5}\n')
        batch = solve(given, out, mode=mode, **common)  # type: ignore[arg-type]
        assert (batch.ended, server.requests) == ("budget", [])


def test_the_copies_are_removed(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environ = {**host(key=None).environ, "TMPDIR": str(temporary)}
    solve(many(tmp_path / "given", 2), tmp_path / "out", host=replace(host(key=None), environ=environ))
    assert list(temporary.iterdir()) == []
    shutil.rmtree(temporary)


def test_what_has_no_check_and_what_is_not_the_only_repair_is_told(tmp_path: Path) -> None:
    longest = (
        "words = input().split()\nbest = words[0]\nfor word in words:\n"
        "    if len(word) > len(best):\n        best = words\nprint(best)\n"
    )
    fill(tmp_path / "none", {"main.py": "print(1)\n", "prompt.txt": "make it good\n"})
    fill(tmp_path / "two", {"main.py": longest, "input.txt": "ab cde\n", "expected.txt": "cde\n"})
    fill(tmp_path / "shell", {"count.sh": "echo 1\n", "expected.txt": "2\n"})
    batch = solve(tmp_path, tmp_path / "out", settings=Settings())
    none, shell, two = batch.results
    assert (none.name, none.status, none.reason) == ("none", "failed", NO_CHECK)
    assert (shell.name, shell.check, shell.reason) == (
        "shell",
        "bash count.sh",
        "needs a model: line 1: expected `2`, got `1`",
    )
    assert (two.name, two.status) == ("two", "solved")
    assert [note.split(":")[0] for note in two.notes] == [NOT_ALONE]

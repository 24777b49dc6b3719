"""Runs that are recorded, and runs again from the recording: the real command line, another directory, no key."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from codur.errors import UsageError
from codur.llm.replay import read_recording
from tests.cli.kit import Ran, codur, the_object
from tests.runs.kit import KEY, MEDIAN_ODD_ONLY, NEEDS_MODEL, contents, fill
from tests.session.kit import by_content, edit, place
from tests.support.groq_server import error


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, dict[str, str]]:
    """The result of a run that took two attempts, its recording, and the files that it left."""
    directory = tmp_path_factory.mktemp("recorded")
    file = directory / "exchange.jsonl"
    with place(directory) as here:
        done = here.run("main.py is wrong", "--json", "--record", str(file))
        assert done.code == 0, done.err
        return json.loads(done.out), file, contents(here.project)


def again(directory: Path, file: Path, *words: str, files: Any = NEEDS_MODEL) -> tuple[Ran, dict[str, str]]:
    project, home = directory / "elsewhere", directory / "home"
    project.mkdir(parents=True)
    home.mkdir()
    fill(project, files)
    done = codur("main.py is wrong", "--replay", str(file), *words, cwd=project, home=home, CODUR_REPAIR__MODE="off")
    return done, contents(project)


def test_a_replay_does_the_same_with_no_key_and_no_network(recorded: Any, tmp_path: Path) -> None:
    first, file, left = recorded
    done, files = again(tmp_path, file, "--json")
    assert done.code == 0, done.err
    second = the_object(done.out)
    assert files == left
    for name in ("outcome", "solved_by", "iterations", "model_calls", "usage", "diff", "changed_files"):
        assert second[name] == first[name]
    assert [step["node"] for step in second["route"]] == [step["node"] for step in first["route"]]
    assert second["notes"] == first["notes"]
    shown, _ = again(tmp_path / "shown", file)
    assert "model: gpt-oss-120b (openai/gpt-oss-120b): From the recording." in shown.err


def test_a_recording_is_for_its_owner_and_holds_no_secret(recorded: Any) -> None:
    _, file, _ = recorded
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY not in file.read_text()
    header, *lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert (header["codur_recording"], header["task"]) == (1, "main.py is wrong")
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["request"]["purpose"] for line in lines] == ["classification", "coding", "coding"]


def test_a_request_that_differs_is_answered_in_order_and_told(recorded: Any, tmp_path: Path) -> None:
    _, file, left = recorded
    changed = {**NEEDS_MODEL, "notes.txt": "A file that was not there.\n"}
    done, files = again(tmp_path, file, files=changed)
    assert done.code == 0, done.err
    assert files == {**left, "notes.txt": changed["notes.txt"]}
    assert "(coding) differs from the recorded one at line" in done.err
    assert "notes.txt" in done.err


def test_a_request_that_is_not_on_record_ends_the_run(recorded: Any, tmp_path: Path) -> None:
    _, file, _ = recorded
    short = tmp_path / "short.jsonl"
    short.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))
    done, files = again(tmp_path, short)
    assert done.code == 3
    assert files == dict(NEEDS_MODEL)
    assert "Request 2 (coding) is not on record: all of the recording is used up" in done.err


def test_failures_are_played_again_and_their_waits_left_out(tmp_path: Path) -> None:
    replies = [
        error(429, "Slow down.", retry_after=0.1),
        error(503, "Busy."),
    ]

    def answers(body: Any) -> Any:
        return replies.pop(0) if replies else by_content(body)

    file = tmp_path / "exchange.jsonl"
    with place(tmp_path, answers) as here:
        assert here.run("main.py is wrong", "--record", str(file)).code == 0
    assert sum("failure" in json.loads(line) for line in file.read_text().splitlines()) == 2
    slow = file.read_text().replace('"retry_after_s": 0.1', '"retry_after_s": 100')
    file.write_text(slow)
    (tmp_path / "again").mkdir()
    done, _ = again(tmp_path / "again", file, "--json")
    assert done.code == 0, done.err
    result = the_object(done.out)
    assert result["usage"]["retries"] == 2
    assert result["duration_s"] < 90


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--replay", "missing.jsonl"], 2, "missing.jsonl: no such file or directory"),
        (["--replay", "main.py"], 2, "main.py: is not a recording of a run"),
        (["--replay", "x", "--record", "y"], 2, "--replay and --record cannot be given together"),
        (["--replay", "x", "--offline"], 2, "--replay and --offline cannot be given together"),
        (["--record", "main.py"], 2, "main.py: is there already"),
        (["--record", "no/such/place"], 2, "no such file or directory"),
    ],
)
def test_what_cannot_be_recorded_or_replayed_is_told(words: list[str], code: int, said: str, tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    fill(project, NEEDS_MODEL)
    done = codur("main.py is wrong", *words, cwd=project, home=home)
    assert (done.code, said in done.err) == (code, True), done.err
    assert contents(project) == dict(NEEDS_MODEL)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}\n",
        "[]\n",
        '{"codur_recording": 1}\n',
        "null\n",
        '{"codur_recording": 1, "task": "", "workspace": ""}\n{"number": 1}\n',
    ],
)
def test_a_file_that_is_no_recording_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(UsageError, match="is not a recording of a run"):
        read_recording(file)


def test_a_recording_of_a_later_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text('{"codur_recording": 2, "version": "9"}\n')
    with pytest.raises(UsageError, match="another version of Codur"):
        read_recording(file)


# --- the requests as they are sent ------------------------------------------------------------------------------------


def test_requests_are_shown_as_they_are_sent_and_kept(tmp_path: Path) -> None:
    escaped = {**NEEDS_MODEL, "main.py": f"{NEEDS_MODEL['main.py']}# \x1b[31m {KEY}\n"}
    with place(tmp_path, files=escaped) as here:
        done = here.run("main.py is wrong", "--show-prompts")
        assert done.code == 0, done.err
        assert "request to gpt-oss-120b (openai/gpt-oss-120b), coding:" in done.err
        assert "--- system" in done.err
        assert "raise NotImplementedError" in done.err
        assert "\x1b[31m" not in done.err
        assert KEY not in done.err
        shown = here.here("show", "--prompts")
        assert "request to gpt-oss-120b (openai/gpt-oss-120b), coding:" in shown.out
        assert "request to" not in here.here("show").out
        kinds = [event["event"] for event in json.loads(here.here("show", "--json", "--prompts").out)["trace"]]
        assert kinds.count("model_prompted") == 3
        assert "model_prompted" not in here.here("show", "--json").out


def test_requests_are_events_of_the_stream_only_if_asked_for(tmp_path: Path) -> None:
    def prompted(out: str) -> list[str]:
        events = [json.loads(line) for line in out.splitlines()]
        return [event["purpose"] for event in events if event["event"] == "model_prompted"]

    with place(tmp_path, lambda body: edit(MEDIAN_ODD_ONLY) if body.get("tools") else error(400)) as here:
        asked = here.run("main.py is wrong", "--json-stream", "--show-prompts", "--max-llm-calls", "1")
        plain = here.run("main.py is wrong", "--json-stream", "--max-llm-calls", "1")
        whole = here.run("main.py is wrong", "--json", "--show-prompts", "--max-llm-calls", "1")
    assert "classification" in prompted(asked.out)
    assert "request to" not in asked.err
    assert prompted(plain.out) == []
    assert "request to" in whole.err
    the_object(whole.out)

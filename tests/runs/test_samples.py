"""Several answers to one request side by side: judged in copies, the first that holds ends the others."""

from __future__ import annotations

import json
import os
import runpy
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import CodingSettings
from codur.events import Event, Note, ignore
from codur.questions import Answer
from codur.sandbox.cancel import CancelToken
from codur.session.record.exchanges import Exchanges
from codur.session.task_run import run_task
from codur.types import Limits, Task
from tests.runs.kit import (
    EDIT,
    MEDIAN_ODD_ONLY,
    MEDIAN_RIGHT,
    NEEDS_MODEL,
    Played,
    contents,
    fill,
    host,
    play,
    settings_for,
)
from tests.support.groq_server import GroqServer, ServerReply, calls, error, hold

WRONG = "def median(values):\n    return None\n"
HANGS = "def median(values):\n    while True:\n        pass\n"
LITTERS = 'def median(values):\n    open("litter.txt", "w").write("x")\n    return 0\n'
TASK = "main.py is wrong"


def answer(code: str) -> ServerReply:
    return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))


class Script:
    """Classifies, then gives the answers in turn, in rounds; a request is known by its temperature."""

    def __init__(self, *answers: ServerReply) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()

    def __call__(self, body: Any) -> ServerReply:
        if not body.get("tools"):
            return EDIT
        with self._lock:
            return self._answers.pop(0) if self._answers else error(400, "There are no answers left.")


def by_temperature(answers: dict[float, ServerReply]) -> Callable[[Any], ServerReply]:
    return lambda body: answers[body["temperature"]] if body.get("tools") else EDIT


def sampled(directory: Path, replies: Any, count: int | str, **given: Any) -> Played:
    coding = CodingSettings(samples=count, **given.pop("coding", {}))  # type: ignore[arg-type]
    sections = {"agents": {"coding": coding}, **given.pop("sections", {})}
    return play(
        directory, given.pop("files", NEEDS_MODEL), given.pop("prompt", TASK), replies, sections=sections, **given
    )


def asked(run: Played) -> list[Any]:
    """The bodies of the requests for edits."""
    return [request.body for request in run.requests if request.body.get("tools")]


def notes(run: Played) -> list[str]:
    return [event.text for event in run.events if isinstance(event, Note)]


def test_one_that_holds_is_enough(tmp_path: Path) -> None:
    replies = {0.2: answer(WRONG), 0.47: answer(MEDIAN_ODD_ONLY), 0.73: answer(MEDIAN_RIGHT), 1.0: answer(LITTERS)}
    run = sampled(tmp_path, by_temperature(replies), 4)
    assert (run.result.outcome, run.result.iterations, run.nodes.count("coding")) == ("done", 1, 1)
    assert sorted(body["temperature"] for body in asked(run)) == [0.2, 0.47, 0.73, 1.0]
    assert len({json.dumps(body["messages"]) for body in asked(run)}) == 1
    assert run.result.changed_files == ("main.py",)
    assert MEDIAN_RIGHT in run.files["main.py"]
    assert set(run.files) == set(NEEDS_MODEL)
    assert run.result.usage.calls == 5


def test_the_first_that_holds_ends_the_others(tmp_path: Path) -> None:
    never = hold(answer(WRONG))
    run = sampled(tmp_path, by_temperature({0.2: never, 0.6: answer(MEDIAN_RIGHT), 1.0: never}), 3)
    assert run.result.outcome == "done"
    assert "3 answers side by side: 1 judged, 2 ended, as one holds" in notes(run)
    assert run.result.usage.calls == 4  # what was broken off counts, too
    assert run.result.usage.prompt_tokens > 4 * 100


def test_a_program_that_hangs_is_ended_with_its_answer(tmp_path: Path) -> None:
    run = sampled(tmp_path, by_temperature({0.2: answer(HANGS), 1.0: answer(MEDIAN_RIGHT)}), 2)
    assert run.result.outcome == "done"
    assert not [line for line in _places(of=os.getpid()) if "codur-scratch" in line]


def _places(*, of: int) -> list[str]:
    """Where the processes work that a process started and that have not ended, and those that they started."""
    found, waiting = [], [of]
    while waiting:
        children = Path(f"/proc/{waiting.pop()}/task").glob("*/children")
        started = [word for path in children for word in path.read_text().split()]
        waiting += map(int, started)
        found += [str(place.readlink()) for word in started if (place := Path(f"/proc/{word}/cwd")).exists()]
    return found


def test_equal_answers_are_judged_once(tmp_path: Path) -> None:
    run = sampled(
        tmp_path,
        Script(*[answer(WRONG)] * 3, answer(WRONG.replace("None", "0"))),
        4,
        limits=Limits(max_iterations=1, max_llm_calls=20),
    )
    assert run.result.outcome == "limit"
    assert "4 answers side by side: 2 judged, 2 the same as another" in notes(run)
    assert run.files == NEEDS_MODEL


def test_what_came_furthest_is_the_next_start_and_what_differs_is_told(tmp_path: Path) -> None:
    first = [answer(LITTERS), answer(MEDIAN_ODD_ONLY), answer(WRONG)]
    run = sampled(tmp_path, Script(*first, *[answer(MEDIAN_RIGHT)] * 3), 3)
    assert (run.result.outcome, run.result.iterations, run.nodes.count("coding")) == ("done", 2, 2)
    (attempt,) = run.result.attempts
    assert "return sorted(values)[len(values) // 2]" in attempt.diff
    told = asked(run)[3]["messages"][-1]["content"]
    assert "On disk now, and shown above: the files with the change of attempt 1." in told
    assert "Other answers to that request, all put back:\n- failed at output line 1" in told
    assert "+    return None" in told
    assert "+    return 0" in told


def test_auto_begins_with_one_and_asks_for_more_after_a_failure(tmp_path: Path) -> None:
    run = sampled(tmp_path, Script(answer(WRONG), *[answer(LITTERS)] * 3, answer(MEDIAN_RIGHT)), "auto")
    assert (run.result.outcome, run.result.iterations) == ("done", 2)
    assert len(asked(run)) == 5
    assert "temperature" in asked(run)[0]


@pytest.mark.parametrize(
    ("limits", "more"), [(Limits(max_llm_calls=4), 2), (Limits(max_llm_calls=3), 1), (Limits(max_tokens=20_000), 1)]
)
def test_auto_asks_for_no_more_than_the_limits_pay_for(limits: Limits, more: int, tmp_path: Path) -> None:
    run = sampled(tmp_path, Script(*[answer(code) for code in (WRONG, LITTERS, MEDIAN_RIGHT)]), "auto", limits=limits)
    assert len(asked(run)) <= 1 + 2 * more
    assert run.result.model_calls <= limits.max_llm_calls
    assert not [text for text in notes(run) if "4 answers" in text]


def test_auto_asks_for_no_more_than_the_service_takes_at_once(tmp_path: Path) -> None:
    told = {
        "x-ratelimit-limit-tokens": "60000",
        "x-ratelimit-remaining-tokens": "24000",
        "x-ratelimit-reset-tokens": "1s",
    }

    def limited(code: str) -> ServerReply:
        reply = answer(code)
        return ServerReply(body=reply.body, headers=told)

    run = sampled(tmp_path, Script(*[limited(code) for code in (WRONG, LITTERS, MEDIAN_RIGHT, MEDIAN_RIGHT)]), "auto")
    assert run.result.outcome == "done"
    assert [text for text in notes(run) if text.startswith("2 answers side by side")]


def test_no_more_are_asked_for_than_calls_are_left(tmp_path: Path) -> None:
    run = sampled(tmp_path, Script(*[answer(WRONG)] * 8), 8, limits=Limits(max_llm_calls=4))
    assert run.result.usage.calls == 4
    assert notes(run)[-1].startswith("3 answers side by side")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"main.py": NEEDS_MODEL["main.py"]}, id="no check"),
        pytest.param({**NEEDS_MODEL, "main.py": "print(2)\nprint(2.5)\n"}, id="a green check"),
    ],
)
def test_where_no_check_can_judge_there_is_one_answer(files: dict[str, str], tmp_path: Path) -> None:
    change = calls(("replace_file_content", {"path": "main.py", "content": "print(2)\nprint(2.5)\n\n"}))
    run = sampled(tmp_path, Script(change, change, change), 3, files=files, prompt="refactor main.py")
    assert len(asked(run)) == 1


def test_profiles_take_turns(tmp_path: Path) -> None:
    coding = {"sample_profiles": ("gpt-oss-120b", "gpt-oss-20b")}
    run = sampled(tmp_path, Script(*[answer(WRONG)] * 3, answer(MEDIAN_RIGHT)), 4, coding=coding)
    assert run.result.outcome == "done"
    pairs = sorted((body["model"], body["temperature"]) for body in asked(run))
    assert [model for model, _ in pairs] == ["openai/gpt-oss-120b"] * 2 + ["openai/gpt-oss-20b"] * 2
    assert [heat for _, heat in pairs][1::2] == [1.0, 1.0]


def test_with_a_named_agent_no_other_service_is_asked(tmp_path: Path) -> None:
    coding = {"sample_profiles": ("claude-sonnet", "gpt-oss-20b")}
    run = sampled(tmp_path, Script(*[answer(MEDIAN_RIGHT)] * 4), 4, coding=coding, agent="llm:gpt-oss-120b")
    assert run.result.outcome == "done"
    assert {body["model"] for body in asked(run)} == {"openai/gpt-oss-20b"}


def test_a_question_is_put_once_and_the_answer_told_to_all(tmp_path: Path) -> None:
    question = calls(("ask_user", {"question": "Which median?"}))
    asked_for: list[str] = []

    def consult(question: Any) -> Answer:
        asked_for.append(question.text)
        return Answer(decision="answer", text="the usual one")

    script = Script(answer(WRONG), question, question, *[answer(MEDIAN_RIGHT)] * 3)
    run = sampled(tmp_path, script, 3, consult=consult)
    assert (run.result.outcome, asked_for) == ("done", ["Which median?"])
    assert all("the usual one" in body["messages"][-1]["content"] for body in asked(run)[3:])


def test_one_that_gives_up_does_not_speak_for_the_others(tmp_path: Path) -> None:
    gives_up = calls(("cannot", {"reason": "It is too hard."}))
    run = sampled(tmp_path, Script(gives_up, answer(WRONG), answer(MEDIAN_RIGHT)), 3)
    assert run.result.outcome == "done"
    (tmp_path / "again").mkdir()
    run = sampled(tmp_path / "again", Script(gives_up, gives_up, gives_up), 3)
    assert (run.result.outcome, len(asked(run))) == ("not_achieved", 3)
    assert "It is too hard." in run.result.reason


def test_a_look_shows_what_one_answer_may_see(tmp_path: Path) -> None:
    look = calls(("look", {"at": [".env", "main.py"]}))
    script = Script(look, look, answer(MEDIAN_RIGHT), answer(MEDIAN_RIGHT))
    run = sampled(tmp_path, script, 2, files={**NEEDS_MODEL, ".env": "KEY=canary-7\n"})
    assert run.result.outcome == "done"
    assert "canary-7" not in json.dumps([request.body for request in run.requests])
    assert "===== main.py" in json.dumps(asked(run)[-1])


def test_if_nobody_answers_the_run_ends_as_with_one(tmp_path: Path) -> None:
    run = sampled(tmp_path, Script(*[error(401, "No such key.")] * 8), 2)
    assert (run.result.outcome, run.result.exit_code) == ("no_model", 3)
    assert run.files == NEEDS_MODEL


def test_a_run_that_is_stopped_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))  # where no other run is
    project = fill(tmp_path / "project", NEEDS_MODEL)
    cancel = CancelToken()
    with GroqServer(by_temperature({0.2: answer(HANGS), 1.0: hold(answer(MEDIAN_RIGHT))})) as server:
        settings = settings_for(server, agents={"coding": CodingSettings(samples=2)})

        def stop() -> None:
            server.holding.wait()
            cancel.cancel()

        stopper = threading.Thread(target=stop)
        stopper.start()
        task = Task(prompt=TASK, workspace=str(project), limits=Limits())
        result = run_task(task, settings, host=host(cancel=cancel), emit=ignore)
        stopper.join()
    assert (result.outcome, contents(project)) == ("interrupted", NEEDS_MODEL)
    assert not list((tmp_path / "temporary").iterdir())


def test_a_recorded_run_is_the_same_again(tmp_path: Path) -> None:
    project, again, file = (
        fill(tmp_path / "one", NEEDS_MODEL),
        fill(tmp_path / "two", NEEDS_MODEL),
        tmp_path / "r.jsonl",
    )
    never = hold(answer(WRONG))
    with GroqServer(by_temperature({0.2: never, 0.6: answer(MEDIAN_RIGHT), 1.0: never})) as server:
        settings = settings_for(server, agents={"coding": CodingSettings(samples=3)})
        recorded = host(exchanges=Exchanges(record=file))
        run_task(Task(prompt=TASK, workspace=str(project), limits=Limits()), settings, host=recorded, emit=ignore)
        sent = len(server.requests)
        replayed = host(key=None, exchanges=Exchanges(replay=file))
        result = run_task(
            Task(prompt=TASK, workspace=str(again), limits=Limits()), settings, host=replayed, emit=ignore
        )
        assert len(server.requests) == sent
    assert (result.outcome, contents(again)) == ("done", contents(project))


def test_a_workspace_that_cannot_be_copied_gets_one_answer(tmp_path: Path) -> None:
    project = fill(tmp_path, NEEDS_MODEL)
    with (project / "large.bin").open("wb") as stream:
        stream.truncate(300 << 20)
    events: list[Event] = []
    with GroqServer(Script(answer(MEDIAN_RIGHT))) as server:
        settings = settings_for(server, agents={"coding": CodingSettings(samples=3)})
        task = Task(prompt=TASK, workspace=str(project), limits=Limits())
        result = run_task(task, settings, host=host(), emit=events.append)
    assert (result.outcome, result.model_calls) == ("done", 2)
    said = "the workspace holds more than 256 MiB, too much to copy; so only one answer is asked for"
    assert Note(level="warning", text=said) in events


BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "samples.py"), run_name="benchmark")


@pytest.mark.parametrize(
    ("right", "limited", "outcome"), [(1.0, False, "done"), (1.0, True, "done"), (0.0, False, "limit")]
)
def test_the_benchmark_on_a_few_tasks(right: float, limited: bool, outcome: str, tmp_path: Path) -> None:
    service = BENCHMARK["Service"](right=right, answer_s=0.0, limited=limited)
    rows = [BENCHMARK["run"](tmp_path / str(number), service, 8) for number in range(2)]
    assert [row.result.outcome for row in rows] == [outcome] * 2
    # Temporary files of others are there, too; only what runs is looked at.
    assert [what for row in rows for what in row.left if what.startswith(("process", "thread"))] == []

"""What a challenge leaves behind can be examined: trace, attempts, result, exchange and log, by `codur show` too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.kept_run import kept_place
from tests.cli.kit import Ran, codur
from tests.runs.kit import KEY, MEDIAN_ODD_ONLY, NEEDS_MODEL, fill
from tests.support.groq_server import GroqServer, ServerReply, calls

CHALLENGE = {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"}
HALF = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))


def solved(place: Path, *words: str, log: str = "false") -> Ran:
    """`codur solve` of two challenges that a model half solves, into `out`."""
    replies: list[ServerReply] = [HALF] * 12
    words = ("solve", "given", "--results", "out", "--jobs", "1", "--max-iterations", "2", *words)
    (place / "home").mkdir(exist_ok=True)
    with GroqServer(replies) as server:
        service = {"CODUR_PROVIDERS__GROQ__BASE_URL": server.url, "GROQ_API_KEY": KEY, "CODUR_REPAIR__MODE": "off"}
        return codur(*words, cwd=place, home=place / "home", CODUR_RUNTIME__DEBUG_LOG=log, **service)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the results of a batch in which nothing was solved."""
    place = tmp_path_factory.mktemp("batch")
    fill(place / "given" / "median", CHALLENGE)
    fill(place / "given" / "set" / "median", CHALLENGE)
    ran = solved(place, "--record", log="true")
    assert ran.code == 1, ran.err
    return place


def test_trace_attempts_result_exchange_and_log_stay_with_the_results(place: Path) -> None:
    kept = place / "out" / "runs" / "median"
    result = json.loads((kept / "result.json").read_text())
    assert result["verdict"]["status"] == "failed"
    attempts = (kept / "attempts.txt").read_text()
    assert "attempt 1 by " in attempts
    assert "+    return sorted(values)[len(values) // 2]" in attempts
    assert "verdict: 50% of the check" in attempts
    trace = [json.loads(line) for line in (kept / "trace.jsonl").read_text().splitlines()]
    assert {"node_entered", "model_prompted", "check_ran"} <= {event["event"] for event in trace}
    exchange = (kept / "exchange.jsonl").read_text()
    assert "replace_function" in exchange
    log = (kept / "codur_debug.log").read_text()
    assert "model_prompted" in log
    assert "check_ran" in log
    assert not any(KEY in path.read_text() for path in kept.iterdir() if path.is_file())


@pytest.mark.parametrize("name", ["median", "set/median", "runs/median"])
def test_show_reads_it(name: str, place: Path) -> None:
    ran = codur("show", f"out/{name}", cwd=place, home=place / "home")
    assert ran.code == 0, ran.err
    assert "outcome: limit" in ran.out
    assert str(place / "given" / ("set/median" if "set" in name else "median")) in ran.out
    assert "+    return sorted(values)[len(values) // 2]" in ran.out
    assert "model_prompted" not in ran.out


def test_show_gives_it_as_json_with_the_requests(place: Path) -> None:
    ran = codur("show", "out/median", "--prompts", "--json", cwd=place, home=place / "home")
    value = json.loads(ran.out)
    assert value["result"]["attempts"][0]["diff"]
    assert any(event["event"] == "model_prompted" for event in value["trace"])


@pytest.mark.parametrize("name", ["out/nothing", "out/."])
def test_what_is_not_there_is_told_with_what_is(name: str, place: Path) -> None:
    ran = codur("show", name, cwd=place, home=place / "home")
    assert ran.code == 2
    assert "median, set/median" in ran.err


def test_the_page_links_it(place: Path) -> None:
    page = (place / "out" / "report.html").read_text()
    assert '"kept":"runs/median"' in page.replace('"kept": ', '"kept":')


def test_requests_are_shown_where_that_is_asked_for(tmp_path: Path) -> None:
    fill(tmp_path / "given" / "median", CHALLENGE)
    ran = solved(tmp_path, "--show-prompts")
    assert "median:\nrequest to " in ran.err
    kept = tmp_path / "out" / "runs" / "median"
    assert not (kept / "exchange.jsonl").exists()
    assert not (kept / "codur_debug.log").exists()


@pytest.mark.parametrize("kept", ["../runs/x", "javascript:alert(1)", "runs/..", "runs/a/b", "", "runs/ x"])
def test_what_results_of_others_name_is_no_link(kept: str) -> None:
    assert kept_place(ChallengeResult(name="x", directory="/x", key="k", status="failed", kept=kept)) == ""

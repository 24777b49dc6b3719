"""`codur report`: the page and the tables of batches, again."""

from __future__ import annotations

import json
from pathlib import Path

from codur.batch.results.challenge_record import ChallengeResult
from tests.batch.report_kit import HOSTILE, failed, hostile, solved
from tests.cli.kit import codur, codur_here


def batch(directory: Path, *results: ChallengeResult, tail: str = "") -> Path:
    """A results directory."""
    directory.mkdir()
    text = "".join(json.dumps(item.to_json()) + "\n" for item in results)
    (directory / "results.jsonl").write_text(text + tail)
    return directory


def test_it_writes_beside_the_results(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "out", solved("a"), failed("b", calls=2, tokens=30, cost_usd=0.5), tail='{"torn')
    ran = codur("report", "out", cwd=tmp_path, home=home)
    assert (ran.code, ran.out) == (
        0,
        "1 of 2 solved, 1 without a model; 2 model calls, 30 tokens, $0.5000\nout/report.md\nout/report.html\n",
    )
    place = tmp_path / "out" / "results.jsonl"
    assert ran.err == f"{place}:3: the last line was not written to its end; it is left out\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.md", "results.jsonl"]
    assert (tmp_path / "out" / "report.md").read_text().startswith("# codur solve: out\n")


def test_it_compares_several_batches(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "old", failed("a", cost_usd=0.5))
    batch(tmp_path / "new", solved("a", cost_usd=0.25))
    ran = codur_here("report", "old", "new", "--junit", "j.xml", cwd=tmp_path, home=home)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "1 of 2 solved, 1 without a model; 0 model calls, 0 tokens, $0.7500",
        "  default (new): 1 of 1 challenge, $0.2500 for each",
        "  default (old): 0 of 1 challenge",
        "  by any of them: 1",
        "codur-report/report.md",
        "codur-report/report.html",
        "j.xml",
    ]
    assert "| a | ✔ | ✘ |" in (tmp_path / "codur-report" / "report.md").read_text()


def test_the_same_results_in_another_order_give_the_same_files(tmp_path: Path, home: Path) -> None:
    results = [failed("b", agent="x"), solved("a", attempt=2), failed("a", agent="x"), solved("a"), solved("b")]
    written = []
    for name, given in (("one", results), ("two", results[::-1])):
        (tmp_path / name).mkdir()
        batch(tmp_path / name / "out", *given)
        assert codur_here("report", "out", "--junit", "out/j.xml", cwd=tmp_path / name, home=home).code == 0
        files = sorted((tmp_path / name / "out").glob("[jr]*.[xmh]*"))
        written.append({file.name: file.read_bytes() for file in files})
    assert [*written[0]] == ["j.xml", "report.html", "report.md"]
    assert written[0] == written[1]


def test_json(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "out", solved("a"), failed("a", attempt=2), tail="{}\n")
    ran = codur_here("report", "out", "--output", "there", "--json", cwd=tmp_path, home=home)
    told = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert told["written"] == ["there/report.md", "there/report.html"]
    assert told["notes"] == [f"{tmp_path / 'out' / 'results.jsonl'}:3: left out: it is damaged"]
    assert told["totals"]["by_status"] == {"solved": 1, "passes": 0, "failed": 1, "error": 0, "limit": 0}
    assert told["pass_at_k"][0] == {"agent": "default", "k": 1, "value": 0.5, "challenges": 1}


def test_nothing_readable(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "out", tail="not a result\n")
    ran = codur_here("report", "out", cwd=tmp_path, home=home)
    place = tmp_path / "out" / "results.jsonl"
    assert ran.code == 2
    assert ran.err.splitlines()[0] == f"✘ {place}: no usable result; {place}:1: left out: it is no JSON"
    assert ran.err.splitlines()[1].startswith("→ ")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["results.jsonl"]


def test_words_are_taken_for_files_and_the_remedy_says_how_to_give_a_task(tmp_path: Path, home: Path) -> None:
    ran = codur_here("report", "the", "sales", cwd=tmp_path, home=home)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "✘ the: there is no such file")
    assert 'codur run "report …"' in ran.err


def test_a_place_that_cannot_be_written(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "out", solved("a"))
    (tmp_path / "file").write_text("")
    ran = codur_here("report", "out", "--output", "file", cwd=tmp_path, home=home)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "✘ file: cannot be written: file exists")


def test_no_text_of_a_result_reaches_the_terminal_as_it_is(tmp_path: Path, home: Path) -> None:
    batch(tmp_path / "out", *(hostile(text) for text in HOSTILE if len(text) < 1000))
    ran = codur_here("report", "out", cwd=tmp_path, home=home)
    assert ran.code == 0
    assert not {"\x1b", "\x00", "\u202e", "\u2028"}.intersection(ran.out + ran.err)

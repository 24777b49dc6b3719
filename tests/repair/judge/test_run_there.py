"""What is found out about a program in a warm worker's fork is what a process of its own finds out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codur.repair.candidates.candidates import Program
from codur.repair.choice.probing import EXAMPLES, Inputs, Prober
from codur.repair.evidence.tracing import run_traced
from codur.repair.judge.candidate_judge import Judge
from codur.structs import replace
from tests.repair.support import OUTPUT, Bench, bench

PART = "def twice(a):\n    '''\n    >>> twice(2)\n    4\n    '''\n    return a + a\n"
READING = "import sys\nfrom part import twice\nfor line in sys.stdin:\n    print(twice(int(line)))\n"
FAILING = "from part import twice\nprint(twice(3))\nprint([][twice(1)])\n"
DEEP = "def down(n):\n    return n and down(n - 1)\nprint(down(10_000))\n"
WRITING = "from part import twice\nopen('log', 'w').write(str(twice(1)))\nprint(open('log').read())\n"


def prepared(directory: Path, main: str) -> Bench:
    files = {"main.py": main, "part.py": PART, "input.txt": "1\n2\n", "expected.txt": "none\n"}
    return bench(directory, files, replace(OUTPUT, stdin_file="input.txt"))


class Asked:
    """A judge that keeps what it was told."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.told = judge, list[bytes | None]()

    def __call__(
        self, program: str, words: Sequence[str], seconds: float, versions: Sequence[Mapping[str, str]]
    ) -> list[bytes | None]:
        self.told = self.judge.run_there(program, words, seconds, versions)
        return self.told


@pytest.mark.parametrize(("main", "there"), [(READING, True), (FAILING, True), (DEEP, True), (WRITING, False)])
def test_traces_are_the_same(main: str, there: bool, tmp_path: Path) -> None:
    made = prepared(tmp_path, main)
    contents = made.contents()
    with Judge(made.checker, made.check, made.before, workers=1) as judge:
        judge.prepare()
        asked = Asked(judge)
        found = run_traced(made.checker, made.check, made.before, there=asked)
        assert [told is not None for told in asked.told] == [there]
    assert found == run_traced(made.checker, made.check, made.before)
    if there:
        assert made.contents() == contents


@pytest.mark.parametrize(
    ("main", "inputs"),
    [
        (READING, Inputs(entry="main.py", function="", given=("1\n", "5\nx\n", ""))),
        (READING, Inputs(entry="part.py", function="twice", given=("[1]", "['ab']", "[None]"))),
        (READING, Inputs(entry="part.py", function=EXAMPLES, given=())),
        ("import time\ntime.sleep(1)\n", Inputs(entry="main.py", function="", given=("", "1"))),
        (WRITING, Inputs(entry="main.py", function="", given=("",))),
    ],
)
def test_answers_are_the_same(main: str, inputs: Inputs, tmp_path: Path) -> None:
    made = prepared(tmp_path, main)
    versions = [{}, {"part.py": PART.replace("a + a", "a * 3")}, {"main.py": f"print(7)\n{main}"}, {"part.py": "("}]
    with Judge(made.checker, made.check, made.before, workers=2) as judge:
        judge.prepare()
        answers = Prober(made.checker, made.check, None, judge.run_there).answers(inputs, versions)
    assert answers == Prober(made.checker, made.check, None).answers(inputs, versions)
    assert len(set(answers[:2])) == 1 + ("twice" in main)


def test_without_workers_nothing_is_run_there(tmp_path: Path) -> None:
    made = prepared(tmp_path, READING)
    original = Program(texts={"main.py": READING})
    with Judge(made.checker, made.check, made.before) as judge:
        judge.prepare()
        assert judge.run_there("print()", (), 1.0, [original.texts, {}]) == [None, None]

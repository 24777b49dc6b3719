"""What versions of a program answer to generated inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.repair.choice.probing import EXAMPLES, Inputs, Prober
from codur.structs import replace
from tests.repair.support import OUTPUT, bench

PART = "def twice(a):\n    '''\n    >>> twice(2)\n    4\n    '''\n    return a + a\n"
READING = "import sys\nfrom part import twice\nfor line in sys.stdin:\n    print(twice(int(line)))\n"
SLEEPING = "import time\ntime.sleep(1)\n"
WRITING = "from part import twice\nopen('log', 'w').write(str(twice(1)))\nprint(open('log').read())\n"
TRIPLE = {"part.py": PART.replace("a + a", "a * 3")}


@pytest.mark.parametrize(
    ("main", "inputs", "expected"),
    [
        (
            READING,
            Inputs(entry="main.py", function="", given=("1\n", "5\nx\n", "")),
            [("2\n", "!ValueError", ""), ("3\n", "!ValueError", "")],
        ),
        (
            READING,
            Inputs(entry="part.py", function="twice", given=("[1]", "['ab']", "[None]")),
            [("2", "'abab'", "!TypeError"), ("3", "'ababab'", "!TypeError")],
        ),
        (READING, Inputs(entry="part.py", function=EXAMPLES, given=()), [("ok",), ("!",)]),
        (SLEEPING, Inputs(entry="main.py", function="", given=("",)), [("!TooLong",), ("!TooLong",)]),
        (WRITING, Inputs(entry="main.py", function="", given=("",)), [("2\n",), ("3\n",)]),
    ],
)
def test_answers(main: str, inputs: Inputs, expected: list[tuple[str, ...]], tmp_path: Path) -> None:
    files = {"main.py": main, "part.py": PART, "input.txt": "1\n2\n", "expected.txt": "none\n"}
    made = bench(tmp_path, files, replace(OUTPUT, stdin_file="input.txt"))
    answers = Prober(made.checker, made.check, None).answers(inputs, [{}, TRIPLE, {"part.py": "("}])
    assert answers[:2] == expected
    assert answers[2] != answers[0] or main == SLEEPING
    assert (tmp_path / "part.py").read_text() == PART

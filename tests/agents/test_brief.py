"""What the coding agent is told, as whole texts, and how it is cut to a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codur.agents.brief import CodingBrief, brief_text, question_text
from codur.agents.source import fit
from codur.types import Attempt, Check, Difference, Verdict

CHECK = Check(kind="output", argv=("{python}", "main.py"), expected_file="expected.txt", source="x")
RED = Verdict(
    status="failed",
    difference=Difference(line=2, expected="b", actual=None),
    expected="a\nb\n",
    actual="a\n",
    error='File "main.py", line 4, in show\nKeyError: 1',
)
BRIEF = CodingBrief(
    task="fix main.py",
    objective="",
    sources={"main.py": "print('a')\n", "data.txt": "1\n"},
    other_files=["notes.txt"],
    read_only=frozenset({"data.txt"}),
    python_version="3.12.1",
    inputs={"look": "two files"},
    check=CHECK,
    verdict=RED,
    attempts=(
        Attempt(
            number=1, by="codur-coding", summary="replace_function f in main.py", signature="s", error="KeyError: 1"
        ),
        Attempt(
            number=2, by="codur-coding", summary="replace_function g in main.py", signature="s", error="KeyError: 1"
        ),
    ),
    steer="Look elsewhere.",
)
WHOLE = """# Task
fix main.py

# Situation
Python 3.12.1. All paths are relative to the workspace.
`python main.py` must print exactly what expected.txt says (white space at line ends does not count). \
It is run after your edits. If it fails you see its output and may try again.
Other files, not shown: notes.txt

# The check now
Result: failed: KeyError: 1

Error:
File "main.py", line 4, in show
KeyError: 1

First difference, output line 2:
  expected: b
  actual:   (no such line)

Expected output:
a
b

Actual output:
a

# Result of step look
two files

# Earlier attempts, undone unless their result was better
Attempt 1 (codur-coding): replace_function f in main.py
Outcome: KeyError: 1
Attempt 2 (codur-coding): replace_function g in main.py
Outcome: same failure as attempt 1

# Hint
Look elsewhere.

# Files
===== main.py (1 lines)
print('a')
===== end of main.py

===== data.txt (1 lines, read only)
1
===== end of data.txt"""


def test_the_whole_message() -> None:
    assert brief_text(BRIEF, budget_tokens=3000) == WHOLE


LONG = "\n\n\n".join(f"def part_{number}(x):\n    y = x + {number}\n    return y * 2" for number in range(60)) + "\n"


def test_a_long_file_keeps_the_parts_in_question() -> None:
    (excerpt,) = fit({"big.py": LONG}, budget_chars=len(LONG) * 2 // 3, focus={"part_59"})
    assert not excerpt.whole
    assert "    y = x + 59\n" in excerpt.text
    assert "not shown: part_" in excerpt.text


def test_a_place_in_a_traceback_is_kept() -> None:
    line = LONG[: LONG.index("x + 57")].count("\n") + 1
    (excerpt,) = fit({"big.py": LONG}, budget_chars=len(LONG) * 2 // 3, focus={f"big.py:{line}"})
    assert "    y = x + 57\n" in excerpt.text


def test_a_file_that_does_not_parse_is_cut_at_its_end() -> None:
    (excerpt,) = fit({"big.py": "def (:\n" + LONG}, budget_chars=400)
    assert excerpt.text.startswith("def (:\n")
    assert excerpt.text.endswith("more lines not shown")


@given(st.integers(0, 6000), st.dictionaries(st.sampled_from(["a.py", "b.py", "c.txt"]), st.text(max_size=3000)))
def test_the_budget_holds(budget: int, sources: dict[str, str]) -> None:
    excerpts = fit(sources, budget_chars=budget)
    assert sum(len(item.text) for item in excerpts) <= budget
    for item in excerpts:
        assert not item.whole or item.text == sources[item.path]


def test_a_question_carries_the_files_that_it_is_about() -> None:
    text = question_text(
        "what is it for?",
        "",
        sources={"main.py": "print('a')\n"},
        inputs={},
        files=["main.py", "other.py"],
        budget_tokens=500,
    )
    assert text == (
        "# Task\nwhat is it for?\n\n# Files\n===== main.py (1 lines)\nprint('a')\n===== end of main.py\n\n"
        "# Other files\nother.py"
    )

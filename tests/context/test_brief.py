"""What the coding agent is told, as whole texts, and how it is cut to a budget."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codur.checks.describe import diff_text, error_text
from codur.context.brief import CodingBrief, brief_text, question_text
from codur.context.excerpts import fit
from codur.context.index import RepositoryIndex
from codur.context.outline import Outline, outline_of
from codur.context.selection import Clues, Want, select
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import plain
from codur.structs import replace
from codur.types import Attempt, Check, Difference, Verdict
from codur.workspace.workspace import Workspace

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
    outline=Outline(names=["main.py", "notes.txt"]),
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
Python 3.12.1. All paths are relative to the workspace, which is the working directory.
`python main.py` must print exactly what expected.txt says (white space at line ends does not count). \
It is run after your edits; if it fails and an attempt is left, you see its output and try again, \
from edits that let more of it pass.

# Files
===== main.py (1 line)
print('a')
===== end of main.py

===== data.txt (1 line, read only)
1
===== end of data.txt

# Other files, not shown
Names only: notes.txt

# Result of step look
two files

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

# Earlier attempts, undone unless their result was better
Attempt 1 (codur-coding): replace_function f in main.py
Outcome: KeyError: 1
Attempt 2 (codur-coding): replace_function g in main.py
Outcome: same failure as attempt 1

# Hint
Look elsewhere."""


def test_the_whole_message() -> None:
    assert brief_text(BRIEF, budget_tokens=3000).text == WHOLE


def test_only_the_end_differs_between_attempts() -> None:
    files = {f"part_{number}.py": LONG for number in range(3)}
    wants = [Want(path=path, line=5 * place + 1) for path in files for place in (3, 40, 55)]
    first = replace(BRIEF, sources=files, wants=wants, attempts=(), steer="", inputs={})
    diff = "".join(f"+line {number}\n" for number in range(200))
    later = replace(
        first, attempts=[Attempt(number=1, by="codur-coding", summary="x", error="E" * 1000, diff=diff)], steer="Think."
    )
    last = replace(later, will_retry=False)
    one, two, three = (brief_text(brief, budget_tokens=1500).text for brief in (first, later, last))
    assert one.startswith("# Task")
    assert "= x + 55" in one
    assert two.startswith(one)
    assert three == f"{two}\n\n# Last attempt\nThere is no further one."
    assert max(len(one), len(two), len(three)) <= 1500 * 3.5


def test_what_may_hold_secrets_is_named_and_not_shown() -> None:
    assert (
        "Never shown, as they may hold secrets: .env"
        in brief_text(replace(BRIEF, withheld=[".env"]), budget_tokens=3000).text
    )


@pytest.mark.parametrize("budget", [300, 600, 1000, 2000, 4000])
def test_the_message_keeps_to_its_budget(budget: int) -> None:
    noisy = replace(
        BRIEF,
        sources={"big.py": LONG, "more.py": LONG},
        outline=Outline(names=[f"package/module_{number}.py" for number in range(500)]),
        inputs={"look": "line\n" * 3000},
        verdict=replace(RED, error="Error\n" * 400, expected="e\n" * 900, actual="a\n" * 900),
    )
    text = brief_text(noisy, budget_tokens=budget, source_tokens=500).text
    assert len(text) <= budget * 3.5 + 10
    assert text.startswith("# Task\nfix main.py")


def test_what_is_needed_may_take_more_than_what_is_useful() -> None:
    brief = replace(BRIEF, sources={"big.py": LONG, "more.py": LONG})
    useful = replace(brief, wants=[Want(path=path) for path in brief.sources])
    needed = replace(brief, wants=[Want(path=path, need="needed") for path in brief.sources])
    assert brief_text(useful, budget_tokens=8000, source_tokens=500).shown == {}
    assert set(brief_text(needed, budget_tokens=8000, source_tokens=500).shown) == {"big.py", "more.py"}


LONG = "\n\n\n".join(f"def part_{number}(x):\n    y = x + {number}\n    return y * 2" for number in range(60)) + "\n"


def line_of(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


def test_the_function_around_a_line_is_shown_whole() -> None:
    (excerpt,) = fit({"big.py": LONG}, budget_chars=400, wants=[Want(path="big.py", line=line_of(LONG, "x + 57"))])
    assert not excerpt.whole
    assert "def part_57(x):\n    y = x + 57\n    return y * 2" in excerpt.text
    assert "# … lines 1 to 285 not shown: part_0, " in excerpt.text


def test_a_comment_at_the_end_of_a_function_belongs_to_it() -> None:
    text = LONG.replace(
        "    return y * 2\n\n\ndef part_8(", "    return y * 2\n\n    # then nothing\n# of 8\n\ndef part_8("
    )
    (excerpt,) = fit({"big.py": text}, budget_chars=400, wants=[Want(path="big.py", line=line_of(text, "x + 7\n"))])
    assert "return y * 2\n\n    # then nothing\n" in excerpt.text
    assert "# of 8" not in excerpt.text


def test_a_comment_above_a_function_is_shown_and_hidden_with_it() -> None:
    """Requests were full of the comments of functions that they did not show."""
    text = "\n".join(f"# Words of {n}.\n@mark\ndef part_{n}(x):\n    return x + {n}\n\n" for n in range(60))
    (excerpt,) = fit({"big.py": text}, budget_chars=400, wants=[Want(path="big.py", line=line_of(text, "x + 7\n"))])
    assert "# Words of 7.\n@mark\ndef part_7(" in excerpt.text
    assert "# Words of 8." not in excerpt.text
    method = "  /**\n   * Says {0} and more that nobody asked for.\n   */\n\n  say{0}() {{\n    return {0};\n  }}\n\n"
    script = "// @ts-check\n\nclass A {\n" + "".join(method.format(n) for n in range(30)) + "}\n"
    wants = [Want(path="a.js", line=line_of(script, "say7()"))]
    (excerpt,) = fit({"a.js": script}, budget_chars=4000, wants=wants)
    assert "Says 7 and more that nobody asked for.\n   */\n\n  say7() {" in excerpt.text
    assert excerpt.text.count("Says ") == 1


def test_each_want_comes_before_the_next_file_is_shown_whole() -> None:
    wants = [Want(path="b.py", line=line_of(LONG, "x + 9\n")), Want(path="a.py"), Want(path="b.py", partly=True)]
    first, second = fit({"a.py": "x = 1\n" * 100, "b.py": LONG}, budget_chars=1000, wants=wants)
    assert (first.path, first.whole) == ("a.py", True)
    assert "= x + 9\n" in second.text
    assert not second.whole


LONG_CLASS = (
    'import os\n\nLIMIT = 3\n\n\nclass Big:\n    """A class."""\n\n    size = 1\n'
    + "".join(f"\n    def method_{number}(self):\n        return self.size + {number}\n" for number in range(40))
    + "\n\ndef after():\n    return 1\n"
)


def test_with_a_function_come_imports_and_the_constants_that_it_names() -> None:
    """What a module says of itself, or lists for others, took the room of functions."""
    about = "\n".join(f"{number} long words about the module" for number in range(9))
    head = f'"""{about}"""\n\nimport re\n\n__all__ = [\n    "rate",\n]\n\nRATE = 2\nOTHER = {"o" * 60!r}\n\n\n'
    text = f"{head}def rate(x):\n    return x * RATE\n\n\ndef other(x):\n    return x + OTHER  # {'x' * 60}\n"
    (shown,) = fit({"a.py": text}, budget_chars=2000, wants=[Want(path="a.py", line=21)])
    assert "import re\n" in shown.text
    assert "RATE = 2\n" in shown.text
    assert all(words not in shown.text for words in ("about the module", "OTHER = ", "def other"))


def test_code_that_is_shown_warns_nobody() -> None:
    """From Python 3.12 on a warning of the parser would stand in the terminal; here it is an error."""
    source = 'import re\n\nDIGITS = re.compile("\\d")\n\n\ndef f(text):\n    return DIGITS.match(text)\n'
    (excerpt,) = fit({"a.py": source}, budget_chars=1000, wants=[Want(path="a.py", line=6)])
    assert "DIGITS = re" in excerpt.text


def test_of_a_long_function_what_is_defined_in_it_is_shown_as_well() -> None:
    inner = "".join(f"    def step_{n}(x):\n" + "        x += 1\n" * 40 + "        return x\n\n" for n in range(4))
    text = f"def whole(x):\n{inner}    raise ValueError(x)\n\n\ndef other(x):\n    return x\n" + "    x += 1\n" * 200
    line = text[: text.index("    raise")].count("\n") + 1
    (shown,) = fit({"a.py": text}, budget_chars=6000, wants=[Want(path="a.py", line=line, need="needed")])
    assert [f"def step_{n}(x)" in shown.text for n in range(4)] == [True] * 4
    assert "def other" not in shown.text


def test_a_long_docstring_gives_way_where_its_function_is_only_useful() -> None:
    text = 'def rate(x):\n    """Say it.\n\n' + "    More words.\n" * 9 + '    """\n    return x\n\n\n' + "y = 1\n" * 90
    useful, needed = (
        fit({"a.py": text}, budget_chars=700, wants=[Want(path="a.py", line=1, need=need)])[0].text
        for need in ("useful", "needed")
    )
    assert needed.startswith(text.partition("    return")[0])
    assert useful.startswith('def rate(x):\n    """Say it.\n# … lines 3 to 13 not shown\n    return x\n')


def test_a_long_class_is_shown_method_by_method_with_the_imports() -> None:
    wants = [Want(path="c.py", line=line_of(LONG_CLASS, "+ 30"))]
    (excerpt,) = fit({"c.py": LONG_CLASS}, budget_chars=600, wants=wants)
    assert "    def method_30(self):\n        return self.size + 30\n" in excerpt.text
    assert excerpt.text.startswith("import os\n\nLIMIT = 3\n")
    assert "method_29(self)" not in excerpt.text
    assert "not shown: method_0, method_1, " in excerpt.text


def test_a_function_that_is_too_long_is_cut_around_the_line() -> None:
    text = "def long(x):\n" + "".join(f"    x += {number}\n" for number in range(500)) + "    return x\n"
    (excerpt,) = fit({"f.py": text}, budget_chars=800, wants=[Want(path="f.py", line=250)])
    assert "    x += 248\n" in excerpt.text
    assert excerpt.text.startswith("# … lines 1 to ")
    assert re.search(r"# … lines \d+ to \d+ not shown$", excerpt.text)


@pytest.mark.parametrize("text", ["def (:\n" + LONG, "{" * 500 + "\n" + LONG, "\x00\n" + LONG])
def test_a_file_that_does_not_parse_is_cut_at_its_end(text: str) -> None:
    (excerpt,) = fit({"big.py": text}, budget_chars=2000)
    assert excerpt.text.startswith(text.partition("\n")[0])
    assert re.search(r"# … lines \d+ to \d+ not shown$", excerpt.text)


NAMES = st.sampled_from(["a.py", "b.py", "c.txt"])
TEXTS = st.sampled_from([LONG, LONG_CLASS, "", "x", "\n", "a b\n" * 500, "é" * 3000]) | st.text(max_size=200)
WANTS = st.lists(st.builds(Want, path=NAMES, line=st.integers(0, 300), partly=st.booleans()), max_size=12)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 6000), st.dictionaries(NAMES, TEXTS), WANTS)
def test_the_budget_holds(budget: int, sources: dict[str, str], wants: list[Want]) -> None:
    excerpts = fit(sources, budget_chars=budget, wants=wants, frame=10)
    assert sum(len(item.text) + 10 for item in excerpts) <= max(budget, 0)
    assert [item.path for item in excerpts] == [path for path in sources if path in {item.path for item in excerpts}]
    for item in excerpts:
        assert not item.whole or item.text == sources[item.path]
        lines = re.split(r"\r\n?|\n", sources[item.path])
        for part in item.ranges:
            assert item.whole or "\n".join(lines[part.start - 1 : part.stop - 1]) in item.text


def test_what_was_asked_for_is_shown_whole_where_there_is_no_room() -> None:
    text = "def long(x):\n" + "".join(f"    x += {number}\n" for number in range(500)) + "    return x\n"
    wants = [Want(path="f.py", line=250, need="asked"), Want(path="g.py", line=1, need="needed")]
    (excerpt,) = fit({"f.py": text, "g.py": LONG}, budget_chars=300, wants=wants)
    assert (excerpt.path, excerpt.text, excerpt.ranges) == ("f.py", text, (range(1, 503),))


def test_a_range_of_lines_is_shown_as_it_was_asked_for() -> None:
    (excerpt,) = fit({"big.py": LONG}, budget_chars=10, wants=[Want(path="big.py", line=3, end=12, need="asked")])
    assert "\n".join(LONG.splitlines()[2:12]) in excerpt.text
    assert excerpt.ranges[0].start <= 3
    assert excerpt.ranges[0].stop > 12


def test_of_a_long_text_the_passages_are_shown_that_the_task_speaks_of() -> None:
    rows = [f"| `option_{n}` | what it does, number {n} |" for n in range(400)]
    rows[300] = "| `hrules` | when rules are drawn |"
    (part,) = fit(
        {"README.md": "\n".join(rows)},
        budget_chars=6_000,
        wants=[Want(path="README.md", about="add option_302 beside hrules to the option table", need="needed")],
    )
    assert not part.whole
    assert "`hrules`" in part.text
    assert "number 302" in part.text
    assert "number 200" not in part.text
    assert 290 in part.ranges[0]


@pytest.mark.parametrize("path", ["conf.yaml", "data.json", "run.py"])
def test_passages_are_shown_of_what_has_no_definitions_though_it_might_be_python(path: str) -> None:
    rows = [f"key_{n}: {n}" for n in range(400)]
    rows[300] = "hrules: 3"
    want = Want(path=path, about="let hrules be 4", need="needed")
    (part,) = fit({path: "\n".join(rows)}, budget_chars=3_000, wants=[want])
    assert "hrules: 3" in part.text


def test_a_task_that_speaks_of_nothing_in_a_text_shows_no_passage_of_it() -> None:
    want = Want(path="README.md", about="sort the imports", need="needed")
    assert fit({"README.md": "\n".join(["line"] * 400)}, budget_chars=6_000, wants=[want]) == []


def test_what_is_useful_leaves_room_that_what_is_needed_takes() -> None:
    size = len("def part_10(x):\n    y = x + 10\n    return y * 2\n")
    for need, shown in (("useful", False), ("needed", True)):
        wants = [Want(path="big.py", line=line_of(LONG, "x + 10\n"), need=need)]  # type: ignore[arg-type]
        assert bool(fit({"big.py": LONG}, budget_chars=size + 300, spare=250, wants=wants)) is shown


def test_a_file_with_more_lines_is_not_wanted_whole() -> None:
    stub = "def f(x):\n    raise NotImplementedError\n"
    wants = [Want(path=path, most_lines=5, need="needed") for path in ("stub.py", "big.py")]
    (excerpt,) = fit({"stub.py": stub, "big.py": LONG}, budget_chars=50_000, wants=wants)
    assert (excerpt.path, excerpt.whole) == ("stub.py", True)


def test_a_long_task_is_told_whole() -> None:
    task = "".join(f"Rule {number}: the word is kept.\n" for number in range(2000))
    text = brief_text(replace(BRIEF, task=task), budget_tokens=1000).text
    assert task in text
    assert "KeyError: 1" in text
    assert task in question_text(CodingBrief(task=task, objective="", sources={}), budget_tokens=500)


DIFF = "--- a/main.py\n+++ b/main.py\n" + "".join(
    f"@@ -{10 * number},1 +{10 * number},1 @@\n-old {number}\n+new {number}\n" for number in range(1, 4)
)


def failed(number: int, *, error: str = "", diff: str = "", edit: str = "", signature: str = "") -> Attempt:
    what = "replace_function f in main.py"
    return Attempt(
        number=number, by="codur-coding", summary=what, error=error, diff=diff, edit=edit, signature=signature
    )


@pytest.mark.parametrize(
    ("on_disk", "first", "state"),
    [
        ("", "On disk now, and shown above: the files as they were found.", "put back"),
        (DIFF.rstrip("\n"), "On disk now, and shown above: the files with the change of attempt 1.", "kept"),
        ("--- a/x.py", "On disk now, and shown above: the files changed.", "put back"),
    ],
)
def test_a_retry_says_what_is_on_disk_and_shows_the_failed_edit(on_disk: str, first: str, state: str) -> None:
    attempt = failed(1, error="ValueError: 7", signature="v", diff=DIFF.rstrip("\n"))
    text = brief_text(replace(BRIEF, attempts=[attempt], steer="", on_disk=on_disk), budget_tokens=3000).text
    told = f"{first}\nAttempt 1 (codur-coding, {state}): replace_function f in main.py\n{DIFF}Outcome: ValueError: 7"
    assert text.endswith(f"# Earlier attempts\n{told}")


def test_an_error_stands_in_a_request_once() -> None:
    attempts = [failed(number, error="KeyError: 1\nthe same", signature="s", edit=f"{number}") for number in (1, 2)]
    verdict = replace(RED, error="KeyError: 1\nthe same", signature="s")
    text = brief_text(replace(BRIEF, attempts=attempts, verdict=verdict), budget_tokens=3000).text
    assert text.count("KeyError: 1") == 1
    assert text.count("Outcome: the check fails as it does now, see above") == 2


def test_what_a_kept_attempt_has_gained_is_said() -> None:
    attempt = failed(1, error="KeyError: 1", signature="s", diff=DIFF.rstrip("\n"))
    verdict = replace(RED, error="KeyError: 1", signature="s")
    brief = replace(BRIEF, attempts=[attempt], verdict=verdict, on_disk=DIFF.rstrip("\n"))
    text = brief_text(brief, budget_tokens=3000).text
    assert "Outcome: more of the check passes than before; what still fails is told above" in text


def test_a_change_that_was_made_twice_is_shown_once() -> None:
    attempts = [failed(number, error=f"E{number}", signature=f"{number}", edit="e", diff=DIFF) for number in (1, 2)]
    text = brief_text(replace(BRIEF, attempts=attempts), budget_tokens=3000).text
    assert text.count("+new 1") == 1
    assert "The same change as attempt 1." in text


def test_failing_tests_and_hunks_are_left_out_as_wholes() -> None:
    blocks = [f"tests.test_a::test_{number}\ntests/test_a.py:{number}: in f\n" + "E   x\n" * 20 for number in range(4)]
    assert error_text("\n\n".join(blocks), 400) == (
        f"{blocks[0].rstrip()}\n\n{blocks[1].rstrip()}\n\n… [2 more failing tests left out]"
    )
    assert diff_text(DIFF, 80) == DIFF[: DIFF.index("@@ -20")].rstrip("\n") + "\n… [2 more hunks left out] …"


def test_terminal_colours_are_taken_out() -> None:
    assert plain("\x1b[31mE  \x1b[0;1mwrong#x1B[0m") == "E  wrong"
    inputs = {"look": "\x1b[31mred\x1b[0m"}
    assert "\x1b" not in brief_text(replace(BRIEF, inputs=inputs), budget_tokens=3000).text


def test_how_to_see_more_is_said_where_something_is_not_shown() -> None:
    for sources, said in (({"main.py": "x = 1\n"}, False), ({"big.py": LONG}, True)):
        brief = replace(BRIEF, sources=sources, outline=Outline(), wants=(), more="`read_lines` shows more.")
        assert ("`read_lines` shows more." in brief_text(brief, budget_tokens=1000).text) is said


def test_a_question_carries_the_files_that_it_is_about() -> None:
    outline = Outline(names=["main.py", "other.py"])
    sources = {"main.py": "print('a')\n"}
    brief = CodingBrief(task="what is it for?", objective="", sources=sources, outline=outline)
    text = question_text(brief, budget_tokens=500)
    assert text == (
        "# Task\nwhat is it for?\n\n# Files\n===== main.py (1 line)\nprint('a')\n===== end of main.py\n\n"
        "# Other files, not shown\nNames only: other.py"
    )


def test_who_tells_of_lines_sees_their_numbers() -> None:
    wants = [Want(path="big.txt", line=3, end=4, need="asked"), Want(path="big.txt", line=41, end=42, need="asked")]
    sources = {
        "big.txt": "\n".join(f"line {n} of a long text that is not shown whole" for n in range(1, 100)),
        "main.py": "a = 1\nb = 2\n",
    }
    wants += [Want(path="main.py")]
    brief = CodingBrief(task="where?", objective="", sources=sources, wants=wants, numbered=True)
    text = question_text(brief, budget_tokens=500)
    assert "===== main.py (2 lines)\n1\ta = 1\n2\tb = 2\n=====" in text
    assert "lines 1 to 2 not shown\n3\tline 3 of a long text that is not shown whole\n4\tline 4 of" in text
    assert "\n# … lines 5 to 40 not shown\n41\tline 41 of" in text
    assert "\n# … lines 43 to 99 not shown\n===== end of big.txt" in text


@pytest.mark.parametrize("line", ["1,2", "", "    return 1", "a line that is as long as most are in a document"])
def test_numbers_of_lines_take_room_of_the_files(line: str) -> None:
    wants = [Want(path="rows.txt", line=1, end=end, need="needed") for end in (4_000, 1_500, 400, 100)]
    brief = CodingBrief(
        task="where?", objective="", sources={"rows.txt": f"{line}\n" * 5_000}, wants=wants, numbered=True
    )
    text = question_text(brief, budget_tokens=2_000)
    assert "\n100\t" in text
    assert len(text) <= 2_000 * BYTES_PER_TOKEN


def test_an_outline_has_signatures_first_lines_and_names() -> None:
    texts = {
        "shop/api.py": "class Api(Base):\n    @property\n    def size(self) -> int: ...\n\n\ndef f(a, *, b=1): ...\n",
        "broken.py": "def f(:\n",
        "prices.csv": "sku,price\n1,2\n",
        "package.json": '{\n  "name": "a"\n}\n',
        "empty.py": "",
        "secret.json": "no",
    }
    outline = outline_of(
        ["shop/api.py", "broken.py", "empty.py"],
        ["a.md", *texts],
        lambda path: None if path == "secret.json" else texts[path],
    )
    assert outline.text(budget_chars=2000, shown=["a.md"]) == (
        "shop/api.py\n  class Api(Base)\n    def size(self) -> int\n  def f(a, *, b=1)\n"
        "broken.py (has a syntax error)\nprices.csv (2 lines): sku,price\n  1,2\npackage.json (3 lines)\n"
        "Names only: empty.py, secret.json"
    )
    assert Outline(names=outline.names).text(budget_chars=60, shown=[]) == (
        "Names only: shop/api.py, broken.py, empty.py, … and 4 more"
    )
    assert outline.text(budget_chars=20, shown=[]) == ""


def test_an_outline_has_the_first_rows_of_tables_of_any_size() -> None:
    def read(path: str) -> str | None:
        return None if path == "hidden.csv" else "a,b\n1,2\n3,4\n5,6\n" if path == "small.csv" else ""

    files = ["hidden.csv", "large.csv", "small.csv"]
    outline = outline_of([], files, read, lambda path: (f"order,{path}\n1,{'x' * 200}\n", 5_000_000))
    assert outline.text(budget_chars=2000, shown=[]) == (
        "small.csv (4 lines): a,b\n  1,2\n  3,4\nlarge.csv (4882 KiB): order,large.csv\n  1,…\nNames only: hidden.csv"
    )


def test_long_outputs_keep_head_and_tail_and_say_how_many_lines_are_left_out() -> None:
    lines = "".join(f"line {number}\n" for number in range(2000))
    noisy = replace(BRIEF, attempts=(), inputs={"look": lines}, verdict=replace(RED, actual=lines, error=lines))
    text = brief_text(noisy, budget_tokens=12_000).text
    assert text.count("\nline 1999") == 3
    assert text.count("line 0\n") == 2  # of an error, the end is what counts
    assert len(re.findall(r"\[\d+ lines left out\]", text)) == 2  # what an earlier step gave is not cut


def test_lines_that_an_earlier_step_found_are_shown() -> None:
    found = "tests/test_a.py:12: assert total() == 3\nmain.py:1: print('a')"
    brief = replace(BRIEF, inputs={"places": found}, verdict=replace(RED, error="main.py:40: in show\nKeyError"))
    shown = brief_text(brief, budget_tokens=4_000).shown
    assert shown["tests/test_a.py"] == (range(12, 13),)
    assert all(40 not in lines for lines in shown["main.py"])


@pytest.mark.parametrize(
    ("sources", "told"),
    [(("a.py", "b.rb"), True), (("a.rb", "Rakefile"), False), (("a.php",), False), (("README.md",), True), ((), True)],
)
def test_the_version_of_python_is_told_where_it_may_matter(sources: tuple[str, ...], *, told: bool) -> None:
    brief = replace(BRIEF, sources=dict.fromkeys(sources, "x\n"))
    text = brief_text(brief, budget_tokens=4_000).text
    assert ("Python 3.12.1. " in text) == told


def test_of_a_long_table_what_is_around_the_line_is_shown() -> None:
    text = "TABLE = (\n" + "".join(f"    {number},\n" for number in range(900)) + ")\n"
    (shown,) = fit({"table.py": text}, budget_chars=20_000, wants=[Want(path="table.py", line=500, need="needed")])
    assert "    498,\n" in shown.text
    assert sum(map(len, shown.ranges)) < 100


def test_tests_that_fail_for_other_reasons_are_told_in_few_words() -> None:
    error = "\n\n".join(f"test_app.py::test_{number}\n{'x' * 300}" for number in range(9))
    verdict = Verdict(status="failed", error=error, failing=("test_app.py::test_0",))
    own, others = (
        brief_text(replace(BRIEF, verdict=verdict, others_fail=number), budget_tokens=9000).text for number in (0, 9)
    )
    assert len(others) < len(own) - 1000
    assert "test_app.py::test_0" in others


def test_a_long_function_that_makes_an_object_is_shown_function_by_function() -> None:
    body = "    work()\n" * 18
    inner = "".join(f"  self.f{number} = function f{number}() {{\n{body}  }}\n" for number in range(9))
    source = f"function make() {{\n  const self = {{}}\n{inner}  return self\n}}\n"
    (found,) = fit({"make.js": source}, budget_chars=900, wants=[Want(path="make.js", line=2 + 20 * 4 + 5)])
    shown = "\n".join(
        source.splitlines()[line] for each in found.ranges for line in range(each.start - 1, each.stop - 1)
    )
    assert "function make" in shown
    assert "function f4" in shown
    assert "function f1" not in shown


def test_a_question_is_not_filled_up_with_what_is_useful_only() -> None:
    sources = {f"m{number}.py": f"def f{number}():\n" + "    return 1  # so it is\n" * 300 for number in range(8)}
    wants = [Want(path=path, partly=True) for path in sources]
    brief = CodingBrief(task="what does f0 do?", objective="", sources=sources, wants=wants)
    most = question_text(brief, budget_tokens=20_000)
    bounded = question_text(brief, budget_tokens=20_000, source_tokens=4_000)
    assert "def f0" in bounded
    assert len(bounded) < 4_000 * 4 < len(most)


@pytest.mark.parametrize(("rows", "shown"), [(15, 16), (300, 6)])
def test_of_a_long_table_its_first_rows_are_shown(rows: int, shown: int, tmp_path: Path) -> None:
    table = "day,amount\n" + "".join(f"{day},1\n" for day in range(rows))
    (tmp_path / "sales.csv").write_text(table)
    (tmp_path / "main.py").write_text("import pandas\n\nprint(pandas.read_csv('sales.csv').amount.sum())\n")
    workspace = Workspace.open(tmp_path)
    clues = Clues(task="the sum of sales.csv in main.py is wrong", named=["main.py", "sales.csv"])
    wants = select(RepositoryIndex(workspace, max_files=9), ["main.py", "sales.csv"], clues).wants
    found = fit({"sales.csv": table}, budget_chars=9_000, wants=wants)
    assert [(part.start, part.stop) for excerpt in found for part in excerpt.ranges] == [(1, shown + 1)]

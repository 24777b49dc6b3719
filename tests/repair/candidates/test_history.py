"""Candidates from history: hunks undone, whole and in part, and functions as they were."""

from __future__ import annotations

from textwrap import dedent

from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.history import undone
from codur.repair.suspicion.localise import Suspicion
from codur.tools.git.git_history import History, Hunk, Version

PATH = "shop.py"
PRESENT = dedent("""\
    import math


    def price(count, each):
        if count >= 10:
            count -= 1
        total = count + each
        return round(total, 1)


    def area(side):
        return side * side
    """)


def candidates(history: History, present: str = PRESENT, suspicion: Suspicion | None = None) -> list[Candidate]:
    program = Program(texts={PATH: present})
    return sorted(undone(program, history, suspicion or Suspicion()), key=lambda each: -each.priority)


def hunk(start: int, end: int, old: str, *, age: int = 1, subject: str = "Tidy up") -> Hunk:
    commit = f"{age}abcdef0123" if age else ""
    return Hunk(path=PATH, start=start, end=end, old=old, commit=commit, subject=subject if age else "", age=age)


def lines(candidate: Candidate) -> tuple[int, str]:
    """The first line that the candidate changes, and its new text."""
    before, after = PRESENT.split("\n"), candidate.program().texts[PATH].split("\n")
    number = next(n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    return number + 1, after[number].strip()


def test_a_hunk_is_undone_and_the_sentence_says_which() -> None:
    found = candidates(
        History(hunks=(hunk(12, 13, "    return side ** 2\n", age=0), hunk(7, 8, "    total = count * each\n")))
    )
    assert [lines(each) for each in found] == [(12, "return side ** 2"), (7, "total = count * each")]
    assert [each.program().changes[0].says for each in found] == [
        "Line 12 of shop.py undoes an uncommitted change.",
        "Line 7 of shop.py undoes a change of commit 1abcdef (‘Tidy up’).",
    ]


def test_what_the_failing_tests_execute_goes_before_what_is_young() -> None:
    suspicion = Suspicion(scores={(PATH, 7): 0.9, (PATH, 8): 0.2}, others=0.04)
    history = History(
        hunks=(
            hunk(12, 13, "    return side ** 2\n", age=0),
            hunk(8, 9, "    return round(total, 2)\n"),
            hunk(7, 8, "    total = count * each\n", age=9),
        )
    )
    assert [each.line for each in candidates(history, suspicion=suspicion)] == [7, 8, 12]


def test_lines_that_were_taken_away_come_back_and_new_ones_go() -> None:
    taken, brought = hunk(8, 8, "    total += 5\n"), hunk(5, 7, "")
    found = {each.line: each for each in candidates(History(hunks=(taken, brought))) if "part" not in each.says}
    assert "each\n    total += 5\n    return" in found[8].program().texts[PATH]
    assert "each):\n    total" in found[5].program().texts[PATH]
    assert found[8].priority > found[5].priority


def test_each_statement_of_a_hunk_is_undone_by_itself() -> None:
    old = "    total = (\n        count * each\n    )\n    return round(total, 2)\n"
    texts = [each.program().texts[PATH] for each in candidates(History(hunks=(hunk(7, 9, old),)))]
    assert len(texts) == 3
    for total, rounded in (("(\n        count * each\n    )", "2"), ("count + each", "2")):
        assert PRESENT.replace("count + each", total).replace("total, 1", f"total, {rounded}") in texts
    assert PRESENT.replace("count + each", "(\n        count * each\n    )") in texts


def test_lines_of_a_hunk_that_cuts_through_statements_are_undone_one_by_one() -> None:
    old = "    if count > 10:\n        count -= 2\n        each = 1\n"
    texts = [each.program().texts[PATH] for each in candidates(History(hunks=(hunk(5, 7, old),)))]
    assert texts[0] == PRESENT.replace("count >= 10", "count > 10").replace(
        "count -= 1\n", "count -= 2\n        each = 1\n"
    )
    assert PRESENT.replace("count >= 10", "count > 10") in texts
    assert PRESENT.replace("count -= 1", "count -= 2") in texts
    assert PRESENT.replace("count -= 1\n", "count -= 1\n        each = 1\n") in texts


def test_all_that_a_commit_did_to_a_file_is_undone_together() -> None:
    history = History(hunks=(hunk(1, 1, "import os\n"), hunk(7, 8, "    total = count * each\n")))
    found = [each for each in candidates(history) if "others" in each.says]
    assert [each.program().changes[0].says for each in found] == [
        "Line 1 of shop.py and others undo a change of commit 1abcdef (‘Tidy up’)."
    ]
    assert found[0].text == "import os\n" + PRESENT.replace("count + each", "count * each")


def test_a_function_as_it_was_and_its_earlier_lines() -> None:
    old = PRESENT.replace("count + each", "count * each").replace("-= 1", "-= 2").replace("side * side", "side")
    history = History(versions=(Version(path=PATH, text=old, commit="v1", age=3),))
    suspicion = Suspicion(scores={(PATH, line): 0.5 for line in range(5, 9)}, others=0.04)
    found = candidates(history, suspicion=suspicion)
    texts = [each.text for each in found]
    assert PRESENT.replace("count + each", "count * each").replace("-= 1", "-= 2") in texts
    assert PRESENT.replace("count + each", "count * each") in texts
    assert PRESENT.replace("-= 1", "-= 2") in texts
    assert not any("return side\n" in text for text in texts), "`area` was not executed"
    assert {each.program().changes[0].says for each in found} == {
        "Line 4 of shop.py and the rest of `price` are as before a change since v1.",
        "Line 6 of shop.py undoes a part of a change since v1.",
        "Line 7 of shop.py undoes a part of a change since v1.",
    }


def test_each_text_is_offered_once_and_files_out_of_question_not_at_all() -> None:
    one = hunk(7, 8, "    total = count * each\n")
    elsewhere = Hunk(path="other.py", start=1, end=2, old="x\n")
    version = Version(path=PATH, text=PRESENT.replace("count + each", "count * each"), commit="v1", age=1)
    found = candidates(History(hunks=(one, elsewhere), versions=(version,)))
    assert len({each.text for each in found}) == len(found)
    assert {each.path for each in found} == {PATH}


def test_earlier_texts_that_do_not_parse_offer_nothing() -> None:
    assert candidates(History(versions=(Version(path=PATH, text="def price(:\n"),))) == []


def test_of_very_many_hunks_the_likeliest_are_undone() -> None:
    present = "".join(f"a{number} = 1\n" for number in range(1_000))
    hunks = tuple(hunk(number, number + 1, f"a{number - 1} = 2\n", age=0) for number in range(1, 1_001))
    likely = Suspicion(scores={(PATH, number): 1.0 for number in range(900, 905)})
    found = candidates(History(hunks=hunks), present, likely)
    assert len(found) < 300
    assert [each.line for each in found[:5]] == [*range(900, 905)]

"""The list of a workspace's files that a model gets."""

from __future__ import annotations

from codur.planning.plans.full_plan import LISTED_FILES, file_list, shortened

CROWD = [f"app/search/lunr.{number:02}.js" for number in range(40)]
OTHERS = [f"app/part{number}/{name}.py" for number in range(9) for name in ("one", "two", "three")]


def test_a_list_that_fits_is_whole() -> None:
    assert shortened(CROWD) == CROWD
    assert file_list([]) == "(no files)"


def test_a_crowded_directory_leaves_room_for_the_others() -> None:
    lines = shortened(sorted([*CROWD, *OTHERS, "main.py"]))
    assert len(lines) == LISTED_FILES
    assert {*OTHERS, "main.py"} <= {*lines}
    assert "… and 9 more in app/search/" in lines
    assert lines.index("… and 9 more in app/search/") == lines.index(CROWD[30]) + 1
    assert lines[-1] == "main.py"


def test_what_something_speaks_for_is_listed_all_the_same() -> None:
    many = [*OTHERS, *(f"docs/{number}.md" for number in range(200)), *CROWD]
    lines = shortened(many, marked=CROWD[-2:])
    assert {*CROWD[-2:]} <= {*lines}
    assert sum("more in" in line for line in lines) == 2


def test_of_more_than_fits_the_first_are_listed_and_a_few_of_a_crowd() -> None:
    many = [*CROWD, *(f"p{number:03}/{name}.py" for number in range(99) for name in "abcdefgh")]
    lines = shortened(many)
    assert lines[:7] == [*CROWD[:5], "… and 35 more in app/search/", "p000/a.py"]
    assert (len(lines), lines[-1]) == (LISTED_FILES + 1, f"… and {99 * 8 - 54} more")
    assert file_list(lines[:2], CROWD[1:2]) == f"{CROWD[0]}\n{CROWD[1]} (read only)"


def test_files_at_the_top_are_told_as_that() -> None:
    assert "… and 41 more in ./" in shortened([f"{number}.py" for number in range(100)])

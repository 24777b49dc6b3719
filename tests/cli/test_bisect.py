"""`codur bisect` on real repositories: which commit it names, and that nothing of the user's is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codur.cli.spoken_commands import spoken_command
from tests.cli.kit import Ran, codur_here
from tests.tools.git_vectors import git

RIGHT = "def area(side):\n    return side * side\n"
WRONG = RIGHT.replace("*", "+")
TEST = "from shape import area\n\n\ndef test_area():\n    assert area(3) == 9\n"
SETTINGS = "[pytest]\naddopts = -p no:hypothesispytest -p no:langsmith_plugin -p no:anyio -p no:xdist\n"
CHECK = "python -c 'import shape; assert shape.area(3) == 9'"


def commit(root: Path, subject: str, files: dict[str, str]) -> str:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def commits(project: Path) -> list[str]:
    """Twelve commits; the eighth breaks `area`."""
    git(project, "init", "-q", "-b", "main")
    texts = [RIGHT if number < 8 else WRONG for number in range(1, 13)]
    return [
        commit(project, f"change {number}", {"shape.py": f"{text}# {number}\n"})
        for number, text in enumerate(texts, start=1)
    ]


def bisect(project: Path, home: Path, *words: str) -> Ran:
    return codur_here("bisect", *words, cwd=project, home=home)


def told(ran: Ran) -> dict[str, object]:
    value = json.loads(ran.out)
    assert isinstance(value, dict)
    return value


def words(ran: Ran) -> list[tuple[str, str]]:
    return [(step["commit"], step["word"]) for step in told(ran)["steps"]]  # type: ignore[attr-defined]


def test_the_commit_is_named_with_what_it_changed_and_what_to_do_next(
    commits: list[str], project: Path, home: Path
) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    ran = bisect(project, home, "--check", CHECK)
    assert ran.code == 0, ran.err
    eighth = commits[7][:10]
    assert ran.out.startswith(
        f"Since {eighth} the check fails.\n    change 8\n    Ann, 2024-01-02T03:04:05+00:00\n     shape.py | 4 ++--\n"
    )
    assert ran.out.endswith(f"Then: codur repair --since {eighth}^\n")
    assert f"✘ {commits[11][:10]}: fails" in ran.err
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_steps_back_grow_and_then_what_is_between_is_halved(commits: list[str], project: Path, home: Path) -> None:
    ran = bisect(project, home, "--check", CHECK, "--json")
    assert [(commits.index(name) + 1, word) for name, word in words(ran)] == [
        (12, "fails"),
        (11, "fails"),
        (10, "fails"),
        (8, "fails"),
        (4, "passes"),
        (6, "passes"),
        (7, "passes"),
    ]
    assert (told(ran)["outcome"], told(ran)["exit_code"], told(ran)["good"]) == ("done", 0, commits[6])


def test_tags_are_tried_first(commits: list[str], project: Path, home: Path) -> None:
    git(project, "tag", "v1", commits[5])
    ran = bisect(project, home, "--check", CHECK, "--json")
    assert [commits.index(name) + 1 for name, _ in words(ran)][:2] == [12, 6]
    assert told(ran)["commit"]["hash"] == commits[7]  # type: ignore[index]


def test_both_ends_can_be_named(commits: list[str], project: Path, home: Path) -> None:
    ran = bisect(project, home, "--check", CHECK, "--json", "--good", commits[6], "--bad", "HEAD~3")
    assert [commits.index(name) + 1 for name, _ in words(ran)] == [9, 7, 8]
    assert told(ran)["commit"]["hash"] == commits[7]  # type: ignore[index]


def test_commits_that_cannot_be_tested_are_left_out(project: Path, home: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    check = "python -c 'import shape; assert shape.area(3) == 9' || { test -f broken && exit 125; exit 1; }"
    first = commit(project, "right", {"shape.py": RIGHT})
    second = commit(project, "halfway", {"shape.py": "", "broken": ""})
    third = commit(project, "wrong", {"shape.py": WRONG, "broken": ""})
    (project / "broken").unlink()
    last = commit(project, "tidied", {})
    ran = bisect(project, home, "--check", check, "--good", first)
    assert ran.code == 1
    assert f"It is {last[:10]} or one of the 2 before it that cannot be tested." in ran.out
    assert {f"    or: {each}" for each in (second, third)} <= set(ran.out.splitlines())
    assert ran.out.endswith(f"Then: codur repair --since {first[:10]}\n")


def test_present_tests_judge_programs_older_than_they_are(commits: list[str], project: Path, home: Path) -> None:
    commit(project, "tests", {"tests/test_shape.py": TEST, "pytest.ini": SETTINGS, "conftest.py": ""})
    ran = bisect(project, home)
    assert ran.code == 0, ran.err + ran.out
    assert f"Since {commits[7][:10]} the check fails." in ran.out
    assert "The tests are newer than some of these commits; the present ones judged them." in ran.out
    assert "passes, with the present tests" in ran.err


def test_what_is_not_committed_may_be_the_cause(commits: list[str], project: Path, home: Path) -> None:
    git(project, "reset", "-q", "--hard", commits[3])
    (project / "shape.py").write_text(WRONG)
    ran = bisect(project, home, "--check", CHECK)
    assert (ran.code, ran.out) == (
        0,
        "The last commit passes: what is not committed makes the check fail.\nThen: codur repair\n",
    )


def test_a_last_commit_that_cannot_be_tested_is_not_said_to_be_the_cause(project: Path, home: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    check = "python -c 'import shape; assert shape.area(3) == 9' || { test -f broken && exit 125; exit 1; }"
    first = commit(project, "right", {"shape.py": RIGHT})
    last = commit(project, "halfway", {"shape.py": "", "broken": ""})
    (project / "shape.py").write_text(WRONG)
    (project / "broken").unlink()
    ran = bisect(project, home, "--check", check)
    assert ran.code == 1
    assert ran.out.startswith(f"It is {last[:10]}, which cannot be tested, or what is not committed.\n"), ran.out
    assert ran.out.endswith(f"Then: codur repair --since {first[:10]}\n")


def test_generated_files_that_no_commit_has_are_there(commits: list[str], project: Path, home: Path) -> None:
    commit(project, "ignore", {".gitignore": "_version.py\n"})
    (project / "_version.py").write_text("version = 1\n")
    ran = bisect(project, home, "--check", CHECK.replace("import shape", "import shape, _version"))
    assert f"Since {commits[7][:10]} the check fails." in ran.out, ran.out + ran.err


def test_part_of_a_repository(project: Path, home: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    commit(project, "outside", {"part/shape.py": RIGHT, "README": "x\n"})
    second = commit(project, "break", {"part/shape.py": WRONG})
    ran = bisect(project / "part", home, "--check", CHECK)
    assert f"Since {second[:10]} the check fails." in ran.out, ran.out + ran.err


def test_part_of_a_repository_that_needs_what_lies_beside_it(project: Path, home: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    commit(project, "outside", {"part/shape.py": RIGHT, "beside/kit.py": "x = 1\n"})
    second = commit(project, "break", {"part/shape.py": WRONG})
    check = 'import sys; sys.path.append("../beside"); import kit, shape'
    ran = bisect(project / "part", home, "--check", CHECK.replace("import shape", check))
    assert f"Since {second[:10]} the check fails." in ran.out, ran.out + ran.err


def test_when_nothing_can_be_found(commits: list[str], project: Path, home: Path) -> None:
    passing = bisect(project, home, "--check", "true")
    assert (passing.code, passing.out) == (1, "The check passes, so no commit has made it fail.\n")
    never = bisect(project, home, "--check", "false")
    assert (never.code, never.out) == (
        1,
        "The check passes at none of the earlier commits tried.\n"
        "Name a commit at which it passes: codur bisect --good REV\n",
    )
    late = bisect(project, home, "--check", CHECK, "--timeout", "0.1")
    assert (late.code, late.out.startswith("The time was up")) == (4, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--good", "nope", "--check", "true"], "git knows no such revision: nope"),
        (["--good", "--check"], "--good: '--check' is no revision"),
        (["--check", CHECK, "--good", "HEAD", "--bad", "HEAD~1"], "is not an ancestor of"),
    ],
)
def test_wrong_revisions(given: list[str], message: str, commits: list[str], project: Path, home: Path) -> None:
    ran = bisect(project, home, *given)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_without_a_repository_or_a_check(project: Path, home: Path) -> None:
    outside = bisect(project, home, "--check", "true")
    assert (outside.code, "is not in a git repository" in outside.err) == (2, True)
    git(project, "init", "-q", "-b", "main")
    empty = bisect(project, home, "--check", "true")
    assert (empty.code, "the repository has no commits yet" in empty.err) == (2, True), empty.err
    commit(project, "first", {"notes.txt": "x\n"})
    unchecked = bisect(project, home)
    assert (unchecked.code, "no check was found" in unchecked.err) == (2, True)


WISHES = {
    "undo what you did": ("undo",),
    "undo it": ("undo",),
    "revert what you just did.": ("undo",),
    "take that back": ("undo",),
    "bring that back": ("undo", "--redo"),
    "undo the rename in app.py": None,
    "put the old parser back": None,
    "back up the tests": None,
    "which commit broke test_area?": ("bisect", "--check=python -m pytest -k test_area"),
    "git bisect: which commit broke tests/test_shape.py::test_area": (
        "bisect",
        "--check=python -m pytest tests/test_shape.py::test_area",
    ),
    "since which commit does test_area fail": ("bisect", "--check=python -m pytest -k test_area"),
    "find the commit that broke the tests": ("bisect",),
    "what commit introduced the failure of test_area": ("bisect", "--check=python -m pytest -k test_area"),
    "when did the tests start failing?": ("bisect",),
    "test_area fails since when?": ("bisect", "--check=python -m pytest -k test_area"),
    "which commit broke test_area and fix it": None,
    "find the commit that broke the tests, then revert it": None,
    "which commit introduced the function area": None,
    "which commit broke the CSV export": None,  # of which no check may know
    "which tests fail": None,
    "bisect should raise ValueError in tests for unsorted lists": None,
    "when did we add a test for broken pipe": None,
    "which commit introduced the CI config": None,
    "what change made the tests pass": None,
    "find the commit that broke the build and delete it": None,
    "which commit broke test_area and test_side": None,
    "which commit made the tests fail": ("bisect",),
    "git bisect the failing test": ("bisect",),
}


def test_commands_in_everyday_words() -> None:
    assert {text: spoken_command(text) for text in WISHES} == WISHES


def test_a_question_for_the_commit_is_a_bisection_and_changes_nothing(
    commits: list[str], project: Path, home: Path
) -> None:
    (project / "test_shape.py").write_text(TEST)
    (project / "pytest.ini").write_text(SETTINGS)
    ran = codur_here("since which commit does test_area fail?", "--json", cwd=project, home=home)
    assert ran.code == 0, ran.err
    assert told(ran)["commit"]["hash"] == commits[7]  # type: ignore[index]
    assert (project / "shape.py").read_text() == f"{WRONG}# 12\n"


def test_where_no_program_may_be_run_none_is(commits: list[str], project: Path, home: Path) -> None:
    (home / ".config" / "codur").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "codur" / "config.yaml").write_text("tools:\n  allow_run: false\n")
    (project / "test_shape.py").write_text(TEST)
    for ran in (bisect(project, home, "--check", CHECK), codur_here("challenge", "check", ".", cwd=project, home=home)):
        assert ran.code in {1, 5}
        assert "running programs is not allowed (tools.allow_run is off)" in ran.out + ran.err

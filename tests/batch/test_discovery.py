"""What counts as a challenge, and how it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codur.batch.challenge_directory import DEFAULT_PROMPT
from codur.batch.discovery import find_challenges, search
from codur.batch.work import file_name, work_of
from codur.errors import UsageError
from tests.cli.kit import bound_by_permissions
from tests.runs.kit import fill


def names(*directories: Path) -> list[str]:
    return [item.name for item in find_challenges(directories)]


def test_directories_are_searched_at_any_depth_and_challenges_are_not(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "b/prompt.txt": "x",
            "a/deep one/challenge.yaml": "entry: x.py\n",
            "c/notes.txt": "none",
            ".hidden/prompt.txt": "x",
            "b/inner/prompt.txt": "part of b",
            "codur-results/old/prompt.txt": "x",
        },
    )
    (tmp_path / "again").symlink_to(tmp_path / "b")
    (tmp_path / "c" / "loop").symlink_to(tmp_path)
    assert names(tmp_path) == ["a/deep one", "b"]


@pytest.mark.parametrize(
    ("files", "is_challenge"),
    [
        (("prompt.txt",), True),
        (("challenge.yaml",), True),
        (("main.py", "expected.txt"), True),
        (("main.go", "expected_output.txt"), True),
        (("a.py", "test_a.py"), True),
        (("a.py", "tests/test_a.py"), True),
        (("pyproject.toml", "src/a.py", "tests/test_a.py"), True),
        (("package.json", "sum.test.js"), True),
        (("main.py",), False),
        (("expected.txt",), False),
        (("notes.md", "tests/data.csv"), False),
        (("a.py", "tests/data.csv"), False),
        (("a.py", "conftest.py"), False),
    ],
)
def test_what_is_a_challenge(files: tuple[str, ...], is_challenge: bool, tmp_path: Path) -> None:
    fill(tmp_path / "here", dict.fromkeys(files, ""))
    if is_challenge:
        assert names(tmp_path) == ["here"]
    else:
        with pytest.raises(UsageError):
            names(tmp_path)


def test_nothing_found_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_challenges([tmp_path])
    assert caught.value.message == f"{tmp_path}: no challenge found"
    assert caught.value.remedy == (
        "A challenge is a directory with a prompt.txt, a challenge.yaml, or sources with an expected.txt, with tests "
        "or another check."
    )


def test_where_names_say_nothing_a_check_does(tmp_path: Path) -> None:
    doctest = '"""Sums.\n\n>>> 1 + 1\n3\n"""\n'
    fill(
        tmp_path,
        {
            "make_all.py": "print('a helper beside them')\n",
            "unit/tests.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): assert 0\n",
            "make/bits.c": "int main(void) { return 1; }\n",
            "make/Makefile": "test:\n\tcc bits.c && ./a.out\n",
            "doc/sums.py": doctest,
            "none/main.py": "print(1)\n",
            "deep/er/main.c": "int main(void) { return 1; }\n",
            "text/notes.md": "nothing to run\n",
            "repo/setup.py": "import setuptools\n",
            "repo/src/pkg/sums.py": doctest,
        },
    )
    found = search([tmp_path])
    assert [item.name for item in found.challenges] == ["doc", "make", "repo", "unit"]
    assert found.passed_over == (str(tmp_path / "deep/er"), str(tmp_path / "none"))
    assert names(tmp_path / "none") == ["none"]  # who names it means it
    assert names(tmp_path / "none", tmp_path) == ["doc", "make", "none", "repo", "unit"]


def test_a_directory_that_is_given_twice_or_by_a_link_counts_once(tmp_path: Path) -> None:
    fill(tmp_path, {"all/b/prompt.txt": "x", "all/a/prompt.txt": "x"})
    (tmp_path / "link").symlink_to(tmp_path / "all" / "b")
    assert names(tmp_path / "link") == ["b"]
    assert names(tmp_path / "link", tmp_path / "all", tmp_path / "all") == ["a", "b"]


def test_equal_names_are_told_apart_by_what_is_above_them(tmp_path: Path) -> None:
    fill(tmp_path, {"x/1/prompt.txt": "x", "y/1/prompt.txt": "x", "x/2/prompt.txt": "x", "z/y/1/prompt.txt": "x"})
    found = names(tmp_path / "x", tmp_path / "y", tmp_path / "z" / "y")
    assert found == sorted(["2", "x/1", f"{tmp_path.name}/y/1", "z/y/1"])


STRANGE = [
    "with space",
    "new\nline",
    "ünï–cøde 日本",
    "x∕..",
    "-rf",
    "a" * 200,
    "\udcff bytes",
    "x.py",
]


def test_strange_names_become_safe_names_of_files(tmp_path: Path) -> None:
    for name in STRANGE:
        fill(tmp_path / name, {"prompt.txt": "x"})
    work = work_of(find_challenges([tmp_path]), agents=["a", "llm:b/c"], attempts=2)
    files = [item.file for item in work]
    assert len(set(files)) == len(files) == 4 * len(STRANGE)
    for file in files:
        assert file.isascii()
        assert not set(file) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
        assert not file.startswith((".", "-"))
        assert 0 < len(file) <= 120


def test_plain_names_stay_readable() -> None:
    assert file_name("sums", "", 1) == "sums"
    assert file_name("set/sums", "", 1).startswith("set--sums-")
    assert file_name("sums", "fast", 2).startswith("sums.fast.2-")
    assert file_name("a/b", "", 1) != file_name("a--b", "", 1)


def test_no_two_files_differ_in_case_alone() -> None:
    names = ["sums", "Sums", "SUMS", "a/sums", "A/sums"]
    assert len({file_name(name, agent, 1).lower() for name in names for agent in ("", "x", "X")}) == 15


def test_work_is_each_challenge_with_each_agent_as_often_as_wanted(tmp_path: Path) -> None:
    fill(tmp_path, {"b/prompt.txt": "x", "a1/prompt.txt": "x", "a2/prompt.txt": "x"})
    challenges = find_challenges([tmp_path])
    titles = [item.title for item in work_of(challenges, agents=["x", "y", "x"], attempts=2, patterns=["a*"], limit=1)]
    assert titles == ["a1 (x)", "a1 (x, attempt 2)", "a1 (y)", "a1 (y, attempt 2)"]
    with pytest.raises(UsageError, match=r"no challenge is called 'c\*'"):
        work_of(challenges, patterns=["c*"])


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_challenge_without_a_prompt_has_a_general_one(text: str | None, tmp_path: Path) -> None:
    fill(tmp_path, {"challenge.yaml": ""} if text is None else {"prompt.txt": text})
    (challenge,) = find_challenges([tmp_path])
    assert challenge.prompt() == DEFAULT_PROMPT


FIND = """
import sys
from pathlib import Path
from codur.batch.discovery import find_challenges
for item in find_challenges([Path(sys.argv[1])]):
    print(item.name, item.problem, sep="|")
"""


def test_a_directory_that_may_not_be_read_is_a_challenge_with_a_problem(tmp_path: Path) -> None:
    fill(tmp_path, {"closed/prompt.txt": "x", "open/prompt.txt": "x"})
    (tmp_path / "closed").chmod(0)
    words = [*bound_by_permissions(), sys.executable, "-c", FIND, str(tmp_path)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert done.stdout.splitlines() == [f"closed|{tmp_path}/closed: cannot be read: permission denied", "open|"]

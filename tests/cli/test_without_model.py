"""Requests that need no model: carried out by rules where nobody answers, shown, and taken back by `codur undo`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.kit import Ran, codur, codur_here, the_object
from tests.runs.kit import REPAIRABLE, contents, fill

COUNTING = '''"""Counts the words of a file.

Case does not count.
"""

import argparse
import sys

from src.words import count_words


def parse(argv):
    """Read the options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", help="the file to read")
    parser.add_argument("--top", type=int, default=10, help="how many are shown")
    parser.add_argument("-q", "--quiet", action="store_true")
    return parser.parse_args(argv)


def main(argv=None):
    options = parse(argv)
    with open(options.file) as source:
        count = count_words(source.read())
    for word, number in count.most_common(options.top):
        print(word, number)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
WORDS = '''from collections import Counter


def count_words(text: str) -> Counter:
    """How often each word is there: the deprecated way."""
    if not text:
        raise ValueError("no text")
    return Counter(text.lower().split())
'''
FILES = {
    "app.py": COUNTING,
    "src/__init__.py": "",
    "src/words.py": WORDS,
    "tests/test_words.py": "from src.words import count_words\n\n\ndef test_one():\n    assert count_words('a')\n",
    "notes.txt": "foo is here\nfoo again\nbar is not\n",
    "a": "alpha\n",
    "README.md": "# Counting\n",
}


def git(project: Path, *words: str) -> str:
    """What git prints."""
    named = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(["git", *named, *words], cwd=project, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repository(project: Path) -> Path:
    """A repository with one commit."""
    fill(project, FILES)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Begin to count")
    return project


def ask(prompt: str, repository: Path, home: Path, *options: str, **variables: str) -> Ran:
    """Run a request where no model answers."""
    return codur_here(*options, prompt, cwd=repository, home=home, **variables)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("search for count", "src/words.py:4: def count_words(text: str) -> Counter:\n"),
        ("what changed in git?", " M README.md\n"),
        ("recent commit history", "me: Begin to count\n"),
        ("list the directories", "src\ntests\n"),
        ("where is the word deprecated used?", "src/words.py:5: "),
    ],
)
def test_a_look_needs_no_model(prompt: str, told: str, repository: Path, home: Path) -> None:
    (repository / "README.md").write_text("# Counting words\n")
    ran = ask(prompt, repository, home)
    assert (ran.code, told in ran.out) == (0, True), ran.out + ran.err
    assert "· 0 calls ·" in ran.err


@pytest.mark.parametrize(
    ("prompt", "after", "shown"),
    [
        ("cp a b", {"b": "alpha\n"}, "+alpha"),
        ("cp a src", {"src/a": "alpha\n"}, "+alpha"),
        ("mv a deep/b", {"a": None, "deep/b": "alpha\n"}, "-alpha"),
        ("mv untracked.txt b", {"untracked.txt": None, "b": "new\n"}, "-new"),
        ("replace foo with bar in notes.txt", {"notes.txt": "bar is here\nbar again\nbar is not\n"}, "+bar again"),
        ("rm untracked.txt", {"untracked.txt": None}, "-new"),
    ],
)
def test_a_change_is_shown_and_taken_back(
    prompt: str, after: dict[str, str | None], shown: str, repository: Path, home: Path
) -> None:
    (repository / "untracked.txt").write_text("new\n")
    before = contents(repository)
    ran = ask(prompt, repository, home, "--yes")
    assert ran.code == 0, ran.err
    assert shown in ran.out.splitlines()
    assert contents(repository) == {name: text for name, text in {**before, **after}.items() if text is not None}
    assert codur_here("undo", cwd=repository, home=home).code == 0
    assert contents(repository) == before


@pytest.mark.parametrize(
    "prompt", ["repariere main.py nicht", "fix main.py, don't touch total", "soll ich main.py reparieren?"]
)
def test_what_is_not_to_be_mended_is_not(prompt: str, project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = ask(prompt, project, home, "--offline")
    assert (ran.code, contents(project)) == (3, contents(project) | REPAIRABLE)


def test_an_order_in_another_language_is_carried_out(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = ask("修复 main.py,不要改测试", project, home, "--offline")
    assert (ran.code, contents(project) == REPAIRABLE) == (0, False), ran.err


def test_names_in_any_script_are_found_and_renamed(project: Path, home: Path) -> None:
    fill(project, {"计算.py": "def 总价(a):\n    return a\n\n\nprint(总价(2))\n"})
    ran = ask("where is 总价 defined", project, home, "--offline")
    assert (ran.code, "计算.py:1" in ran.out) == (0, True), ran.out
    ran = ask("rename the function 总价 to 合计", project, home, "--offline")
    assert (ran.code, contents(project)["计算.py"].count("合计")) == (0, 2), ran.err


def test_a_moved_program_stays_executable_and_what_is_no_text_comes_back(repository: Path, home: Path) -> None:
    (repository / "run").write_bytes(b"#!/bin/sh\n\x00\xff")
    (repository / "run").chmod(0o755)
    assert ask("mv run go", repository, home).code == 0
    assert (repository / "go").stat().st_mode & 0o777 == 0o755
    assert codur_here("undo", cwd=repository, home=home).code == 0
    assert (repository / "run").read_bytes() == b"#!/bin/sh\n\x00\xff"
    assert (repository / "run").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("prompt", "code", "why"),
    [
        ("rm a", 5, "needs your approval, and there is nobody to ask"),
        ("cp a ../b", 5, "outside the workspace"),
        ("cp a /tmp/b", 5, "outside the workspace"),
        ("cp a notes.txt", 5, "notes.txt exists already"),
        ("mv a .git/hooks/pre-commit", 5, ".git/hooks/pre-commit is protected"),
        ("rm .git/config", 5, ".git/config is protected"),
        ("mv a nowhere/", 1, "There is no directory nowhere/"),
        ("rm gone.txt", 1, "There is no file gone.txt"),
        ("git add app.py", 5, "allow_git_write: true"),
    ],
)
def test_what_may_not_be_or_cannot_be_is_told_and_nothing_changes(
    prompt: str, code: int, why: str, repository: Path, home: Path
) -> None:
    before = contents(repository)
    ran = ask(prompt, repository, home)
    assert (ran.code, why in ran.err) == (code, True), ran.err
    assert contents(repository) == before


def test_a_link_that_leads_out_is_no_way_out(repository: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (repository / "near").symlink_to(tmp_path / "far")
    assert ask("cp a near/b", repository, home).code == 5
    (repository / "far.txt").symlink_to("/etc/passwd")
    told = ask("show far.txt", repository, home)
    assert (told.code, "far.txt is a link that leads out of this workspace" in told.err) == (5, True), told
    assert list((tmp_path / "far").iterdir()) == []


def test_git_add_stages_where_it_is_allowed(repository: Path, home: Path) -> None:
    (repository / "app.py").write_text("print(1)\n")
    (repository / "README.md").write_text("# Other\n")
    ran = ask("git add app.py", repository, home, CODUR_TOOLS__ALLOW_GIT_WRITE="true")
    assert (ran.code, ran.out) == (0, "staged app.py\n"), ran.err
    assert git(repository, "status", "--short") == " M README.md\nM  app.py\n"


@pytest.mark.parametrize(
    "prompt",
    [
        "explain why the tests fail and fix app.py",
        "replace foo with bar everywhere and add tests",
        "search for the bug and fix it",
        "mv the function a to b.py",
        "rm the unused imports from app.py",
        "rm -f a",
        "rm a notes.txt",
        "cp a b && rm a",
        "explain app.py and make it faster",
        "git add app.py and commit it",
    ],
)
def test_what_asks_for_more_or_other_is_left_to_a_model(prompt: str, repository: Path, home: Path) -> None:
    before = contents(repository)
    ran = ask(prompt, repository, home, CODUR_TOOLS__ALLOW_GIT_WRITE="true")
    assert (ran.code, "a model is needed" in ran.err) == (3, True), ran.err
    assert contents(repository) == before
    assert git(repository, "status", "--short") == ""


def test_what_a_rule_does_is_committed_where_that_is_said_with_it(repository: Path, home: Path) -> None:
    git(repository, "config", "user.name", "Ann")
    git(repository, "config", "user.email", "ann@example.org")
    ran = ask("replace foo with bar in notes.txt and commit it", repository, home)
    assert ran.code == 0, ran.err
    assert "bar is here" in (repository / "notes.txt").read_text()
    assert git(repository, "status", "--short") == ""


# --- explanations -----------------------------------------------------------------------------------------------------

EXPLAINED = """\
app.py: Counts the words of a file.
Case does not count.

Run as: python app.py [--top TOP] [--quiet] FILE
  FILE         the file to read
  --top TOP    how many are shown (default: 10)
  -q, --quiet
When it is run, it calls main, sys.exit.

It defines:
  def parse(argv)  (lines 12-18): Read the options.
  def main(argv=None)  (lines 21-27)
    calls parse, count_words (src/words.py)

It prints and opens files.
It imports count_words from src/words.py, argparse, sys.
It is checked by: python -m pytest (the tests in tests/test_words.py)

This was read from the file without a model; what the code means beyond its own words needs one.
"""


@pytest.mark.parametrize("prompt", ["explain app.py", "please explain the file app.py to me", "what does app.py do?"])
def test_a_file_is_explained_from_what_can_be_read(prompt: str, repository: Path, home: Path) -> None:
    ran = ask(prompt, repository, home)
    assert (ran.code, ran.out) == (0, EXPLAINED), ran.err
    assert "done · a rule · 0 calls" in ran.err


def test_a_module_is_explained_by_who_uses_it(repository: Path, home: Path) -> None:
    ran = ask("describe src/words.py", repository, home, "--json")
    assert the_object(ran.out)["answer"].splitlines()[:9] == [
        "src/words.py (8 lines) says nothing of itself.",
        "",
        "It is no program of its own. It is imported by app.py, tests/test_words.py.",
        "",
        "It defines:",
        "  def count_words(text: str) -> Counter  (lines 4-8): How often each word is there: the deprecated way.",
        "",
        "It raises ValueError.",
        "It imports Counter from collections.",
    ]


def test_a_file_that_does_not_parse_is_not_explained(repository: Path, home: Path) -> None:
    (repository / "app.py").write_text("def f(:\n")
    ran = ask("explain app.py", repository, home)
    assert (ran.code, "app.py line 1: invalid syntax" in ran.err) == (1, True), ran.err


def test_of_a_file_that_is_not_there_nothing_is_said_but_that(project: Path, home: Path) -> None:
    fill(project, FILES)
    ran = codur_here("fix nosuch.py", cwd=project, home=home)
    assert ran.code == 2
    assert ran.err.splitlines() == ["✘ not started: nosuch.py: no such file in the workspace"]
    meant = codur_here("fix ap.py", cwd=project, home=home)
    assert (meant.code, "Did you mean app.py?" in meant.err) == (2, True), meant.err


def test_a_search_begins_at_what_the_task_and_the_failure_name(project: Path, home: Path) -> None:
    checks = "from shop.prices import double\n\nassert double(4) == 8, f'double gives {double(4)}'\n"
    sources = {
        "shop/prices.py": "def double(n):\n    return n + 2\n",
        "shop/other.py": "def half(n):\n    return n / 2\n",
    }
    fill(project, {**sources, "checks/run.py": checks})
    words = ["double gives the wrong number", "--check", "cd checks && PYTHONPATH=.. python run.py", "--offline"]
    ran = codur_here("run", *words, "--json", cwd=project, home=home)
    result = the_object(ran.out)
    assert (ran.code, result["outcome"], result["changed_files"]) == (0, "done", ["shop/prices.py"]), ran.err


def test_a_name_is_given_without_a_model_where_a_check_is_named_that_passes(project: Path, home: Path) -> None:
    fill(
        project,
        {"shop.py": "def double(n):\n    return n * 2\n", "use.py": "import shop\n\nassert shop.double(2) == 4\n"},
    )
    words = ["rename double to twice everywhere", "--check", "python use.py", "--offline"]
    ran = codur_here("run", *words, "--json", cwd=project, home=home)
    result = the_object(ran.out)
    assert (ran.code, result["outcome"], result["changed_files"]) == (0, "done", ["shop.py", "use.py"]), ran.err


def test_where_nothing_may_be_changed_no_model_is_asked_for(project: Path, home: Path) -> None:
    fill(project, {**REPAIRABLE, "codur.yaml": "tools: {allow_write: false}\n"})
    for words in (("fix main.py",), ("repair",)):
        ran = codur(*words, cwd=project, home=home)
        assert (ran.code, "No repair is searched for: tools.allow_write is off" in ran.err + ran.out) == (5, True), ran
        assert "GROQ_API_KEY" not in ran.err + ran.out
        assert "CODUR_TOOLS__" in ran.err + ran.out


def test_where_nothing_may_be_run_a_model_can_do_it_and_a_search_cannot(project: Path, home: Path) -> None:
    tests = {"shop.py": "A = 1\n", "tests/test_shop.py": "def test_a():\n    assert True\n"}
    fill(project, {**tests, "codur.yaml": "tools: {allow_run: false}\n"})
    asked = codur("add a function mean(a) to shop.py", cwd=project, home=home)
    assert (asked.code, "The task asks for more than a fix" in asked.err) == (3, True), asked
    assert ("GROQ_API_KEY" in asked.err, "CODUR_TOOLS__" in asked.err) == (True, False)
    refused = codur("repair", cwd=project, home=home)
    assert (refused.code, "The check cannot guide a search: not checked: running programs" in refused.err) == (
        5,
        True,
    ), refused


# --- tests that another tool runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "command"), [("run the tests", "make test"), ("make test", "make test"), ("make lint", "make lint")]
)
def test_a_command_that_only_looks_is_run_and_judged(project: Path, home: Path, said: str, command: str) -> None:
    fill(project, {"Makefile": "test:\n\tgrep -q right answer.txt\nlint:\n\tgrep -q wrong answer.txt\n"})
    fill(project, {"answer.txt": "right\n"})
    ran = codur_here(said, "--offline", cwd=project, home=home)
    assert ran.code == int("lint" in command), ran
    assert f"`{command}`" in ran.err
    asked = codur_here("which tests fail?", "--offline", cwd=project, home=home)
    assert (asked.code, contents(project)["answer.txt"]) == (0, "right\n"), asked


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        ("is k8s/a.yaml valid?", 1, "k8s/a.yaml: found character that cannot start any token: line 2 column 1"),
        (
            "validate settings.json",
            1,
            "settings.json: Expecting property name enclosed in double quotes: line 1 column 3",
        ),
        ("check pyproject.toml", 0, "`syntax of pyproject.toml`"),
    ],
)
def test_whether_a_file_of_data_parses_is_told(project: Path, home: Path, said: str, code: int, told: str) -> None:
    fill(project, {"k8s/a.yaml": "a:\n\tb: 1\n", "settings.json": "{ // so\n}\n", "pyproject.toml": "[tool.a]\n"})
    ran = codur_here(said, cwd=project, home=home)
    assert (ran.code, told in ran.err) == (code, True), ran

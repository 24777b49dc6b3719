"""What a prompt states about the output, and which files of the check it asks to change."""

from __future__ import annotations

import pytest

from codur.checks.stated_output import files_to_edit, reshapes_tests, stated_output


def block(lead: str, text: str = "1\n2", language: str = "") -> str:
    return f"{lead}\n```{language}\n{text}\n```\n"


STATED: list[tuple[str, str | None]] = [
    # a fenced block after a demand
    (block("Expected output:"), "1\n2"),
    (block("expected output:\n"), "1\n2"),
    (block("## Expected output"), "1\n2"),
    (block("**Expected:**"), "1\n2"),
    (block("main.py is wrong. It should print:"), "1\n2"),
    (block("After the fix main.py should print exactly this:"), "1\n2"),
    (block("The output must be:", "a\n\n  b "), "a\n\n  b "),
    (block("It has to\nprint out:", language="text"), "1\n2"),
    (block("When I run main.py it should print:"), "1\n2"),
    (block("It prints:", "1") + block("but it should print:", "2"), "2"),
    (block("Expected output:") + block("Actual output:", "3"), "1\n2"),
    (block("Output:", "3") + block("Expected:"), "1\n2"),
    (block("Expected output:") + 'For no input it should print "none".', "1\n2"),
    ("- Expected output:\n  ~~~\n  a\n    b\n  ~~~\n", "a\n  b"),
    ("Expected output:\r\n```\r\na\r\nb\r\n```\r\n", "a\nb"),
    ("Expected output:\n````\n```\n````\n", "```"),
    ("~~~~ Task ~~~~\nIt should print 42.", "42"),
    # … and blocks that are none
    (block("Expected output:", "print(1)", "python"), None),
    (block("Expected output:", "1\n...\n9"), None),
    (block("Expected output:", "$ python main.py\n1"), None),
    (block("Expected output:", ""), None),
    (block("Expected output for 3 and 4:"), None),
    (block("If the list is empty it should print:"), None),
    (block("Sample expected output:"), None),
    (block("It should print the sum but it prints:"), None),
    (block("It should print 3 but it prints:"), "3"),
    (block("It should print something like:"), None),
    (block("Expected output:", "1") + block("Expected output:", "2"), None),
    ("Expected output:\n```\n1\n", None),
    # a block after a line that only speaks of output
    (block("Write a program that prints:"), "1\n2"),
    (block("Write primes.py. The result:"), "1\n2"),
    (block("Fix main.py so that it prints:"), "1\n2"),
    (block("Fix main.py. It prints:"), None),
    (block("main.py currently prints:"), None),
    (block("I ran it and the output is:"), None),
    (block("Fix the error. Output:", "Traceback (most recent call last):\nKeyError: 1"), None),
    (block("Here is the result"), None),
    (block("The data:"), None),
    # a piece on the same line
    ('It should print "Hello, World!"', "Hello, World!"),
    ("It should print `a b`.", "a b"),
    ("It should print “a b”", "a b"),
    ("main.py must output `x=1` instead of `x=2`.", "x=1"),
    ('Expected output: "12 items"', "12 items"),
    ("**Expected output:** `42`", "42"),
    ('The output should be "ok", not "OK".', "ok"),
    ('It prints "a" but it should\nprint "b".', "b"),
    ('It should print "b". I said it should print "b"!', "b"),
    ('It should print "a" (currently "b").', "a"),
    ('It should print "a" to standard output.', "a"),
    ('It should print "a" when done.', None),
    ("With no arguments it should print `0`.", "0"),
    ('If it is empty it should print "none".', None),
    ('If it is empty,\nit should print "none".', None),
    ('The first line should say it, the last should print "done".', None),
    ('It should print "a" and "b".', None),
    ('It should print "a" for every b.', None),
    ('It should print "a". Then it should print "b".', None),
    ('It should print "a". With a name it should print "b".', None),
    ('It should print "a". It should print the total.', None),
    ('It should print "Hello, <name>!"', None),
    ('It should print "Hello, {name}!"', None),
    (r'It should print "a\nb"', None),
    ("It should print `total_price`.", None),
    ("It should print `str(x)`.", None),
    ("It should print `out.txt`.", None),
    ("`add(2, 3)` should print `5`", None),
    ('python main.py 5 should print "120"', None),
    ('main.py < data.txt should print "120"', None),
    ('The function should print "a"', None),
    ('It should not print "a"', None),
    ('It should print "', None),
    # a number or a word
    ("It should print 42.", "42"),
    ("should print -3.5", "-3.5"),
    ("It should print 12:30, not 12:03.", "12:30"),
    ("It prints 41 but should print 42", "42"),
    ("The sum is wrong: it should print 42, but prints 41.", "42"),
    ("It should print Hello.", "Hello"),
    ("It should print yes.", "yes"),
    ("Expected output: 42\nActual output: 41", "42"),
    ("It should print 3 lines.", None),
    ("It should print 42!", None),
    ("It should print numbers.", None),
    ("It should print JSON.", None),
    ("It should print Celsius.", None),
    ("It should print the total.", None),
    # not said by the prompt itself
    ("The comment `it should print 42` is wrong.", None),
    ("Remove the comment `should print 42. Really` from it.", None),
    ('It says "should print 42" there.', None),
    ("Fix it:\n```python\nprint(6 * 9)  # should print 42\n```\n", None),
    ("Fix it:\n\n    # should print 42\n", None),
    ("> it should print 42\n\nAny idea?", None),
    ("It should match the expected output.", None),
    ("", None),
]


@pytest.mark.parametrize(("prompt", "output"), STATED)
def test_only_output_that_is_clearly_stated_counts(prompt: str, output: str | None) -> None:
    assert stated_output(prompt) == output


PATHS = ("tests/test_x.py", "test_app.py", "expected.txt", "input.txt")
BOTH = ("tests/test_x.py", "test_app.py")
EDITS: list[tuple[str, tuple[str, ...]]] = [
    ("update tests/test_x.py", ("tests/test_x.py",)),
    ("Please update `test_x.py`.", ("tests/test_x.py",)),
    ("fix the test in test_app.py", ("test_app.py",)),
    ("update tests/test_x.py::test_a", ("tests/test_x.py",)),
    ("fix tests/test_x.py::test_a", ()),
    ("fix test_a in tests/test_x.py", ()),
    ("add a test to test_x.py", ("tests/test_x.py",)),
    ("Add a function to app.py and add tests for it in test_app.py", ("test_app.py",)),
    ("fix app.py and test_app.py", ("test_app.py",)),
    ("Rename f in app.py, test_app.py and tests/test_x.py to g.", BOTH),
    ("Refactor test_app.py to use fixtures", ("test_app.py",)),
    ("In expected.txt there is a typo. Correct expected.txt", ("expected.txt",)),
    ("Don't be slow. Update test_app.py", ("test_app.py",)),
    ("update all the tests", BOTH),
    ("you may edit the test files! move them over", BOTH),
    ("you must not edit the test files", ()),
    ("put these tests where the others are (test_x, test_app) instead of a new file", BOTH),
    ("move the tests into test_x please", ("tests/test_x.py",)),
    ("add a test to test_app, as above", ("test_app.py",)),
    ("don't move the tests into test_app", ()),
    ("put the total first. test_app fails", ()),
    ("fix test_app", ()),
    ("move the helper of the tests; test_app must pass", ()),
    ("move the test server's port to app.py so that tests/test_x.py passes", ()),
    ("Put the test data aside, it must return what test_app.py expects", ()),
    ("copy the test table from test_app.py into docs.md and make tests/test_x.py pass", ()),
    ("copy the test client from test_app.py into client.py", ()),
    ("move the tests into test_x and fix test_app.py failures", ("tests/test_x.py",)),
    ("make test_x.py pass", ()),
    ("make tests/test_x.py and test_app.py pass", ()),
    ("fix app.py so that test_app.py passes", ()),
    ("fix app.py, test_app.py must pass", ()),
    ("fix app.py and test_app.py will pass", ()),
    ("fix app.py (test_app.py fails)", ()),
    ("fix the bug in app.py shown by test_app.py", ()),
    ("fix the failing test in test_app.py", ()),
    ("port this to python 3, tests too", ("tests/test_x.py", "test_app.py")),
    ("translate all texts, the tests check the texts so adapt them too", ("tests/test_x.py", "test_app.py")),
    ("translate the site, and adapt the tests", ("tests/test_x.py", "test_app.py")),
    ("make it all German, the tests will need the German texts as well", ("tests/test_x.py", "test_app.py")),
    ("make it all German. test_app.py will need the German strings too", ("test_app.py",)),
    ("make it all German, the tests need to pass as well", ()),
    ("make it all German. do not adapt the tests", ()),
    ("make it all German. the tests are right, so don't change them", ()),
    ("make it all German. the tests need no change, too", ()),
    ("rename foo to bar. the tests need to be adapted", ("tests/test_x.py", "test_app.py")),
    ("None of the tests need to be changed; fix slugify() in app.py", ()),
    ("I doubt that the tests need changing", ()),
    ("If the tests need changes, stop and tell me. Fix app.py", ()),
    ("Check whether the tests need to be changed; fix app.py", ()),
    ("You said the tests need updating, but they are right: fix app.py", ()),
    ("test_app.py needs changes? No. Fix app.py", ()),
    ("The tests need changes to app.py", ()),
    ("The tests will need a running database too", ()),
    ("Fix the code and tests go green", ()),
    ("Fix the code and tests/test_x.py passes", ()),
    ("Fix the tests and code style", ()),
    ("Do not touch the tests! The tests need to be adapted for it, but by me", ()),
    ("the tests are lying, fix tests and code", ("tests/test_x.py", "test_app.py")),
    ("fix the code and the tests pass", ()),
    ("The tests need slugify() to accept None too", ()),
    ("test_app.py needs the constants in app.py updated", ()),
    ("Two tests fail because the greeting texts are misspelt, adapt them", ()),
    ("the tests use the old settings in conf.py so change those settings", ()),
    ("convert the package and its tests to asyncio", ("tests/test_x.py", "test_app.py")),
    ("remove the flag and what is dead after it, including its tests", ("tests/test_x.py", "test_app.py")),
    ("fix it so that ruff and the tests also pass", ()),
    ("everything is broken, including the tests", ()),
    ("convert it to asyncio and the tests still pass", ()),
    ("fix it together with the tests that fail", ()),
    ("port this to python 3, and run the tests too", ()),
    ("convert it to asyncio and the tests must pass", ()),
    ("fix the error that test_app.py reports", ()),
    ("Fix app.py without editing test_app.py", ()),
    ("Fix app.py. You must not change test_app.py", ()),
    ("Don’t edit test_app.py", ()),
    ("The last change to test_app.py broke app.py", ()),
    ("Write a parser for input.txt", ()),
    ("Write a program printing what input.txt says", ()),
    ("Write main.py so its output matches expected.txt", ()),
    ("run test_app.py and fix app.py", ()),
    ("fix main.py\n\ntest_app.py", ()),
    ("update main.py test_app.py", ()),
    ("do not change the tests", ()),
    ("fix it so the tests pass", ()),
    ("since the update tests fail", ()),
    ("write the function test_app.py calls", ()),
    ("fix test_app.py failures", ()),
    ("test_app.py is flaky, fails about one time in three. make it solid", ("test_app.py",)),
    ("the ids test in test_app.py passes for the wrong reason, it is not awaited. fix the test", ("test_app.py",)),
    ("tests/test_x.py proves nothing; fix it", ("tests/test_x.py",)),
    ("test_app.py is flaky because app.py has a race; fix it", ()),
    ("test_app.py is flaky, fix it in app.py", ()),
    ("test_app.py is flaky. make it pass", ()),
    ("test_app.py is flaky. Do not fix it, fix app.py", ()),
    ("If test_app.py is flaky, fix it", ()),
    ("Is it so that test_app.py is flaky, and would you fix it?", ()),
    ("test_app.py is red, fix it", ()),
    ("fix main.py:\n```\nupdate test_app.py\n```\n", ()),
    ("test_app.py", ()),
]


@pytest.mark.parametrize(("prompt", "edited"), EDITS)
def test_a_file_of_the_check_is_edited_only_on_demand(prompt: str, edited: tuple[str, ...]) -> None:
    assert files_to_edit(prompt, PATHS) == edited


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("make the test smaller", True),
        ("that name is silly, rename the test file", True),
        ("put these four tests where the others are", True),
        ("please delete your two new test files", True),
        ("you left the old file behind, delete it", True),
        ("get_tsv in table.py is wrong. There is a debug print beside it, remove it.", False),
        ("get_tsv is wrong; the row cache is unused, drop it", False),
        ("get_tsv in table.py is wrong: make all tests in tests/ pass", False),
        ("Run make test and fix what fails", False),
        ("Make the tests not fail", False),
        ("Make the two tests that fail in test_x.py pass", False),
        ("reduce test failures", False),
        ("remove the test data", False),
        ("Nobody may delete the tests.", False),
        ("shorten these tests a bit", True),
        ("merge both tests", True),
        ("make the tests pass", False),
        ("make these tests all pass again", False),
        ("remove the comma, the tests still fail", False),
        ("don't delete the tests", False),
        ("add a test for it", False),
        ("delete the unused import", False),
    ],
)
def test_which_requests_are_for_another_form_of_the_tests(prompt: str, meant: bool) -> None:
    assert reshapes_tests(prompt) is meant


def test_a_prompt_of_such_words_alone_is_read_at_once() -> None:
    """It would take minutes if each were looked through to the end."""
    assert files_to_edit("move the tests into " * 5_000, [f"tests/test_{n}.py" for n in range(20)]) == ()


def test_files_settle_which_of_two_files_with_one_name_is_meant() -> None:
    paths = ("a/test_x.py", "b/test_x.py")
    assert files_to_edit("update test_x.py", paths) == ()
    assert files_to_edit("update test_x.py", paths, ("b/test_x.py",)) == ("b/test_x.py",)
    assert files_to_edit("update a/test_x.py", paths, ()) == ("a/test_x.py",)

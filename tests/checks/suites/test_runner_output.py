"""What the output of test runners says of the tests; the files in `data` are what these runners printed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codur.checks.describe import failures_told, first_failures, headline
from codur.checks.suites.runner_output import are_named, counts_in, told_so_far
from codur.types import Verdict

DATA = Path(__file__).with_name("data")
ADDS = "total adds all"


@pytest.mark.parametrize(
    ("runner", "passed", "total", "failing", "said"),
    [
        ("ava", 0, 2, (ADDS, "largest of none"), f"{ADDS}: test/cart.js:5 4: test("),
        (
            "cargo",
            1,
            3,
            ("tests::adds_all", "tests::largest_of_none"),
            "tests::adds_all: panicked at src/lib.rs:14:9: assertion `left == right` failed left: 5 right: 6",
        ),
        (
            "ctest",
            1,
            2,
            ("total",),
            "total: test_total: /work/cart/test_total.c:3: main: Assertion `total(p, 3) == 6' failed.",
        ),
        (
            "dotnet",
            2,
            3,
            ("Shop.CartTests.AddsAll",),
            "Shop.CartTests.AddsAll: Error Message: Assert.Equal() Failure Expected: 6 Actual: 5",
        ),
        (
            "go",
            0,
            0,
            ("TestPopOrder", "TestPopTable", "TestPopTable/none"),
            "TestPopOrder: stack_test.go:18: Pop() = 1, want 2",
        ),
        (
            "go_verbose",
            2,
            5,
            ("TestPopOrder", "TestPopTable", "TestPopTable/none"),
            "TestPopOrder: stack_test.go:18: Pop() = 1, want 2",
        ),
        ("gradle", 1, 2, ("CartTest > addsAll",), "CartTest > addsAll: java.lang.AssertionError at CartTest.java:8"),
        (
            "jest",
            1,
            3,
            ("total › adds all", "largest of none"),
            "total › adds all: expect(received).toBe(expected) // Object.is equality Expected: 6 Received: 5",
        ),
        (
            "jest_suite",
            4,
            6,
            ("test/clock.test.ts › Test suite failed to run", "total › adds all"),
            "test/clock.test.ts › Test suite failed to run: TypeError: performance is read only",
        ),
        (
            "junit4",
            1,
            2,
            ("addsAll(shop.CartTest)",),
            "addsAll(shop.CartTest): java.lang.AssertionError: expected:<6> but was:<5>",
        ),
        (
            "maven",
            1,
            2,
            ("addsAll(shop.CartTest)",),
            "addsAll(shop.CartTest): java.lang.AssertionError: expected:<6> but was:<5>",
        ),
        (
            "minitest",
            1,
            3,
            ("TestCart#test_largest_of_none", "TestCart#test_adds_all"),
            "TestCart#test_largest_of_none: NoMethodError: undefined method `to_int' for nil:NilClass",
        ),
        (
            "mocha",
            1,
            3,
            (ADDS, "largest of none"),
            f"{ADDS}: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 5 !== 6",
        ),
        (
            "node_spec",
            1,
            3,
            ("adds all", "total", "of none", "largest"),
            "adds all: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 5 !== 6",
        ),
        (
            "node_tap",
            1,
            3,
            ("adds all", "of none"),
            "adds all: location: '/work/cart/test/cart.test.js:9:3' 5 !== 6",
        ),
        (
            "phpunit",
            1,
            3,
            ("CartTest::testLargestOfNone", "CartTest::testAddsAll"),
            "CartTest::testLargestOfNone: ValueError: max(): Argument #1 ($value) must contain at least one element",
        ),
        ("prove", 2, 3, ("adds all",), "adds all: # at t/cart.t line 4. # got: '5' # expected: '6'"),
        (
            "rspec",
            1,
            3,
            ("Cart adds all", "Cart#largest is nil of none"),
            "Cart adds all: Failure/Error: expect(Cart.new([1, 2, 3]).total).to eq(6) expected: 6 got: 5",
        ),
        (
            "bun",
            1,
            3,
            (),
            "",
        ),
        (
            "minitest_verbose",
            2,
            5,
            (
                "Report#test_0001_tells largest and balance",
                "LedgerTest#test_balance_of_none",
                "LedgerTest#test_largest",
            ),
            "Report#test_0001_tells largest and balance: [/home/me/shop/test/report_test.rb:7]:",
        ),
        (
            "phpunit_skipped",
            5,
            7,
            ("CartTest::testEmpty", 'CartTest::testTotal with data set "one" (6, array(Shop\\Line Object (...)))'),
            "CartTest::testEmpty: Failed asserting that false is true.",
        ),
        (
            "rspec_pending",
            5,
            7,
            ("Shop::Cart multiplies price and quantity", "Shop::Receipt ends with the total"),
            "Shop::Cart multiplies price and quantity: Failure/Error: expect(cart_of(['tea', 3, 4]).total).to eq(12)",
        ),
        (
            "test_unit",
            1,
            4,
            ("test_balance_of_none(LedgerTest)", "test_largest(LedgerTest)", "test_lines(ReportTest)"),
            "test_balance_of_none(LedgerTest): /home/me/shop/test/ledger_test.rb:7:in `test_balance_of_none'",
        ),
        (
            "unittest",
            1,
            3,
            ("test_b (test_x.CartTest.test_b)", "test_a (test_x.CartTest.test_a)"),
            "test_b (test_x.CartTest.test_b): KeyError: 'x'",
        ),
        (
            "vitest",
            1,
            3,
            ("test/cart.test.js > total > adds all", "test/cart.test.js > largest of none"),
            "test/cart.test.js > total > adds all: AssertionError: expected 5 to be 6 // Object.is equality",
        ),
    ],
)
def test_counts_names_and_words_of_failed_tests(
    runner: str, passed: int, total: int, failing: tuple[str, ...], said: str
) -> None:
    counts = counts_in((DATA / f"{runner}.txt").read_text())
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing) == (passed, total, failing)
    assert headline(counts.error).startswith(said)


@pytest.mark.parametrize(
    "closing",
    [
        "0 examples, 0 failures",
        "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
        "Ran 0 tests in 0.000s",
        "[INFO] Tests are skipped.\n[INFO] ----\n[INFO] BUILD SUCCESS",
        "Test project /home/me/cart/build\nNo tests were found!!!",
    ],
)
def test_a_runner_that_ran_nothing_tells_so(closing: str) -> None:
    counts = counts_in(f"\n{closing}\n")
    assert counts is not None
    assert (counts.total, counts.ran) == (0, 0)


VITEST_SUITE = """
⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  |unit| src/my file.test.ts [ src/my file.test.ts ]
Error: Cannot find package 'web-file' imported from '/work/src/file.test.ts'
 ❯ src/file.test.ts:2:1

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/set.test.ts > min/max
AssertionError: expected 1 to be 2

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯


 Test Files  2 failed | 2 passed (4)
      Tests  1 failed | 17 passed (18)
   Start at  20:47:37
"""


def test_a_file_that_vitest_cannot_load_is_one_failure_more() -> None:
    counts = counts_in(VITEST_SUITE)
    assert counts is not None
    assert counts.failing == ("|unit| src/my file.test.ts [ src/my file.test.ts ]", "src/set.test.ts > min/max")
    assert ((counts.passed, counts.total), are_named(counts)) == ((17, 19), True)


def test_what_a_test_of_go_prints_is_no_failure() -> None:
    counts = counts_in(
        "=== RUN   TestA\n--- FAIL: words of a report\n--- PASS: TestA (0.00s)\nPASS\nok  \tshop\t0.1s\n"
    )
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing) == (1, 1, ())


def test_the_line_of_a_rust_example_is_no_part_of_its_name() -> None:
    """An edit above it moves it."""
    red = "---- src/lib.rs - human (line 12) stdout ----\nno\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"
    green = "test src/lib.rs - human (line 13) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
    before, after = counts_in(red), counts_in(green)
    assert before is not None
    assert after is not None
    assert before.failing == after.passing == ("src/lib.rs - human",)


def test_what_is_said_of_skipped_tests_belongs_to_no_failure() -> None:
    for runner in ("minitest_verbose", "phpunit_skipped", "rspec_pending"):
        counts = counts_in((DATA / f"{runner}.txt").read_text())
        assert counts is not None
        assert not any(words in counts.error.lower() for words in ("skipped", "later", "not decided", "no extension"))


def test_each_failed_test_is_told_with_its_own_words_and_no_others() -> None:
    counts = counts_in((DATA / "cargo.txt").read_text())
    assert counts is not None
    assert counts.error == (
        "FAIL: tests::adds_all\npanicked at src/lib.rs:14:9:\n"
        "assertion `left == right` failed\n  left: 5\n right: 6\n\n"
        "FAIL: tests::largest_of_none\npanicked at src/basket.rs:12:20:\n"
        "index out of bounds: the len is 0 but the index is 0"
    )


def test_of_many_failed_tests_the_last_are_named() -> None:
    failures = "".join(f"---- t{number} stdout ----\nno\n\n" for number in range(7))
    counts = counts_in(f"{failures}test result: FAILED. 0 passed; 7 failed; 0 ignored\n")
    assert counts is not None
    assert counts.error.endswith("FAIL: t4\nno\n\n2 more: t5, t6")


def test_the_counts_of_several_runs_are_added() -> None:
    one, two = (f"test result: FAILED. {good} passed; {bad} failed; 0 ignored\n" for good, bad in ((3, 1), (4, 0)))
    counts = counts_in(f"{one}\n     Running tests/all.rs\n{two}")
    assert counts is not None
    assert (counts.passed, counts.total, counts.ran) == (7, 8, 8)


TAP = """TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 4.998116
  error: '0 == 4'
  code: 'ERR_ASSERTION'
  ...
# Subtest: takes
ok 2 - takes
1..2
# tests 2
# pass 1
# fail 1
# cancelled 0
# duration_ms 205.735351
"""
WORDS = """✖ adds (2.570352ms)
✔ takes (0.1ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ duration_ms 226.462452

✖ failing tests:

test at add.test.js:1:96
✖ adds (2.570352ms)
  AssertionError [ERR_ASSERTION]: 0 == 4
      at TestContext.<anonymous> (add.test.js:1:114)
"""


@pytest.mark.parametrize(
    ("output", "why"), [(TAP, "error: '0 == 4'"), (WORDS, "AssertionError [ERR_ASSERTION]: 0 == 4")]
)
def test_what_nodes_own_runner_tells(output: str, why: str) -> None:
    counts = counts_in(output)
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing) == (1, 2, ("adds",))
    assert headline(counts.error) == f"adds: {why}"
    assert "205.735351" not in counts.error
    assert "226.462452" not in counts.error


def test_the_values_of_each_failure_of_nodes_own_runner_are_shown(tmp_path: Path) -> None:
    tests = "".join(
        f"test('{name}', () => assert.{call});\n"
        for name, call in [
            ("first", "equal(25, 75)"),
            ("second", "deepEqual([3, 4], [1, 2])"),
            ("third", "equal(3, 1)"),
        ]
    )
    file = tmp_path / "a.test.js"
    file.write_text(f"const test = require('node:test'), assert = require('node:assert/strict');\n{tests}")
    argv = ["node", "--test", "--test-reporter=tap", str(file)]
    output = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    counts = counts_in(output)
    assert counts is not None
    rows = [row.strip() for row in first_failures(counts.error)]
    assert rows[:3] == ["FAIL: first", f"location: '{file}:2:1'", "25 !== 75"]
    assert {"+   3,", "+   4", "-   1,", "-   2", "3 !== 1"} <= set(rows)


def test_a_run_of_node_that_passes_has_no_error() -> None:
    counts = counts_in("✔ adds (1.2ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\nℹ duration_ms 9.1\n")
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing, counts.error) == (1, 1, (), "")


JEST = """\
PASS ./more.test.js
  ● Console

    console.log
      hello

      at Object.log (add.js:1:9)

Test Suites: 2 passed, 2 total
Tests:       2 skipped, 2 todo, 4 passed, 8 total
"""
TODO = """\
✔ adding (2.318429ms)
✖ not done yet (1.076049ms) # TODO
  AssertionError [ERR_ASSERTION]: 2 == 99
ℹ pass 1
ℹ fail 0
ℹ todo 1

✖ failing tests:

test at add.test.js:3:1
✖ not done yet (1.076049ms) # TODO
  AssertionError [ERR_ASSERTION]: 2 == 99
"""
TAPE = """TAP version 13
# a
ok 1 one
not ok 2 plan != count
  ---
    operator: fail
    expected: 2
    actual:   1
  ...
not ok 3 test exited without ending: b
  ---
    operator: fail
  ...

1..3
# tests 3
# pass  1
# fail  2
"""


def test_what_tape_says_of_a_test_as_a_whole_is_no_test_that_ran() -> None:
    counts = counts_in(TAPE)
    assert counts is not None
    assert (counts.passed, counts.total, counts.ran) == (1, 3, 1)
    assert counts.failing == ("plan != count", "test exited without ending: b")


TAP_TODO = """\
# Subtest: adding
ok 1 - adding
# Subtest: not done yet
not ok 2 - not done yet # TODO
  ---
  error: '2 == 99'
  ...
# pass 1
# fail 0
# todo 1
"""


@pytest.mark.parametrize(("output", "passed"), [(JEST, 4), (TODO, 1), (TAP_TODO, 1)], ids=["jest", "spec", "tap"])
def test_what_a_run_prints_and_what_is_still_to_be_done_are_no_failures(output: str, passed: int) -> None:
    """Right edits were refused where a test printed something: it was taken for a failure of a run that ends with 0."""
    counts = counts_in(output)
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing, counts.error) == (passed, passed, (), "")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "   Compiling shop v0.1.0 (/work)\nerror[E0425]: cannot find value `price` in this scope\n"
            " --> src/basket.rs:5:16\n\nerror: could not compile `shop` (lib) due to 1 previous error\n",
            "error[E0425]: cannot find value `price` in this scope",
        ),
        (
            "FAIL\tshop [build failed]\nFAIL\n\n# shop\n./stack.go:10:2: m declared but not used\n./stack.go:9: x\n",
            "./stack.go:10:2: m declared but not used",
        ),
        ("cart.c:5:33: error: `sun` undeclared\nmake: *** [all] Error 1\n", "cart.c:5:33: error: `sun` undeclared"),
        ("a.ts(1,7): error TS2322: no\nb.ts(1,7): error TS1: no\n", "a.ts(1,7): error TS2322: no"),
        ("a.ts:1:7 - error TS2322: no\n\nFound 1 error.\n", "a.ts:1:7 - error TS2322: no"),
        ("src/A.java:6: error: cannot find symbol\n1 error\n", "src/A.java:6: error: cannot find symbol"),
        (
            "shop::shop.total\n007     >>> total([1, 2])\nExpected:\n    3\nGot:\n    2\n\nshop.py:7: DocTestFailure",
            "expected 3, got 2",
        ),
        (
            'Traceback (most recent call last):\n  File "a.py", line 1\nAssertionError: 5\nmake: *** [test] Error 1',
            "AssertionError: 5",
        ),
        (
            "/tmp/n.js:1\nfunction f(){ throw new TypeError('no'); }\n              ^\n\nTypeError: a is not b\n"
            "    at f (/tmp/n.js:1:21) {\n  code: 'X'\n}\n\nNode.js v20.20.2\n",
            "TypeError: a is not b",
        ),
        ("error: test failed, to rerun pass `--lib`\n", "error: test failed, to rerun pass `--lib`"),
        ("test_a.c:16: CHECK(v) failed\nmake: *** [Makefile:11: test] Error 1\n", "test_a.c:16: CHECK(v) failed"),
        ("not 3\nrake aborted!\nCommand failed with status (1)\n\nTasks: TOP => test\n", "not 3"),
        ("make: *** No rule to make target 'x'.\n", "make: *** No rule to make target 'x'."),
        ("TAP version 13\n# Subtest: adds\nnot ok 1 - adds\n  ---\n  code: 'X'\n  ...\n# Subtest: hangs\n", "adds"),
        ("it was started\n  ...\n", "it was started"),
        (
            "python3 check.py\nleft over: CREATE VIEW a AS\n    SELECT b\n    FROM c;\n\nmake: *** [check] Error 1\n",
            "left over: CREATE VIEW a AS",
        ),
        ("make[1]: Entering\n  1 failing\n\n  1) adds:\n     not 3\n", "not 3"),
    ],
)
def test_what_says_most_is_the_headline(output: str, said: str) -> None:
    assert headline(output) == said


def test_what_unittest_told_before_it_was_ended() -> None:
    found = told_so_far(
        "setUpClass (t.D) ... ERROR\ntest_a (t.C.test_a)\nWords. ... \n  test_a (t.C.test_a) (i=0)\nWords. ... FAIL\n"
        "test_b (t.C.test_b) ... \n  test_b (t.C.test_b) [m] ... FAIL\ntest_c (t.C.test_c) ... ok\n"
        "test_d (t.C.test_d) ... skipped 'no'\ntest_e (t.C.test_e) ... expected failure\ntest_g (t.C.test_g) ... "
    )
    assert found is not None
    assert (found.passed, found.total) == (1, 4)
    assert found.failing == ("setUpClass (t.D)", "test_a (t.C.test_a)", "test_b (t.C.test_b)")
    assert told_so_far(".F.\n") is None


SUBTESTS = """FAIL: test_a (shop.Case.test_a) (v=0, name='x')
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/p/shop.py", line 5, in test_a
    self.assertEqual(total(v), f"{v}!")
AssertionError: '0' != '0!'
- 0
+ 0!
?  ^


======================================================================
FAIL: test_a (shop.Case.test_a) (v=1, name='x')
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/p/shop.py", line 5, in test_a
    self.assertEqual(total(v), f"{v}!")
AssertionError: '1' != '1!'
- 1
+ 1!
?  ^


======================================================================
FAIL: test_b (shop.Case.test_b) [empty]
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/p/shop.py", line 9, in test_b
    self.assertTrue(total([]))
AssertionError: 0 is not true

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=3)
"""


def test_parts_of_a_test_are_no_tests() -> None:
    counts = counts_in(SUBTESTS)
    assert counts is not None
    assert (counts.passed, counts.total) == (1, 3)
    assert counts.failing == ("test_a (shop.Case.test_a)", "test_b (shop.Case.test_b)")
    assert are_named(counts)
    assert "subtest: (v=1, name='x')" in counts.error
    assert headline(counts.error) == "test_a (shop.Case.test_a): AssertionError: '1' != '1!'"


def test_of_a_program_that_a_test_ran_the_last_line_of_its_traceback_is_told() -> None:
    error = (
        "test_plot::test_plot\ntest_plot.py:9: in test_plot\n    assert done.returncode == 0, done.stderr\n"
        "E   AssertionError: Traceback (most recent call last):\n"
        'E       File "plot.py", line 1, in <module>\nE         import matplotlib\n'
        "E     ModuleNotFoundError: No module named 'matplotlib'\nE     \nE   assert 1 == 0\n"
    )
    assert headline(error) == "ModuleNotFoundError: No module named 'matplotlib'"


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("load() raises ValueError: invalid number for 1, fix it", True),
        ("load() should give 1, but raises ValueError: invalid number", True),
        ("The parser has to raise ValueError: invalid number for letters", False),
        ("Let parse() raise ValueError: invalid number when it gets a letter", False),
        ("make it print `invalid number` in the menu", False),
    ],
)
def test_what_is_to_be_raised_is_no_report_of_what_was(prompt: str, told: bool) -> None:
    failing = "test_a.py::test_load"
    error = f"{failing}\n    load('1')\nE   ValueError: invalid number"
    verdict = Verdict(status="failed", check="python -m pytest", error=error, failing=(failing,))
    assert failures_told(verdict, prompt) == ((failing,) if told else ())

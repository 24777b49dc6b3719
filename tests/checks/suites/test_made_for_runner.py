"""A test that was made, among those of another runner: what it is called, and what it may fail for."""

from __future__ import annotations

from typing import Any

import pytest

from codur.checks.suites import made_for_runner
from codur.structs import replace
from codur.types import Check, Verdict

PROJECT = Check(kind="tests", argv=("npm", "test"), source="package.json", protected=("package.json", "test/a.js"))
KNOWN = {"parse", "Options"}


@pytest.mark.parametrize(
    ("near", "text", "path"),
    [
        ("test/parse.js", "it('keeps empty values', f)", "test/keeps_empty_values.js"),
        ("test/parse-args.js", "it('keeps empty values', f)", "test/keeps-empty-values.js"),
        ("src/parse.spec.ts", "describe(`Parse`, () => it('b', f))", "src/parse.spec.ts"),
        ("src/other.test.tsx", "describe(`Parse`, () => it('b', f))", "src/parse.test.tsx"),
        ("pkg/parse_test.go", "package pkg\n\nfunc TestParseOnLinux(t *testing.T) {}", "pkg/parseonlinux_test.go"),
        ("tests/new.rs", "#[test]\nfn half_of_4() {}", "tests/half_of_4.rs"),
        ("tests/new.rs", "fn helper() {}\n\n#[test]\n#[ignore]\nfn half() {}", "tests/half.rs"),
        ("spec/parse_spec.rb", 'RSpec.describe Parse do\n  it "gives 2" do', "spec/gives_2_spec.rb"),
        ("test/test_parse.rb", "class TestA\n  def test_4_parts\n", "test/test_a_4_parts.rb"),
        ("src/test/java/a/ParseTest.java", "package a;\n\npublic class EmptyTest {}", "src/test/java/a/EmptyTest.java"),
        (
            "src/test/java/a/ParseTest.java",
            "class Helper {}\n/** Tests class of H. */\nclass HTest {}",
            "src/test/java/a/HTest.java",
        ),
        ("test/test.parse.js", "it('keeps')", "test/test.keeps.js"),
        ("a/test_a_test.go", "func TestWindows(", "a/windows_test.go"),
        ("tests/ParseTest.php", "<?php\nfinal class EmptyTest extends TestCase {}", "tests/EmptyTest.php"),
        ("test/a.js", "function createProgram() {}\n\ndescribe('short flags', f)", "test/short_flags.js"),
        ("a/a_test.go", "func helper() {}\n\nfunc TestHalf(t *testing.T) {}", "a/half_test.go"),
        (
            "tests/a.test.js",
            "test('when subcommand killed by SIGKILL then program exits with 137', f)",
            "tests/when_subcommand_killed_by_sigkill_then.test.js",
        ),
        ("test/parse.js", "", "test/made.js"),
        ("test/parse.js", "it('parse')", "test/parse_2.js"),
    ],
)
def test_it_is_called_after_its_first_words_in_the_way_of_the_one_beside(near: str, text: str, path: str) -> None:
    taken = {"test/parse.js"}
    assert made_for_runner.path_of(text, near, taken) == path


@pytest.mark.parametrize(
    ("example", "sources", "files", "place"),
    [
        ("", ["src/lib.rs"], ["Cargo.toml", "src/lib.rs"], "tests/new.rs"),
        ("tests/all.rs", ["src/lib.rs"], ["Cargo.toml", "src/lib.rs", "tests/all.rs"], "tests/all.rs"),
        ("", ["a/src/x.rs"], ["Cargo.toml", "a/Cargo.toml", "a/src/x.rs"], "a/tests/new.rs"),
        ("", ["a.c"], ["Makefile", "a.c"], ""),
        ("test/a.js", ["a.js"], ["package.json", "a.js", "test/a.js"], "test/a.js"),
    ],
)
def test_where_its_runner_finds_it(example: str, sources: list[str], files: list[str], place: str) -> None:
    assert made_for_runner.place_of(example, sources, files) == place


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("test/parse.js", True),
        ("test/helpers/parse.js", False),
        ("tests/test_a.py", False),
        ("src/parse.js", False),
        ("tests/all.rs", True),
        ("a/tests/all.rs", True),
        ("src/tests/mod.rs", False),
        ("tests/common/mod.rs", False),
    ],
)
def test_which_files_show_how_tests_are_written(path: str, *, fits: bool) -> None:
    assert made_for_runner.is_example(path) == fits


def test_where_a_runner_takes_files_the_test_runs_alone_and_the_projects_own_after_it() -> None:
    project = replace(PROJECT, argv=("rspec", "spec/a_spec.rb"), suite=("rspec",), protected=("spec/a_spec.rb",))
    made = made_for_runner.among("it 'keeps' do", project, 4, "spec/a_spec.rb", project.protected)
    assert (made.argv, made.ran_without, made.beside) == (("rspec", "spec/keeps_spec.rb"), 4, project)
    assert made.label == "rspec spec/keeps_spec.rb && rspec spec/a_spec.rb"
    go = replace(PROJECT, argv=("go", "test", "./..."), suite=("go", "test", "./..."))
    made = made_for_runner.among("func TestKeeps(", go, 4, "a/a_test.go", ())
    assert (made.label, made.ran_without, made.entry) == ("go test ./...", 4, "a/keeps_test.go")


@pytest.mark.parametrize(
    ("check", "other"),
    [
        (PROJECT, True),
        (replace(PROJECT, protected=("package.json", "test/helper.js")), False),
        (replace(PROJECT, argv=("make", "test"), protected=("Makefile", "tests/test_a.py", "test/a.js")), False),
        (replace(PROJECT, argv=("cargo", "test"), protected=()), True),
        (replace(PROJECT, argv=("{python}", "-m", "unittest")), False),
        (replace(PROJECT, kind="command"), False),
        (None, False),
    ],
)
def test_which_projects_have_a_runner_of_their_own(check: Check | None, *, other: bool) -> None:
    assert made_for_runner.is_other(check) == other


def ended(passed: int, total: int, error: str, **fields: Any) -> Verdict:
    return replace(
        Verdict(status="failed", check="npm test", tests_passed=passed, tests_total=total, error=error), **fields
    )


UNWRAPPED = "panicked at tests/made.rs:4:37:\ncalled `Result::unwrap()` on an `Err` value: "
SLIP = "FAIL: keeps\nTypeError: keep is not a function\nContext.<anonymous> (test/made.js:5:9)"


@pytest.mark.parametrize(
    ("prompt", "verdict", "frames", "why"),
    [
        ("it is wrong", ended(4, 5, "FAIL: keeps\nAssertionError: expected 1 to equal 2"), (), ""),
        ("it is wrong", ended(4, 5, "--- FAIL: TestA\n    a_test.go:9: parse = 1"), ("a_test.go",), ""),
        ("it is wrong", ended(4, 5, SLIP), ("test/made.js",), "TypeError is raised by the test itself"),
        ("it crashes", ended(4, 5, SLIP), ("test/made.js", "src/parse.js"), ""),
        ("it is wrong", ended(4, 5, "FAIL: a\n  operator: throws\n  expected: [Function: TypeError]"), (), ""),
        ("add keep", ended(4, 5, SLIP), ("test/made.js",), ""),
        ("add keep", ended(0, 1, "x_test.go:7:5: undefined: pkg.keep"), ("a_test.go",), ""),
        ("add keep", ended(0, 1, "error[E0425]: cannot find function `keep` in this scope"), (), ""),
        ("add keep", ended(0, 1, "error[E0599]: no method named `keep` found for struct `A`"), (), ""),
        ("add keep", ended(0, 1, "error[E0432]: unresolved import `text::keep`"), (), ""),
        ("add keep", ended(0, 1, "error TS2339: Property 'keep' does not exist on type 'A'."), (), ""),
        ("add keep", ended(4, 5, "NoMethodError: undefined method `keep' for #<A>"), ("test/test_a.rb",), ""),
        ("add keep", ended(4, 5, "Error: Call to undefined method App\\Text::keep()"), ("tests/ATest.php",), ""),
        ("add keep", ended(0, 1, "  symbol:   method keep(int)"), (), ""),
        ("parse fails", ended(0, 1, "x_test.go:7:5: undefined: parse"), (), "it cannot be run: x_test.go:7:5"),
        ("it is wrong", ended(0, 1, "x_test.go:7:5: undefined: keep"), (), "it cannot be run: x_test.go:7:5"),
        ("it is wrong", ended(4, 5, "FAIL: test/made.js\nerror: 'test failed'"), (), "it cannot be run: test/made.js"),
        ("add keep", ended(4, 5, "FAIL: test/made.js\nerror: 'test failed'"), (), ""),
        ("it is wrong", ended(3, 6, "AssertionError"), (), "with it only 3 tests pass, and 4 do without it"),
        ("it crashes", ended(0, 0, SLIP), ("src/parse.js", "test/made.js"), ""),
        ("it crashes", ended(1, 2, "panic: index out of range"), ("src/parse.js", "test/made.js"), ""),
        ("it crashes", ended(0, 0, SLIP), ("src/parse.js",), "it cannot be run"),
        (
            "it is wrong",
            ended(0, 0, "error[E0308]: mismatched types"),
            ("test/made.js", "src/parse.js"),
            "it cannot be run: error[E0308]",
        ),
        ("it hangs", ended(4, 5, "", timed_out=True), (), ""),
        ("it is wrong", ended(4, 5, "", timed_out=True), (), "it does not end"),
        ("it is wrong", ended(4, 5, "", unfit="EAI_AGAIN"), (), "it cannot be run: EAI_AGAIN"),
        ("it is wrong", ended(5, 5, "", status="passed"), (), "it passes as the program is now"),
        ("parse errors are lost", ended(0, 1, "x_test.go:7:5: undefined: errors"), (), "it cannot be run"),
        ("add slug.js", ended(0, 0, "Error: Cannot find module '../slug.js'"), ("test/made.js",), ""),
        ("add slug", ended(4, 5, "LoadError: cannot load such file -- lib/slug"), ("test/made.js",), ""),
        ("add slug", ended(0, 0, "a_test.go:3:8: no required module provides package x.org/a/slug"), (), ""),
        ("add slug", ended(0, 0, "error[E0433]: cannot find `slug` in `text`"), (), ""),
        ("add slug", ended(0, 0, "error[E0609]: no field `slug` on type `A`"), (), ""),
        ("it is wrong", ended(4, 5, "FAIL: a\nError: ENOENT: no such file"), ("test/made.js",), "ENOENT is raised"),
        ("it is wrong", ended(4, 5, f"{UNWRAPPED}Os {{ NotFound: No such file or directory }}"), (), "No such file or"),
        ("it is wrong", ended(4, 5, f"{UNWRAPPED}ParseIntError"), (), ""),
        ("it is wrong", ended(4, 5, "FAIL: Expected titles\nTypeError: x"), ("test/made.js",), "TypeError is raised"),
        ("it is wrong", ended(4, 5, "FAIL: a\nError: Timeout of 2000ms exceeded."), (), "it does not end"),
        ("it hangs", ended(4, 5, "FAIL: a\nError: Timeout of 2000ms exceeded."), (), ""),
        ("it is wrong", ended(4, 5, "FAIL: a\n" + "x" * 200_000 + " is not"), (), ""),
    ],
)
def test_what_it_may_fail_for(prompt: str, verdict: Verdict, frames: tuple[str, ...], why: str) -> None:
    text = "import { keep } from '../src/parse.js';\nerrors.New('x');\n"
    check = replace(PROJECT, text=text, entry="test/made.js", ran_without=4, beside=PROJECT)
    found = made_for_runner.why_not_red(check, verdict, prompt, frames, known=KNOWN.__contains__)
    assert found[: len(why)] == why
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("it('a', () => expect(title('')).toMatchSnapshot())", "it compares with a snapshot"),
        ("use text::keep;\n\nfn keeps() {}\n", "it holds no test"),
        ("const assert = require('assert');\nassert(keep());\n", "it holds no test"),
        ("test('keeps', (t) => t.end());", ""),
        ("test.each([1])('keeps', f);", ""),
        ("t.test('keeps', f);", ""),
        ("#[test]\nfn keeps() {}", ""),
        ("#[tokio::test]\nasync fn keeps() {}", ""),
        ("func TestKeeps(t *testing.T) {}", ""),
        ("def test_keeps\nend", ""),
        ("it 'keeps' do", ""),
        ('it { is_expected.to eq 1 }\nit("keeps") {}', ""),
        ("public function testKeeps(): void", ""),
        ("#[Test]\npublic function keeps()", ""),
        ("@Test\nvoid keeps()", ""),
        ("[Fact]\npublic void Keeps()", ""),
        ("TEST(Text, Keeps) {}", ""),
        ("BOOST_AUTO_TEST_CASE(keeps) {}", ""),
        ("it { expect(half(4)).to eq(2) }", ""),
        ("should 'keep' do", ""),
        ("#[rstest]\nfn keeps() {}", ""),
        ("@ParameterizedTest\nvoid keeps(int n)", ""),
        ("[DataTestMethod]\npublic void Keeps()", ""),
        ("func ExampleKeeps() {}", ""),
        ("test(async () => keeps());", ""),
    ],
)
def test_what_a_text_must_hold(text: str, why: str) -> None:
    assert made_for_runner.text_problem(text).startswith(why)
    assert bool(made_for_runner.text_problem(text)) == bool(why)


def test_what_can_never_be_told() -> None:
    check = replace(PROJECT, entry="test/made.js", ran_without=4, left_out=("host",), beside=PROJECT)
    verdict = ended(4, 6, "FAIL: host\nAssertionError")
    said = made_for_runner.why_not_red(check, verdict, "", (), known=KNOWN.__contains__)
    assert said.startswith("its failure cannot be told from those before")

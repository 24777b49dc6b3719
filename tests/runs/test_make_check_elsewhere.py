"""Tests that are made for a task in other languages: they run among the project's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from codur.events import TestMade
from codur.types import Limits
from codur.ui.shown import plans
from tests.runs.kit import Played, play
from tests.runs.test_plans import classified
from tests.support.groq_server import ServerReply, calls, text

MAKES = {"verification": {"make_check": "auto"}}


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project whose tests pass, a task for it, a test that is red because of that, and the edit."""

    tool: str
    files: dict[str, str]
    prompt: str
    test: str
    path: str
    source: str
    wrong: str
    right: str


JS = """exports.words = (text) => text.split(' ');

exports.title = (text) => text[0].toUpperCase() + text.slice(1);
"""
JS_TEST = """const test = require('node:test');
const assert = require('node:assert');
const { words } = require('../text.js');

test('words', () => {
  assert.deepStrictEqual(words('a b'), ['a', 'b']);
});
"""
GO = "package text\n\nfunc Double(n int) int {\n\treturn n * 2\n}\n\nfunc Half(n int) int {\n\treturn n / 3\n}\n"
GO_TEST = (
    'package text\n\nimport "testing"\n\n'
    'func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
)
RUST = (
    "pub fn half(n: i32) -> i32 {\n    n / 3\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn nothing() {\n        assert_eq!(super::half(0), 0);\n    }\n}\n"
)
RUBY = "def half(n)\n  n / 3\nend\n"
RUBY_TEST = (
    "require 'minitest/autorun'\nrequire_relative '../lib/text'\n\n"
    "class TestText < Minitest::Test\n  def test_zero\n    assert_equal 0, half(0)\n  end\nend\n"
)
RAKE = "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/test_*.rb' }\n"
NODE = Project(
    tool="node",
    files={
        "package.json": '{"name": "text", "scripts": {"test": "node --test test/"}}',
        "text.js": JS,
        "test/text.test.js": JS_TEST,
    },
    prompt="title('') crashes, it must give ''",
    test=JS_TEST.replace("{ words }", "{ title }").replace(
        "test('words', () => {\n  assert.deepStrictEqual(words('a b'), ['a', 'b']);",
        "test('title of nothing', () => {\n  assert.strictEqual(title(''), '');",
    ),
    path="test/title_of_nothing.test.js",
    source="text.js",
    wrong="text[0].toUpperCase()",
    right="text.charAt(0).toUpperCase()",
)
PROJECTS = {
    "JavaScript": NODE,
    "Go": Project(
        tool="go",
        files={"go.mod": "module example.com/text\n\ngo 1.18\n", "text.go": GO, "text_test.go": GO_TEST},
        prompt="Half(4) must be 2",
        test=GO_TEST.replace("TestDouble", "TestHalfOfFour").replace("Double(2) != 4", "Half(4) != 2"),
        path="halfoffour_test.go",
        source="text.go",
        wrong="n / 3",
        right="n / 2",
    ),
    "Rust": Project(
        tool="cargo",
        files={"Cargo.toml": '[package]\nname = "text"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": RUST},
        prompt="half(4) must be 2",
        test="#[test]\nfn half_of_four() {\n    assert_eq!(text::half(4), 2);\n}\n",
        path="tests/half_of_four.rs",
        source="src/lib.rs",
        wrong="n / 3",
        right="n / 2",
    ),
    "Ruby": Project(
        tool="rake",
        files={"Rakefile": RAKE, "lib/text.rb": RUBY, "test/test_text.rb": RUBY_TEST},
        prompt="half(4) must be 2",
        test=RUBY_TEST.replace("zero", "four").replace("0, half(0)", "2, half(4)").replace("TestText", "TestFour"),
        path="test/test_four.rb",
        source="lib/text.rb",
        wrong="n / 3",
        right="n / 2",
    ),
}


PHP_TEST = """<?php
use PHPUnit\\Framework\\TestCase;

require_once __DIR__ . '/../text.php';

final class TextTest extends TestCase
{
    public function testZero(): void
    {
        $this->assertSame(0, half(0));
    }
}
"""
PROJECTS["PHP"] = Project(
    tool="phpunit",
    files={
        # Tests are listed, so that a new file is found only if it is named.
        "phpunit.xml": (
            "<phpunit><testsuites><testsuite name='all'><file>test/TextTest.php</file></testsuite></testsuites>"
            "</phpunit>"
        ),
        "text.php": "<?php\nfunction half(int $n): int\n{\n    return intdiv($n, 3);\n}\n",
        "test/TextTest.php": PHP_TEST,
    },
    prompt="half(4) must be 2",
    test=PHP_TEST.replace("TextTest", "FourTest").replace("testZero", "testFour").replace("0, half(0)", "2, half(4)"),
    path="test/FourTest.php",
    source="text.php",
    wrong="intdiv($n, 3)",
    right="intdiv($n, 2)",
)


def run(place: Path, project: Project, replies: Sequence[ServerReply], **fields: Any) -> Played:
    found = subprocess.run(
        ["sh", "-c", f"{project.tool} --version || {project.tool} version"],
        env={"PATH": os.environ["PATH"], "HOME": str(place)},
        capture_output=True,
        check=False,
    )
    if found.returncode:
        pytest.skip(f"{project.tool} is not here")
    task_type = fields.pop("task_type", "code_fix")
    first = classified(task_type=task_type, suggested_action="edit", confidence=0.95, detected_files=[project.source])
    prompt = fields.pop("prompt", project.prompt)
    return play(place, project.files, prompt, [first, *replies], sections=MAKES, **fields)


def answer(test: str) -> ServerReply:
    return text(f"```\n{test}```\n")


def edit(project: Project) -> ServerReply:
    search = {"path": project.source, "old": project.wrong, "new": project.right}
    return calls(("replace_in_file", search))


@pytest.mark.parametrize("language", PROJECTS)
def test_a_test_is_made_and_runs_among_the_projects_own(tmp_path: Path, language: str) -> None:
    project = PROJECTS[language]
    played = run(tmp_path, project, [answer(project.test), edit(project)])
    (made,) = [event for event in played.events if isinstance(event, TestMade)]
    assert (made.path, made.text) == (project.path, project.test), played.result.notes
    result = played.result
    assert (result.outcome, result.model_calls, played.unexpected) == ("done", 3, 0), result.reason
    assert result.before is not None
    assert result.verdict is not None
    assert result.before.status == "failed"
    assert result.verdict.tests_passed == result.verdict.tests_total == 2
    assert result.changed_files == (project.source,)
    assert project.path not in played.files
    assert project.test.strip() in played.message(2)


def test_an_edit_that_leaves_it_red_is_no_success(tmp_path: Path) -> None:
    other = calls(("replace_in_file", {"path": "text.js", "old": "split(' ')", "new": "split(/ /)"}))
    finish = calls(("finish", {"reason": "done"}))
    played = run(tmp_path, NODE, [answer(NODE.test), other, finish, finish])
    assert played.result.outcome != "done"
    assert "title of nothing" in played.result.attempts[0].error


def test_what_is_asked_for_anew_may_be_missing(tmp_path: Path) -> None:
    test = NODE.test.replace("{ title }", "{ shout }").replace("title('')", "shout('')")
    new = calls(
        (
            "replace_in_file",
            {"path": "text.js", "old": "exports.title", "new": "exports.shout = (text) => text;\nexports.title"},
        )
    )
    played = run(tmp_path, NODE, [answer(test), new], prompt="add a function shout", task_type="code_generation")
    assert played.result.outcome == "done"
    assert any(isinstance(event, TestMade) for event in played.events)


def test_where_it_keeps_its_package_from_being_compiled_the_others_are_no_pass(tmp_path: Path) -> None:
    more = {"more/more.go": GO.replace("package text", "package more")}
    more["more/more_test.go"] = GO_TEST.replace("package text", "package more")
    project = replace(PROJECTS["Go"], files={**PROJECTS["Go"].files, **more})
    test = project.test.replace("Half(4) != 2", "Quarter(4) != 1")
    new = f"{GO}\nfunc Quarter(n int) int {{\n\treturn n / 4\n}}\n"
    replies = [answer(test), calls(("replace_file_content", {"path": "text.go", "content": new}))]
    played = run(tmp_path, project, replies, prompt="add a function Quarter", task_type="code_generation")
    result = played.result
    assert any(isinstance(event, TestMade) for event in played.events)
    assert result.outcome == "done", result.notes
    assert not any("not red each time" in note for note in result.notes)
    assert result.verdict is not None
    assert result.verdict.tests_passed == 3


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (NODE.test.replace("title(''), ''", "title('a'), 'A'"), "it passes as the program is now"),
        (NODE.test.replace("title('')", "headline('')"), "ReferenceError is raised by the test itself"),
        (NODE.test.replace("../text.js", "../nothing.js"), "it cannot be run"),
        ("// " + "much " * 2_000 + "\n", "it has 10,"),
    ],
)
def test_a_test_of_no_use_is_asked_for_once_more(tmp_path: Path, test: str, why: str) -> None:
    played = run(tmp_path, NODE, [answer(test), answer(NODE.test), edit(NODE)])
    assert why in played.message(2)
    assert (played.result.outcome, played.result.model_calls) == ("done", 4)


def test_what_a_test_of_no_use_held_is_no_measure_for_the_one_after(tmp_path: Path) -> None:
    slip = NODE.test.replace("title(''), ''", "nothing(), ''") + "\ntest('more', () => {\n  nothing(title('a'));\n});\n"
    played = run(tmp_path, NODE, [answer(slip), answer(NODE.test), edit(NODE)])
    assert (played.result.outcome, played.result.model_calls, played.result.attempts) == ("done", 4, ())


def test_the_request_shows_how_tests_are_written_here(tmp_path: Path) -> None:
    played = run(tmp_path, NODE, [answer(NODE.test), edit(NODE)])
    system = str(played.requests[1].body["messages"][0]["content"])
    assert "test file for `npm test`" in system
    assert "It has the form of test/text.test.js" in system
    assert "pytest" not in system
    assert "===== test/text.test.js" in played.message(1)
    assert "`npm test` must pass: test/title_of_nothing.test.js was written for this task" in played.message(2)


def test_it_is_kept_where_that_is_wanted(tmp_path: Path) -> None:
    played = run(tmp_path, NODE, [answer(NODE.test), edit(NODE)], keep_test=True)
    assert played.files[NODE.path] == NODE.test


def test_how_it_fails_is_told_in_the_words_of_the_failure(tmp_path: Path) -> None:
    played = run(tmp_path, NODE, [answer(NODE.test), edit(NODE)])
    (made,) = [event for event in played.events if isinstance(event, TestMade)]
    last = plans.test_lines(made.path, made.text, made.failure)[-1].text
    assert last.startswith("     red now: title of nothing:")
    assert "Cannot read properties of undefined" in last


FOREIGN = """const test = require('node:test');
const assert = require('node:assert');

test('the service answers', () => {
  assert.strictEqual(process.env.SERVICE, 'there');
});
"""


def with_foreign(project: Project) -> Project:
    return replace(project, files={**project.files, "test/service.test.js": FOREIGN})


def test_tests_that_failed_before_for_other_reasons_are_left_out(tmp_path: Path) -> None:
    played = run(tmp_path, with_foreign(NODE), [answer(NODE.test), edit(NODE)])
    result = played.result
    assert (result.outcome, result.model_calls, played.unexpected) == ("done", 3, 0), result.reason
    assert result.before is not None
    assert result.before.failing == ("title of nothing",)
    assert result.verdict is not None
    assert (result.verdict.tests_passed, result.verdict.tests_total) == (2, 2)
    assert result.verdict.excused == ("the service answers",)
    assert "1 test failed before and is left out of the verdict: the service answers" in result.verdict.note


def test_what_passed_before_must_still_pass_beside_those_that_are_left_out(tmp_path: Path) -> None:
    breaks = calls(
        ("replace_in_file", {"path": "text.js", "old": "split(' ')", "new": "split('')"}),
        ("replace_in_file", {"path": "text.js", "old": NODE.wrong, "new": NODE.right}),
    )
    mends = calls(("replace_in_file", {"path": "text.js", "old": "split('')", "new": "split(' ')"}))
    played = run(tmp_path, with_foreign(NODE), [answer(NODE.test), breaks, mends])
    assert "words" in played.result.attempts[0].error
    assert "the service answers" not in played.result.attempts[0].error


def test_where_none_is_made_who_edits_may_say_that_what_fails_is_not_about_the_task(tmp_path: Path) -> None:
    finish = ("finish", {"reason": "the service is not here"})
    both = calls(("replace_in_file", {"path": "text.js", "old": NODE.wrong, "new": NODE.right}), finish)
    played = run(tmp_path, with_foreign(NODE), [text("NONE: it cannot be shown"), both])
    assert played.result.outcome == "done"
    assert played.result.verdict is not None
    assert played.result.verdict.failing == ("the service answers",)


def test_who_breaks_another_test_cannot_say_so(tmp_path: Path) -> None:
    finish = ("finish", {"reason": "the service is not here"})
    breaks = calls(("replace_in_file", {"path": "text.js", "old": "split(' ')", "new": "split('')"}), finish)
    replies = [text("NONE: it cannot be shown"), breaks, calls(finish), calls(finish)]
    assert run(tmp_path, with_foreign(NODE), replies).result.outcome != "done"


def test_a_test_that_shuts_out_the_others_hides_nothing(tmp_path: Path) -> None:
    """With the focus on it the project's own tests do not run, and more than before are told."""
    helper = "require './text'\n\nRSpec.configure { |c| c.filter_run_when_matching :focus }\n"
    spec = "require 'spec_helper'\n\nRSpec.describe 'text' do\n  it('doubles') { expect(twice(2)).to eq 4 }\nend\n"
    made = (
        "require 'spec_helper'\n\nRSpec.describe 'half', :focus do\n"
        "  it('of four') { expect(half(4)).to eq 2 }\n  it('of three') { expect(half(3)).to eq 1 }\nend\n"
    )
    project = Project(
        tool="rspec",
        files={
            ".rspec": "",
            "text.rb": "def twice(n)\n  n * 2\nend\n\ndef half(n)\n  n / 3\nend\n",
            "spec/spec_helper.rb": helper,
            "spec/text_spec.rb": spec,
        },
        prompt="half(4) must be 2",
        test=made,
        path="spec/half_spec.rb",
        source="text.rb",
        wrong="n / 3",
        right="n / 2",
    )
    both = calls(
        ("replace_in_file", {"path": "text.rb", "old": "n * 2", "new": "n * 3"}),
        ("replace_in_file", {"path": "text.rb", "old": "n / 3", "new": "n / 2"}),
    )
    right = project.files["text.rb"].replace("n / 3", "n / 2")
    mends = calls(("replace_file_content", {"path": "text.rb", "content": right}))
    played = run(tmp_path, project, [answer(made), both, mends])
    assert played.result.outcome == "done"
    assert len(played.result.attempts) == 1, "what passed before did not in the first attempt"
    assert "doubles" in played.result.attempts[0].error


def test_a_file_that_ends_the_process_is_no_test(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "text", "type": "module", "scripts": {"test": "node --test test/"}}',
        "text.js": "export const words = (text) => text.split(' ');\n",
        "test/text.test.js": (
            "import test from 'node:test';\nimport { words } from '../text.js';\n\ntest('words', () => words('a'));\n"
        ),
    }
    test = files["test/text.test.js"].replace("words", "shout")
    project = replace(NODE, files=files)
    ends = "export const shout = () => process.exit(0);\nprocess.exit(0);\nexport const words"
    sly = calls(("replace_in_file", {"path": "text.js", "old": "export const words", "new": ends}))
    finish = calls(("finish", {"reason": "done"}))
    played = run(
        tmp_path, project, [answer(test), sly, finish, finish], prompt="add shout", task_type="code_generation"
    )
    assert any(isinstance(event, TestMade) for event in played.events)
    assert played.result.outcome != "done"


def test_none_is_made_where_the_tests_take_too_long_for_it(tmp_path: Path) -> None:
    slow = (
        NODE.files["test/text.test.js"]
        .replace("'words', () => {", "'words', async () => {\n  await SLEEP;")
        .replace("SLEEP", "new Promise((done) => setTimeout(done, 4000))")
    )
    project = replace(NODE, files={**NODE.files, "test/text.test.js": slow})
    played = run(tmp_path, project, [edit(NODE)], limits=Limits(max_runtime_s=31))
    assert (played.result.outcome, played.result.model_calls) == ("done", 2)


def test_a_runner_may_end_with_what_the_test_raises(tmp_path: Path) -> None:
    """As tape does: nothing is told of the others then."""
    runner = """const fs = require('fs');
let passed = 0;
global.test = (name, body) => { body(); passed += 1; console.log(`ok ${passed} ${name}`); };
for (const name of fs.readdirSync('test')) require(`./test/${name}`);
console.log(`1..${passed}\\n# tests ${passed}\\n# pass  ${passed}\\n\\n# ok`);
"""
    package = '{"name": "text", "scripts": {"test": "node run.js"}}'
    own = NODE.files["test/text.test.js"].replace("const test = require('node:test');\n", "")
    files = {**NODE.files, "package.json": package, "run.js": runner, "test/text.test.js": own}
    test = NODE.test.replace("const test = require('node:test');\n", "")
    played = run(tmp_path, replace(NODE, files=files, test=test), [answer(test), edit(NODE)])
    assert (played.result.outcome, played.result.model_calls, played.result.notes[0][:26]) == (
        "done",
        3,
        "the test that was made for",
    )


def test_what_looks_at_the_form_of_tests_is_no_failure_of_the_program(tmp_path: Path) -> None:
    lint = "process.exit(require('fs').readdirSync('test').filter((name) => name.includes('title')).length);\n"
    package = '{"name": "text", "scripts": {"test": "node --test test/ && node lint.js"}}'
    project = replace(NODE, files={**NODE.files, "package.json": package, "lint.js": lint})
    played = run(tmp_path, project, [answer(NODE.test), edit(NODE)])
    assert (played.result.outcome, played.result.model_calls) == ("done", 3)


def test_a_failure_beside_the_tests_is_not_left_out_with_them(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not here")
    go = PROJECTS["Go"]
    fails = 'package text\n\nimport "testing"\n\nfunc TestHost(t *testing.T) {\n\tt.Fatal("no host")\n}\n'
    files = {**go.files, "host_test.go": fails, "cmd/main.go": "package main\n\nfunc main() {}\n"}
    project = replace(go, files=files)
    breaks = calls(
        ("replace_in_file", {"path": go.source, "old": go.wrong, "new": go.right}),
        ("replace_in_file", {"path": "cmd/main.go", "old": "func main() {}", "new": "func main() { nothing() }"}),
    )
    finish = calls(("finish", {"reason": "done"}))
    played = run(tmp_path, project, [answer(go.test), breaks, finish, finish])
    assert played.result.outcome != "done"


def test_a_pass_in_which_fewer_of_the_projects_own_tests_run_is_none(tmp_path: Path) -> None:
    """Alone the made test passes; the edit ends the program in a test of the project's own."""
    php = PROJECTS["PHP"]
    one = "    public function testOne(): void\n    {\n        $this->assertSame(0, half(1));\n    }\n\n"
    more = PHP_TEST.replace("    public function testZero", f"{one}    public function testZero")
    project = replace(php, files={**php.files, "test/TextTest.php": more})
    sly = "if ($n < 1) { exit(0); }\n    return intdiv($n, 2)"
    ends = calls(("replace_in_file", {"path": php.source, "old": "return intdiv($n, 3)", "new": sly}))
    finish = calls(("finish", {"reason": "done"}))
    played = run(tmp_path, project, [answer(php.test), ends, finish, finish])
    assert any(isinstance(event, TestMade) for event in played.events)
    assert played.result.outcome != "done"


def test_what_a_runner_says_beside_its_tests_is_not_left_out(tmp_path: Path) -> None:
    hook = (
        "RSpec.describe 'text' do\n  after(:context) { raise 'open' if half(4) == 2 }\n"
        "  it('zero') { expect(half(0)).to eq 0 }\nend\n"
    )
    project = Project(
        tool="rspec",
        files={
            ".rspec": "--require ./text",
            "text.rb": RUBY,
            "spec/text_spec.rb": hook,
            "spec/host_spec.rb": "RSpec.describe 'host' do\n  it('is there') { expect(ENV['HOST']).to eq 'x' }\nend\n",
        },
        prompt="half(4) must be 2",
        test="RSpec.describe 'half' do\n  it('of four') { expect(half(4)).to eq 2 }\nend\n",
        path="spec/of_four_spec.rb",
        source="text.rb",
        wrong="n / 3",
        right="n / 2",
    )
    finish = calls(("finish", {"reason": "done"}))
    played = run(tmp_path, project, [answer(project.test), edit(project), finish, finish])
    assert any(isinstance(event, TestMade) for event in played.events)
    assert played.result.outcome != "done"

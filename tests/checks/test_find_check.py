"""Which check applies to a workspace and a prompt: tables of files → the whole check."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.checks.challenge_file import ChallengeFile, read_challenge
from codur.checks.find_check import OF_COMMAND, CheckRequest, find_check
from codur.checks.stated_output import files_to_edit
from codur.config.settings import VerificationSettings
from codur.errors import ConfigError, UsageError
from codur.structs import replace
from codur.types import Check
from codur.workspace.workspace import Workspace

SETTINGS = VerificationSettings(timeout_s=5.0, test_timeout_s=60.0)
SCRIPT = "print(1)\n"
LIBRARY = "def f():\n    return 1\n"
TEST = "def test_f():\n    assert True\n"
PYTEST = ("{python}", "-m", "pytest")


def workspace(root: Path, files: Mapping[str, str]) -> Workspace:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Workspace.open(root)


def check_for(root: Path, files: Mapping[str, str], prompt: str = "fix it", *named: str) -> Check | None:
    return find_check(workspace(root, files), SETTINGS, CheckRequest(prompt=prompt, files=named))


def output(*argv: str, source: str, protected: tuple[str, ...], timeout_s: float = 5.0, **more: str) -> Check:
    return Check(
        kind="output",
        argv=("{python}", *argv),
        entry=argv[0],
        source=source,
        protected=protected,
        timeout_s=timeout_s,
        stdin_file=more.get("stdin_file"),
        expected_file=more.get("expected_file"),
        expected_text=more.get("expected_text"),
    )


def run_of_tests(*argv: str, source: str, protected: tuple[str, ...], timeout_s: float = 60.0) -> Check:
    suite = PYTEST if argv[:3] == PYTEST else argv if argv[0] == "go" or argv[-1] in {"rspec", "phpunit"} else ()
    return Check(kind="tests", argv=argv, source=source, protected=protected, timeout_s=timeout_s, suite=suite)


def syntax(entry: str | None) -> Check:
    return Check(
        kind="syntax", argv=(), entry=entry, timeout_s=5.0, source="no expected output and no tests were found"
    )


# --- expected output --------------------------------------------------------------------------------------------------

OUTPUT: dict[str, tuple[dict[str, str], str, tuple[str, ...], Check]] = {
    "beside main.py": (
        {"main.py": SCRIPT, "expected.txt": "1\n"},
        "fix main.py",
        ("main.py",),
        output(
            "main.py", source="expected.txt beside main.py", protected=("expected.txt",), expected_file="expected.txt"
        ),
    ),
    "the other name": (
        {"a.py": SCRIPT, "expected_output.txt": "1\n"},
        "fix it",
        (),
        output(
            "a.py",
            source="expected_output.txt beside a.py",
            protected=("expected_output.txt",),
            expected_file="expected_output.txt",
        ),
    ),
    "input and arguments": (
        {"main.py": SCRIPT, "expected.txt": "", "input.txt": "x", "args.txt": "--name 'A B'\n-v\n"},
        "fix it",
        (),
        output(
            "main.py",
            "--name",
            "A B",
            "-v",
            source="expected.txt beside main.py",
            protected=("expected.txt", "input.txt", "args.txt"),
            stdin_file="input.txt",
            expected_file="expected.txt",
        ),
    ),
    "all further down": (
        {"app/run.py": SCRIPT, "app/expected.txt": "1", "app/input.txt": "x", "input.txt": "y"},
        "fix it",
        (),
        output(
            "app/run.py",
            source="expected.txt beside app/run.py",
            protected=("app/expected.txt", "app/input.txt"),
            stdin_file="app/input.txt",
            expected_file="app/expected.txt",
        ),
    ),
    "above the program": (
        {"src/run.py": SCRIPT, "expected.txt": "1"},
        "fix it",
        (),
        output(
            "src/run.py",
            source="expected.txt above src/run.py",
            protected=("expected.txt",),
            expected_file="expected.txt",
        ),
    ),
    "before tests": (
        {"main.py": SCRIPT, "expected.txt": "1", "test_a.py": TEST},
        "fix it",
        (),
        output(
            "main.py", source="expected.txt beside main.py", protected=("expected.txt",), expected_file="expected.txt"
        ),
    ),
    "a program that is still to be written": (
        {"expected.txt": "1", "input.txt": "x"},
        "Write fuel.py. It reads standard input.",
        (),
        output(
            "fuel.py",
            source="expected.txt beside fuel.py",
            protected=("expected.txt", "input.txt"),
            stdin_file="input.txt",
            expected_file="expected.txt",
        ),
    ),
    "the only Python file, which does nothing yet": (
        {"calc.py": LIBRARY, "expected.txt": "1"},
        "complete calc.py",
        ("calc.py",),
        output(
            "calc.py", source="expected.txt beside calc.py", protected=("expected.txt",), expected_file="expected.txt"
        ),
    ),
    "the program that lies beside it": (
        {"a/run.py": SCRIPT, "a/lib.py": LIBRARY, "b/run.py": SCRIPT, "a/expected.txt": "1"},
        "fix it",
        (),
        output(
            "a/run.py",
            source="expected.txt beside a/run.py",
            protected=("a/expected.txt",),
            expected_file="a/expected.txt",
        ),
    ),
    "challenge.yaml": (
        {
            "a.py": SCRIPT,
            "b.py": SCRIPT,
            "expected.txt": "1",
            "args.txt": "x",
            "challenge.yaml": "entry: b.py\ntimeout: 3\nargs: --n 'a b'\n",
        },
        "fix a.py",
        ("a.py",),
        output(
            "b.py",
            "--n",
            "a b",
            source="expected.txt beside b.py",
            protected=("expected.txt", "args.txt", "challenge.yaml"),
            timeout_s=3.0,
            expected_file="expected.txt",
        ),
    ),
    "the prompt changes the expectation": (
        {"main.py": SCRIPT, "expected.txt": "1", "input.txt": "x"},
        "Print 2 instead of 1 and update expected.txt",
        ("expected.txt",),
        output(
            "main.py",
            source="expected.txt beside main.py",
            protected=("input.txt",),
            stdin_file="input.txt",
            expected_file="expected.txt",
        ),
    ),
    "stated in the prompt": (
        {"main.py": SCRIPT, "input.txt": "x"},
        "main.py should print 42.",
        ("main.py",),
        output(
            "main.py",
            source="expected output stated in the prompt",
            protected=("input.txt",),
            stdin_file="input.txt",
            expected_text="42",
        ),
    ),
    "stated for a new program": (
        {},
        'Write hello.py. It should print "Hello".',
        (),
        output("hello.py", source="expected output stated in the prompt", protected=(), expected_text="Hello"),
    ),
    "a file goes before the prompt": (
        {"main.py": SCRIPT, "expected.txt": "1"},
        "main.py should print 42.",
        ("main.py",),
        output(
            "main.py", source="expected.txt beside main.py", protected=("expected.txt",), expected_file="expected.txt"
        ),
    ),
}


@pytest.mark.parametrize("name", OUTPUT)
def test_expected_output(name: str, tmp_path: Path) -> None:
    files, prompt, named, check = OUTPUT[name]
    assert check_for(tmp_path, files, prompt, *named) == check


# --- tests and syntax -------------------------------------------------------------------------------------------------

JAVA_TEST = "src/test/java/ATest.java"

REST: dict[str, tuple[dict[str, str], str, tuple[str, ...], Check | None]] = {
    "pytest": (
        {"a.py": LIBRARY, "test_a.py": TEST},
        "fix it",
        (),
        run_of_tests(*PYTEST, source="the tests in test_a.py", protected=("test_a.py",)),
    ),
    "everything that tests rest on": (
        {
            "a.py": LIBRARY,
            "conftest.py": "",
            "pytest.ini": "[pytest]\n",
            "tests/a_test.py": TEST,
            "tests/helper.py": LIBRARY,
            "tests/data.json": "{}",
            "tests/test_b.py": TEST,
            "challenge.yaml": "timeout: 9\n",
        },
        "fix it",
        (),
        run_of_tests(
            *PYTEST,
            source="the tests in tests/a_test.py and 1 more",
            protected=(
                "conftest.py",
                "pytest.ini",
                "tests/a_test.py",
                "tests/helper.py",
                "tests/test_b.py",
                "challenge.yaml",
            ),
            timeout_s=9.0,
        ),
    ),
    "one test file named": (
        {"a.py": LIBRARY, "test_a.py": TEST, "test_b.py": TEST},
        "make test_b.py pass",
        ("test_b.py",),
        run_of_tests(
            *PYTEST,
            "test_b.py",
            source="the tests in test_b.py, named in the prompt",
            protected=("test_a.py", "test_b.py"),
        ),
    ),
    "two test files named": (
        {"test_a.py": TEST, "test_b.py": TEST},
        "make test_a.py and test_b.py pass",
        ("test_a.py", "test_b.py"),
        run_of_tests(*PYTEST, source="the tests in test_a.py and 1 more", protected=("test_a.py", "test_b.py")),
    ),
    "the prompt changes a test": (
        {"test_a.py": TEST, "test_b.py": TEST},
        "add a test to test_b.py",
        ("test_b.py",),
        run_of_tests(
            *PYTEST, "test_b.py", source="the tests in test_b.py, named in the prompt", protected=("test_a.py",)
        ),
    ),
    "ignored tests": ({".gitignore": "old/\n", "old/test_a.py": TEST, "a.py": SCRIPT}, "fix it", (), syntax("a.py")),
    "npm": (
        {"package.json": '{"scripts": {"test": "node --test"}}', "a.test.js": "", "a.js": ""},
        "fix it",
        (),
        run_of_tests("npm", "test", source="the tests that package.json declares", protected=("a.test.js",)),
    ),
    "npm without tests": (
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        "fix it",
        (),
        None,
    ),
    "broken package.json": ({"package.json": "{", "a.py": SCRIPT}, "fix it", (), syntax("a.py")),
    "scripts that are no mapping": ({"package.json": '{"scripts": []}'}, "fix it", (), None),
    "cargo": (
        {"Cargo.toml": "[package]\n", "src/lib.rs": "", "tests/all.rs": ""},
        "fix it",
        (),
        run_of_tests(
            "cargo",
            "test",
            "--no-fail-fast",
            source="the tests that Cargo.toml declares",
            protected=("tests/all.rs",),
        ),
    ),
    "jest": (
        {"package.json": '{"scripts": {"test": "NODE_ENV=test jest --ci"}}', "a.test.js": ""},
        "fix it",
        (),
        replace(
            run_of_tests("npm", "test", source="the tests that package.json declares", protected=("a.test.js",)),
            suite=("npm", "test"),
        ),
    ),
    "go": (
        {"go.mod": "module x\n", "a.go": "", "a_test.go": ""},
        "fix it",
        (),
        run_of_tests("go", "test", "-v", "./...", source="the tests that go.mod declares", protected=("a_test.go",)),
    ),
    "maven": (
        {"pom.xml": "<project/>\n", "src/main/java/A.java": "", JAVA_TEST: ""},
        "fix it",
        (),
        run_of_tests("mvn", "--offline", "test", source="the tests that pom.xml declares", protected=(JAVA_TEST,)),
    ),
    "rspec": (
        {".rspec": "", "lib/a.rb": "", "spec/a_spec.rb": ""},
        "fix it",
        (),
        run_of_tests("rspec", source="the tests that .rspec declares", protected=("spec/a_spec.rb", ".rspec")),
    ),
    "prove": (
        {"Makefile.PL": "use A;\n", "lib/A.pm": "", "t/a.t": ""},
        "fix it",
        (),
        run_of_tests("prove", "-l", "-r", "t", source="the tests that Makefile.PL declares", protected=("t/a.t",)),
    ),
    "rspec with bundler": (
        {"Gemfile": 'gem "rspec"\n', ".rspec": "", "lib/a.rb": ""},
        "fix it",
        (),
        run_of_tests("bundle", "exec", "rspec", source="the tests that Gemfile declares", protected=()),
    ),
    "rake": (
        {"Rakefile": "Rake::TestTask.new\n", "lib/a.rb": "", "test/test_a.rb": ""},
        "fix it",
        (),
        run_of_tests(
            "rake", "test", source="the tests that Rakefile declares", protected=("test/test_a.rb", "Rakefile")
        ),
    ),
    "rake with a task of its own": (
        {"Rakefile": "desc 'Run tests'\ntask :test do\nend\n", "lib/a.rb": "", "test/test_a.rb": ""},
        "fix it",
        (),
        run_of_tests(
            "rake", "test", source="the tests that Rakefile declares", protected=("test/test_a.rb", "Rakefile")
        ),
    ),
    "a script that runs them": (
        {"run-tests.sh": "#!/bin/sh\njava A\n", "src/test/java/ATest.java": "", "src/A.java": ""},
        "fix it",
        (),
        run_of_tests(
            "sh",
            "run-tests.sh",
            source="the tests that run-tests.sh declares",
            protected=("src/test/java/ATest.java", "run-tests.sh"),
        ),
    ),
    "a script that is called test.sh": (
        {"backup.sh": "#!/bin/bash\n", "test.sh": "#!/bin/bash\n./backup.sh\n"},
        "fix it",
        (),
        run_of_tests("bash", "test.sh", source="the tests that test.sh declares", protected=("test.sh",)),
    ),
    "a script of bash that runs them": (
        {"tests/run_tests.sh": "#!/usr/bin/env bash\n./a\n", "a.c": ""},
        "fix it",
        (),
        run_of_tests(
            "bash",
            "tests/run_tests.sh",
            source="the tests that tests/run_tests.sh declares",
            protected=("tests/run_tests.sh",),
        ),
    ),
    "phpunit": (
        {"phpunit.xml": "<phpunit/>\n", "src/A.php": "", "tests/ATest.php": ""},
        "fix it",
        (),
        run_of_tests(
            "phpunit", source="the tests that phpunit.xml declares", protected=("tests/ATest.php", "phpunit.xml")
        ),
    ),
    "phpunit, as it is shared": (
        {"phpunit.xml.dist": "<phpunit/>\n", "src/A.php": "", "tests/ATest.php": ""},
        "fix it",
        (),
        run_of_tests(
            "phpunit",
            source="the tests that phpunit.xml.dist declares",
            protected=("tests/ATest.php", "phpunit.xml.dist"),
        ),
    ),
    "rspec without settings": (
        {
            "spec/spec_helper.rb": "RSpec.configure do\nend\n",
            "spec/a_spec.rb": "",
            "spec/support/a.rb": "",
            "lib/spec/a.rb": "",
        },
        "fix it",
        (),
        run_of_tests(
            "rspec",
            source="the tests that spec/spec_helper.rb declares",
            protected=("spec/a_spec.rb", "spec/spec_helper.rb", "spec/support/a.rb"),
        ),
    ),
    "a wrapper goes first": (
        {"gradlew": "#!/bin/sh\n", "build.gradle.kts": "", "src/Latest.kt": "", "src/LatestTests.kt": ""},
        "fix it",
        (),
        run_of_tests(
            "sh", "gradlew", "test", source="the tests that gradlew declares", protected=("src/LatestTests.kt",)
        ),
    ),
    "cmake": (
        {"CMakeLists.txt": "project(x)\n", "x.cpp": "", "x_test.cpp": "", "contest.cpp": ""},
        "fix it",
        (),
        run_of_tests(
            "sh",
            "-c",
            'cmake -S . -B "$TMPDIR/build" && cmake --build "$TMPDIR/build"'
            ' && ctest --test-dir "$TMPDIR/build" --output-on-failure',
            source="the tests that CMakeLists.txt declares",
            protected=("x_test.cpp",),
        ),
    ),
    "cmake, built before": (
        {"CMakeLists.txt": "project(x)\n", ".gitignore": "build/\n", "build/CMakeCache.txt": "X:STRING=y\n"},
        "fix it",
        (),
        run_of_tests(
            "sh",
            "-c",
            "cmake --build build && ctest --test-dir build --output-on-failure",
            source="the tests that build/CMakeCache.txt declares",
            protected=(),
        ),
    ),
    "make": (
        {"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"},
        "fix it",
        (),
        run_of_tests("make", "test", source="the tests that Makefile declares", protected=()),
    ),
    "make check": (
        {"Makefile": "all:\n\ttrue\ncheck: all\n\ttrue\n"},
        "fix it",
        (),
        run_of_tests("make", "check", source="the tests that Makefile declares", protected=()),
    ),
    "make without the target": ({"Makefile": "test := 1\nlatest:\n\ttrue\n"}, "fix it", (), None),
    "Python tests go before others": (
        {"Makefile": "test:\n\ttrue\n", "test_a.py": TEST},
        "fix it",
        (),
        run_of_tests(*PYTEST, source="the tests in test_a.py", protected=("test_a.py",)),
    ),
    "syntax of the program": ({"a.py": LIBRARY, "main.py": SCRIPT}, "fix it", (), syntax("main.py")),
    "syntax of the named file": ({"a.py": LIBRARY, "b.py": LIBRARY}, "fix b.py", ("b.py",), syntax("b.py")),
    "syntax, program unclear": ({"a.py": LIBRARY, "b.py": LIBRARY}, "fix it", (), syntax(None)),
    "stated output, program unclear": ({"a.py": SCRIPT, "b.py": SCRIPT}, "it should print 4", (), syntax(None)),
    "two expectations, program unclear": (
        {"a/a.py": SCRIPT, "a/expected.txt": "1", "b/b.py": SCRIPT, "b/expected.txt": "1"},
        "fix it",
        (),
        syntax(None),
    ),
    "expectation in tests": ({"a.py": SCRIPT, "b.py": SCRIPT, "tests/expected.txt": "1"}, "fix it", (), syntax(None)),
    "nothing": ({"notes.txt": "x"}, "fix it", (), None),
}


@pytest.mark.parametrize("name", REST)
def test_tests_and_syntax(name: str, tmp_path: Path) -> None:
    files, prompt, named, check = REST[name]
    assert check_for(tmp_path, files, prompt, *named) == check


# --- commands ---------------------------------------------------------------------------------------------------------

PROJECT = {
    "main.py": SCRIPT,
    "conftest.py": "",
    "test_a.py": TEST,
    "tests/test_b.py": TEST,
    "tests/data.txt": "",
    "expected.txt": "1",
    "input.txt": "",
}
COMMANDS: list[tuple[str, tuple[str, ...]]] = [
    ("./check.sh", ("input.txt",)),
    ("python main.py | diff - expected.txt", ("expected.txt", "input.txt")),
    ("diff <(python main.py) './expected.txt'", ("expected.txt", "input.txt")),
    ("python -m unittest -q test_a", ("test_a.py", "conftest.py", "input.txt")),
    ("python -m unittest tests.test_b.TestB.test_c", ("tests/test_b.py", "conftest.py", "input.txt")),
    ("pytest -x test_a.py::test_f", ("test_a.py", "conftest.py", "input.txt")),
    ("pytest tests/", ("tests/test_b.py", "conftest.py", "input.txt")),
    ("pytest", ("conftest.py", "test_a.py", "tests/test_b.py", "input.txt")),
    ("npm test", ("conftest.py", "test_a.py", "tests/test_b.py", "input.txt")),
    ("cat ../test_a.py /tests/test_b.py", ("input.txt",)),
]


JUDGED = {
    "main.py": SCRIPT,
    "run.py": SCRIPT,
    "lib.py": LIBRARY,
    "check.sh": "exit 0\n",
    "judge.sh": "exit 0\n",
    "verify.py": SCRIPT,
    "lint_all.rb": "",
    "tests/run.py": SCRIPT,
    "Makefile": "lint:\n\ttrue\n",
    "sub/makefile": "lint:\n\ttrue\n",
    "package.json": "{}",
    "expected.txt": "1\n",
    "golden.json": "1\n",
    "cases.in": "1\n",
    "strict.ini": "[mypy]\n",
}
JUDGES: list[tuple[str, str, tuple[str, ...]]] = [
    ("sh check.sh", "fix main.py", ("check.sh",)),
    ("sh ./judge.sh --all", "fix main.py", ("judge.sh",)),
    ("bash -e judge.sh", "fix main.py", ("judge.sh",)),
    ("./judge.sh", "fix main.py", ("judge.sh",)),
    ("CI=1 timeout 9 ./judge.sh && echo ok", "fix main.py", ("judge.sh",)),
    ("bash -c './judge.sh'", "fix main.py", ("judge.sh",)),
    ("./judge.sh | tee log.txt", "fix main.py", ("judge.sh",)),
    ("./judge.sh", "fix judge.sh", ()),
    ("./judge.sh | diff - expected.txt", "it is wrong", ("expected.txt",)),
    ("./verify.py", "make verify.py pass", ("verify.py",)),
    ("python verify.py", "fix lib.py", ("verify.py",)),
    ("python -m verify", "fix lib.py", ("verify.py",)),
    ("python3 verify.py", "fix verify.py", ()),
    ("ruby lint_all.rb", "fix main.py", ("lint_all.rb",)),
    ("python tests/run.py", "fix main.py", ("tests/run.py",)),
    ("make lint", "fix main.py", ()),
    ("make lint", "do not touch the Makefile", ("Makefile",)),
    ("make install", "fix main.py", ("Makefile",)),
    ("make -C sub lint", "fix main.py", ("sub/makefile",)),
    ("make lint", "add a target to the Makefile", ()),
    ("make lint", "make lint in the Makefile pass", ()),
    ("npm run lint", "fix main.py", ()),
    ("python main.py", "fix main.py", ()),
    ("python run.py --input lib.py", "fix lib.py", ()),
    ("./main.py", "fix main.py", ()),
    ("./run.py", "fix main.py", ("run.py",)),
    ("python main.py | diff - expected.txt", "fix main.py", ("expected.txt",)),
    ("python main.py < cases.in | cmp - golden.json", "fix main.py", ("golden.json", "cases.in")),
    ('[ "$(./judge.sh)" = 1 ]', "it prints 2", ()),
    ("mypy --config-file=strict.ini lib.py", "fix lib.py", ("strict.ini",)),
]


@pytest.mark.parametrize(("command", "prompt", "protected"), JUDGES)
def test_a_command_protects_what_judges_and_not_the_program(
    command: str, prompt: str, protected: tuple[str, ...], tmp_path: Path
) -> None:
    files = tuple(name for name in JUDGED if name in prompt)
    found = find_check(workspace(tmp_path, JUDGED), SETTINGS, CheckRequest(prompt=prompt, files=files, command=command))
    assert found is not None
    assert found.protected == protected


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("add the keys that are missing in de.json. node check.mjs should be happy", "node check.mjs"),
        ("translate the rest until make check passes", "make check"),
        ("translate the rest; then `node check.mjs` must pass.", "node check.mjs"),
        ("translate the rest. make deploy must pass", ""),
        ("translate the rest. node absent_check.mjs must pass", ""),
    ],
)
def test_a_command_that_is_to_pass_in_the_end_is_the_check(prompt: str, command: str, tmp_path: Path) -> None:
    files = {"check.mjs": "", "test_a.py": TEST, "Makefile": "check:\n\tnode check.mjs\ndeploy:\n\ttrue\n"}
    found = check_for(tmp_path, files, prompt)
    assert found is not None
    assert (found.argv[-1] if found.source == OF_COMMAND else "") == command
    if command:
        assert "check.mjs" in found.protected
        assert found.beside is not None
        assert found.beside.kind == "tests"


@pytest.mark.parametrize(
    "prompt",
    [
        "Fix the failing test of f. make lint must pass.",
        "mend f, and make lint must pass",
        "fix the rule in the Makefile; make lint must pass",
        "fix the Makefile; make lint must pass",
        "test_f fails, get it green; make lint must pass",
        "f rounds wrongly. make lint must pass.",
    ],
)
def test_where_a_fault_is_told_before_it_comes_after_the_tests(prompt: str, tmp_path: Path) -> None:
    files = {"a.py": LIBRARY, "test_a.py": TEST, "Makefile": "lint:\n\tpython3 -m compileall a.py\n"}
    found = check_for(tmp_path, files, prompt)
    assert found is not None
    assert found.beside is not None
    assert (found.kind, found.of_linter, found.beside.argv[-1]) == ("tests", False, "make lint")
    assert ("Makefile" in found.beside.protected) == ("the Makefile" not in prompt)


@pytest.mark.parametrize(("more", "kept"), [({"de.json": "{}", "a.py": LIBRARY}, True), ({}, False)])
def test_the_program_that_is_named_as_what_must_pass_judges(more: dict[str, str], kept: bool, tmp_path: Path) -> None:
    files = {"tools/schema_validate.py": SCRIPT, **more}
    found = check_for(tmp_path, files, "python tools/schema_validate.py fails, fix it")
    assert found is not None
    assert ("tools/schema_validate.py" in found.protected) is kept


LINKS = {
    "tools/check_links.py": SCRIPT,
    "docs/a.md": "",
    "Makefile": "links:\n\tpython3 tools/check_links.py .\n",
}


@pytest.mark.parametrize(
    ("files", "command", "prompt", "named", "protected"),
    [
        ({"checkout.py": SCRIPT}, "python checkout.py", "the sum is wrong", (), ()),
        (
            {"checkout.py": SCRIPT, "lib.py": LIBRARY, "expected.txt": "1"},
            "python checkout.py | diff - expected.txt",
            "the sum is wrong",
            (),
            ("expected.txt",),
        ),
        ({"check.py": SCRIPT, "data.json": ""}, "python check.py", "fix data.json", ("data.json",), ("check.py",)),
        ({"check.py": SCRIPT, "lib.py": LIBRARY}, "python check.py", "fix it", (), ("check.py",)),
        ({"check.sh": "", "notes.md": ""}, "sh check.sh", "fix it", (), ("check.sh",)),
        (
            {
                "check.sh": ".venv/bin/python tools/validate.py a.yaml\n./app.sh\n",
                "tools/validate.py": SCRIPT,
                "app.sh": "",
            },
            "./check.sh",
            "fix a.yaml",
            (),
            ("check.sh", "tools/validate.py"),
        ),
        (LINKS, "python3 tools/check_links.py .", "the links in docs/ are broken", (), ("tools/check_links.py",)),
        (LINKS, "make links", "fix the broken links", (), ("tools/check_links.py",)),
        (
            {"validate_i18n.py": SCRIPT, "de.json": ""},
            "python3 validate_i18n.py",
            "fix the translations",
            (),
            ("validate_i18n.py",),
        ),
        ({"is_valid.py": SCRIPT}, "python3 is_valid.py", "fix the bug", (), ()),
        ({"validate.py": SCRIPT}, "python3 validate.py", "the sums are wrong", (), ()),
        ({"form_validation.py": SCRIPT, "a.py": LIBRARY}, "python form_validation.py", "fix the bug", (), ()),
        ({"app/validators.py": SCRIPT, "a.py": LIBRARY}, "python -m app.validators", "fix the bug", (), ()),
        (
            {"check.mjs": "", "data/de-test.json": "{}", "src/valid_words.txt": "", "test.json": "{}"},
            "node check.mjs data/de-test.json src/valid_words.txt test.json",
            "fix it",
            (),
            ("check.mjs", "test.json"),
        ),
        (
            {
                "Makefile": "a:\n\tpython3 tool.py docs/test-plan.md check.json\n",
                "docs/test-plan.md": "",
                "check.json": "",
            },
            "make a",
            "fix it",
            (),
            (),
        ),
        ({"check.py": SCRIPT}, "python check.py", "fix check.py", ("check.py",), ()),
    ],
)
def test_a_name_that_judges_may_be_the_program(
    files: dict[str, str], command: str, prompt: str, named: tuple[str, ...], protected: tuple[str, ...], tmp_path: Path
) -> None:
    found = find_check(workspace(tmp_path, files), SETTINGS, CheckRequest(prompt=prompt, files=named, command=command))
    assert found is not None
    assert found.protected == protected


def test_what_a_recipe_builds_and_runs_is_not_protected(tmp_path: Path) -> None:
    place = workspace(tmp_path, {"Makefile": "test: run\n\t@./run\n", "app.c": "int main(void) { return 0; }\n"})
    (tmp_path / "run").write_bytes(b"\x7fELF\0\xff")
    found = find_check(place, SETTINGS, CheckRequest(command="make test"))
    assert found is not None
    assert "run" not in found.protected


def test_the_only_program_of_a_challenge_is_what_is_to_be_solved(tmp_path: Path) -> None:
    files = {"validate.py": SCRIPT, "challenge.yaml": "check: python validate.py\n"}
    found = find_check(workspace(tmp_path, files), SETTINGS, CheckRequest())
    assert found is not None
    assert found.protected == ("challenge.yaml",)


@pytest.mark.parametrize(("command", "protected"), COMMANDS)
def test_a_command_protects_the_tests_that_it_names(command: str, protected: tuple[str, ...], tmp_path: Path) -> None:
    found = find_check(workspace(tmp_path, PROJECT), SETTINGS, CheckRequest(command=command))
    of_pytest = command.startswith("pytest")
    assert found == Check(
        kind="tests" if of_pytest else "command",
        argv=("{python}", "-m", *command.split()) if of_pytest else ("sh", "-c", command),
        protected=protected,
        timeout_s=60.0,
        source="the command given with --check",
    )


def test_what_is_given_goes_before_settings_and_these_before_the_challenge(tmp_path: Path) -> None:
    files = {"main.py": SCRIPT, "expected.txt": "1", "challenge.yaml": "check: make c\ntimeout: 7\n"}
    place = workspace(tmp_path, files)
    settings = VerificationSettings(command="make s")
    given = find_check(place, settings, CheckRequest(command="make g", expect_file="expected.txt"))
    expected = find_check(place, settings, CheckRequest(expect_file="expected.txt"))
    configured = find_check(place, settings, CheckRequest())
    challenge = find_check(place, SETTINGS, CheckRequest())
    checks = [
        (check.argv, check.timeout_s, check.source) for check in (given, expected, configured, challenge) if check
    ]
    assert checks == [
        (("sh", "-c", "make g"), 120.0, "the command given with --check"),
        (("{python}", "main.py"), 7.0, "expected output given: expected.txt"),
        (("sh", "-c", "make s"), 120.0, "the command in the settings"),
        (("sh", "-c", "make c"), 7.0, "check in challenge.yaml"),
    ]


# --- a file given with --expect ---------------------------------------------------------------------------------------


def test_expected_output_is_given_relative_or_absolute(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.txt").write_text("1")
    place = workspace(tmp_path / "project", {"main.py": SCRIPT, "want/out.txt": "1", "want/args.txt": "a"})
    outside = str(tmp_path / "elsewhere.txt")
    inside = str(tmp_path / "project/want/out.txt")
    found = {
        given: find_check(place, SETTINGS, CheckRequest(expect_file=given))
        for given in ("want/out.txt", inside, outside, "../elsewhere.txt")
    }

    def within(given: str) -> Check:
        return output(
            "main.py",
            "a",
            source=f"expected output given: {given}",
            protected=("want/out.txt", "want/args.txt"),
            expected_file="want/out.txt",
        )

    def beyond(given: str) -> Check:
        return output("main.py", source=f"expected output given: {given}", protected=(), expected_file=outside)

    assert found == {
        "want/out.txt": within("want/out.txt"),
        inside: within(inside),
        outside: beyond(outside),
        "../elsewhere.txt": beyond("../elsewhere.txt"),
    }


@pytest.mark.parametrize(
    ("files", "message", "remedy"),
    [
        (
            {"main.py": SCRIPT},
            "there is no file out.txt with the expected output",
            "Give --expect a path relative to the workspace, or an absolute one.",
        ),
        (
            {"a.py": SCRIPT, "b.py": SCRIPT, "out.txt": ""},
            "it is not clear which program should print out.txt",
            'Name it in the prompt (e.g. "fix main.py"), or give a command with --check.',
        ),
    ],
)
def test_expected_output_that_cannot_be_used_is_an_error(
    files: dict[str, str], message: str, remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        find_check(workspace(tmp_path, files), SETTINGS, CheckRequest(prompt="fix it", expect_file="out.txt"))
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


def test_arguments_that_cannot_be_split_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        check_for(tmp_path, {"main.py": SCRIPT, "expected.txt": "", "args.txt": "--name 'A"})
    message = "args.txt: cannot be split into arguments: no closing quotation"
    assert (caught.value.message, caught.value.remedy) == (message, "Close the quote.")


# --- challenge.yaml ---------------------------------------------------------------------------------------------------

CHALLENGES: list[tuple[str | None, ChallengeFile]] = [
    (None, ChallengeFile()),
    ("", ChallengeFile()),
    ("# nothing\n", ChallengeFile()),
    ("entry: ./src/a.py\n", ChallengeFile(entry="src/a.py")),
    ("check: ' make x '\ntimeout: 2.5\n", ChallengeFile(check="make x", timeout_s=2.5)),
    ("args: --name 'A B'\n", ChallengeFile(args=("--name", "A B"))),
    ("args: [--n, 3, '4.0']\n", ChallengeFile(args=("--n", "3", "4.0"))),
    ("args: 5\n", ChallengeFile(args=("5",))),
    ("args: []\ncheck:\n", ChallengeFile(args=())),
]


@pytest.mark.parametrize(("text", "challenge"), CHALLENGES)
def test_a_challenge_file_is_read(text: str | None, challenge: ChallengeFile, tmp_path: Path) -> None:
    files = {} if text is None else {"challenge.yaml": text}
    assert read_challenge(workspace(tmp_path, files)) == challenge


SECONDS = "must be a number of seconds, more than 0 and at most 86400"
ARGUMENTS = "must be one text or a list of texts"
WRONG: list[tuple[str, str, int, str]] = [
    *(
        (
            f"scope: {value}\n",
            "challenge.yaml:1: scope: must be one glob or a list of globs",
            1,
            "Write scope: main.py, or scope: [src/**, '*.py'].",
        )
        for value in ("3", "[]", "['']", "[a, 3]")
    ),
    ("\nentri: a.py\n", "challenge.yaml:2: entri: there is no such key", 2, "Did you mean entry?"),
    ("x: 1\n", "challenge.yaml:1: x: there is no such key", 1, "Known here: entry, check, timeout, args, scope."),
    ("entry: 3\n", "challenge.yaml:1: entry: must be the path of the program", 1, "Write it as entry: main.py."),
    ("entry: ../a.py\n", "challenge.yaml:1: entry: leads out of the directory", 1, "Name a program inside it."),
    (
        "entry: a.js\n",
        "challenge.yaml:1: entry: must be a Python file",
        1,
        "For another program, give the command that checks it as check.",
    ),
    ("check: [a]\n", "challenge.yaml:1: check: must be a command", 1, "Write it as check: python -m unittest."),
    ("\n\ntimeout: soon\n", f"challenge.yaml:3: timeout: {SECONDS}", 3, "Write timeout: 10."),
    ("timeout: 0\n", f"challenge.yaml:1: timeout: {SECONDS}", 1, "Write timeout: 10."),
    ("timeout: true\n", f"challenge.yaml:1: timeout: {SECONDS}", 1, "Write timeout: 10."),
    ("timeout: .inf\n", f"challenge.yaml:1: timeout: {SECONDS}", 1, "Write timeout: 10."),
    (
        "args: [true]\n",
        f"challenge.yaml:1: args: {ARGUMENTS}",
        1,
        'Write args: --name "A B", or put values in quotes.',
    ),
    (
        "args: [1.5]\n",
        f"challenge.yaml:1: args: {ARGUMENTS}",
        1,
        'Write args: --name "A B", or put values in quotes.',
    ),
    (
        "args: {a: 1}\n",
        f"challenge.yaml:1: args: {ARGUMENTS}",
        1,
        'Write args: --name "A B", or put values in quotes.',
    ),
    (
        'args: "--name \'A"\n',
        "challenge.yaml:1: args: cannot be split into arguments: no closing quotation",
        1,
        "Close the quote.",
    ),
]


@pytest.mark.parametrize(("text", "message", "line", "remedy"), WRONG)
def test_a_wrong_challenge_file_says_what_and_where(
    text: str, message: str, line: int, remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_for(tmp_path, {"main.py": SCRIPT, "challenge.yaml": text})
    error = caught.value
    assert (error.message, error.file, error.line, error.remedy) == (message, "challenge.yaml", line, remedy)


@pytest.mark.parametrize(
    "text", ["entry: [a\n", "- entry\n", "entry: a.py\nentry: b.py\n", "entry: !!python/name:os.system\n"]
)
def test_broken_yaml_names_the_file_and_the_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_challenge(workspace(tmp_path, {"challenge.yaml": text}))
    assert caught.value.file == "challenge.yaml"
    assert caught.value.line > 0


# --- edits to the check -----------------------------------------------------------------------------------------------


def test_the_files_that_the_prompt_changes_are_told() -> None:
    check = run_of_tests(*PYTEST, source="", protected=("a/test_x.py", "b/test_x.py", "conftest.py"))
    assert files_to_edit("update test_x.py", check.protected, ("b/test_x.py",)) == ("b/test_x.py",)
    assert files_to_edit("make test_x.py pass", check.protected, ("b/test_x.py",)) == ()


C = "int main(void) { return 0; }\n"
JAVA = "package shop;\nclass Account { public static void main(String[] a) {} }\n"


@pytest.mark.parametrize(
    ("files", "label", "timeout_s"),
    [
        ({"sum.js": "console.log(1)\n", "input.txt": "1\n"}, "node sum.js < input.txt", 5.0),
        ({"count it.sh": "echo 1\n", "args.txt": "-v 'a b'\n"}, "bash 'count it.sh' -v 'a b'", 5.0),
        ({"a.go": "package main\n\nfunc main() {}\n", "b.go": "package main\n"}, "go run a.go b.go", 60.0),
        (
            {"a.c": C, "b.c": "int f(void);\n"},
            'to=$(mktemp -d) && cc -o "$to/program" a.c b.c -lm && "$to/program"',
            60.0,
        ),
        (
            {"Account.java": JAVA, "Other.java": "package shop;\nclass Other {}\n"},
            'to=$(mktemp -d) && javac -d "$to" Account.java Other.java && java -cp "$to" shop.Account',
            60.0,
        ),
        ({"a.js": "console.log(1)\n", "index.js": "console.log(2)\n"}, "node index.js", 5.0),
        ({"a.js": "console.log(1)\n", "b.js": "console.log(2)\n"}, None, 0.0),
        ({"lib.js": "exports.a = 1\n"}, None, 0.0),
        ({"go.mod": "module x\n", "main.go": "package main\n\nfunc main() {}\n"}, "go run ./", 60.0),
        (
            {"main.c": C, "bench.c": C, "-x.c": "int f(void);\n"},
            'to=$(mktemp -d) && cc -o "$to/program" main.c ./-x.c -lm && "$to/program"',
            60.0,
        ),
        ({"util.sh": "f() {\n  echo 1\n}\n", "run.sh": ". ./util.sh\nf 1\nmain\n"}, "bash run.sh", 5.0),
        (
            {"main.js": "require('./mod').go()\n", "mod.js": "exports.go = () => {\n  console.log(1)\n}\n"},
            "node main.js",
            5.0,
        ),
        ({"page.js": "console.log(1)\ndocument.title = 'x'\n"}, None, 0.0),
        ({"server.js": "console.log('ready')\nrequire('http').createServer().listen(0)\n"}, None, 0.0),
        ({"lib.js": "if (DEBUG) console.log(1)\nmodule.exports = {}\n"}, None, 0.0),
        (
            {"a.c": C, "v.c": "/* called by main() */\nint v(void) { return 1; }\n"},
            'to=$(mktemp -d) && cc -o "$to/program" a.c v.c -lm && "$to/program"',
            60.0,
        ),
        ({"build.sh": "cc lib.c && echo built\n", "lib.c": "int f(void);\n"}, None, 0.0),
        (
            {"$(touch x).java": "class A { static void main(String[] a) {} }\n"},
            "java '$(touch x).java'",
            60.0,
        ),
    ],
)
def test_expected_output_of_a_program_in_another_language(
    files: dict[str, str], label: str | None, timeout_s: float, tmp_path: Path
) -> None:
    check = check_for(tmp_path, {**files, "expected.txt": "1\n"})
    found = (check.kind, check.label, check.timeout_s) if check is not None else None
    assert found == (("output", label, timeout_s) if label is not None else None)


def test_a_stated_output_of_a_named_program_in_another_language(tmp_path: Path) -> None:
    files = {"sum.js": "console.log(1)\n", "other.js": "console.log(1)\n"}
    check = check_for(tmp_path, files, "fix sum.js, it should print 6", "sum.js")
    assert check is not None
    assert (check.label, check.expected_text, check.entry) == ("node sum.js", "6", "sum.js")


@pytest.mark.parametrize(
    ("files", "prompt", "named"),
    [
        ({"deploy.sh": "echo 1\n", "data.csv": "1,2\n"}, "The output should be `5`. Sum up data.csv.", "data.csv"),
        ({"a.py": LIBRARY, "b.py": LIBRARY, "test_a.py": TEST, "a.sh": "echo 1\n", "expected.txt": ""}, "fix it", ""),
        ({"lib.py": LIBRARY, "examples/run.sh": "echo 1\n", "examples/expected.txt": "1\n"}, "fix it", ""),
    ],
)
def test_a_program_that_nobody_means_is_not_run(files: dict[str, str], prompt: str, named: str, tmp_path: Path) -> None:
    check = check_for(tmp_path, files, prompt, *filter(None, [named]))
    assert check is None or check.kind in {"tests", "syntax"}


DECLARED = {
    "Makefile": "lint:\n\tpython a.py\n\nmypy:\n\tpython -m mypy src\n\ndocs:\n\tsh b.sh\n\ndeploy:\n\ttrue\n"
    "\nbuild:\n\ttrue\n\nreset-docs:\n\ttrue\n"
    "\ntest:\n\tpytest\n\tsh b.sh\n",
    "package.json": '{"scripts": {"lint:js": "eslint .", "build": "tsc", "deploy": "x", "test": "node --test"}}',
    "scripts/validate.py": "",
    "t/test.sh": "",
    "t/test-deploy.sh": "",
    "build/a.txt": "",
    "src/a.py": "",
    "pack/__init__.py": "",
    ".pre-commit-config.yaml": "repos: []\n",
    "test_a.py": TEST,
    "services/style/Makefile": "test:\n\tpython check_gate.py\n\tsh run.sh\n",
    "services/style/check_gate.py": "",
    "services/style/run.sh": "",
    "packages/core/package.json": '{"name": "@notes/core", "scripts": {"test": "node --test"}}',
}


@pytest.mark.parametrize(
    ("prompt", "command", "linter"),
    [
        ("make lint pass", "make lint", True),
        ("`make lint` fails", "make lint", True),
        ("Make lint fails. Fix it.", "make lint", True),
        ("make sure that make lint passes, without touching the tests", "make lint", True),
        ("make mypy pass", "make mypy", True),
        ("fix the errors of make mypy", "make mypy", True),
        ("make docs fails, fix it", "make docs", False),
        ("make test fails; fix it", "make test", False),
        ("`bash t/test.sh` fails", "bash t/test.sh", False),
        ("`python -m mypy --strict src` fails, fix it", "python -m mypy --strict src", True),
        ("add type hints to app.py, mypy --strict app.py has to pass", "mypy --strict app.py", True),
        ("make mypy --strict app.py pass", "mypy --strict app.py", True),
        ("add type hints so that mypy --strict passes for src", "mypy --strict src", True),
        ("add type hints so that mypy --strict passes for pack", "mypy --strict pack", True),
        ("type hints please, so that mypy --strict pack passes", "mypy --strict pack", True),
        ("make mypy --strict -p pack pass", "mypy --strict -p pack", True),
        ("make mypy pack to pass", "mypy pack", True),
        ("fix mypy --strict in pack", "mypy --strict pack", True),
        ("add type hints everywhere so that mypy pack passes", "mypy pack", True),
        ("mypy --strict test_a has to pass", "mypy --strict test_a.py", True),
        ("make pyright --level error pass", "pyright --level error .", True),
        ("ruff check --select ALL fails", "ruff check --select ALL .", True),
        ("npm run lint:js fails; fix it", "npm run lint:js", True),
        ("please get `npm run build` green", "npm run build", False),
        ("pre-commit run --all-files fails", "pre-commit run --all-files", True),
        ("python scripts/validate.py exits with 1", "python scripts/validate.py", False),
        ("make -C services/style test fails", "make -C services/style test", False),
        ("`cd services/style && make test` fails", "cd services/style && make test", False),
        ("npm --prefix packages/core test fails", "npm --prefix packages/core test", False),
        ("npm test --workspace @notes/core fails", "npm test --workspace @notes/core", False),
        ("fix the failures of `npm run test -w packages/core`", "npm run test -w packages/core", False),
    ],
)
def test_the_command_that_a_request_is_about_is_the_check(
    prompt: str, command: str, linter: bool, tmp_path: Path
) -> None:
    check = check_for(tmp_path, DECLARED, prompt)
    assert check is not None
    assert (check.argv, check.of_linter, check.source) == (("sh", "-c", command), linter, OF_COMMAND)
    assert (check.beside is not None) == linter


@pytest.mark.parametrize(
    "prompt",
    [
        "make deploy fails",
        "npm run nothing fails",
        "make it work",
        "make docs work offline",
        "make lint finds nothing, but a.py has an unused import",
        "make test errors readable",
        "make lint exits with 0 although there are findings",
        "make build fails",
        "./t/test-deploy.sh fails",
        "make reset-docs fails",
        "add a target to make lint pass",
        "make tests pass",
        "mypy fails",
        "make mypy elsewhere pass",
        "make -C ../elsewhere test fails",
        "make -C services/absent test fails",
        "npm test --workspace @notes/absent fails",
    ],
)
def test_a_command_that_is_not_declared_or_does_more_than_look_is_no_check(prompt: str, tmp_path: Path) -> None:
    check = check_for(tmp_path, DECLARED, prompt)
    assert check is not None
    assert check.source != OF_COMMAND


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("docs/old/ was moved, all links to it are dead now. make docs fails", "make docs"),
        ("the build of the docs warns: make docs warns, mend it", "make docs"),
        ("make docs warns (10 warnings, -W makes it red). mend the docs", "make docs"),
        ("move the page, then run make docs to see that it does not warn", "make docs"),
        ("add the page. run `make docs` to see that it doesn't warn", "make docs"),
        ("put it first, and run make docs again", "make docs"),
        ("validate the hosts and fix what is wrong (./t/test.sh)", "./t/test.sh"),
        ("quote the variables (make lint)", "make lint"),
        ("add the texts that are missing because npm run lint:js fails", "npm run lint:js"),
        ("python3 -m json.tool package.json fails, fix it", "python3 -m json.tool package.json"),
        ("add a page; make sure it is linked", ""),
        ("what `make docs` did before is fine, mend the links", ""),
        ("mend the links, do not run make docs to see it", ""),
        ("make docs fails on my machine, ignore that; add a page", ""),
        ("add a page, make docs fails for a known reason", ""),
        ("the links are dead:\n$ make docs\nmake docs failed\nmake: *** [docs] Error 2", ""),
        ("the links are dead. make deploy fails", ""),
        ("describe how the pages are built (make docs)", ""),
        ("say in the README that one should run make docs to see the pages", ""),
        ("mend the links but make docs works", ""),
        ("python3 -m json.tool absent.json fails, fix it", ""),
    ],
)
def test_a_command_that_is_told_to_fail_or_to_be_run_in_passing_is_the_check(
    prompt: str, command: str, tmp_path: Path
) -> None:
    check = check_for(tmp_path, {**DECLARED, "t/test.sh": ""}, prompt)
    assert check is not None
    assert (check.argv[-1] if check.source == OF_COMMAND else "") == command


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("the links are dead. make deploy fails", "make deploy"),
        ("make texst fails", "make texst"),
        ("make it fail loudly when there is no file", ""),
        ("add a page, and make everything work", ""),
    ],
)
def test_that_a_command_was_named_and_is_not_run_is_told(prompt: str, said: str, tmp_path: Path) -> None:
    check = check_for(tmp_path, {"Makefile": "deploy:\n\ttrue\n", "docs/a.md": "a\n"}, prompt)
    assert (check.source.partition(" was not run")[0] if check is not None else "") == (f"`{said}`" if said else "")
    (tmp_path / "new").mkdir()
    assert check_for(tmp_path / "new", {}, prompt) is None


@pytest.mark.parametrize(
    ("prompt", "protected"),
    [
        ("make -C services/style test fails", {"Makefile", "check_gate.py", "run.sh"}),
        ("npm test -w @notes/core fails", {"package.json"}),
    ],
)
def test_what_a_command_below_the_top_rests_on_is_protected(prompt: str, protected: set[str], tmp_path: Path) -> None:
    check = check_for(tmp_path, DECLARED, prompt)
    assert check is not None
    assert {path.rpartition("/")[2] for path in check.protected if "/s" in path or "/core/" in path} >= protected


MYPY = "mypy --no-pretty --no-error-summary --hide-error-context"
RUFF = "ruff check --quiet --no-fix --force-exclude --output-format=concise"
TYPED = {
    "pyproject.toml": "[tool.mypy]\nstrict = true\n[tool.ruff]\n[tool.black]\n",
    "src/a.py": LIBRARY,
    "pack/a.py": LIBRARY,
    "tests/test_a.py": TEST,
}


@pytest.mark.parametrize(
    ("prompt", "named", "command"),
    [
        ("make mypy pass for src/a.py", ["src/a.py"], f"{MYPY} src/a.py"),
        ("make mypy pass on pack", [], f"{MYPY} pack"),
        ("Please fix all mypy errors.", [], f"{MYPY} src"),
        ("fix the type errors", [], f"{MYPY} src"),
        ("fix what mypy reports in src/", [], f"{MYPY} src"),
        ("fix the ruff errors of rule E711 in src", [], f"{RUFF} --select=E711 src"),
        ("get rid of the F401 and E711 findings of ruff", [], f"{RUFF} --select=F401,E711 ."),
        ("can you clean up the lint warnings in tests/?", [], f"{RUFF} tests"),
        ("make black happy", [], "black --check ."),
        ("make the type checker happy", [], f"{MYPY} src"),
        ("get mypy to pass", [], f"{MYPY} src"),
        ("fix all mypy errors; the tests in tests must pass", [], f"{MYPY} src"),
        ("make mypy pass for src/a.py, do not touch tests", ["src/a.py"], f"{MYPY} src/a.py"),
        ("fix the mypy error in src/a.py", ["src/a.py"], f"{MYPY} src/a.py"),
        ("make src/a.py pass mypy", ["src/a.py"], f"{MYPY} src/a.py"),
        ("make sure mypy passes on src/", [], f"{MYPY} src"),
        ("fix ruff", [], f"{RUFF} ."),
        ("ruff complains, fix it. The word is in fixtures.", [], f"{RUFF} ."),
        ("add type hints to src/a.py so that mypy passes", ["src/a.py"], f"{MYPY} src/a.py"),
        ("Annotate everything in src until mypy is happy.", [], f"{MYPY} src"),
        ("fix the remaining mypy errors in src (mypy src must exit 0), no new type: ignore", [], f"{MYPY} src"),
        ("fix the ruff findings F401 and E711 in src/a.py", ["src/a.py"], f"{RUFF} --select=F401,E711 src/a.py"),
        ("fix the formatting errors that ruff format reports", [], "ruff format --check --force-exclude ."),
    ],
)
def test_a_linter_that_is_to_find_nothing_is_the_check_with_the_tests_beside_it(
    tmp_path: Path, prompt: str, named: list[str], command: str
) -> None:
    found = check_for(tmp_path, TYPED, prompt, *named)
    assert found is not None
    assert found.argv == ("sh", "-c", command)
    assert found.beside is not None
    assert found.beside.argv[:3] == PYTEST
    assert found.protected == (() if "format" in prompt else ("pyproject.toml",))


ESLINT, TSC = "eslint --no-color --format=stylish", "tsc --noEmit --pretty false"
SCRIPTS = {
    "eslint.config.js": "export default [];\n",
    "tsconfig.json": "{}\n",
    "src/a.ts": "var x: number = 1;\n",
    "a.test.js": "",
    "package.json": '{"scripts": {"test": "node --test"}}',
}


@pytest.mark.parametrize(
    ("prompt", "named", "command"),
    [
        ("fix the eslint errors", ["eslint.config.js"], f"{ESLINT} ."),
        ("make eslint pass", ["eslint.config.js"], f"{ESLINT} ."),
        ("fix the eslint errors in src", ["eslint.config.js"], f"{ESLINT} src"),
        ("eslint fails, fix it", ["eslint.config.js"], f"{ESLINT} ."),
        ("fix the typescript errors in src/a.ts", ["src/a.ts"], TSC),
        ("fix the TypeScript errors", [], TSC),
    ],
)
def test_settings_are_no_place_for_a_linter_to_look_at(
    tmp_path: Path, prompt: str, named: list[str], command: str
) -> None:
    found = check_for(tmp_path, SCRIPTS, prompt, *named)
    assert found is not None
    assert found.argv == ("sh", "-c", command)


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the mypy plugin's cache",
        "ruff complains about the hooks, fix f in src/a.py",
        "why does mypy say that f has no attribute g?",
        "add ruff to the pre-commit settings",
        "add a parameter to f; mypy has to pass",
        "fix f in src/a.py",
        "fix the type of f's result",
        "fix the type in src/a.py",
        "fix the type error in f",
        "make the type field pass validation",
        "fix the black border in the table",
        "get the black theme to pass the contrast test",
        "fix the black background issues",
        "make it prettier",
        "Fix the score for black in src/a.py",
        "Make black pass its turn when it has no legal move",
        "Fix the moves of black: castling is missing",
        "Fix the bug where a pawn of black, on row 7, cannot move",
        "Fix the wrapper around mypy, which loses the exit status",
        "Make the type checker pass test_infer",
        "Solve type problems in the interpreter",
        "Fix content-type errors in upload.py",
        "Fix type errors when value is None",
        "Fix the failing test of format_total and clean up until ruff is happy",
        "Clean up the style of a.py and fix the failing test of f until ruff is happy",
        "ruff complains, fix it and the failing test",
        "Make the import of prices count the first one, so that ruff passes",
    ],
)
def test_a_linter_that_is_only_spoken_of_is_not_the_check(tmp_path: Path, prompt: str) -> None:
    found = check_for(tmp_path, TYPED, prompt)
    assert found is not None
    assert found.kind == "tests"

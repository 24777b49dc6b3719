"""Checks run on real programs in real directories."""

from __future__ import annotations

import os
import venv
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.memory import CheckMemory
from codur.config.settings import SandboxSettings, VerificationSettings
from codur.errors import Interrupted, LimitReached
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check, CheckKind, Difference, Verdict
from codur.workspace.workspace import Workspace
from tests.runs.kit import contents, fill
from tests.support import plain_python
from tests.support.patience import until_begun

OUTPUT = Check(
    kind="output",
    argv=("{python}", "main.py"),
    entry="main.py",
    expected_file="expected.txt",
    protected=("expected.txt",),
    source="expected.txt beside main.py",
)
TESTS = Check(kind="tests", argv=("{python}", "-m", "pytest"), protected=("test_app.py",), timeout_s=60, source="tests")


def checker(
    directory: Path,
    *,
    cancel: CancelToken | None = None,
    left: float = 1000.0,
    memory: CheckMemory | None = None,
    sandbox: SandboxSettings | None = None,
) -> tuple[Checker, Workspace]:
    workspace = Workspace.open(directory)
    launcher = Launcher({"PATH": os.environ["PATH"]}, cancel=cancel, python=plain_python.executable(), sandbox=sandbox)
    return (
        Checker(
            workspace,
            VerificationSettings(),
            CheckPrograms(workspace, launcher, python=plain_python.executable(), deadline=lambda: left),
            memory=memory,
        ),
        workspace,
    )


def run(directory: Path, files: dict[str, str], check: Check | None = OUTPUT) -> Verdict:
    judge, _ = checker(fill(directory, files))
    if check is not None:
        judge.guard(check)
    return replace(judge.run(check), duration_s=0.0)


CROWD = """import threading, time

def test_few():
    assert True

def test_many():
    for _ in range(80):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    time.sleep(20)

def test_after():
    assert True
"""


def test_what_a_program_uses_too_much_of_is_told_with_its_setting(tmp_path: Path) -> None:
    judge, _ = checker(fill(tmp_path, {"test_app.py": CROWD}), sandbox=SandboxSettings(processes=40))
    verdict = judge.run(TESTS)
    assert (verdict.status, verdict.timed_out) == ("failed", False)
    assert verdict.note == "it was ended: more processes than a program may use (sandbox.processes)"
    assert "still running when it was ended" in verdict.error
    assert (verdict.tests_passed, verdict.tests_total, verdict.progress) == (1, 1, 1 / 3)


def test_a_pass(tmp_path: Path) -> None:
    assert run(tmp_path, {"main.py": "print('a')\n", "expected.txt": "a"}) == Verdict(
        status="passed", check="python main.py", exit_status=0, expected="a", actual="a\n", progress=1.0
    )


def test_a_difference(tmp_path: Path) -> None:
    verdict = run(tmp_path, {"main.py": "print('a')\nprint('b')\n", "expected.txt": "a\nc\n"})
    assert verdict == Verdict(
        status="failed",
        check="python main.py",
        exit_status=0,
        difference=Difference(line=2, expected="c", actual="b"),
        expected="a\nc\n",
        actual="a\nb\n",
        progress=0.5,
        signature="output | exit 0;  | line 2: 'c' / 'b'",
    )


def test_what_make_has_built_need_not_be_built_to_pass_again(tmp_path: Path) -> None:
    """It was told as flaky: the second run found nothing left to do."""
    rule = "all: made\n\nmade: source\n\tgrep -q right source\n\tcp source made\n"
    judge, workspace = checker(fill(tmp_path, {"Makefile": rule, "source": "wrong\n"}))
    make = Check(kind="command", argv=("make",), source="--check")
    judge.guard(make)
    earlier = judge.run(make)
    assert earlier.status == "failed"
    workspace.write_text("source", "right\n")
    assert judge.run(make).passed
    assert confirm(judge, make, None, Change(before={"source": b"wrong\n"}, earlier=earlier)).passed


def test_a_crash_shows_the_traceback_with_relative_paths(tmp_path: Path) -> None:
    verdict = run(tmp_path, {"main.py": "print('a')\n{}['k']\n", "expected.txt": "a\nb\n"})
    assert verdict.status == "failed"
    assert verdict.exit_status == 1
    assert 'File "main.py", line 2' in verdict.error
    assert verdict.error.endswith("KeyError: 'k'")
    assert verdict.progress == 0.5


def test_the_right_output_with_a_bad_exit_status_fails(tmp_path: Path) -> None:
    verdict = run(tmp_path, {"main.py": "print('a')\nraise SystemExit(3)\n", "expected.txt": "a\n"})
    assert (verdict.status, verdict.exit_status) == ("failed", 3)
    assert verdict.note == "the output is right, but the program ended with status 3"
    assert verdict.progress < 1.0


def test_a_hang_times_out_and_keeps_what_was_printed(tmp_path: Path) -> None:
    files = {"main.py": "print('a', flush=True)\nwhile True: pass\n", "expected.txt": "a\nb\n"}
    verdict = until_begun(
        lambda limit: run(tmp_path, files, replace(OUTPUT, timeout_s=limit)), lambda found: bool(found.actual), 1.0
    )
    assert (verdict.status, verdict.timed_out, verdict.exit_status) == ("failed", True, None)
    assert (verdict.actual, verdict.progress) == ("a\n", 0.5)
    assert verdict.signature.startswith("output | timeout")


def test_standard_input_and_arguments(tmp_path: Path) -> None:
    check = replace(OUTPUT, argv=("{python}", "main.py", "x y"), stdin_file="input.txt")
    files = {
        "main.py": "import sys\nprint(sys.argv[1:], input())\n",
        "input.txt": "hello\n",
        "expected.txt": "['x y'] hello\n",
    }
    assert run(tmp_path, files, check).passed


def test_an_expected_output_stated_in_the_prompt(tmp_path: Path) -> None:
    check = replace(OUTPUT, expected_file=None, expected_text="42", protected=())
    assert run(tmp_path, {"main.py": "print(42)\n"}, check).passed


@pytest.mark.parametrize(("program", "status"), [("raise SystemExit(0)", "passed"), ("raise SystemExit(2)", "failed")])
def test_a_command(program: str, status: str, tmp_path: Path) -> None:
    check = Check(kind="command", argv=("sh", "-c", "python main.py"), source="--check")
    assert run(tmp_path, {"main.py": program}, check).status == status


def test_counts_of_unittest_are_read_from_its_output(tmp_path: Path) -> None:
    files = {
        "test_app.py": "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_a(self): pass\n    def test_b(self): self.fail('no')\n"
    }
    check = Check(kind="command", argv=("sh", "-c", "python -m unittest test_app"), source="--check")
    verdict = run(tmp_path, files, check)
    assert (verdict.status, verdict.tests_passed, verdict.tests_total, verdict.progress) == ("failed", 1, 2, 0.5)


PRINTS = """import sys
names = open("tests.txt").read().split()
for name in names:
    if name.startswith("bad"):
        print(f"---- {name} stdout ----\\n\\nthread '{name}' (7) panicked at a.rs:1:1:\\nno {name}\\n")
bad = sum(name.startswith("bad") for name in names)
print(f"test result: FAILED. {len(names) - bad} passed; {bad} failed; 0 ignored;")
print("warning: unused\\n" * 500, "error: test failed, to rerun pass `--lib`", file=sys.stderr)
sys.exit(101 if bad else 0)
"""


def test_failed_tests_of_another_language_are_told_whatever_the_compiler_says_after_them(tmp_path: Path) -> None:
    check = Check(kind="tests", argv=("{python}", "cargo.py"), source="tests")
    verdict = run(tmp_path, {"cargo.py": PRINTS, "tests.txt": "good bad_one bad_two"}, check)
    assert (verdict.tests_passed, verdict.tests_total) == (1, 3)
    assert verdict.error == (
        "FAIL: bad_one\npanicked at a.rs:1:1:\nno bad_one\n\nFAIL: bad_two\npanicked at a.rs:1:1:\nno bad_two"
    )


def test_tests_that_are_taken_out_of_the_sources_they_stand_in_are_missed(tmp_path: Path) -> None:
    check = Check(kind="tests", argv=("{python}", "cargo.py"), source="tests")
    judge, workspace = checker(fill(tmp_path, {"cargo.py": PRINTS, "tests.txt": "good bad_one bad_two"}))
    judge.guard(check)
    assert judge.run(check).status == "failed"
    workspace.write_text("tests.txt", "good")
    verdict = judge.run(check)
    assert (verdict.status, verdict.note) == ("tampered", "3 tests ran before, 1 run now")


@pytest.mark.parametrize("printed", ["test result: FAILED. 1 passed; 2 failed; 0 ignored;", "  1 passing\n  2 failing"])
def test_a_runner_that_tells_no_tests_any_more_was_ended_early(
    printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tools := tmp_path / "tools").mkdir()
    (tools / "npm").write_text("#!/bin/sh\ntest ! -s told.txt || { cat told.txt; exit 1; }\n")
    (tools / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    judge, workspace = checker(fill(tmp_path, {"told.txt": printed}))
    check = Check(kind="tests", argv=("npm", "test"), source="tests")
    judge.guard(check)
    assert judge.run(check).tests_total == 3
    workspace.write_text("told.txt", "")
    verdict = judge.run(check)
    assert (verdict.status, verdict.note.partition(",")[0]) == (
        "failed",
        "the test run ended before all of it was reported",
    )


def test_a_runner_that_only_tells_failures_has_no_counts(tmp_path: Path) -> None:
    check = Check(
        kind="tests", argv=("sh", "-c", "echo '--- FAIL: TestA (0.00s)'; echo '    a.go:1: no'; exit 1"), source="x"
    )
    verdict = run(tmp_path, {}, check)
    assert (verdict.tests_passed, verdict.tests_total, verdict.error) == (None, None, "FAIL: TestA\na.go:1: no")


def test_a_runner_that_cannot_fetch_what_it_needs_is_unfit(tmp_path: Path) -> None:
    says = "error: download failed\\n[6] Could not resolve hostname (Could not resolve host: index.crates.io)"
    check = Check(kind="tests", argv=("sh", "-c", f"printf '{says}'; exit 101"), source="x")
    assert run(tmp_path, {}, check).unfit == "[6] Could not resolve hostname (Could not resolve host: index.crates.io)"


@pytest.mark.parametrize(
    ("kind", "says", "unfit"),
    [
        ("tests", "sh: 1: tap: not found", "sh: 1: tap: not found"),
        ("tests", "make: pytest: No such file or directory", "make: pytest: No such file or directory"),
        ("tests", "./run.sh: line 3: tap: command not found", "./run.sh: line 3: tap: command not found"),
        ("tests", "sh: 1: tap: not found\nnpm error code 127", "sh: 1: tap: not found"),
        ("tests", "make: ./main: No such file or directory", ""),
        ("tests", "sh: 1: notify-me: not found\nAssertionError: wanted 3", ""),
        ("command", "sh: 1: tap: not found", ""),
    ],
)
def test_a_runner_that_is_not_there_is_unfit(tmp_path: Path, kind: CheckKind, says: str, unfit: str) -> None:
    check = Check(kind=kind, argv=("sh", "-c", f"echo '{says}' >&2; exit 127"), source="x")
    assert run(tmp_path, {}, check).unfit == unfit


def test_a_test_that_asks_for_a_host_fails_by_itself(tmp_path: Path) -> None:
    says = (
        "running 2 tests\\n\\n---- tests::asks stdout ----\\nCould not resolve host: a\\n\\nfailures:\\n"
        "test result: FAILED. 1 passed; 1 failed; 0 ignored"
    )
    check = Check(kind="tests", argv=("sh", "-c", f"printf '{says}'; exit 101"), source="x")
    verdict = run(tmp_path, {}, check)
    assert (verdict.unfit, verdict.tests_passed, verdict.tests_total) == ("", 1, 2)


def test_pytest_counts_names_and_messages(tmp_path: Path) -> None:
    files = {
        "app.py": "def double(x):\n    return x + x + 1\n",
        "test_app.py": "from app import double\n\n\ndef test_zero():\n    assert double(0) == 0\n\n\n"
        "def test_type():\n    assert isinstance(double(1), int)\n",
    }
    verdict = run(tmp_path, files, TESTS)
    assert (verdict.status, verdict.tests_passed, verdict.tests_total) == ("failed", 1, 2)
    assert "test_app::test_zero" in verdict.error
    assert "assert 1 == 0" in verdict.error
    assert verdict.signature.endswith("test_app::test_zero")
    assert sorted(contents(tmp_path)) == ["app.py", "test_app.py"]


def test_progress_in_a_large_suite_is_told_apart(tmp_path: Path) -> None:
    test = "import pytest\n\n\n@pytest.mark.parametrize('n', range(300))\ndef test_small(n):\n    assert n < {}\n"
    shares = []
    for least in (298, 299):
        (place := tmp_path / str(least)).mkdir()
        shares.append(run(place, {"test_small.py": test.format(least)}, TESTS).progress)
    assert shares == [298 / 300, 299 / 300]


def test_an_import_error_of_a_test_file_is_a_failure(tmp_path: Path) -> None:
    verdict = run(tmp_path, {"test_app.py": "import nowhere\n"}, TESTS)
    assert verdict.status == "failed"
    assert "No module named 'nowhere'" in verdict.error


def test_no_tests_is_no_check(tmp_path: Path) -> None:
    assert run(tmp_path, {"test_app.py": "x = 1\n"}, TESTS).status == "no_check"


UNIT = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"


@pytest.mark.parametrize(
    "argv",
    [
        ("{python}", "-m", "unittest", "app_tests", "own.old_tests"),
        ("{python}", "-m", "pytest", "app_tests.py", "own/old_tests.py"),
    ],
)
def test_a_file_of_tests_that_was_let_go_is_asked_for_no_more(argv: tuple[str, ...], tmp_path: Path) -> None:
    """What decides comes back all the same."""
    files = {"app_tests.py": UNIT, "own/__init__.py": "", "own/old_tests.py": UNIT}
    judge, workspace = checker(fill(tmp_path, files))
    check = Check(kind="tests", argv=argv, protected=("app_tests.py",), source="tests")
    judge.guard(check)
    assert judge.run(check).tests_passed == 2
    (tmp_path / "own/old_tests.py").unlink()
    gone = judge.run(check)
    assert (gone.status, gone.tests_passed) == ("passed", 1)
    assert judge.on(workspace.scratch_copy(tmp_path / "copy")).run(check).passed
    (tmp_path / "app_tests.py").unlink()
    assert judge.run(check).status == "tampered"
    assert (tmp_path / "app_tests.py").exists()


def test_settings_of_pytest_above_the_workspace_do_not_count(tmp_path: Path) -> None:
    fill(tmp_path, {"pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    inner = tmp_path / "inner"
    inner.mkdir()
    assert run(inner, {"test_app.py": "def test_a(): pass\n"}, TESTS).passed


def test_without_a_check_the_syntax_is_looked_at(tmp_path: Path) -> None:
    judge, workspace = checker(fill(tmp_path, {"main.py": "print(1)\n"}))
    assert judge.run(None).status == "no_check"
    workspace.write_text("main.py", "print(1\n")
    verdict = judge.run(None)
    assert verdict.status == "failed"
    assert verdict.error == "File \"main.py\", line 1\nSyntaxError: '(' was never closed"


def test_a_program_that_changes_the_expected_output_is_tampered(tmp_path: Path) -> None:
    verdict = run(tmp_path, {"main.py": "open('expected.txt', 'w').write('b')\nprint('b')\n", "expected.txt": "a\n"})
    assert verdict.status == "tampered"
    assert verdict.note == "the program changed expected.txt, which belongs to the check; put back"
    assert (tmp_path / "expected.txt").read_text() == "a\n"


def test_confirm_finds_a_flaky_pass(tmp_path: Path) -> None:
    program = "import os\nseen = os.path.exists('seen')\nopen('seen', 'w').close()\nprint('b' if seen else 'a')\n"
    judge, _ = checker(fill(tmp_path, {"main.py": program, "expected.txt": "a\n"}))
    judge.guard(OUTPUT)
    verdict = judge.run(OUTPUT)
    assert verdict.passed
    assert confirm(judge, OUTPUT, verdict, Change(before={"main.py": b""}, prompt="fix main.py")).status == "flaky"


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("print(sum([40, 2]))\n", "passed"),
        ("print(open('expected.txt').read(), end='')\n", "tampered"),
        ("import glob\nprint(open(glob.glob('*.txt')[0]).read(), end='')\n", "tampered"),
        ("print(42)\n", "tampered"),
    ],
)
def test_confirm_finds_a_pass_that_is_not_computed(program: str, status: str, tmp_path: Path) -> None:
    judge, _ = checker(fill(tmp_path, {"main.py": program, "expected.txt": "42\n"}))
    judge.guard(OUTPUT)
    verdict = judge.run(OUTPUT)
    assert verdict.passed
    confirmed = confirm(
        judge, OUTPUT, verdict, Change(before={"main.py": b"print(sum([40, 1]))\n"}, prompt="fix main.py")
    )
    assert confirmed.status == status
    assert sorted(contents(tmp_path)) == ["expected.txt", "main.py"]


def test_a_cancelled_check_is_an_interrupt(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    judge, _ = checker(fill(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n"}), cancel=cancel)
    with pytest.raises(Interrupted):
        judge.run(OUTPUT)


def test_no_time_left_is_a_limit(tmp_path: Path) -> None:
    judge, _ = checker(fill(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n"}), left=0.0)
    with pytest.raises(LimitReached, match="time is used up"):
        judge.run(OUTPUT)


def test_a_checker_on_a_copy_leaves_the_workspace_alone(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.mkdir()
    judge, workspace = checker(fill(original, {"main.py": "print(1)\n", "expected.txt": "2\n"}))
    judge.guard(OUTPUT)
    copy = workspace.scratch_copy(tmp_path / "copy")
    copy.write_text("main.py", "print(1 + 1)\n")
    assert judge.on(copy).run(OUTPUT).passed
    assert not judge.run(OUTPUT).passed


def test_a_copy_has_the_environments_of_the_workspace(tmp_path: Path) -> None:
    files = {".gitignore": ".venv/\n", "check.sh": ".venv/bin/python -c 'import only_there'\n"}
    fill(tmp_path / "project", files)
    venv.create(tmp_path / "project/.venv", with_pip=False)
    (place,) = (tmp_path / "project/.venv/lib").glob("python*/site-packages")
    (place / "only_there.py").write_text("")
    judge, workspace = checker(tmp_path / "project")
    check = Check(kind="command", argv=("sh", "check.sh"), protected=("check.sh",), source="given")
    judge.guard(check)
    assert judge.run(check).passed
    assert judge.on(workspace.scratch_copy(tmp_path / "copy")).run(check).passed


def test_file_that_cannot_be_loaded_keeps_no_other_test_from_running(tmp_path: Path) -> None:
    files = {"test_a.py": "import absent\n", "test_b.py": "def test_b():\n    pass\n\n\ndef test_c():\n    assert 0\n"}
    verdict = run(tmp_path, files, replace(TESTS, protected=()))
    assert (verdict.status, verdict.tests_passed, verdict.tests_total) == ("failed", 1, 2)
    assert (verdict.failing, verdict.excused) == (("test_b.py::test_c",), ("test_a.py",))
    assert "test_c" in verdict.error
    assert "absent" not in verdict.error
    assert verdict.note == "1 test cannot run here and is left out of the verdict: test_a.py (absent is not installed)"


def test_a_test_whose_fixture_needs_a_locale_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    sets = "locale.setlocale(locale.LC_ALL, 'xx_YY.UTF-8')"
    files = {
        "test_a.py": f"import locale\n\nimport pytest\n\n\n@pytest.fixture\ndef german():\n    {sets}\n\n\n"
        f"def test_a(german):\n    pass\n\n\ndef test_b():\n    {sets}\n\n\ndef test_c():\n    pass\n"
    }
    verdict = run(tmp_path, files, replace(TESTS, protected=()))
    assert (verdict.failing, verdict.excused) == (("test_a.py::test_b",), ("test_a.py::test_a",))
    assert "(a locale is not installed)" in verdict.note


def test_a_warning_of_pytest_itself_that_counts_as_an_error_is_left_out(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\nfilterwarnings = error\n",
        "test_a.py": "from unittest import TestSuite\n\n\ndef test_a():\n    assert TestSuite\n",
        "test_b.py": "import warnings\n\n\ndef test_b():\n    warnings.warn('old', stacklevel=1)\n",
    }
    verdict = run(tmp_path, files, replace(TESTS, protected=()))
    assert (verdict.failing, verdict.excused) == (("test_b.py::test_b",), ("test_a.py::TestSuite",))


def test_what_keeps_pytest_from_starting_is_told_and_nothing_of_our_own(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\nfilterwarnings =\n    error\n    ignore::absent.OldWarning\n",
        "test_a.py": "def test_a():\n    pass\n",
    }
    verdict = run(tmp_path, files, replace(TESTS, protected=()))
    assert verdict.status == "failed"
    assert "Failed to import filter module 'absent'" in verdict.error
    assert "events.jsonl" not in verdict.error


def test_different_failures_of_another_languages_runner_are_different(tmp_path: Path) -> None:
    """Their last line is the same; that they differ decides what a model is told of its attempts."""
    check = Check(kind="tests", argv=("sh", "check.sh"), timeout_s=60, source="tests")
    files = {"check.sh": 'cat told\necho "took 0.$$ s"\necho FAIL\nexit 1\n', "told": "got 1, want 3\n"}
    first, again = (run(tmp_path, files, check) for _ in range(2))
    other = run(tmp_path, {**files, "told": "got 2, want 3\n"}, check)
    assert first.signature == again.signature != other.signature
    assert "FAIL" in first.signature


@pytest.mark.parametrize("argv", [TESTS.argv, ("sh", "run_tests.sh")])
def test_what_the_tests_told_holds_as_long_as_nothing_changes(argv: tuple[str, ...], tmp_path: Path) -> None:
    counts = "open('.kept/seen', 'a').write('x')\n"
    test = f"def test_a():\n    {counts}    assert 1 == 2\n\n\ndef test_b():\n    pass\n"
    files = {
        "app.py": "",
        "test_app.py": test,
        "run_tests.sh": "echo x >> .kept/seen\necho FAIL\nexit 1\n",
        ".gitignore": ".kept\n",
        ".kept/seen": "",
    }
    memory, check = CheckMemory(), replace(TESTS, argv=argv, timeout_s=60.0)
    fill(tmp_path, files)

    def ran() -> tuple[bool, Verdict]:
        """Whether it was run, and the verdict, in a run of its own."""
        seen = tmp_path / ".kept" / "seen"
        before = seen.read_text() if seen.exists() else ""
        judge, _ = checker(tmp_path, memory=memory)
        judge.guard(check)
        judge.recalls(check)
        verdict = judge.run(check)
        return seen.read_text() != before, verdict

    made, first = ran()
    assert (made, first.status) == (True, "failed")
    assert ran() == (False, first)
    (tmp_path / "app.py").write_text("x = 1\n")
    assert ran()[0]
    assert not ran()[0]
    memory.forget()
    assert ran()[0]
    # What changes while it runs, or by it, may not have been seen by all tests.
    (tmp_path / "test_app.py").write_text(f"{test}\n\ndef test_c():\n    open('app.py', 'a').write('#')\n")
    (tmp_path / "run_tests.sh").write_text("echo x >> .kept/seen\necho '#' >> app.py\nexit 1\n")
    assert ran()[0]
    assert ran()[0]

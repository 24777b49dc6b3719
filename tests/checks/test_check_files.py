"""What programs and edits do to the files that define a check, and passes that prove nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.compare import first_difference
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.signature import signature_of
from codur.checks.stated_conditions import Conditions
from codur.config.settings import VerificationSettings
from codur.errors import WorkspaceError
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check, Difference, Verdict
from codur.workspace.workspace import Workspace
from tests.support import plain_python

OUTPUT = Check(
    kind="output",
    argv=("{python}", "main.py"),
    entry="main.py",
    expected_file="expected.txt",
    protected=("expected.txt",),
    source="expected.txt beside main.py",
)
TESTS = Check(kind="tests", argv=("{python}", "-m", "pytest"), protected=("test_app.py",), timeout_s=60, source="tests")


def guarded(directory: Path, files: dict[str, str], check: Check) -> tuple[Checker, Workspace]:
    directory.mkdir(exist_ok=True)
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    workspace = Workspace.open(directory)
    checker = Checker(
        workspace,
        VerificationSettings(),
        CheckPrograms(workspace, Launcher({"PATH": os.environ["PATH"]}), python=plain_python.executable()),
    )
    checker.guard(check)
    return checker, workspace


def run(directory: Path, files: dict[str, str], check: Check) -> Verdict:
    return guarded(directory, files, check)[0].run(check)


PUT_BACK = "changed expected.txt, which belongs to the check; put back"


@pytest.mark.parametrize(
    "trick",
    [
        "open('expected.txt', 'w').write('2')",
        "os.remove('expected.txt')",
        "os.remove('expected.txt'); os.symlink(os.environ['OUTSIDE'], 'expected.txt')",
        "os.remove('expected.txt'); os.mkdir('expected.txt'); open('expected.txt/x', 'w').close()",
        "os.remove('expected.txt'); os.mkfifo('expected.txt')",
    ],
)
def test_what_a_program_does_to_the_expected_output_is_undone_and_told(trick: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    main = f"import os\nos.environ['OUTSIDE'] = {str(outside)!r}\n{trick}\nprint(1)\n"
    verdict = run(tmp_path / "work", {"main.py": main, "expected.txt": "1\n"}, OUTPUT)
    expected = tmp_path / "work" / "expected.txt"
    assert (verdict.status, verdict.note) == ("tampered", f"the program {PUT_BACK}")
    assert (expected.is_symlink(), expected.read_text(), outside.read_text()) == (False, "1\n", "precious")


def test_directory_that_leads_out_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    check = replace(OUTPUT, argv=("{python}", "main.py"), expected_file="data/expected.txt")
    check = replace(check, protected=("data/expected.txt",))
    main = f"import os\nos.rename('data', 'moved'); os.symlink({str(outside)!r}, 'data')\nprint(1)\n"
    with pytest.raises(WorkspaceError, match="leads out of the workspace"):
        run(tmp_path / "work", {"main.py": main, "data/expected.txt": "1\n"}, check)
    assert list(outside.iterdir()) == []


def test_change_between_runs_is_undone_and_told_once(tmp_path: Path) -> None:
    checker, workspace = guarded(tmp_path, {"main.py": "print(2)\n", "expected.txt": "1\n"}, OUTPUT)
    (tmp_path / "expected.txt").write_text("2\n")
    first, second = checker.run(OUTPUT), checker.run(OUTPUT)
    assert (first.status, first.note) == ("tampered", f"something {PUT_BACK}")
    assert (second.status, second.note) == ("failed", "")
    assert workspace.read_bytes("expected.txt") == b"1\n"


def test_copy_gets_files_of_the_check_that_are_ignored(tmp_path: Path) -> None:
    files = {"main.py": "print(1)\n", "expected.txt": "1\n", ".gitignore": "expected.txt\n"}
    checker, workspace = guarded(tmp_path / "work", files, OUTPUT)
    copy = workspace.scratch_copy(tmp_path / "copy")
    assert checker.on(copy).run(OUTPUT).status == "passed"


def test_program_that_needs_an_ignored_file_does_not_read_the_expected_output(tmp_path: Path) -> None:
    main = "print(sum(map(int, open('data.csv'))))\n"
    files = {"main.py": main, "data.csv": "1\n2\n", ".gitignore": "data.csv\n", "expected.txt": "3\n"}
    checker, _ = guarded(tmp_path, files, OUTPUT)
    before = {"main.py": b"print(sum(map(int, open('data.csv'))) + 1)\n"}
    assert confirm(checker, OUTPUT, checker.run(OUTPUT), Change(before=before, prompt="fix main.py")).status == "passed"


def test_program_that_needs_an_ignored_file_and_names_the_expected_output(tmp_path: Path) -> None:
    main = "open('data.csv')\nprint(open('expected.txt').read(), end='')\n"
    files = {"main.py": main, "data.csv": "1\n2\n", ".gitignore": "data.csv\n", "expected.txt": "3\n"}
    checker, _ = guarded(tmp_path, files, OUTPUT)
    confirmed = confirm(
        checker, OUTPUT, checker.run(OUTPUT), Change(before={"main.py": b"print(4)\n"}, prompt="fix main.py")
    )
    assert (confirmed.status, confirmed.note) == ("tampered", "main.py names the file with the expected output")


# --- passes that prove nothing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "status", "note"),
    [
        (
            "import os\ndef test_a(): os._exit(0)\ndef test_b(): assert 0\n",
            "failed",
            "the test run ended before all of it was reported, so its exit status proves nothing",
        ),
        ("import pytest\n@pytest.mark.skip\ndef test_a(): assert 0\n", "no_check", "no tests were found to run"),
        ("def test_a(): pass\n", "passed", ""),
    ],
)
def test_runs_of_pytest(test: str, status: str, note: str, tmp_path: Path) -> None:
    verdict = run(tmp_path, {"test_app.py": test}, TESTS)
    assert (verdict.status, verdict.note, verdict.exit_status) == (status, note, 0)


def test_options_of_a_plugin_that_is_not_there_are_left_out(tmp_path: Path) -> None:
    files = {"test_app.py": "def test_a(): pass\n", "pytest.ini": "[pytest]\naddopts = --no-such-plugin-option\n"}
    assert run(tmp_path, files, TESTS).status == "passed"


@pytest.mark.parametrize(("prompt", "status"), [("fix it", "tampered"), ("add a conftest.py with a fixture", "passed")])
def test_new_settings_of_tests_are_not_a_fix(prompt: str, status: str, tmp_path: Path) -> None:
    skip = "def pytest_collection_modifyitems(items): del items[1:]\n"
    files = {"test_app.py": "def test_a(): pass\ndef test_b(): assert 0\n"}
    checker, workspace = guarded(tmp_path, files, TESTS)
    workspace.write_text("conftest.py", skip)
    verdict = checker.run(TESTS)
    assert verdict.passed
    assert confirm(checker, TESTS, verdict, Change(before={"conftest.py": None}, prompt=prompt)).status == status


def test_tests_without_their_runner_are_no_check(tmp_path: Path) -> None:
    check = Check(kind="tests", argv=("no-such-runner", "test"), timeout_s=60, source="tests")
    verdict = run(tmp_path, {"main.py": ""}, check)
    assert (verdict.status, verdict.note) == (
        "no_check",
        "no-such-runner: cannot be started: no such file or directory",
    )


# --- comparing --------------------------------------------------------------------------------------------------------


def test_output_longer_than_what_is_kept_is_compared_whole(tmp_path: Path) -> None:
    main = "for number in range(60_000): print(number)\n"
    files = {"main.py": main, "expected.txt": "".join(f"{number}\n" for number in range(60_000))}
    assert run(tmp_path, files, OUTPUT).status == "passed"


@pytest.mark.parametrize(("expected", "actual"), [("\ufeffé\n", "é\n"), ("é\n", "\ufeffé\n"), ("\ufeff", "")])
def test_byte_order_mark_does_not_count(expected: str, actual: str) -> None:
    assert first_difference(expected, actual) is None
    assert first_difference(expected, f"x{actual}") is not None


@pytest.mark.parametrize(
    ("one", "other"), [("3/4", "3/5"), ("5 s", "6 s"), ("10:20:30", "10:20:31"), ("line 1", "line 2")]
)
def test_what_an_output_says_is_part_of_the_signature(one: str, other: str) -> None:
    signatures = {
        signature_of(kind="output", exit_status=0, difference=Difference(line=1, expected="x", actual=actual))
        for actual in (one, other)
    }
    assert len(signatures) == 2


def test_address_in_an_output_is_not_part_of_the_signature() -> None:
    signatures = {
        signature_of(kind="output", exit_status=0, difference=Difference(line=1, expected="x", actual=actual))
        for actual in ("<Item at 0x7f0011>", "<Item at 0x7f9922>")
    }
    assert len(signatures) == 1


def test_long_signatures_stay_different() -> None:
    many = tuple(f"test_module::test_number_{number}" for number in range(50))
    assert signature_of(kind="tests", failing=many) != signature_of(kind="tests", failing=many[:-1])


@pytest.mark.parametrize("name", ["expected.txt", "setup.cfg", "pyproject.toml"])
def test_a_file_that_says_it_is_huge_is_refused_or_cut(name: str, tmp_path: Path) -> None:
    """It takes no room on the disk, but whoever reads it whole needs as much memory."""
    files = {"main.py": "print(1)\n", "expected.txt": "1\n", name: "1\n"}
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / name).touch()
    os.truncate(tmp_path / "w" / name, 1 << 40)
    files.pop(name)
    if name == "expected.txt":
        with pytest.raises(WorkspaceError, match="larger than 64 MiB"):
            guarded(tmp_path / "w", files, OUTPUT)
    else:
        guarded(tmp_path / "w", {"test_app.py": "def test_a(): pass\n"}, TESTS)


LOGGED = """import os, time
open({log!r}, "a").write("begun ")
if not os.path.exists("expected.txt"):
    time.sleep({seconds})
    open({log!r}, "a").write("ended ")
print({printed})
"""


def test_what_passed_in_a_copy_is_not_run_there_again_for_the_same_files(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = LOGGED.format(log=str(log), seconds=0, printed="len([0, 0])")
    checker, workspace = guarded(tmp_path / "w", {"main.py": program, "expected.txt": "2"}, OUTPUT)
    verdict = checker.run(OUTPUT)
    change = Change(before={"main.py": b"print(1)"}, own=True)
    copied = checker.on(workspace.scratch_copy(tmp_path / "copy"))
    for judge, times in ((copied, 1), (checker, 1)):
        assert confirm(judge, OUTPUT, verdict, change, runs=0).passed
        assert log.read_text().count("ended") == times
    workspace.write_text("other.txt", "this may be read")
    assert confirm(checker, OUTPUT, verdict, change, runs=0).passed
    assert log.read_text().count("ended") == 2


def test_a_check_that_fails_ends_the_run_in_the_copy(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = LOGGED.format(log=str(log), seconds=5, printed=3)
    checker, _ = guarded(tmp_path / "w", {"main.py": program, "expected.txt": "2"}, OUTPUT)
    verdict = confirm(checker, OUTPUT, None, Change(before={"main.py": b"print(1)"}, own=True), runs=0)
    assert (verdict.status, "ended" in log.read_text()) == ("failed", False)


SCRIPTS = '{"scripts": {"test": "run-s unit:*", "unit:a": "node --test"}}'


@pytest.mark.parametrize(
    ("script", "decides"),
    [
        ('"format": "prettier ."', False),
        ('"unit:b": "true"', True),
        ('"pretest": "true"', True),
        ('"test": "true"', True),
    ],
)
def test_a_new_script_of_a_package_decides_where_one_that_was_there_runs_it(
    script: str, decides: bool, tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text(SCRIPTS)
    workspace, check = Workspace.open(tmp_path), Check(kind="command", argv=("npm", "test"), timeout_s=9, source="")
    conditions = Conditions()
    conditions.keep(check, workspace)
    (tmp_path / "package.json").write_text(SCRIPTS.replace("}}", f", {script}}}}}"))
    assert bool(conditions.changed(check, workspace, {})) is decides

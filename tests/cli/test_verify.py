"""`codur verify`, and the hook that calls it before a commit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.kit import ROOT, bound_by_permissions, codur, codur_anew, codur_here, environment, the_object
from tests.runs.kit import REPAIRABLE, contents, fill

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
RIGHT = {"main.py": "print(1)\n", "expected.txt": "1\n"}


def test_a_check_that_fails_is_told_and_nothing_is_changed(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    before = contents(project)
    ran = codur_here("verify", cwd=project, home=home)
    assert (ran.code, ran.out) == (1, "")
    assert "before: red: line 1: expected `3 6`, got `3 3`" in ran.err
    assert contents(project) == before


def test_the_tests_that_fail_are_told_with_their_places_and_what_the_first_says(project: Path, home: Path) -> None:
    lists = "    assert list(range(7)) == [0, 1, 2, 3, 4, 5]\n"
    others = "".join(f"def test_{n}():\n    assert {n} == 0\n" for n in range(1, 6))
    fill(project, {"test_rota.py": f"def test_weeks():\n{lists}{others}def test_right():\n    pass\n"})
    ran = codur_here("verify", cwd=project, home=home)
    assert ran.code == 1
    assert "as before" not in ran.err
    head = (
        "    | test_rota::test_weeks\n    | test_rota.py:2: in test_weeks\n    | "
        + lists
        + "    | E   assert [0, 1, 2, 3,"
    )
    assert head in ran.err
    assert "    | test_rota::test_1\n    | test_rota.py:4: in test_1\n" in ran.err
    assert "  also: test_rota.py::test_4, test_rota.py::test_5\n" in ran.err
    assert len(ran.err.splitlines()) <= 29


def test_a_check_that_passes(project: Path, home: Path) -> None:
    fill(project, RIGHT)
    ran = codur_here("verify", "--json", cwd=project, home=home)
    value = the_object(ran.out)
    assert (ran.code, value["outcome"], value["verdict"]["status"]) == (0, "done", "passed")


def test_the_check_that_is_named_and_one_that_is_not_there(project: Path, home: Path) -> None:
    fill(project, RIGHT)
    assert codur_here("verify", "--check", "exit 3", cwd=project, home=home).code == 1
    (project / "expected.txt").unlink()
    ran = codur_here("verify", "-C", str(project), cwd=home, home=home)
    assert ran.code != 0
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("program", "code"), [("print(1)\n", 0), ("print(2)\n", 1)])
def test_the_hook_lets_a_commit_through_as_the_check_says(program: str, code: int, project: Path, home: Path) -> None:
    hook = next(hook for hook in HOOKS if hook["language"] == "system")
    config = {"repos": [{"repo": "local", "hooks": [hook]}]}
    fill(project, RIGHT | {"main.py": program, ".pre-commit-config.yaml": yaml.safe_dump(config)})
    commands = Path(sys.executable).parent
    variables = environment(home) | {"PATH": f"{commands}:{os.environ['PATH']}", "PRE_COMMIT_HOME": str(home / "cache")}
    who = {f"GIT_{role}_{what}": "a@localhost" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    git = shutil.which("git") or "git"
    for words in ([git, "init", "-q"], [git, "add", "-A"], [str(commands / "pre-commit"), "install"]):
        subprocess.run(words, cwd=project, env=variables, check=True, capture_output=True)
    done = subprocess.run(
        [git, "commit", "-qm", "a change"],
        cwd=project,
        env=variables | who,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "the check passes" in done.stderr
    assert ("expected `1`, got `2`" in done.stderr) == bool(code)


def test_the_manifest_of_hooks_is_of_the_form_that_pre_commit_reads() -> None:
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stdout
    assert {hook["entry"] for hook in HOOKS} == {"codur verify"}


def test_a_home_that_is_of_no_use_is_told_and_does_not_stop_it(project: Path, tmp_path: Path) -> None:
    fill(project, RIGHT)
    closed, full = tmp_path / "closed", tmp_path / "full"
    (closed / ".config" / "codur").mkdir(parents=True)
    full.mkdir()
    (full / ".local").write_text("")
    for home in (closed, full):
        home.chmod(0 if home == closed else 0o700)
        ran = codur_anew("verify", cwd=project, home=home, before=bound_by_permissions())
        changing = codur_anew("repair", cwd=project, home=home, before=bound_by_permissions())
        home.chmod(0o700)
        # What changes something is refused where it could not be undone, and where nobody knows the settings.
        assert changing.code == 2, changing.err
        assert (ran.code, ran.err.count("warning: the run is not kept: ")) == (0, 1), ran.err
        assert [path.name for path in home.iterdir()] == [".config" if home == closed else ".local"]


def test_a_state_directory_in_the_workspace_is_refused_before_anything_is_made_there(project: Path, home: Path) -> None:
    before = contents(fill(project, RIGHT))
    assert codur_here("verify", cwd=project, home=home, XDG_STATE_HOME=str(project / "state")).code == 2
    assert contents(project) == before
    assert not (project / "state").exists()


def test_what_starts_programs_and_may_not_is_no_test_that_fails(project: Path, home: Path) -> None:
    fill(project, RIGHT)
    (home / "python").write_text("")
    told = "import sys; from codur.cli.main import run; sys.executable = sys.argv[1]; sys.exit(run(['verify']))"
    words = [sys.executable, "-c", told, str(home / "python")]
    ran = subprocess.run(words, cwd=project, env=environment(home), capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    assert f"permission denied ({home / 'python'})" in ran.stderr
    assert "ulimit" not in ran.stderr


def test_it_takes_no_words(project: Path, home: Path) -> None:
    ran = codur("verify", "that", "it", "works", cwd=project, home=home)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 2


def test_the_check_has_all_of_the_time_as_nothing_follows(project: Path, home: Path) -> None:
    fill(project, {"slow.py": "import time\n\ntime.sleep(4)\n"})
    ran = codur_here("verify", "--timeout", "9", "--check", "python slow.py", cwd=project, home=home)
    assert ran.code == 0, ran.err

"""The launcher on real programs: what they see, how they end, what they leave behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.child import Child, GroupProcess
from codur.sandbox.process.output import BoundedOutput
from codur.sandbox.process.process_result import ProcessResult
from tests.support.patience import until_begun

LONG = 60.0


def python(
    code: str, *, cwd: Path, launcher: Launcher | None = None, stdin: bytes = b"", timeout_s: float = LONG
) -> ProcessResult:
    used = launcher or Launcher({"PATH": os.environ["PATH"]})
    return used.run([sys.executable, "-c", code], cwd=cwd, stdin=stdin, timeout_s=timeout_s)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("code", "stdin", "status", "out", "err"),
    [
        ("print('hi')", b"", 0, "hi\n", ""),
        ("import sys; print(sys.stdin.read()[::-1])", b"abc", 0, "cba\n", ""),
        ("import sys; sys.exit(3)", b"", 3, "", ""),
        ("import sys; print('bad', file=sys.stderr); sys.exit(1)", b"", 1, "", "bad\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", b"", -15, "", ""),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", b"", 0, "\ufffd\n", ""),
        ("print('unread')", b"x" * 500_000, 0, "unread\n", ""),
    ],
)
def test_a_program_that_ends(code: str, stdin: bytes, status: int, out: str, err: str, tmp_path: Path) -> None:
    result = python(code, cwd=tmp_path, stdin=stdin)
    assert (result.exit_status, result.stdout, result.stderr) == (status, out, err)
    assert (result.timed_out, result.cancelled, result.truncated) == (False, False, False)


def test_a_large_input_and_output_do_not_block_each_other(tmp_path: Path) -> None:
    code = "import sys\nfor line in sys.stdin: print(line, end='')"
    result = python(code, cwd=tmp_path, stdin=b"0123456789\n" * 20_000)
    assert result.exit_status == 0
    assert len(result.stdout) == 220_000


def test_a_missing_program(tmp_path: Path) -> None:
    result = Launcher({}).run(["no-such-program"], cwd=tmp_path, timeout_s=LONG)
    assert result.exit_status == 127
    assert result.stderr == "no-such-program: cannot be started: no such file or directory"


def test_a_hang_is_killed_with_its_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    pid = tmp_path / "pid"
    result = until_begun(lambda limit: python(code, cwd=tmp_path, timeout_s=limit), lambda _: pid.exists(), 1.5)
    assert (result.timed_out, result.exit_status) == (True, None)
    assert not alive(int(pid.read_text()))


def test_a_child_that_keeps_the_pipe_open_does_not_delay_the_end(tmp_path: Path) -> None:
    code = "import subprocess\nprint(subprocess.Popen(['sleep', '600']).pid)"
    result = python(code, cwd=tmp_path)
    assert (result.exit_status, result.timed_out) == (0, False)
    assert not alive(int(result.stdout))


def test_a_flood_is_cut_in_the_middle_and_ended(tmp_path: Path) -> None:
    launcher = Launcher({"PATH": os.environ["PATH"]}, max_output_bytes=1000)
    result = python("while True: print('x' * 10_000)", cwd=tmp_path, launcher=launcher)
    assert (result.exit_status, result.truncated, result.timed_out) == (None, True, False)
    assert "bytes left out" in result.stdout
    assert len(result.stdout) < 1100


def test_cancelling_ends_the_program(tmp_path: Path) -> None:
    cancel = CancelToken()
    launcher = Launcher({"PATH": os.environ["PATH"]}, cancel=cancel)
    timer = threading.Timer(0.3, cancel.cancel)
    timer.start()
    result = python("import time; time.sleep(600)", cwd=tmp_path, launcher=launcher)
    timer.join()
    assert (result.cancelled, result.exit_status) == (True, None)


def test_no_secret_of_the_environment_is_visible(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/nowhere",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "GROQ_API_KEY": "canary",
        "AWS_SECRET_ACCESS_KEY": "canary",
        "PYTHONPATH": "canary",
        "LD_PRELOAD": "canary",
    }
    result = python("import os; print(dict(os.environ))", cwd=tmp_path, launcher=Launcher(environ))
    assert "canary" not in result.stdout
    for name in ("HOME", "LANG", "PYTHONHASHSEED"):
        assert name in result.stdout


def test_the_private_temporary_directory_is_removed(tmp_path: Path) -> None:
    code = "import tempfile\nprint(tempfile.gettempdir())\nopen(tempfile.gettempdir() + '/left', 'w').close()"
    directory = Path(python(code, cwd=tmp_path).stdout.strip())
    assert directory.name.startswith("codur-run-")
    assert not directory.exists()


def test_python_in_a_command_is_the_interpreter_of_the_workspace(tmp_path: Path) -> None:
    launcher = Launcher({"PATH": os.environ["PATH"]}, python=sys.executable)
    result = launcher.run(["sh", "-c", "command -v python"], cwd=tmp_path, timeout_s=LONG)
    assert Path(result.stdout.strip()).parent == Path(sys.executable).parent


def test_where_there_is_only_a_python3_commands_still_find_python(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    launcher = Launcher({"PATH": "/usr/bin:/bin"}, python=str(tmp_path / "bin" / "python3"))
    result = launcher.run(["sh", "-c", "python -c 'print(6 * 7)'"], cwd=tmp_path, timeout_s=LONG)
    assert (result.exit_status, result.stdout) == (0, "42\n")


class Notes:
    """An observer that writes down what it is told, and what it sees then."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Path, bool]] = []

    def before(self, root: Path) -> None:
        self.told.append(("before", root, (root / "made").exists()))

    def reached_outside(self, paths: tuple[str, ...]) -> None:
        self.told += [("reached outside", Path(path), True) for path in paths]

    def discard(self, root: Path) -> None:
        self.told.append(("discard", root, (root / "made").exists()))

    def after(self, root: Path) -> None:
        self.told.append(("after", root, (root / "made").exists()))


def test_the_observer_is_told_of_programs_in_the_workspace_only(tmp_path: Path) -> None:
    notes = Notes()
    launcher = Launcher({"PATH": os.environ["PATH"]}, observer=notes)
    launcher.run(["touch", "made"], cwd=tmp_path, timeout_s=LONG)
    launcher.run(["true"], cwd=Path("/"), timeout_s=LONG)
    with launcher.temporary_directory() as copy:
        launcher.run(["true"], cwd=copy, timeout_s=LONG)
    launcher.run(["true"], cwd=Path("/"), root=tmp_path, timeout_s=LONG)
    assert notes.told == [
        (when, tmp_path, made) for when, made in zip(("before", "after") * 2, (0, 1, 1, 1), strict=True)
    ]


def test_protected_paths_are_put_back_and_told(tmp_path: Path) -> None:
    workspace, quarantine = tmp_path / "workspace", tmp_path / "quarantine"
    workspace.mkdir()
    (workspace / ".envrc").write_text("mine\n")
    launcher = Launcher({"PATH": os.environ["PATH"]}, sandbox=SandboxSettings(backend="none"), quarantine=quarantine)
    command = ["sh", "-c", "echo theirs > .envrc; mkdir .vscode; echo x > .vscode/tasks.json; echo x > plain"]
    result = launcher.run(command, cwd=workspace, timeout_s=LONG)
    assert {".envrc", ".vscode"} <= set(result.tripped)
    assert "plain" not in result.tripped
    assert (workspace / ".envrc").read_text() == "mine\n"
    assert sorted(path.name for path in workspace.iterdir()) == [".envrc", "plain"]
    assert launcher.run(["true"], cwd=workspace, timeout_s=LONG).tripped == ()


def test_a_program_in_a_group_of_its_own_where_there_is_no_starter(tmp_path: Path) -> None:
    outputs = (BoundedOutput(100), BoundedOutput(100))
    command = ("sh", "-c", "read x; sleep 600 >/dev/null 2>&1 & echo $x $!; exit 3")
    process = GroupProcess.start(command, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, has_input=True)
    with Child(process, outputs, b"hello\n") as child:
        assert child.wait(LONG, None) == "ended"
    word, pid = outputs[0].text().split()
    assert (process.status, word) == (3, "hello")
    for _ in range(500):
        if not alive(int(pid)):
            break
        time.sleep(0.01)
    assert not alive(int(pid))


def test_a_hang_in_a_group_of_its_own(tmp_path: Path) -> None:
    process = GroupProcess.start(("sleep", "600"), cwd=tmp_path, env={"PATH": os.environ["PATH"]}, has_input=False)
    with Child(process, (BoundedOutput(100), BoundedOutput(100)), b"") as child:
        assert child.wait(0.1, None) == "timed_out"
    assert process.status == -15

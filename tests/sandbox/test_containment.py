"""What a started program may see and use, and that nothing of it stays."""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path

import pytest

from codur.errors import CodurError
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.process_result import ProcessResult
from tests.support.patience import until_begun

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
LONG = 60.0


def python(code: str, cwd: Path, *, timeout_s: float = LONG, environ: dict[str, str] | None = None) -> ProcessResult:
    return Launcher(environ or ENVIRON).run([sys.executable, "-c", code], cwd=cwd, timeout_s=timeout_s)


def shell(command: str, cwd: Path, *, timeout_s: float = LONG) -> ProcessResult:
    return Launcher(ENVIRON).run(["sh", "-c", command], cwd=cwd, timeout_s=timeout_s)


def ends(pid: int) -> bool:
    """Whether the process is gone (or only waits to be reaped) within some seconds."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


# --- what it may see --------------------------------------------------------------------------------------------------


def test_environment_is_an_allow_list(tmp_path: Path) -> None:
    environ = {
        "PATH": ".:/usr/bin::/bin:bin",
        "HOME": "/home/user",
        "LC_ALL": "C.UTF-8",
        "LC_API_KEY": "canary-1",
        "LC_WORD": "canary",
        "LC_NAME": "canary in words",
        "LC_ADDRESS": "ghp_0123456789012345678901234567890123456",
        "LANGUAGE": "https://user:canary@example.org",
        "GITHUB_TOKEN": "canary-2",
        "PYTHONSAFEPATH": "1",
        "GIT_DIR": "/x",
        "SOMETHING": "canary-3",
    }
    result = Launcher(environ).run(["/usr/bin/env"], cwd=tmp_path, timeout_s=LONG)
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines())
    assert seen.pop("TMPDIR").startswith("/tmp/codur-run-")
    assert seen == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/user",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "NO_COLOR": "1",
    }


def test_variables_of_the_call_are_added(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo $EXTRA $NO_COLOR"]
    result = Launcher(ENVIRON).run(argv, cwd=tmp_path, timeout_s=LONG, env={"EXTRA": "yes"})
    assert result.stdout == "yes 1\n"


def test_programs_of_the_workspace_are_not_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\necho hijacked\n")
    (tmp_path / "tool").chmod(0o755)
    assert Launcher({"PATH": ".::/usr/bin:/bin"}).run(["tool"], cwd=tmp_path, timeout_s=LONG).exit_status == 127


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        ("import sys; print(repr(sys.stdin.read()))", "''\n"),
        ("import os; print(os.getsid(0) == os.getpid() == os.getpgrp())", "True\n"),
        ("import sys; sys.stdout.buffer.write(b'a\\r\\nb\\rc')", "a\r\nb\rc"),
    ],
)
def test_surroundings(code: str, stdout: str, tmp_path: Path) -> None:
    assert python(code, tmp_path).stdout == stdout


def test_no_open_file_is_inherited(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    with secret.open() as stream:
        os.set_inheritable(stream.fileno(), True)
        code = f"import os\ntry: print(os.read({stream.fileno()}, 9))\nexcept OSError: print('closed')"
        assert python(code, tmp_path).stdout == "closed\n"


def test_temporary_directory_is_private_and_removed_whatever_is_left_in_it(tmp_path: Path) -> None:
    base = tmp_path / "temporary"
    base.mkdir()
    code = (
        "import os, tempfile; d = tempfile.mkdtemp(); open(d + '/f', 'w').close(); os.chmod(d, 0)\n"
        "t = os.environ['TMPDIR']; print(d.startswith(t), oct(os.stat(t).st_mode & 0o777))"
    )
    result = python(code, tmp_path, environ={**ENVIRON, "TMPDIR": str(base)})
    assert (result.stdout, list(base.iterdir())) == ("True 0o700\n", [])


def test_directory_for_callers_is_removed(tmp_path: Path) -> None:
    with Launcher({**ENVIRON, "TMPDIR": str(tmp_path)}).temporary_directory() as directory:
        (directory / "deep").mkdir()
        (directory / "deep" / "file").write_text("x")
        assert (directory.parent, directory.stat().st_mode & 0o777) == (tmp_path, 0o700)
    assert list(tmp_path.iterdir()) == []


def test_no_byte_code_is_left(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("VALUE = 7\n")
    (tmp_path / "main.py").write_text("import helper\nprint(helper.VALUE)\n")
    result = Launcher(ENVIRON).run([sys.executable, "main.py"], cwd=tmp_path, timeout_s=LONG)
    assert (result.stdout, sorted(path.name for path in tmp_path.iterdir())) == ("7\n", ["helper.py", "main.py"])


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a running process need prlimit")
def test_resource_limits(tmp_path: Path) -> None:
    code = (
        "import resource as r, time\n"
        "while r.getrlimit(r.RLIMIT_CPU)[0] == r.RLIM_INFINITY: time.sleep(0.01)\n"
        "print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_FSIZE), r.getrlimit(r.RLIMIT_AS)[0] == r.RLIM_INFINITY)"
    )
    assert python(code, tmp_path).stdout == "(0, 0) (268435456, 268435456) True\n"


def test_program_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    words = "trap '' TERM; echo $$; while :; do sleep 1; done"
    result = until_begun(lambda limit: shell(words, tmp_path, timeout_s=limit), lambda found: bool(found.stdout), 0.5)
    assert (result.exit_status, result.timed_out, ends(int(result.stdout))) == (None, True, True)


def test_program_may_clean_up_when_its_time_is_over(tmp_path: Path) -> None:
    words = "trap 'echo cleaned; exit 0' TERM; sleep 600 & wait"
    result = until_begun(lambda limit: shell(words, tmp_path, timeout_s=limit), lambda found: bool(found.stdout), 0.5)
    assert (result.exit_status, result.stdout, result.timed_out) == (None, "cleaned\n", True)


def test_nothing_is_started_without_time(tmp_path: Path) -> None:
    result = shell("touch begun", tmp_path, timeout_s=0.0)
    assert (result.timed_out, result.started, list(tmp_path.iterdir())) == (True, False, [])


def test_nothing_is_started_once_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    result = Launcher(ENVIRON, cancel=cancel).run(["touch", "begun"], cwd=tmp_path, timeout_s=LONG)
    assert (result.cancelled, result.started, list(tmp_path.iterdir())) == (True, False, [])


def test_endless_output_is_told_from_a_hang(tmp_path: Path) -> None:
    result = shell("yes flood", tmp_path)
    assert (result.exit_status, result.flooded, result.truncated, result.timed_out) == (None, True, True, False)


def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import sys; sys.stdout.write('a' * 10 + 'm' * 300_000 + 'z' * 10)"]
    result = Launcher(ENVIRON, max_output_bytes=20).run(argv, cwd=tmp_path, timeout_s=LONG)
    assert (result.stdout, result.truncated) == ("aaaaaaaaaa\n[… 300000 bytes left out …]\nzzzzzzzzzz", True)


def test_output_of_exactly_the_bound_is_whole(tmp_path: Path) -> None:
    result = Launcher(ENVIRON).run(["echo", "x" * 99], cwd=tmp_path, timeout_s=LONG, max_output_bytes=100)
    assert (result.stdout, result.truncated) == ("x" * 99 + "\n", False)


# --- what it leaves behind --------------------------------------------------------------------------------------------


def test_background_process_does_not_outlive_the_run(tmp_path: Path) -> None:
    result = shell("sleep 600 >/dev/null 2>&1 & echo $!", tmp_path)
    assert (result.exit_status, ends(int(result.stdout))) == (0, True)


def test_daemon_of_its_own_session_that_holds_the_pipes_does_not_delay_the_end(tmp_path: Path) -> None:
    code = "import os, time\npid = os.fork()\nif not pid: os.setsid(); time.sleep(600)\nprint(pid, flush=True)"
    result = python(f"{code}\nos._exit(0)", tmp_path)
    assert (result.exit_status, result.timed_out) == (0, False)
    assert ends(int(result.stdout)) or sys.platform != "linux"


def test_late_writer_is_still_heard(tmp_path: Path) -> None:
    assert shell("(sleep 0.05; echo late) & echo early", tmp_path).stdout == "early\nlate\n"


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    launcher = Launcher(ENVIRON)
    launcher.run(["true"], cwd=tmp_path, timeout_s=LONG)
    gc.collect()  # what earlier tests left is not closed in the middle of this one
    before = sorted(Path("/proc/self/fd").iterdir())
    for argv in (["true"], ["no-such-program"], ["sh", "-c", "sleep 600 &"]):
        launcher.run(argv, cwd=tmp_path, stdin=b"x", timeout_s=LONG)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


# --- what cannot be started -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "status", "reason"),
    [
        (["no-such-program"], 127, "no such file or directory"),
        (["./plain"], 126, "permission denied"),
        (["echo", "a\0b"], 126, "embedded null byte"),
        (["true", "x" * 3_000_000], 126, "argument list too long"),
    ],
)
def test_not_started(argv: list[str], status: int, reason: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text\n")
    result = Launcher(ENVIRON).run(argv, cwd=tmp_path, timeout_s=LONG)
    assert result == ProcessResult(
        argv=tuple(argv),
        exit_status=status,
        stdout="",
        stderr=f"{argv[0]}: cannot be started: {reason}",
        started=False,
    )


def test_missing_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    result = Launcher(ENVIRON).run(["true"], cwd=gone, timeout_s=LONG)
    assert (result.exit_status, result.stderr) == (127, f"true: cannot be started: there is no directory {gone}")


def test_no_place_for_temporary_files(tmp_path: Path) -> None:
    launcher = Launcher({**ENVIRON, "TMPDIR": str(tmp_path / "base")})  # absent: /tmp is used
    assert launcher.run(["true"], cwd=tmp_path, timeout_s=LONG).exit_status == 0
    (tmp_path / "base").mkdir()
    launcher = Launcher({**ENVIRON, "TMPDIR": str(tmp_path / "base")})
    (tmp_path / "base").rmdir()
    with pytest.raises(CodurError, match="no temporary directory can be made"):
        launcher.run(["true"], cwd=tmp_path, timeout_s=LONG)

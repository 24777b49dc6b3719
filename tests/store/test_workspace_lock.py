"""One run at a time in a workspace, and none is locked out for ever."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codur.errors import WorkspaceBusy
from codur.store import workspace_lock as lock_module
from codur.store.workspace_lock import lock_name, running, workspace_lock

HOLDER = (
    "import sys; from pathlib import Path; from codur.store.workspace_lock import workspace_lock\n"
    "with workspace_lock(Path(sys.argv[1]), Path(sys.argv[2]), run_id='theirs') as note:\n"
    "    print(note, flush=True); sys.stdin.read()\n"
)


@contextmanager
def held(locks: Path, root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process has the lock."""
    argv = [sys.executable, "-c", HOLDER, str(locks), str(root)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"\n"
        yield process
        process.kill()


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    (tmp_path / "locks").mkdir()
    (tmp_path / "w").mkdir()
    return tmp_path / "locks"


def test_the_second_is_refused_and_told_by_whom(locks: Path) -> None:
    root = locks.parent / "w"
    with held(locks, root) as holder:
        with pytest.raises(WorkspaceBusy) as caught, workspace_lock(locks, root, run_id="ours"):
            pass
        assert (caught.value.pid, caught.value.run_id, caught.value.exit_code) == (holder.pid, "theirs", 5)
        assert f"run theirs (process {holder.pid})" in caught.value.message
        assert "--wait" in caught.value.remedy
        assert running(locks) == {"theirs"}
        with workspace_lock(locks, locks, run_id="ours"):
            assert running(locks) == {"theirs", "ours"}
    assert running(locks) == frozenset()


def test_every_path_to_a_workspace_is_one_lock(locks: Path) -> None:
    (locks.parent / "alias").symlink_to("w")
    assert lock_name(locks.parent / "alias") == lock_name(locks.parent / "w") != lock_name(locks)
    with (
        workspace_lock(locks, locks.parent / "w", run_id="a"),
        pytest.raises(WorkspaceBusy),
        workspace_lock(locks, locks.parent / "alias", run_id="b"),
    ):
        pass


def test_a_dead_holder_does_not_count(locks: Path) -> None:
    root = locks.parent / "w"
    with held(locks, root) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert b"theirs" in (locks / lock_name(root)).read_bytes()
        with workspace_lock(locks, root, run_id="ours") as note:
            assert note == ""
            assert running(locks) == {"ours"}


def test_waiting_until_it_is_free(locks: Path) -> None:
    root = locks.parent / "w"
    told: list[str] = []
    with held(locks, root) as holder:

        def free_it(text: str) -> None:
            told.append(text)
            holder.kill()
            holder.wait()

        with workspace_lock(locks, root, run_id="ours", tell=free_it):
            assert told == [f"waiting: run theirs (process {holder.pid}) works in {root}"]


def test_the_lock_is_given_back_after_an_error(locks: Path) -> None:
    with pytest.raises(RuntimeError), workspace_lock(locks, locks, run_id="a"):
        raise RuntimeError
    with workspace_lock(locks, locks, run_id="b"):
        pass
    assert (locks / lock_name(locks)).read_bytes() == b""


def test_without_file_locks_the_user_is_warned(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "try_lock", lambda _: None)
    with workspace_lock(locks, locks, run_id="a") as note:
        assert "no locks" in note


def test_no_update_is_lost_between_processes(tmp_path: Path, locks: Path) -> None:
    """Two processes add 1 to a number in a file 300 times each, under the lock."""
    program = (
        "import sys; from pathlib import Path; from codur.store import workspace_lock as module\n"
        "number, module._POLL_S = Path(sys.argv[3]), 0\n"
        "for _ in range(300):\n"
        "    with module.workspace_lock(Path(sys.argv[1]), Path(sys.argv[2]), run_id='x', tell=len):\n"
        "        number.write_text(str(int(number.read_text()) + 1))\n"
    )
    number = tmp_path / "number"
    number.write_text("0")
    argv = [sys.executable, "-c", program, str(locks), str(tmp_path / "w"), str(number)]
    both = [subprocess.Popen(argv) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert number.read_text() == "600"

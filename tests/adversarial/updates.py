"""Lost updates: two processes that count in one file, each with Codur's lock and its way of writing.

    python -m tests.adversarial.updates DIRECTORY COUNT [--no-lock]

adds COUNT to the number in DIRECTORY/w/count, one by one.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from codur.store import workspace_lock as lock_module
from codur.store.workspace_lock import workspace_lock
from codur.workspace.workspace import Workspace

ROOT = Path(__file__).parents[2]


def lost(directory: Path, each: int, *, locked: bool = True) -> int:
    """How many of twice `each` updates by two processes are lost."""
    (directory / "w").mkdir()
    (directory / "locks").mkdir()
    (directory / "w" / "count").write_text("0")
    words = [sys.executable, "-m", "tests.adversarial.updates", str(directory), str(each)]
    words += [] if locked else ["--no-lock"]
    processes = [subprocess.Popen(words, cwd=ROOT) for _ in range(2)]
    statuses = [process.wait(timeout=300) for process in processes]
    if any(statuses):
        raise RuntimeError(f"a process ended with {statuses}")
    return 2 * each - int((directory / "w" / "count").read_text())


def main() -> None:
    """One of the two processes."""
    directory, each, locked = Path(sys.argv[1]), int(sys.argv[2]), "--no-lock" not in sys.argv
    root = directory / "w"
    lock_module._POLL_S = 0.005
    for number in range(each):
        guard = workspace_lock(directory / "locks", root, run_id=f"run-{number}", tell=len) if locked else nullcontext()
        with guard:
            if locked:
                workspace = Workspace(root, durable=False)
                workspace.write_bytes("count", str(int(workspace.read_bytes("count")) + 1).encode())
            else:
                value = int((root / "count").read_text() or 0)
                time.sleep(0.0005)
                (root / "count").write_text(str(value + 1))


if __name__ == "__main__":
    main()

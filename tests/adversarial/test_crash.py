"""H03: when Codur is killed, nothing that it started goes on."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.adversarial.backends import AVAILABLE
from tests.adversarial.scene import end_marked, marked, survivors

ROOT = Path(__file__).parents[2]
CODUR = """
import sys
from pathlib import Path
from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
root, token = Path(sys.argv[1]), sys.argv[2]
settings = SandboxSettings(backend=sys.argv[3]) if sys.argv[3] != "plain" else None
launcher = Launcher({"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}, sandbox=settings)
launcher.run([sys.executable, "deep.py", token[::-1]], cwd=root, root=root, timeout_s=30.0)
"""
DEEP = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
open(f"up-{os.getpid()}", "w").close()
time.sleep(20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the process group alone is ended")
@pytest.mark.parametrize("backend", [*AVAILABLE, "plain"])
def test_h03_nothing_is_left_when_codur_is_killed(backend: str, tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(DEEP)
    token = secrets.token_hex(12)
    words = [sys.executable, "-c", CODUR, str(tmp_path), token, backend]
    process = subprocess.Popen(words, cwd=ROOT)
    try:
        for _ in range(500):
            if len(list(tmp_path.glob("up-*"))) == 2:
                break
            time.sleep(0.02)
        assert len(marked(token[::-1])) >= 2
        process.kill()
        process.wait()
        assert survivors(token[::-1], within_s=3.0) == 0
    finally:
        process.kill()
        process.wait()
        end_marked(token[::-1])

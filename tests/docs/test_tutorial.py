"""The tutorial as a reader types it: its commands in their order, and the lines that it says they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.kit import ROOT, environment

_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_each_command_of_the_tutorial(tmp_path: Path) -> None:
    blocks = _BLOCK.findall((ROOT / "docs" / "TUTORIAL.md").read_text())
    home, place = tmp_path / "home", str(tmp_path)
    home.mkdir()
    variables = environment(home, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    printed = ""
    for kind, body in blocks:
        if kind == "text":
            assert [line for line in body.splitlines() if line not in printed] == []
            continue
        script = f"cd '{place}'\n{body}\nstatus=$?\necho; pwd\nexit $status\n"
        done = subprocess.run(
            ["bash", "-c", script],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed, place = done.stdout, done.stdout.splitlines()[-1]
        assert done.returncode in (0, 1), done.stdout
    assert sum(kind == "sh" for kind, _ in blocks) == 8
    assert not (home / ".config").exists()

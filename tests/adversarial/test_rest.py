"""Single cases that belong nowhere else: A10, C17, D05, E03, E04."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codur.tools.catalogue import all_tools
from tests.cli.kit import environment
from tests.runs.kit import KEY, REPAIRABLE, fill
from tests.session.kit import place
from tests.support.groq_server import hold

SCRIPT = Path(sys.executable).with_name("codur")


def test_a10_no_tool_takes_a_directory_to_run_in() -> None:
    named = {name for tool in all_tools() for name in tool.arguments}
    assert named
    assert not named & {"cwd", "workdir", "directory", "dir", "root", "env"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc/net")
def test_c17_codur_listens_to_nobody(tmp_path: Path) -> None:
    with place(tmp_path, lambda _: hold()) as here:
        process = here.start("fix main.py")
        try:
            assert here.server.holding.wait(30)
            own = {str(entry.readlink()) for entry in Path(f"/proc/{process.pid}/fd").iterdir() if entry.exists()}
            listening = [
                line.split()
                for table in ("tcp", "tcp6")
                for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
                if line.split()[3] == "0A"
            ]
            assert listening  # the scripted server at least
            assert not [words for words in listening if f"socket:[{words[9]}]" in own]
        finally:
            process.kill()
            process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_d05_a_neighbour_cannot_read_the_key_from_codurs_environment(tmp_path: Path) -> None:
    tool = shutil.which("setpriv")
    if os.geteuid() == 0 and tool is None:
        pytest.skip("root may read everything, and setpriv (util-linux) is not here to take that away")
    dropped = "-sys_ptrace,-perfmon,-sys_admin,-dac_override,-dac_read_search"
    plain = [] if os.geteuid() else [str(tool), f"--bounding-set={dropped}", f"--inh-caps={dropped}", "--"]

    def seen(pid: int) -> bytes:
        words = [*plain, "cat", f"/proc/{pid}/environ"]
        return subprocess.run(words, capture_output=True, check=False).stdout

    sleeper = subprocess.Popen([*plain, "sleep", "60"], env={"GROQ_API_KEY": KEY, "PATH": os.environ["PATH"]})
    with place(tmp_path, lambda _: hold()) as here:
        words = [*plain, sys.executable, "-m", "codur", "fix main.py"]
        variables = environment(here.home, **here.variables({}))
        process = subprocess.Popen(words, cwd=here.project, env=variables, stderr=subprocess.DEVNULL)
        try:
            assert here.server.holding.wait(60)
            assert KEY.encode() not in seen(process.pid)
            assert KEY.encode() in seen(sleeper.pid)
        finally:
            for each in (process, sleeper):
                each.kill()
                each.communicate()


@pytest.mark.skipif(not SCRIPT.exists(), reason="codur is not installed as a command here")
def test_e03_e04_nothing_of_the_workspace_is_loaded_into_codur(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    fill(project, REPAIRABLE)
    trap = f"open({str(tmp_path / 'owned')!r}, 'w').close()\n"
    for name in ("json.py", "httpx.py", "sitecustomize.py", "usercustomize.py", "yaml.py", "conftest.py"):
        (project / name).write_text(trap)
    (project / ".env").write_text(
        f"PYTHONPATH={project}\nCODUR_SANDBOX__BACKEND=none\nLD_PRELOAD=/x.so\nPATH={project}\n"
    )
    words = [str(SCRIPT), "route", "fix main.py"]
    done = subprocess.run(words, cwd=project, env=environment(tmp_path), capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "owned").exists()
    control = {**environment(tmp_path), "PYTHONPATH": str(project)}
    subprocess.run(words, cwd=project, env=control, capture_output=True, timeout=300, check=False)
    assert (tmp_path / "owned").exists()

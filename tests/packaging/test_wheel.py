"""The wheel holds what a run needs: prompts and settings travel with the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.kit import environment
from tests.runs.kit import REPAIRABLE, fill

ROOT = Path(__file__).parents[2]


def test_the_installed_wheel_works_away_from_the_checkout(tmp_path: Path) -> None:
    wheels, target, home, project = (tmp_path / name for name in ("wheels", "target", "home", "project"))
    for directory in (home, project):
        directory.mkdir()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(wheels), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, cwd=tmp_path)
    (wheel,) = wheels.glob("codur-*.whl")
    install = [*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    fill(project, REPAIRABLE)
    script = (
        "import sys, codur, codur.config.resources as resources\n"
        "from codur.__main__ import main\n"
        "assert codur.__file__.startswith(sys.argv[1]), codur.__file__\n"
        "assert 'coding step' in resources.resource_path('prompts/coding.md').read_text()\n"
        "sys.argv = ['codur', '--json', 'fix main.py']\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(target)],
        cwd=project,
        env=environment(home, PYTHONPATH=str(target)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["solved_by"] == "repair"
    assert (target / "bin" / "codur").exists()
    assert (target / "share" / "man" / "man1" / "codur.1").read_text() == (ROOT / "docs" / "codur.1").read_text()

"""The image: its steps name what there is, and what it copies is enough to install Codur."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.cli.kit import ROOT

_STEPS = re.findall(r"^([A-Z]+) (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
_ALLOWED = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
_COPIES = [rest.split() for step, rest in _STEPS if step == "COPY" and not rest.startswith("--from")]


def copy_all(place: Path) -> None:
    """Carry out the steps that copy, as an engine does: a directory's contents, or files into a directory."""
    for *sources, target in _COPIES:
        for source in sources:
            into = place / target.lstrip("/") / ("" if (ROOT / source).is_dir() else Path(source).name)
            into.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-r", ROOT / source, into], check=True)


def test_what_is_copied_is_sent_to_the_engine() -> None:
    assert _COPIES
    sources = [source for *sources, _ in _COPIES for source in sources]
    assert [source for source in sources if not any(fnmatch(source, allowed) for allowed in _ALLOWED)] == []
    assert sorted(_ALLOWED) == sorted(sources)


def test_what_is_copied_can_be_installed(tmp_path: Path) -> None:
    copy_all(tmp_path)
    build = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps", "--no-index"]
    build += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(tmp_path / "src")]
    subprocess.run(build, check=True, capture_output=True)
    assert len(list(tmp_path.glob("codur-*.whl"))) == 1


def test_it_works_as_an_ordinary_user_with_bubblewrap() -> None:
    last = [index for index, (step, _) in enumerate(_STEPS) if step == "FROM"][-1]
    steps = _STEPS[last:]
    assert ("USER", "codur") in steps
    assert ("ENTRYPOINT", '["codur"]') in steps
    assert any(step == "RUN" and "bubblewrap" in rest for step, rest in steps)
    assert [step for step, rest in steps[steps.index(("USER", "codur")) :] if step == "RUN"] == []

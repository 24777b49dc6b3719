"""A workspace that is a part of a repository: what programs see of the rest of that, and what they do not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from codur.workspace.around import around, repository_around
from codur.workspace.workspace import Workspace
from tests.adversarial.backends import AVAILABLE

FILES = (
    "pyproject.toml .env .vscode/x packages/a/src/kit.py packages/a/.env packages/a/deploy/key.pem packages/a/deploy/x"
    " packages/c/x packages/b/main.py node_modules/lib/x.js"
).split()
ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
LOOK = """
import os, sys
for path in sys.argv[1:]:
    try:
        print(path, open(path).read() and "read")
    except OSError:
        print(path, "no")
    try:
        open(path, "r+").write("changed")
        print(path, "written")
    except OSError:
        pass
"""


def repository(directory: Path) -> Path:
    for name in (*FILES, ".git/config"):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    (directory / "packages" / "link").symlink_to(directory / ".env")
    return directory / "packages" / "b"


@pytest.mark.parametrize("backend", [name for name in AVAILABLE if name != "none"])
@pytest.mark.parametrize("copied", [False, True], ids=["as it is", "a copy"])
def test_programs_read_the_rest_of_a_repository_but_for_what_is_private(
    backend: str, copied: bool, tmp_path: Path
) -> None:
    workspace = Workspace.open(repository(tmp_path / "project"))
    place = workspace.scratch_copy(tmp_path / "copy").root if copied else workspace.root
    seen = [
        f"../../{name}" for name in ("pyproject.toml", "packages/a/src/kit.py", "packages/c/x", "packages/a/deploy/x")
    ]
    unseen = [f"../../{name}" for name in (".env", ".git/config", ".vscode/x", "packages/a/.env", "packages/link")]
    unseen.append("../a/deploy/key.pem")
    settings = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    with Launcher(ENVIRON, sandbox=settings, beside=workspace.beside) as launcher:
        words = [sys.executable, "-c", LOOK, *seen, *unseen, str(tmp_path / "project" / ".env")]
        found = launcher.run(words, cwd=place, timeout_s=60)
        online = launcher.run(words, cwd=place, timeout_s=60, network=True)
    assert set(online.stdout.split()[1::2]) == {"no"}
    said = dict(line.split() for line in found.stdout.splitlines())
    assert said == {**dict.fromkeys(seen, "read"), **dict.fromkeys(words[-len(unseen) - 1 :], "no")}
    assert {path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == {"text"}


def test_what_is_given_is_few_paths_without_links(tmp_path: Path) -> None:
    root = repository(tmp_path)
    found = around(root)
    assert found is not None
    names = {path.relative_to(tmp_path).as_posix() for path in found.paths}
    assert names == {"pyproject.toml", "node_modules", "packages/a/src", "packages/a/deploy/x", "packages/c"}
    assert around(tmp_path) is None
    (root / "prompt.txt").touch()
    assert around(root) is None


def test_a_repository_that_is_too_wide_or_of_somebody_else_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path)
    for home, top in ((Path("/nonexistent"), tmp_path), (tmp_path, None), (tmp_path / "packages", None)):
        monkeypatch.setenv("HOME", str(home))
        assert repository_around(root) == top
    settings = tmp_path / "home" / ".config"
    monkeypatch.setenv("HOME", str(settings.parent))
    assert around(repository(settings)) is None
    monkeypatch.setenv("HOME", "/nonexistent")
    if os.geteuid() == 0:
        os.chown(tmp_path / ".git", 65534, 65534)
        assert repository_around(root) is None


def test_what_was_not_looked_at_is_not_given(tmp_path: Path) -> None:
    root = repository(tmp_path)
    (tmp_path / "lib" / "data").mkdir(parents=True)
    for number in range(20_000):
        (tmp_path / "lib" / "data" / str(number)).touch()
    (tmp_path / "lib" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "lib" / "deep" / "er" / ".env").touch()
    found = around(root)
    assert found is not None
    assert not any((tmp_path / "lib" / "deep").is_relative_to(path) for path in found.paths)


def test_settings_of_people_and_services_are_not_given(tmp_path: Path) -> None:
    root, kept = (
        repository(tmp_path),
        "tool/.m2/settings.xml tool/infra/prod.tfstate tool/mirror.git/config tool/id_ed25519_work",
    )
    for name in (
        *kept.split(),
        "tool/mirror.git/HEAD",
        "tool/mirror.git/objects/x",
        "tool/mirror.git/refs/x",
        "tool/x.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    found = around(root)
    assert found is not None
    given = {path.relative_to(tmp_path).as_posix() for path in found.paths if path.is_relative_to(tmp_path / "tool")}
    assert given == {"tool/x.py"}

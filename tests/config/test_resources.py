from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import codur
from codur.config.resources import resource_path

PACKAGE = Path(codur.__file__).parent


def test_a_checkout_reads_its_config_folder() -> None:
    assert resource_path("codur.yaml") == PACKAGE.parent / "config" / "codur.yaml"


def test_an_installed_package_reads_its_own_folder(tmp_path: Path) -> None:
    installed = tmp_path / "codur"
    shutil.copytree(PACKAGE / "config", installed / "config")
    shutil.copy(PACKAGE / "__init__.py", installed)
    for name in ("errors.py", "lazy.py"):
        shutil.copy(PACKAGE / name, installed)
    (installed / "_config" / "prompts").mkdir(parents=True)
    (installed / "_config" / "prompts" / "hello.md").write_text("Hello {{who}}\n", encoding="utf-8")
    (tmp_path / "config").mkdir()
    code = "from codur.config.prompts import PromptLibrary as P; print(P().render('hello', who='you'))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("Hello you\n", "")

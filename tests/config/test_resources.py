from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import codur
from codur.config.resources import read_resource, resource_path
from codur.errors import ConfigError

PACKAGE = Path(codur.__file__).parent


def test_a_checkout_reads_its_config_folder() -> None:
    assert resource_path("codur.yaml") == PACKAGE.parent / "config" / "codur.yaml"
    assert read_resource("codur.yaml") == (PACKAGE.parent / "config" / "codur.yaml").read_text(encoding="utf-8")


def test_an_installed_package_reads_its_own_folder(tmp_path: Path) -> None:
    installed = tmp_path / "codur"
    shutil.copytree(PACKAGE / "config", installed / "config")
    shutil.copy(PACKAGE / "__init__.py", installed)
    shutil.copy(PACKAGE / "errors.py", installed)
    (installed / "_config" / "prompts").mkdir(parents=True)
    (installed / "_config" / "prompts" / "hello.md").write_text("Hello {{who}}\n", encoding="utf-8")
    (tmp_path / "config").mkdir()
    code = "from codur.config.prompts import PromptLibrary as P; print(P().render('hello', who='you'))"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("Hello you\n", "")


def test_a_missing_resource_is_an_error_that_names_it() -> None:
    with pytest.raises(ConfigError) as caught:
        read_resource("no/such.md")

    path = PACKAGE.parent / "config" / "no" / "such.md"
    assert caught.value.message == f"{path}: a file of Codur cannot be read: No such file or directory"
    assert caught.value.remedy == "Install Codur again."

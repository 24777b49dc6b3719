"""From which directories a project's own packages are imported; the interpreters are real ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codur.python.installed import site_directories
from codur.python.layout import import_roots


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.fixture(scope="module")
def _environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    return directory


@pytest.fixture
def python(_environment: Path) -> str:
    program = str(_environment / "bin" / "python")
    (site,) = site_directories(program)
    shutil.rmtree(site)
    site.mkdir()
    return program


SETUP = 'from setuptools import setup, find_packages\nWHERE = "code"\n'
DECLARED: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
    ("setuptools where", {"pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["code"]'}, ("code",)),
    ("setuptools package-dir", {"pyproject.toml": '[tool.setuptools.package-dir]\n"" = "code"'}, ("code",)),
    (
        "setuptools one package's directory",
        {"pyproject.toml": '[tool.setuptools.package-dir]\n"pkg.part" = "code/pkg/part"'},
        ("code",),
    ),
    ("setuptools with another name", {"pyproject.toml": '[tool.setuptools.package-dir]\n"other" = "code/pkg"'}, ()),
    ("hatch", {"pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["code/pkg"]'}, ("code",)),
    ("hatch sources", {"pyproject.toml": '[tool.hatch.build]\nsources = ["code"]'}, ("code",)),
    ("poetry", {"pyproject.toml": '[tool.poetry]\npackages = [{include = "pkg", from = "code"}]'}, ("code",)),
    ("pdm", {"pyproject.toml": '[tool.pdm.build]\npackage-dir = "code"'}, ("code",)),
    ("maturin", {"pyproject.toml": '[tool.maturin]\npython-source = "code"'}, ("code",)),
    ("uv", {"pyproject.toml": '[tool.uv.build-backend]\nmodule-root = "code"'}, ("code",)),
    ("setup.cfg", {"setup.cfg": "[options]\npackage_dir =\n    = code\n"}, ("code",)),
    ("setup.cfg where", {"setup.cfg": "[options.packages.find]\nwhere = code\n"}, ("code",)),
    ("setup.py", {"setup.py": f'{SETUP}setup(package_dir={{"": "code"}})\n'}, ("code",)),
    ("setup.py where", {"setup.py": f"{SETUP}setup(packages=find_packages(where=WHERE))\n"}, ("code",)),
    ("pytest's path", {"pytest.ini": "[pytest]\npythonpath = code .\n"}, ("code", ".")),
    ("a directory that is not there", {"setup.cfg": "[options.packages.find]\nwhere = absent\n"}, ()),
    ("outside", {"setup.cfg": "[options.packages.find]\nwhere = ../x\n"}, ()),
    ("broken", {"pyproject.toml": "[tool", "setup.py": "setup(", "setup.cfg": "x"}, ()),
]


@pytest.mark.parametrize(("name", "files", "expected"), DECLARED, ids=[case[0] for case in DECLARED])
def test_declared_roots(
    tmp_path: Path, python: str, name: str, files: dict[str, str], expected: tuple[str, ...]
) -> None:
    (tmp_path / "x").mkdir()
    work = tmp_path / "work"
    write(work, {"code/pkg/part/__init__.py": "", "code/pkg/__init__.py": "", **files})
    assert import_roots(work, python) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"src/pkg/__init__.py": ""}, ("src",)),
        ({"src/module.py": ""}, ("src",)),
        ({"src/ns/pkg/__init__.py": ""}, ("src",)),
        ({"lib/pkg/__init__.py": "", "docs/conf.py": ""}, ("lib",)),
        ({"src/__init__.py": "", "src/pkg/__init__.py": ""}, ()),
        ({"src/logging.py": ""}, ()),
        ({"src/main.c": ""}, ()),
        ({"pkg/__init__.py": "", "tests/test_pkg.py": ""}, ()),
    ],
)
def test_usual_directories(tmp_path: Path, python: str, files: dict[str, str], expected: tuple[str, ...]) -> None:
    write(tmp_path, files)
    assert import_roots(tmp_path, python) == expected


def editable(site: Path, work: Path, how: str) -> None:
    """Write what pip writes for an editable install of a project with `code/ns/pkg`."""
    if how == "path":
        (site / "__editable__.pkg-1.pth").write_text(f"{work}/code\n")
    elif how == "egg-link":
        (site / "pkg.egg-link").write_text(f"{work}/code\n../")
    else:
        (site / "__editable__.pkg-1.pth").write_text("import __editable___pkg_1_finder as f; f.install()\n")
        finder = f"MAPPING: dict[str, str] = {{'ns.pkg': '{work}/code/ns/pkg'}}\nNAMESPACES = {{'ns': []}}\n"
        (site / "__editable___pkg_1_finder.py").write_text(finder)
    (site / "pkg-1.dist-info").mkdir(exist_ok=True)
    said = {"dir_info": {"editable": True}, "url": f"file://{work}"}
    (site / "pkg-1.dist-info" / "direct_url.json").write_text(json.dumps(said))


@pytest.mark.parametrize("how", ["path", "egg-link", "finder"])
def test_editable_install_leads_into_the_workspace(tmp_path: Path, python: str, how: str) -> None:
    write(tmp_path, {"code/ns/pkg/__init__.py": ""})
    editable(site_directories(python)[0], tmp_path, how)
    assert import_roots(tmp_path, python) == ("code",)
    assert import_roots(tmp_path / "code" / "ns", python) == ()


def origin(python: str, directory: Path, roots: tuple[str, ...]) -> str:
    path = ":".join(str(directory / root) for root in roots)
    words = [python, "-c", "import sys; sys.path.remove(''); import ns.pkg; print(ns.pkg.__file__)"]
    result = subprocess.run(words, cwd=directory, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_copy_of_the_workspace_is_imported_in_place_of_the_editable_original(tmp_path: Path, python: str) -> None:
    work, copy = tmp_path / "work", tmp_path / "copy"
    for directory in (work, copy):
        write(directory, {"code/ns/pkg/__init__.py": ""})
    editable(site_directories(python)[0], work, "path")
    assert origin(python, copy, ()) == f"{work}/code/ns/pkg/__init__.py"
    assert origin(python, copy, import_roots(work, python)) == f"{copy}/code/ns/pkg/__init__.py"


def test_workspace_wins_over_an_installed_copy(tmp_path: Path, python: str) -> None:
    write(tmp_path, {"ns/pkg.py": ""})
    site = site_directories(python)[0]
    write(site, {"ns/pkg.py": ""})
    assert origin(python, tmp_path, ()) == f"{site}/ns/pkg.py"
    assert import_roots(tmp_path, python) == (".",)
    assert origin(python, tmp_path, (".",)) == f"{tmp_path}/ns/pkg.py"
    assert site_directories("/nonexistent/bin/python") == ()


def test_the_path_of_a_part_may_lead_beside_it(tmp_path: Path, python: str) -> None:
    files = {
        "service/pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.', '../libs/kit']",
        "service/tests/test_a.py": "",
        "libs/kit/k.py": "",
    }
    write(tmp_path, files)
    assert import_roots(tmp_path, python) == ("service", "libs/kit")


def test_pytest_path_comes_first(tmp_path: Path, python: str) -> None:
    write(tmp_path, {"pytest.toml": '[pytest]\npythonpath = ["more"]', "more/a.py": "", "src/pkg/__init__.py": ""})
    assert import_roots(tmp_path, python) == ("more", "src")

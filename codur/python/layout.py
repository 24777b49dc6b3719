"""From which directories of a workspace its own packages are imported. Nothing is run."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from codur.python.installed import above_package, editable_roots, is_importable
from codur.python.project_files import ProjectFiles, read_project, table, words
from codur.python.pytest_settings import pytest_settings

_USUAL = ("src", "lib")
PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
_NO_PACKAGES = frozenset({"tests", "test", "testing", "docs", "doc", "examples", "benchmarks", "build", "dist"})
_NO_MODULES = frozenset({"setup", "conftest", "noxfile"})


def import_roots(root: Path, python: str) -> tuple[str, ...]:
    """Directories, relative to the workspace, that must stand first on a program's module search path.

    With them the workspace's packages are imported from the workspace, whatever the interpreter has installed of them;
    as they are relative, they do the same for a copy of it. The top of the workspace (`.`) is among them only where an
    installed package of the same name would be taken in its place, or where it is stated.

    They are what pytest's `pythonpath` says, what `pyproject.toml`, `setup.cfg` and `setup.py` declare, where editable
    installs of the interpreter lead, and else `src` or `lib` if there are packages or modules; then the same of other
    projects with tests of their own that lie in the workspace.

    Args:
        root: the workspace.
        python: its interpreter.
    """
    project = read_project(root)
    stated = [*pytest_settings(root).words("pythonpath"), *_declared(project), *_editable(root, python)]
    roots = dict.fromkeys(path for item in stated if (path := _inside(root, item)) is not None)
    if not any(path in _USUAL for path in roots):
        roots |= dict.fromkeys(_usual(root))
    if "." not in roots and any(is_importable(python, name) for name in modules_in(root)):
        roots["."] = None
    elif "." in roots and not any(modules_in(root)):
        del roots["."]
    return tuple(roots | dict.fromkeys(_of_parts(root)))


def _of_parts(root: Path) -> Iterator[str]:
    """The roots of the projects one or two levels below the top."""
    marked = {path.parent for mark in PROJECT_MARKS for depth in ("*", "*/*") for path in root.glob(f"{depth}/{mark}")}
    for part in sorted(marked):
        path = part.relative_to(root)
        if not _NO_PACKAGES.isdisjoint(path.parts) or any(name.startswith(".") for name in path.parts):
            continue
        if not any((part / name).is_dir() for name in ("tests", "test")):
            continue
        stated = [*pytest_settings(part).words("pythonpath"), *_declared(read_project(part))]
        # What lies beside the part is inside all the same.
        own = dict.fromkeys(item for name in stated if (item := _inside(root, f"{path}/{name}")) is not None)
        yield from own or [(path / item).as_posix() for item in list(_usual(part)) or ["."]]


def _inside(root: Path, path: str) -> str | None:
    """The path relative to the workspace, if it is a directory inside it."""
    relative = os.path.normpath(path.replace("\\", "/") or ".")
    if relative.startswith(("/", "..")) or not (root / relative).is_dir():
        return None
    return relative


def modules_in(directory: Path) -> Iterator[str]:
    """Names of the packages and modules that are imported from a directory; namespace packages are among them."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name.removesuffix(".py")
        if not name.isidentifier() or name in _NO_PACKAGES or name in _NO_MODULES:
            continue
        if name != entry.name or _is_package(Path(entry.path)):
            yield name


def _is_package(directory: Path, depth: int = 2) -> bool:
    """Whether Python files lie in a directory, or not far below it."""
    try:
        entries = list(os.scandir(directory)) if not (directory / "pyvenv.cfg").exists() else []
    except OSError:
        return False
    if any(entry.name.endswith(".py") for entry in entries):
        return True
    below = (Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name.isidentifier())
    return depth > 0 and any(_is_package(path, depth - 1) for path in below)


def _usual(root: Path) -> Iterator[str]:
    """`src` and `lib` where nothing is declared, unless they are packages or would hide the standard library."""
    for name in _USUAL:
        if not (root / name / "__init__.py").exists():
            modules = set(modules_in(root / name))
            if modules and modules.isdisjoint(sys.stdlib_module_names):
                yield name


def _editable(root: Path, python: str) -> Iterator[str]:
    for path in editable_roots(python):
        real = Path(os.path.realpath(path))
        if real.is_relative_to(root):
            yield real.relative_to(root).as_posix()


# --- declarations -----------------------------------------------------------------------------------------------------


def _declared(project: ProjectFiles) -> Iterator[str]:
    tools = table(project.pyproject, "tool")
    yield from _setuptools(tools)
    yield from _hatch(tools)
    yield from _other_tools(tools)
    yield from _old_setuptools(project)


def _setuptools(tools: dict[str, Any]) -> Iterator[str]:
    yield from _package_dirs(table(tools, "setuptools", "package-dir"))
    yield from words(table(tools, "setuptools", "packages", "find").get("where"))


def _old_setuptools(project: ProjectFiles) -> Iterator[str]:
    cfg = project.setup_cfg
    pairs = (line.partition("=") for line in words(cfg.get("options", "package_dir", fallback="")))
    yield from _package_dirs({name.strip(): path.strip() for name, _, path in pairs})
    yield from words(cfg.get("options.packages.find", "where", fallback=""))
    yield from _package_dirs(table(project.setup_call, "package_dir"))
    yield from project.setup_where


def _package_dirs(directories: dict[str, Any]) -> Iterator[str]:
    for package, path in directories.items():
        above = above_package(package, str(path))
        if above is not None:
            yield above


def _hatch(tools: dict[str, Any]) -> Iterator[str]:
    build = table(tools, "hatch", "build")
    for part in (build, table(build, "targets", "wheel")):
        yield from words(part.get("dev-mode-dirs"))
        yield from _above(words(part.get("packages")))
        sources = part.get("sources")
        yield from words(sources)
        yield from (path for path, name in table(part, "sources").items() if name == "")


def _above(packages: Iterable[str]) -> Iterator[str]:
    yield from (PurePosixPath(path).parent.as_posix() for path in packages)


def _other_tools(tools: dict[str, Any]) -> Iterator[str]:
    packages = table(tools, "poetry").get("packages")
    for item in packages if isinstance(packages, list) else ():
        if isinstance(item, dict) and isinstance(item.get("from"), str):
            yield item["from"]
    yield from _above(words(table(tools, "scikit-build", "wheel").get("packages")))
    for keys, name in (
        (("pdm", "build"), "package-dir"),
        (("maturin",), "python-source"),
        (("uv", "build-backend"), "module-root"),
    ):
        value = table(tools, *keys).get(name)
        if isinstance(value, str) and value:
            yield value

"""Which distributions a project declares that it needs, and which of them an interpreter lacks. Nothing is run."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from codur.lazy import regex
from codur.python.installed import distributions, normal_name
from codur.python.project_files import ProjectFiles, read_ini, read_project, read_text, table, words
from codur.structs import Struct

_NAME = regex(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*])?([^;#]*)(?:;(.*))?")
_TESTING = regex(r"(?:unit|dev|ci)?[-_]?tests?(?:ing|s)?|dev(?:elop(?:ment)?)?|all", re.IGNORECASE)
_REQUIREMENTS = (
    "requirements.txt", "requirements-dev.txt", "requirements-test.txt", "requirements-tests.txt",
    "requirements_dev.txt", "requirements_test.txt", "dev-requirements.txt", "test-requirements.txt",
    "requirements/test.txt", "requirements/tests.txt", "requirements/dev.txt", "tests/requirements.txt",
)  # fmt: skip
_MAX_INCLUDED = 20


class Dependencies(Struct):
    """Normal names of distributions, without those that only some interpreters or systems need."""

    runtime: frozenset[str]  # what the project needs wherever it runs
    tests: frozenset[str]  # what its tests need besides, and tools that its developers use


def declared_dependencies(root: Path) -> Dependencies:
    """What the project in a directory declares in its metadata and in its files of requirements."""
    project = read_project(root)
    runtime, *tests = (_lines(root, name, set()) for name in _REQUIREMENTS)
    needed = {*_names(_runtime(project)), *_names(runtime)}
    extra = {*_names(_testing(project)), *(name for lines in tests for name in _names(lines)), *_tox(root)}
    own = normal_name(str(table(project.pyproject, "project").get("name", "")))
    return Dependencies(runtime=frozenset(needed - {own}), tests=frozenset(extra - needed - {own}))


def lacking(python: str, names: Iterable[str]) -> list[str]:
    """Those of some distributions that an interpreter does not have."""
    installed = distributions(python)
    return sorted(name for name in names if name not in installed)


def required_name(requirement: str) -> str:
    """The normal name in a requirement (PEP 508); empty for one that is an option or has conditions."""
    match = _NAME.fullmatch(requirement)
    return normal_name(match[1]) if match and not match[3] else ""


def _names(requirements: Iterable[str]) -> Iterator[str]:
    yield from filter(None, map(required_name, requirements))


# --- where they are declared ------------------------------------------------------------------------------------------


def _runtime(project: ProjectFiles) -> Iterator[str]:
    yield from words(table(project.pyproject, "project").get("dependencies"))
    yield from words(project.setup_cfg.get("options", "install_requires", fallback=""))
    yield from words(project.setup_call.get("install_requires"))
    yield from _poetry(table(project.pyproject, "tool", "poetry", "dependencies"))


def _testing(project: ProjectFiles) -> Iterator[str]:
    for group in (
        table(project.pyproject, "project", "optional-dependencies"),
        table(project.pyproject, "dependency-groups"),
        table(project.pyproject, "tool", "pdm", "dev-dependencies"),
        table(project.setup_call, "extras_require"),
        dict(project.setup_cfg.items("options.extras_require"))
        if project.setup_cfg.has_section("options.extras_require")
        else {},
    ):
        yield from (item for name, items in group.items() if _TESTING.fullmatch(name) for item in words(items))
    yield from words(project.setup_call.get("tests_require"))
    yield from words(table(project.pyproject, "tool", "uv").get("dev-dependencies"))
    yield from words(table(project.pyproject, "tool", "rye").get("dev-dependencies"))
    poetry = table(project.pyproject, "tool", "poetry")
    yield from _poetry(table(poetry, "dev-dependencies"))
    for name in table(poetry, "group"):
        if _TESTING.fullmatch(name):
            yield from _poetry(table(poetry, "group", name, "dependencies"))


def _poetry(dependencies: dict[str, object]) -> Iterator[str]:
    for name, value in dependencies.items():
        conditional = isinstance(value, dict) and ({"optional", "markers", "python", "platform"} & value.keys())
        if name != "python" and not conditional:
            yield name


def _tox(root: Path) -> Iterator[str]:
    lines = words(read_ini(root / "tox.ini").get("testenv", "deps", fallback=""))
    yield from _names(line for line in lines if "{" not in line and not re.match(r"[\w!-]+:", line))


def _lines(root: Path, name: str, seen: set[str]) -> list[str]:
    """The lines of a file of requirements, with those of the files that it includes."""
    if name in seen or len(seen) > _MAX_INCLUDED:
        return []
    seen.add(name)
    found: list[str] = []
    for line in words(read_text(root / name)):
        option, _, rest = line.partition(" ")
        if option in {"-r", "--requirement"} and ".." not in rest and not rest.strip().startswith("/"):
            found += _lines(root, str(Path(name).parent / rest.strip()), seen)
        elif not line.startswith(("-", "#", ".")) and "://" not in line:
            found.append(line.partition(" #")[0])
    return found

"""How pytest runs the tests of another runner's command, and what it calls them. Nothing is run."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from codur.lazy import regex
from codur.python.installed import installed_plugins
from codur.python.project_files import read_text
from codur.python.test_command import PYTHON, TestCommand, read_argv
from codur.structs import Struct

_SETTINGS_MODULE = regex(r"DJANGO_SETTINGS_MODULE['\"]\s*,\s*['\"]([\w.]+)")
_OWN_TESTS = regex(r"^[ \t]*def load_tests\b", re.MULTILINE)
_FLAGS = frozenset(
    {"-v", "-q", "-f", "-b", "-c", "--verbose", "--quiet", "--failfast", "--buffer", "--catch", "--locals"}
)
_DEFAULT_PATTERN = "test*.py"
_ONLY_CASES = ("-o", "addopts=", "-o", "python_classes=", "-o", "python_functions=")
"""Only what the other runner would collect as well, without what the settings add for pytest."""


class _Discovery(Struct):
    """What a unittest command looks for."""

    names: tuple[str, ...] = ()  # modules, classes and tests; empty for all below `start`
    start: str = "."
    pattern: str = _DEFAULT_PATTERN


def search_argv(argv: Sequence[str], root: Path, python: str) -> tuple[str, ...] | None:
    """The pytest command that runs the tests of a check's command; None if none does.

    Args:
        argv: the check's command.
        root: the workspace.
        python: its interpreter.
    """
    command = read_argv(argv, root)
    if command is None or command.cwd:
        return None
    if command.kind == "pytest":
        return command.argv
    match command.kind:
        case "unittest":
            words = _unittest(command, root)
        case "doctest":
            words = _doctest(command)
        case "django":
            words = _django(command, root, python)
        case _:
            words = []
    return (PYTHON, *command.python, "-m", "pytest", *words) if words else None


# --- unittest ---------------------------------------------------------------------------------------------------------


def _unittest(command: TestCommand, root: Path) -> list[str]:
    discovery = _discovery(command.words)
    if discovery is None:
        return []
    if discovery.names:
        nodes = [_node(name, root, ()) for name in discovery.names]
        files = [root / node.partition("::")[0] for node in nodes if node]
        if None in nodes or any(_OWN_TESTS.search(read_text(path)) for path in files):
            return []
        return [*_ONLY_CASES, *(node for node in nodes if node)]
    if any(_OWN_TESTS.search(read_text(path)) for path in (root / discovery.start).rglob(discovery.pattern)):
        return []
    return [*_ONLY_CASES, "-o", f"python_files={discovery.pattern}", discovery.start]


def _discovery(words: Sequence[str]) -> _Discovery | None:
    """What the words after `unittest` mean; None if they have an option whose meaning pytest has no equal for."""
    rest = [word for word in words if word not in _FLAGS]
    if not rest:
        return _Discovery()
    if rest[0] != "discover":
        return None if any(word.startswith("-") for word in rest) else _Discovery(names=tuple(rest))
    values: dict[str, str] = {}
    free = iter(("start", "pattern", "top"))
    words_left = iter(rest[1:])
    for word in words_left:
        name = next(free, "") if not word.startswith("-") else _OPTIONS.get(word.partition("=")[0], "")
        if not name:
            return None
        _, equals, value = word.partition("=") if word.startswith("--") else ("", "", "")
        values[name] = word if not word.startswith("-") else value if equals else next(words_left, "")
    return _Discovery(start=values.get("start") or ".", pattern=values.get("pattern") or _DEFAULT_PATTERN)


_OPTIONS = {
    "-s": "start", "--start-directory": "start", "-p": "pattern", "--pattern": "pattern", "-t": "top",
    "--top-level-directory": "top",
}  # fmt: skip


def _node(name: str, root: Path, starts: Sequence[str]) -> str | None:
    """The node id of a module, class or test by its path or its name with dots."""
    if name.endswith(".py"):
        return name if (root / name).is_file() else None
    parts = name.split(".")
    for start in dict.fromkeys(("", *starts)):
        for end in range(len(parts), 0, -1):
            path = PurePosixPath(start, *parts[:end]).as_posix()
            if (root / f"{path}.py").is_file():
                return "::".join((f"{path}.py", *parts[end:]))
            if end == len(parts) and (root / path).is_dir():
                return path
    return None


# --- doctest, Django --------------------------------------------------------------------------------------------------


def _doctest(command: TestCommand) -> list[str]:
    paths = [word for word in command.words if not word.startswith("-")]
    if not paths or any(word.startswith("-") and word != "-v" for word in command.words):
        return []
    globs = [word for path in paths if not path.endswith(".py") for word in (f"--doctest-glob={path}",)]
    return [*_ONLY_CASES, "--doctest-modules", *globs, *paths]


def _django(command: TestCommand, root: Path, python: str) -> list[str]:
    """Only pytest-django makes the databases and settings that Django's own runner would."""
    script, *labels = command.words
    stated = _SETTINGS_MODULE.search(read_text(root / script))
    settings = dict(command.env).get("DJANGO_SETTINGS_MODULE") or (stated and stated[1])
    if "pytest-django" not in installed_plugins(python).values() or not settings:
        return []
    nodes = [_node(label, root, (PurePosixPath(script).parent.as_posix(),)) for label in labels]
    if any(label.startswith("-") for label in labels) or None in nodes:
        return []
    own = [node for node in nodes if node] or [PurePosixPath(script).parent.as_posix()]
    return [*_ONLY_CASES, "-o", f"python_files={_DEFAULT_PATTERN}", f"--ds={settings}", *own]

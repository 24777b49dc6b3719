"""Reads commands that run tests of Python programs: which runner, with which words and variables."""

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Literal

from codur.lazy import regex
from codur.python.declared_commands import Declared, declared_command, simple_words
from codur.structs import Struct, replace

Kind = Literal["pytest", "unittest", "doctest", "django", "script"]
PYTHON = "{python}"
_VARIABLE = regex(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_PYTHON_NAME = regex(r"python3?")
_OWN_PYTHON = regex(r"(?:\./)?\.?v?env/bin/python(?:3(?:\.\d+)?)?")
_PYTHON_FLAGS = regex(r"-[uBEsSOIbdvq]+|-(?:W|X)\S+")
_PYTHON_VALUED = frozenset({"-W", "-X"})
_COVERAGE_VALUED = frozenset(
    {"--source", "--include", "--omit", "--rcfile", "--context", "--data-file", "--concurrency", "--debug"}
)
_RUN_VALUED = frozenset(
    {"--with", "--extra", "--group", "--only-group", "-p", "--python", "--with-editable", "--with-requirements", "-e",
     "--env", "--env-file", "--index", "--no-group", "--no-extra", "-P", "-C"}
)  # fmt: skip
"""Options of `uv run` and its like whose value is the next word."""
_ELSEWHERE = frozenset({"--project", "--directory", "--package", "-C"})
"""Options that make such a tool work in another directory or on another project."""
_MAX_STEPS = 6


class TestCommand(Struct):
    """One simple command that runs tests."""

    __test__ = False  # not a test class

    kind: Kind  # the runner
    words: tuple[str, ...] = ()  # what follows the runner; for a script, the script and its arguments
    python: tuple[str, ...] = ()  # the interpreter's options, such as `-W error`
    env: tuple[tuple[str, str], ...] = ()  # variables that are set for it
    cwd: str = ""  # where it runs, relative to the workspace; empty for its top
    declared_in: str = ""  # the file in which a tool (tox, make …) finds it; empty if it was given as it is
    partial: bool = False  # the tool does more than this command, such as to measure or to check the style

    @property
    def argv(self) -> tuple[str, ...]:
        """The command for a check; `{python}` stands for the workspace's interpreter."""
        if self.kind == "script":
            return (PYTHON, *self.python, *self.words)
        if self.kind == "django":
            return (PYTHON, *self.python, *self.words[:1], "test", *self.words[1:])
        return (PYTHON, *self.python, "-m", self.kind, *self.words)


def read_command(command: str, root: Path) -> TestCommand | None:
    """What a command line runs; None if it is no simple command of a known test runner.

    Tools that would make an environment first (tox, nox, hatch, uv, poetry, pdm, make) are replaced by the command that
    their files declare: the workspace's interpreter runs it.
    """
    words = simple_words(command)
    return _read(words, root, TestCommand(kind="script"), _MAX_STEPS) if words else None


def read_argv(argv: Sequence[str], root: Path) -> TestCommand | None:
    """The same for a command in words; `{python}` stands for the interpreter."""
    if tuple(argv[:2]) == ("sh", "-c") and len(argv) == 3:
        return read_command(argv[2], root)
    return _read(["python" if word == PYTHON else word for word in argv], root, TestCommand(kind="script"), _MAX_STEPS)


def _read(words: Sequence[str], root: Path, so_far: TestCommand, steps: int) -> TestCommand | None:
    """What words run; `so_far` has the variables and the file of the commands that led to them."""
    words, so_far = _variables(words, so_far)
    if not words or steps == 0:
        return None
    name, *rest = words
    if _PYTHON_NAME.fullmatch(name) or _OWN_PYTHON.fullmatch(name):
        return _of_python(rest, root, so_far)
    tool = PurePosixPath(name).name if name.startswith((".venv/bin/", "venv/bin/", "env/bin/")) else name
    if tool in {"pytest", "py.test"}:
        return _pytest(rest, so_far)
    if tool == "coverage":
        return _coverage(rest, root, so_far)
    if name in {"./manage.py", "manage.py"}:
        return _django(["manage.py", *rest], so_far)
    inner = _after_run(tool, rest)
    if inner is not None and (found := _read(inner, root, so_far, steps - 1)) is not None:
        return found
    declared = declared_command(tool, rest, root)
    return _declared(declared, root, so_far, steps) if declared is not None else None


def _declared(declared: Declared, root: Path, so_far: TestCommand, steps: int) -> TestCommand | None:
    """The only command of tests among those that a tool runs."""
    base = replace(so_far, env=(*so_far.env, *declared.env), declared_in=declared.file)
    read = [_read(words, root, base, steps - 1) for words in declared.commands]
    tests = [command for command in read if command is not None and command.kind != "script"]
    if len(tests) != 1:
        return None
    return replace(tests[0], partial=len(read) > 1, cwd=declared.cwd)


def _variables(words: Sequence[str], so_far: TestCommand) -> tuple[Sequence[str], TestCommand]:
    found: list[tuple[str, str]] = []
    rest = list(words[1:] if words[:1] == ["env"] else words)
    while rest and (match := _VARIABLE.fullmatch(rest[0])):
        found.append((match[1], match[2]))
        rest.pop(0)
    return rest, replace(so_far, env=(*so_far.env, *found))


# --- runners ----------------------------------------------------------------------------------------------------------


def _of_python(words: Sequence[str], root: Path, so_far: TestCommand) -> TestCommand | None:
    """What an interpreter runs: a module, or a script."""
    place = 0
    while place < len(words) and (words[place] in _PYTHON_VALUED or _PYTHON_FLAGS.fullmatch(words[place])):
        place += 2 if words[place] in _PYTHON_VALUED else 1
    so_far = replace(so_far, python=tuple(words[:place]))
    match list(words[place:]):
        case ["-m", "pytest" | "py.test", *rest]:
            return _pytest(rest, so_far)
        case ["-m", "unittest", *rest]:
            return replace(so_far, kind="unittest", words=tuple(rest))
        case ["-m", "doctest", *rest]:
            return replace(so_far, kind="doctest", words=tuple(rest)) if rest else None
        case ["-m", "coverage", *rest]:
            return _coverage(rest, root, so_far)
        case ["-m", "django", *rest]:
            return _django(["-m django", *rest], so_far) if rest else None
        case [first, *rest] if PurePosixPath(first).name == "manage.py":
            return _django([first, *rest], so_far)
        case [first, *rest] if first.endswith(".py") and not first.startswith("-"):
            return replace(so_far, kind="script", words=(first, *rest))
    return None


def _pytest(words: Sequence[str], so_far: TestCommand) -> TestCommand | None:
    """After `--` options of ours could not stand."""
    return None if "--" in words else replace(so_far, kind="pytest", words=tuple(words))


def _django(words: Sequence[str], so_far: TestCommand) -> TestCommand | None:
    script, *rest = words
    if rest[:1] != ["test"] or script == "-m django":
        return None
    return replace(so_far, kind="django", words=(script.removeprefix("./"), *rest[1:]))


def _coverage(words: Sequence[str], root: Path, so_far: TestCommand) -> TestCommand | None:
    """What `coverage run` measures."""
    if words[:1] != ["run"]:
        return None
    rest, module = list(words[1:]), False
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        module = module or option in {"-m", "--module"}
        if option in _COVERAGE_VALUED and rest:
            rest.pop(0)
        if module:
            break
    return _of_python(["-m", *rest] if module else rest, root, so_far)


def _after_run(tool: str, words: Sequence[str]) -> list[str] | None:
    """The command behind `uv run`, `poetry run` and their like; None if there is none."""
    if tool == "uvx":
        rest = list(words)
    elif tool in {"uv", "poetry", "pdm", "pipenv", "hatch", "rye"} and words[:1] == ["run"]:
        rest = list(words[1:])
    else:
        return None
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option.partition("=")[0] in _ELSEWHERE:
            return None
        if option in {"-m", "--module"}:
            return ["python", "-m", *rest]
        if option in _RUN_VALUED and rest:
            rest.pop(0)
    return rest or None


def plain_words(argv: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that a command sets (`A=b`) and its words; neither of a line that means what only a shell knows."""
    words = tuple(simple_words(argv[2])) if tuple(argv[:2]) == ("sh", "-c") else tuple(argv)
    settings = tuple(takewhile(_VARIABLE.fullmatch, words)) if tuple(argv[:2]) == ("sh", "-c") else ()
    return settings, words[len(settings) :]

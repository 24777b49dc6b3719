"""Why a run of tests says nothing of the program: tests that cannot be loaded, and what is not installed for them."""

import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from codur.checks.entry import subject_of
from codur.lazy import late, regex
from codur.parsing.bounded_text import listed
from codur.python.dependencies import declared_dependencies, lacking
from codur.python.installed import normal_name
from codur.python.layout import PROJECT_MARKS, import_roots, modules_in
from codur.python.project_files import read_project, read_toml, table
from codur.python.pytest_program import PYTHON_2
from codur.structs import Struct
from codur.types import Check, Verdict
from codur.workspace.around import directories_of, repository_around

difflib = late("difflib")

ProblemKind = Literal["not_installed", "not_here", "too_long", "not_collected", "no_tests", "passed"]
ENVIRONMENT: frozenset[ProblemKind] = frozenset({"not_installed", "not_here", "too_long"})
"""Kinds that no change of the program mends."""
_NOT_FOUND = regex(r"(?:ModuleNotFoundError|Error importing plugin \"[\w.]+\"): No module named '([\w.]+)'")
_COLLECTING = regex(
    r"(?:ERROR collecting|ImportError while loading conftest|Failed to import test module:) '?([^\s']+)"
)
_AT = regex(r"([\w./-]+)/[\w-]+\.py(?:\", line |:)\d")
_ERROR = regex(r"^(?:E\s+)?((?:\w+\.)*\w*(?:Error|Exception|Warning|Exit)(?:: .*)?)$", re.MULTILINE)
_NAME = regex(r"[A-Za-z_]\w+")
_LACKS = regex(r"(?:^|; )(\S+) is not installed(?=; |$)")
_NO_PROGRAM = regex(
    r"^(?:(?:\S*/)?(?:ba|da|z)?sh: (?:line )?(?:\d+: )?(?:exec: )?([\w.@+-]+): (?:command )?not found"
    r"|\S+: line \d+: ([\w.@+-]+): command not found"
    r"|(?:\S*/)?env: [‘'\"]([\w.@+-]+)[’'\"]: No such file or directory"
    r"|g?make(?:\[\d+\])?: ([\w.@+-]+): No such file or directory)$"
)
"""Said by a shell, `env` or make of a program that is not there."""
_NO_TOOLCHAIN = regex(
    r"error: (?:rustup could not choose a version of ([\w-]+) to run|toolchain '[^']+' is not installed"
    r"|no (?:override and no )?default toolchain).*"
)
"""Said first by rustup's stand-in for a program of which it has no version."""
_NOT_FOUND_STATUS = 127
_AFTERWARDS = regex(
    r"g?make(?:\[\d+\])?: \*\*\* .*Error 127|npm (?:ERR!|error).*|error Command failed with exit code 127.*"
    r"|.*ELIFECYCLE.*"
)
"""What is said after that, by what called the shell."""
_RUNNERS = "python3 python pytest node npm npx jest mocha vitest cargo make ctest tap bats".split()
_SLIP = 0.8  # how like a runner's name another must be to be a slip of the pen
_SHOWN_NAMES = 6
_DISTRIBUTIONS = {
    "yaml": "pyyaml", "pil": "pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python", "sklearn": "scikit-learn",
    "dateutil": "python-dateutil", "attr": "attrs", "git": "gitpython", "jwt": "pyjwt", "dotenv": "python-dotenv",
    "serial": "pyserial", "openssl": "pyopenssl", "crypto": "pycryptodome", "docx": "python-docx",
    "pkg-resources": "setuptools", "magic": "python-magic", "usb": "pyusb", "zmq": "pyzmq", "mysqldb": "mysqlclient",
}  # fmt: skip
"""Distributions that are not called as the module that they bring."""
_INSTALLERS = (
    ("uv.lock", "uv sync --all-extras"), ("poetry.lock", "poetry install"), ("pdm.lock", "pdm install"),
    ("Pipfile", "pipenv install --dev"),
)  # fmt: skip
_NODE_INSTALLERS = (("pnpm-lock.yaml", "pnpm install"), ("yarn.lock", "yarn install"), ("package.json", "npm install"))
_METADATA = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")
_TEST_GROUPS = ("test", "tests", "testing", "dev")
_REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-test.txt", "test-requirements.txt")


class RunProblem(Struct):
    """Why a search for a repair cannot begin."""

    kind: ProblemKind  # what is the matter
    text: str  # it in one line
    remedy: str  # what the user can do, in a line


def run_problem(check: Check | None, verdict: Verdict, *, root: Path, python: str, task: str = "") -> RunProblem | None:
    """What keeps a run of tests, before any change, from saying anything of the program; None if it says what fails.

    `task`: the request, if what it names may still have to be written: modules that it or the name of a test names.
    """
    if check is None or check.kind == "syntax" or verdict.status == "no_check":
        return RunProblem(
            kind="no_tests",
            text="No tests were found.",
            remedy="Give the command that shows the fault with --check, or the output that is expected with --expect.",
        )
    if verdict.passed and not verdict.unfit:
        counted = f" ({verdict.tests_passed} tests)" if verdict.tests_passed else ""
        return RunProblem(
            kind="passed",
            text=f"The tests pass: `{check.label}`{counted}.",
            remedy="Say what is wrong, or give a command that fails with --check.",
        )
    if check.whole and verdict.timed_out and verdict.tests_passed and not verdict.failing:
        return RunProblem(
            kind="too_long",
            text=f"The tests take longer than {verdict.duration_s:.0f} s; none of the {verdict.tests_passed} that ended"
            " fails.",
            remedy="Name the file or test that is meant, give fewer tests (--check 'pytest tests/NAME.py'), or raise"
            " verification.test_timeout_s (and --timeout).",
        )
    if verdict.tests_passed and not verdict.unfit:
        return None
    planned, output = set(_NAME.findall(task)), verdict.error
    if task:
        planned |= set(map(subject_of, check.protected))
    return (
        _not_installed(output, root, python, planned)
        or _not_here(verdict.unfit, root, python, planned)
        or _not_collected(output, root)
    )


def no_program(output: str, exit_status: int | None) -> str:
    """What a run of tests ended with, if that is that their runner is not there; empty if it ended otherwise."""
    rows = [row.strip() for row in output.splitlines() if row.strip()]
    if rows and exit_status and _NO_TOOLCHAIN.fullmatch(rows[0]):
        return rows[0]
    while rows and _AFTERWARDS.fullmatch(rows[-1]):
        exit_status = _NOT_FOUND_STATUS if rows.pop().endswith("Error 127") else exit_status
    # What a program under test calls and misses is said before it fails for that, with a status of its own.
    ended = rows and exit_status == _NOT_FOUND_STATUS and _NO_PROGRAM.fullmatch(rows[-1])
    return rows[-1] if ended else ""


def missing_modules(output: str, root: Path, python: str) -> list[str]:
    """The modules that a run, or one test, could not import because nothing that has them is installed.

    What the workspace itself should have is not among them: that it is absent may be the fault. Nor is what Python 2
    finds: in its own library, or beside the file that imports it.
    """
    tops = dict.fromkeys(name.partition(".")[0] for name in _NOT_FOUND.findall(output))
    if not tops:
        return []
    beside = {place for name in _AT.findall(output) if (place := root / name).is_relative_to(root)}
    places = (root, *(root / name for name in import_roots(root, python)), *beside)
    own = {*PYTHON_2, *(name for place in places for name in modules_in(place))}
    return [name for name in tops if name not in own]


def is_unwritten(test: str, blocked: str, root: Path) -> bool:
    """Whether what a test lacks is still to be written: the module that its file is named after, beside it.

    In a project with metadata it would be a part of a package, and `test_numpy.py` is about what others wrote.
    """
    own = subject_of(test.partition("::")[0])
    return _LACKS.findall(blocked) == [own] and not any((root / name).is_file() for name in _METADATA)


def _not_installed(output: str, root: Path, python: str, planned: Collection[str]) -> RunProblem | None:
    foreign = missing_modules(output, root, python)
    if not foreign:
        return None
    absent = _absent(root, python)
    foreign = [name for name in foreign if name not in planned or normal_name(name) in absent]
    return _lacking(foreign, root, python) if foreign else None


def _absent(root: Path, python: str) -> list[str]:
    """The declared distributions that are not installed."""
    declared = declared_dependencies(root)
    return lacking(python, declared.runtime | declared.tests)


def _lacking(modules: Sequence[str], root: Path, python: str) -> RunProblem:
    """What is said of modules and plugins that are not installed, and of declared distributions that are not either.

    Nobody is told to install what the repository has itself: under its name there may be a stranger's package.
    """
    declared = _absent(root, python)
    lying, projects = _own(modules, declared, root)
    if lying:
        return _elsewhere(lying, root)
    absent = [name for name in declared if name not in projects]
    names = list(dict.fromkeys([*(_DISTRIBUTIONS.get(n := normal_name(name), n) for name in modules), *absent]))
    where = Path(python).relative_to(root).as_posix() if Path(python).is_relative_to(root) else python
    known = absent == declared and bool(set(names) & set(absent))
    return RunProblem(
        kind="not_installed",
        text=f"{listed(names, _SHOWN_NAMES)} {'is' if len(names) == 1 else 'are'} not installed in {where}.",
        remedy=f"Run `{_install_command(root, where, names, known=known)}`, then try again.",
    )


_ASIDE = frozenset("examples example docs doc tests test benchmarks samples".split())
"""Directories whose parts are called after what they show."""


def _own(modules: Sequence[str], declared: Sequence[str], root: Path) -> tuple[dict[str, Path], set[str]]:
    """Where those of some modules lie that the repository has, and the names of all projects in it.

    What is `declared` as a dependency is none of them, unless a project there is called so.
    """
    lying, projects = dict[str, Path](), set[str]()
    for place, entries in directories_of(repository_around(root) or root):
        names = {each.name for each in entries}
        if not names.isdisjoint(PROJECT_MARKS):
            files = read_project(place)
            tables = (table(files.pyproject, "project"), table(files.pyproject, "tool", "poetry"), files.setup_call)
            stated = (*(each.get("name") for each in tables), files.setup_cfg.get("metadata", "name", fallback=""))
            projects |= {normal_name(name) for name in stated if isinstance(name, str) and name}
        if not _ASIDE.isdisjoint(place.parts):
            continue
        for name in modules:
            # A directory of migrations is called after its tool, too.
            if f"{name}.py" in names or (name in names and (place / name / "__init__.py").exists()):
                lying.setdefault(name, place)
    foreign = set(declared) - projects
    return {name: place for name, place in lying.items() if normal_name(name) not in foreign}, projects


def _elsewhere(lying: Mapping[str, Path], root: Path) -> RunProblem:
    """What is said of modules of the repository that are not found from where a check looks."""
    places = {name: os.path.relpath(place, root) for name, place in lying.items()}
    paths = " and ".join(dict.fromkeys(places.values()))
    told = [f"{name} lies in {place}" for name, place in places.items()]
    top = repository_around(root)
    outside = any(not place.is_relative_to(root) for place in lying.values())
    where = os.path.relpath(top, root) if outside and top is not None else "DIR"
    return RunProblem(
        kind="not_installed",
        text=f"{listed(told, _SHOWN_NAMES)}, where the tests do not find it.",
        remedy=f"Start from the directory where they do (-C {where}), or add {paths} to pytest's pythonpath."
        " Install no package of that name: it is somebody else's.",
    )


def _not_here(unfit: str, root: Path, python: str, planned: Collection[str]) -> RunProblem | None:
    """Tests that cannot run here, whatever the program does."""
    if not unfit:
        return None
    lacks = sorted(_LACKS.findall(unfit))
    if lacks:
        return _lacking(lacks, root, python)
    if _NO_TOOLCHAIN.fullmatch(unfit):
        return RunProblem(
            kind="not_installed",
            text=f"{unfit.removeprefix('error: ').rstrip('.')}.",
            remedy="Run `rustup default stable`, or set RUSTUP_HOME to where the toolchain is; or name another check"
            " with --check.",
        )
    if program := _NO_PROGRAM.search(unfit):
        name = next(filter(None, program.groups()))
        slip = name not in _RUNNERS and difflib.get_close_matches(name, _RUNNERS, n=1, cutoff=_SLIP)
        if slip or name in planned:  # that it is called, or called so, may be the fault
            return None
        command = next((f"Run `{command}`" for file, command in _NODE_INSTALLERS if (root / file).is_file()), "")
        return RunProblem(
            kind="not_installed",
            text=f"{name}, which runs the tests, is not installed.",
            remedy=f"{command or f'Install {name}'}, or name another check with --check.",
        )
    return RunProblem(
        kind="not_here",
        text=f"The tests fail outside of the workspace: {unfit}.",
        remedy="See `codur doctor` for what programs may do here; --no-sandbox runs them with your own permissions."
        " Or name another check with --check.",
    )


def _not_collected(output: str, root: Path) -> RunProblem | None:
    """The first file that could not be loaded."""
    match = _COLLECTING.search(output)
    if match is None:
        return None
    error = _ERROR.search(output, match.end())
    file = match[1].removeprefix(f"{root}/")
    return RunProblem(
        kind="not_collected",
        text=f"{file} cannot be loaded: {error[1].strip() if error else 'see the error'}",
        remedy=f"Name the file that is wrong in the prompt, or mend the import in {file}.",
    )


def _install_command(root: Path, python: str, names: list[str], *, known: bool) -> str:
    """The command that installs what is missing: the project's own tool, or pip; `known`: the project declares it."""
    for file, command in _INSTALLERS:
        if (root / file).is_file() and known:
            return command
    if not known:
        return f"{python} -m pip install {shlex.join(names)}"
    words = [python, "-m", "pip", "install"]
    files = [name for name in _REQUIREMENTS if (root / name).is_file()]
    pyproject = read_toml(root / "pyproject.toml")
    if table(pyproject, "project") or table(pyproject, "tool", "poetry") or (root / "setup.py").is_file():
        extras = table(pyproject, "project", "optional-dependencies")
        extra = next((name for name in _TEST_GROUPS if name in extras), "")
        words += ["-e", f".[{extra}]" if extra else "."]
    groups = table(pyproject, "dependency-groups")
    words += [word for name in _TEST_GROUPS if name in groups for word in ("--group", name)][:2]
    return shlex.join([*words, *(word for name in files for word in ("-r", name))])

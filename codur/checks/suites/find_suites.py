"""Which tests a workspace has, and how they are run, where no command is given. Nothing is run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import cached_property
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from codur.checks.entry import (
    MAKEFILES,
    TESTS_OF_DIRECTORY,
    is_pytest_file,
    is_python_suite,
    is_test_file,
    text_of,
)
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.python.layout import PROJECT_MARKS
from codur.python.project_files import read_ini
from codur.python.pytest_settings import PytestSettings, pytest_settings
from codur.python.test_command import PYTHON, read_command
from codur.structs import Struct, replace

if TYPE_CHECKING:
    from codur.workspace.workspace import Workspace

_TEST_TEXT = regex(
    r"^[ \t]*(?:async )?def test|\bTestCase\b|^[ \t]*class Test"
    r"|^[Tt]est\w*\s*=|^from [\w.]+ import \*|^[ \t]*>>> ",
    re.MULTILINE,
)
_MAY_TEST = regex(r"^class \w+\(|\bglobals\(|\bsetattr\(|^from \S*test\S* import ", re.MULTILINE)
"""In files whose tests are inherited, imported, or made as they are loaded."""
_NOT_COLLECTED = regex(r"(?:^|/)(?:\.[^/]*|[^/]*\.egg|build|dist|node_modules|venv)/")
"""Directories that pytest leaves out unless the project's settings name others."""
_CASE = regex(r"\bTestCase\b")
_DJANGO_TESTS = regex(r"\bdjango\.test\b|\brest_framework\.test\b")
_DJANGO_SETTINGS = regex(r"\bDJANGO_SETTINGS_MODULE\b")
_DJANGO_CONFIGURED = regex(r"\bsettings\.configure\(|\bDJANGO_SETTINGS_MODULE\b")
_DJANGO_SCRIPTS = ("tests/runtests.py", "runtests.py")
_DJANGO_RUNNER = regex(r"\bget_runner\b|\bDiscoverRunner\b")
_EXAMPLES = frozenset({"demo", "demos", "doc", "docs", "example", "examples", "sample", "samples", "test", "tests"})
_EXAMPLE = regex(r"^[ \t]*>>> \S", re.MULTILINE)
_DOCTEST_OPTION = regex(r"--doctest-(?:modules|glob)")
_TOOLS = (("tox.ini", "tox"), ("noxfile.py", "nox"), *((name, "make test") for name in MAKEFILES))
_NO_TEST = "no test specified"
_WITH_SUITES = "python_files=test_*.py *_test.py *_tests.py"
ALL_PACKAGES = "./..."
_FILTERS = regex(r"(?:\w+=\S+ +)*(?:jest|vitest(?: +run)?)(?: +--[\w-]+(?:=\S+)?)*")
"""Scripts of runners that take words for names of files, of which they run the tests."""
_DECLARING = frozenset({"npm", "make", "rake", "rspec", "phpunit"})
"""Runners whose file says what a test run does; for the others it only names the package."""
_MAX_MODULES = 500  # they are words of one command line
_MAX_READ = 1_000


class Suite(Struct):
    """Tests and how they are run."""

    argv: tuple[str, ...]  # the command; `{python}` stands for the workspace's interpreter
    source: str  # why it was chosen, in a line
    files: tuple[str, ...] = ()  # the test files, as far as they are known
    env: tuple[tuple[str, str], ...] = ()  # variables that the command sets
    whole: tuple[str, ...] = ()  # the command of all that there are, of which fewer can be run


class Suites(Struct, dict=True):  # cached properties need one
    """The tests of one workspace; what several rules need is looked up once."""

    workspace: Workspace
    listing: Sequence[str]  # its files
    named: Sequence[str]  # files that the prompt names
    changed: Callable[[], Sequence[str]] = tuple  # gives files that are not as they were committed

    def find(self) -> Suite | None:
        """Tests that are written to be run; None if there are none."""
        # Django first: pytest collects its tests as well, and they fail for want of settings.
        rules: tuple[Callable[[], Suite | None], ...] = (
            self._django,
            self._pytest,
            self._declared,
            self._unittest,
            # Last, as a Makefile mostly calls Python's own suites.
            lambda: next(self._other_languages(), None),
        )
        return next((suite for rule in rules if (suite := rule()) is not None), None)

    def find_doctests(self) -> Suite | None:
        """Examples in the documentation of modules; they are a check if there is nothing else."""
        modules = [path for path in self.listing if path.endswith(".py") and basename(path) != "setup.py"][:_MAX_READ]
        files = tuple(path for path in modules if _EXAMPLE.search(self._text(path)))[:_MAX_MODULES]
        if not files:
            return None
        return Suite(
            argv=(PYTHON, "-m", "pytest", "--doctest-modules", *files), source=f"the examples in {listed(files, 1)}"
        )

    @cached_property
    def pytest_files(self) -> tuple[str, ...]:
        """The files that pytest collects by the project's settings, or by its default rules."""
        patterns = self._settings.words("python_files")
        matches = _matcher(patterns) if patterns else is_pytest_file
        own = [path for path in self.listing if path.endswith(".py") and not path.startswith(self._submodules)]
        if not self._settings.words("norecursedirs"):
            own = [path for path in own if not _NOT_COLLECTED.search(path)]
        files = [path for path in own if matches(path)]
        tops = tuple(f"{path.removeprefix('./').rstrip('/')}/" for path in self._settings.words("testpaths"))
        below = [path for path in files if path.startswith(tops)] if tops else []
        if below or not patterns:
            # `testpaths` counts only if something is there: it may be left over from another layout.
            return tuple(self._with_tests(below or files))
        # A pattern such as `*.py` is there for the examples in the documentation, and makes no test of all modules.
        return tuple(path for path in files if is_test_file(path) or _TEST_TEXT.search(self._text(path)))

    def _with_tests(self, files: Sequence[str]) -> Sequence[str]:
        """Those with tests in them, not helpers that are called like tests; if none shows any, those that may."""
        own_names = self._settings.words("python_functions") or self._settings.words("python_classes")
        # The project names its tests in its own way, which the expression does not know; or there are too many to be
        # read.
        if own_names or len(files) > _MAX_READ:
            return files
        texts = {path: self._text(path) for path in files}
        shown = [path for path, text in texts.items() if _TEST_TEXT.search(text)]
        return shown or [path for path, text in texts.items() if _MAY_TEST.search(text)]

    @cached_property
    def _submodules(self) -> tuple[str, ...]:
        """Directories of other repositories that this one takes in; their tests are not its own."""
        modules = read_ini(self.workspace.root / ".gitmodules")
        paths = (modules.get(section, "path", fallback=None) for section in modules.sections())
        return tuple(f"{path.strip('/')}/" for path in paths if path)

    @cached_property
    def _settings(self) -> PytestSettings:
        return pytest_settings(self.workspace.root)

    def _text(self, path: str) -> str:
        return text_of(self.workspace, path)

    # --- rules, in their order ----------------------------------------------------------------------------------------

    def _django(self) -> Suite | None:
        """Django's runner, where tests need it and pytest is not set up for them."""
        scripts = [path for path in self.listing if basename(path) == "manage.py"]
        own = [path for path in _DJANGO_SCRIPTS if _DJANGO_RUNNER.search(self._text(path))]
        if own and not _DJANGO_CONFIGURED.search(self._text("conftest.py")):
            # A failure of a test in another process can seldom be sent back.
            script, words = own[0], ["--parallel=1"] if "--parallel" in self._text(own[0]) else []
        elif len(scripts) == 1 and _DJANGO_SETTINGS.search(self._text(scripts[0])):
            script, words = scripts[0], ["test", *filter(None, [dirname(scripts[0])])]
        else:
            return None
        # pytest-django is set up
        if any(name in self._settings.values for name in ("DJANGO_SETTINGS_MODULE", "django_find_project")):
            return None
        top = f"{dirname(script)}/".removeprefix("/")
        beside = script not in own and not any(path.startswith(top) for path in self.pytest_files)
        if beside and self.pytest_files and (top.partition("/")[0] in _EXAMPLES or self._settings.words("testpaths")):
            return None  # what it serves is not the project
        files = tuple(path for path in self._python_tests() if path.startswith(top))
        if not any(_DJANGO_TESTS.search(self._text(path)) for path in files):
            return None
        source = f"the tests in {listed(files, 1)}, run by {script}"
        env = (("PYTHONPATH", "."),) if script in own else ()  # an installed Django, or none, is not the one under test
        argv = (PYTHON, script, *words)
        return Suite(argv=argv, source=source, files=files, env=env, whole=argv if script in own else ())

    def _pytest(self) -> Suite | None:
        command = (PYTHON, "-m", "pytest")
        foreign = [path for path in self._submodules if any(item.startswith(path) for item in self.listing)]
        files = self.pytest_files
        file, ignored = self._settings.file, self._settings.ignored
        note = f"; pytest takes its settings from {file}, not from {' and '.join(ignored)}" if ignored else ""
        if not files:
            examples = _DOCTEST_OPTION.search(" ".join(self._settings.words("addopts")))
            return Suite(argv=command, source=f"the examples that {file} names") if examples else None
        argv = (*command, *(f"--ignore={path.rstrip('/')}" for path in foreign))
        suite = self._of_parts(files)
        if suite is None:
            suites = () if self._settings.words("python_files") else self._suites_beside(files)
            argv, files = (*argv, *(("-o", _WITH_SUITES) if suites else ())), (*files, *suites)
            suite = Suite(argv=argv, source=f"the tests in {listed(files, 1)}{note}", files=files, whole=argv)
        known = set(files)
        named = [path for path in self.named if path in known]
        if len(named) == 1:
            source = f"the tests in {named[0]}, named in the prompt{note}"
            return replace(suite, argv=(*command, named[0]), source=source)
        return suite

    def _suites_beside(self, files: Sequence[str]) -> tuple[str, ...]:
        """The suites of unittest that pytest passes over for their names, where they are more than what it collects."""
        found = [path for path in self._python_tests() if is_python_suite(path) and path not in files]
        suites = tuple(path for path in found if path.endswith("_tests.py") and _CASE.search(self._text(path)))
        return suites if len(suites) > len(files) else ()

    def _of_parts(self, files: tuple[str, ...]) -> Suite | None:
        """The tests of the project that is meant, where the workspace holds several."""
        parts = find_parts(self.listing, set(files).__contains__)
        if not parts:
            return None
        chosen, reason = choose_part(parts, self.named, self.changed)
        if chosen:
            argv, source = (PYTHON, "-m", "pytest", chosen), f"the tests of {reason}"
        else:
            packages = {dirname(path) for path in self.listing if basename(path) == "__init__.py"}
            names = [basename(path) for path in files if dirname(path) not in packages]
            # Modules of the same name in different projects would be taken for each other.
            mode = ("--import-mode=importlib",) if len(set(names)) < len(names) else ()
            argv, source = (PYTHON, "-m", "pytest", *mode), f"all tests: {reason}"
        return Suite(argv=argv, source=source, files=files, whole=argv)

    def _declared(self) -> Suite | None:
        """The tests that another tool is told to run."""
        for file, tool in _TOOLS:
            command = read_command(tool, self.workspace.root) if self.workspace.is_file(file) else None
            if command is not None and not command.cwd and command.kind != "script":
                return Suite(argv=command.argv, source=f"the tests that {file} declares", env=command.env)
        return None

    def _unittest(self) -> Suite | None:
        """Modules with test cases whose names are not those that pytest looks for."""
        files = tuple(path for path in self._python_tests() if _CASE.search(self._text(path)))[:_MAX_MODULES]
        modules = [path.removesuffix(".py").replace("/", ".") for path in files]
        # unittest takes modules; a directory with a dash in its name is none.
        if not modules or not all(name.isidentifier() for module in modules for name in module.split(".")):
            return None
        argv = (PYTHON, "-m", "unittest", *modules)
        return Suite(argv=argv, source=f"the test cases in {listed(files, 1)}", files=files, whole=argv)

    def _other_languages(self) -> Iterator[Suite]:
        """What files of other languages' tools declare."""
        perl = any(path.startswith("t/") and path.endswith(".t") for path in self.listing)
        for name, argv, applies in _RUNNERS:
            if self.workspace.is_file(name) and applies(self._text(name)) and (perl or argv[0] != "prove"):
                files = (name,) if argv[0] in _DECLARING or name in _SCRIPTS else ()
                whole = argv if _takes_files(argv, self._text(name)) else ()
                yield Suite(argv=argv, source=f"the tests that {name} declares", files=files, whole=whole)

    def others(self) -> Iterator[Suite]:
        """The tests of languages beside the one whose tests are found; not what may only call these, as `make` does."""
        found = self.find()
        seen = {_LANGUAGE.get(found.argv[0], found.argv[0])} if found is not None else {""}
        for suite in self._other_languages() if seen.isdisjoint(_CALLERS) else ():
            language = _LANGUAGE.get(suite.argv[0], suite.argv[0])
            if language not in {*seen, *_CALLERS}:
                seen.add(language)
                yield suite

    def _python_tests(self) -> Iterator[str]:
        for path in self.listing:
            if path.endswith(".py") and (is_test_file(path) or basename(path) in TESTS_OF_DIRECTORY):
                yield path


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path has one of the patterns of `python_files`; one with a slash means the end of the path."""
    names = re.compile("|".join(translate(item) for item in patterns if "/" not in item) or r"(?!)")
    paths = re.compile("|".join(translate(f"*/{item}") for item in patterns if "/" in item) or r"(?!)")
    return lambda path: bool(names.match(basename(path)) or paths.match(f"/{path}"))


def _has_test_script(text: str) -> bool:
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    # `npm init` writes a script that prints this and fails.
    return isinstance(script, str) and bool(script.strip()) and _NO_TEST not in script


def _takes_files(argv: Sequence[str], text: str) -> bool:
    """Whether a runner can be given the files of which it runs the tests; `text`: of the file that declares them."""
    if argv[0] == "npm":
        return _FILTERS.fullmatch(json.loads(text)["scripts"]["test"]) is not None
    return argv[0] == "go" or argv[-1].endswith(("rspec", "phpunit"))


_MAKE_TARGET = r"^{}\s*:(?!=)"
_CMAKE = "cmake --build {0} && ctest --test-dir {0} --output-on-failure"
"""What is not built yet is built in a directory that goes away. A build without tests is a check as well."""
_PLACES = ("", "tests/", "test/", "scripts/")
_NAMES = ("run-tests.sh", "run_tests.sh", "runtests.sh", "test.sh", "tests.sh")
_SCRIPTS = tuple(place + name for place in _PLACES for name in _NAMES)
_RUNNERS: tuple[tuple[str, tuple[str, ...], Callable[[str], object]], ...] = (
    ("package.json", ("npm", "test"), _has_test_script),
    ("Cargo.toml", ("cargo", "test", "--no-fail-fast"), bool),
    ("go.mod", ("go", "test", "-v", ALL_PACKAGES), bool),
    # A wrapper knows the version that the project asks for.
    ("mvnw", ("sh", "mvnw", "--offline", "test"), bool),
    ("pom.xml", ("mvn", "--offline", "test"), bool),
    ("gradlew", ("sh", "gradlew", "test"), bool),
    ("build.gradle", ("gradle", "test"), bool),
    ("build.gradle.kts", ("gradle", "test"), bool),
    ("Gemfile", ("bundle", "exec", "rspec"), regex(r"\brspec\b").search),
    (".rspec", ("rspec",), lambda _: True),
    ("spec/spec_helper.rb", ("rspec",), regex(r"\bRSpec\b").search),
    ("Rakefile", ("rake", "test"), regex(r"\bTestTask\b|^[ \t]*task\b[ (]*[:'\"]?test\b", re.MULTILINE).search),
    ("vendor/bin/phpunit", ("vendor/bin/phpunit",), bool),
    ("phpunit.xml", ("phpunit",), bool),
    ("phpunit.xml.dist", ("phpunit",), bool),
    ("mix.exs", ("mix", "test"), bool),
    # What installs a Perl distribution; its tests lie in `t`.
    *((name, ("prove", "-l", "-r", "t"), bool) for name in ("Makefile.PL", "Build.PL", "cpanfile", "dist.ini")),
    ("Package.swift", ("swift", "test"), bool),
    ("deno.json", ("deno", "test"), bool),
    *(
        (name, ("make", target), regex(_MAKE_TARGET.format(target), re.MULTILINE).search)
        for name in MAKEFILES
        for target in ("test", "check")
    ),
    *(
        (name, (shell, name), applies)
        for name in _SCRIPTS
        for shell, applies in (("bash", regex(r"\A#!.*\bbash\b").search), ("sh", bool))
    ),
    ("build/CMakeCache.txt", ("sh", "-c", _CMAKE.format("build")), bool),
    ("CMakeLists.txt", ("sh", "-c", 'cmake -S . -B "$TMPDIR/build" && ' + _CMAKE.format('"$TMPDIR/build"')), bool),
)


_CALLERS = frozenset({"make", "sh", "bash"})
_LANGUAGE = {"mvn": "java", "gradle": "java", "rake": "ruby", "rspec": "ruby", "bundle": "ruby"}
_NO_PARTS = frozenset({"tests", "test", "docs", "doc", "examples", "example", "vendor", "third_party", "templates"})
_SHOWN = 4


def find_parts(listing: Sequence[str], is_test: Callable[[str], bool]) -> tuple[str, ...]:
    """Directories below the top with a project and tests of their own, where no tests stand outside of them."""
    marked = {dirname(path) for path in listing if basename(path) in PROJECT_MARKS and "/" in path}
    tops = {path for path in marked if _NO_PARTS.isdisjoint(path.split("/"))}
    parts = tuple(sorted({_part_of(path, tops) for path in listing if is_test(path)}))
    return parts if len(parts) > 1 and "" not in parts else ()


def choose_part(parts: Sequence[str], named: Sequence[str], changed: Callable[[], Sequence[str]]) -> tuple[str, str]:
    """The directory of the project that is meant: of files that the prompt names, else of those that were changed.

    Empty if that is not clear; with why it is that one, or what would make it clear.
    """
    for why in ("the prompt names", "you changed"):
        files = named if why == "the prompt names" else changed()
        owners = {_part_of(path, set(parts)) for path in files} - {""}
        if len(owners) == 1:
            (chosen,) = owners
            first = next(path for path in files if _part_of(path, set(parts)) == chosen)
            return chosen, f"{chosen}, as {why} {first}"
    shown = listed(parts, _SHOWN)
    return "", f"this repository holds {len(parts)} projects ({shown}); name a file of the one that is meant"


def _part_of(path: str, parts: set[str]) -> str:
    """The innermost project that a file is in; empty for none."""
    directory = dirname(path)
    while directory and directory not in parts:
        directory = dirname(directory)
    return directory

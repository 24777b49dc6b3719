"""Finds the check that applies to a task. Nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from posixpath import basename, dirname, join, splitext
from typing import TYPE_CHECKING

from codur import checks
from codur.checks import challenge_file, suites
from codur.checks.challenge_file import SPLIT_REMEDY, ChallengeFile, read_challenge, split_args
from codur.checks.command_files import CHECKER, files_of_command
from codur.checks.entry import (
    MAX_PARSED,
    find_entry,
    find_new_program,
    is_code,
    is_pytest_file,
    is_test_code,
    is_test_file,
    look,
    text_of,
)
from codur.checks.stated_conditions import decides_in_part
from codur.checks.stated_output import files_to_edit, reshapes_tests, stated_output
from codur.checks.suites.find_suites import Suite, Suites
from codur.checks.syntax import NOT_FOUND, to_parse
from codur.errors import ConfigError, UsageError
from codur.python.test_command import PYTHON, read_command
from codur.structs import Struct, replace
from codur.types import Check

if TYPE_CHECKING:
    from codur.checks.programs.other_languages import OtherProgram
    from codur.config.settings import VerificationSettings
    from codur.workspace.workspace import Workspace

__all__ = ["CHECKER", "CheckRequest", "find_check", "find_entry"]

_STATED = "expected output stated in the prompt"
_LINTED = re.compile(r"\b(?:black|eslint|flake8|go vet|lint|mypy|prettier|pyright|ruff|tsc|type|typing)", re.IGNORECASE)
_PROGRAM = re.compile(
    r"\b(?:make|get|have|npm|pnpm|yarn|bun|pre-commit|python3?|bash|sh|node)\b|\./|`| --?\w", re.IGNORECASE
)
OF_REQUEST, OF_COMMAND = "what the request says must find nothing", "what the request says has to pass"
EXPECTED_NAMES = ("expected.txt", "expected_output.txt")
INPUT_NAME = "input.txt"
_DELETED = r"(?i)\b(?:delete|remove|rm|erase|drop)\s+(?:(?:the|file|test|tests|-\w+)\s+){{0,3}}[`'\"]?(?:\./)?{}(?!\w)"
ARGS_NAME = "args.txt"


class CheckRequest(Struct):
    """What a check is looked for by."""

    prompt: str = ""  # the request; it may state the output, name the program, or ask for edits to files of the check
    files: Sequence[str] = ()  # existing files that the prompt names, most relevant first
    command: str | None = None  # a command whose exit status is the verdict; else `settings.command`
    expect_file: str | None = None  # a file with the expected output, relative to the workspace or absolute
    made: Sequence[str] = ()  # files that earlier tasks of the conversation made
    # gives files that are not as they were committed; of several projects theirs is meant
    changed: Callable[[], Sequence[str]] = tuple


def find_check(workspace: Workspace, settings: VerificationSettings, request: CheckRequest) -> Check | None:
    """The check that applies: a command, expected output, tests, else the syntax of Python files; None without any.

    What is given for the run (`command`, `expect_file`) goes before the settings, these before `challenge.yaml`.

    Raises:
        UsageError: `expect_file` does not exist, or it is not clear which program should print it.
        ConfigError: `challenge.yaml` or `args.txt` is wrong.
        WorkspaceError: `args.txt` cannot be read as text.
    """
    search = _Search(workspace=workspace, settings=settings, request=request)
    check = search.find()
    if check is None:
        return None
    # After the check is found: which of its files may be edited depends on what they are for.
    freed = {*decides_in_part(check, request.prompt), *search.named_helpers(check)}
    for each in filter(None, (check, check.beside)):
        freed.update(files_to_edit(request.prompt, each.protected, request.files))
    if reshapes_tests(request.prompt):
        freed.update(filter(is_test_code, request.made))
    return check.without(freed)


def other_checks(workspace: Workspace, settings: VerificationSettings, check: Check) -> list[Check]:
    """The tests of other languages that a workspace has beside a check that was found: that runs none of them.

    Nothing beside one that somebody named, or of which only a part runs.
    """
    search = _Search(workspace=workspace, settings=settings, request=CheckRequest())
    others = list(search.suites.others()) if check.kind == "tests" and not check.tests else []
    found = search.suites.find() if others else None
    return [search.of_suite(suite) for suite in others] if found is not None and found.argv == check.argv else []


class _Search(Struct, dict=True):  # cached properties need one
    """One look for a check; what several rules need is found once."""

    workspace: Workspace
    settings: VerificationSettings
    request: CheckRequest

    def find(self) -> Check | None:
        if self.request.command:
            return self._command(self.request.command, self.settings.test_timeout_s, "the command given with --check")
        if self.request.expect_file:
            return self._expect(self.request.expect_file)
        if self.settings.command:
            return self._command(self.settings.command, self.settings.test_timeout_s, "the command in the settings")
        if self.challenge.check:
            timeout_s = self.challenge.timeout_s or self.settings.test_timeout_s
            return self._command(self.challenge.check, timeout_s, f"check in {challenge_file.NAME}")
        # What the user said first, then what lies there, then what the prompt states: a stated output may be read
        # wrongly.
        rules: tuple[Callable[[], Check | None], ...] = (
            self._expected,
            self._stated,
            self._named,
            self._of_linter,
            self._tests,
            self._of_other_language,
            self._syntax,
        )
        check = next((check for rule in rules if (check := rule()) is not None), None)
        return replace(check, parses=self.to_parse) if check is not None and self.to_parse else check

    @cached_property
    def to_parse(self) -> tuple[str, ...]:
        return to_parse(self.request.prompt, self.request.files, self.workspace)

    @cached_property
    def challenge(self) -> ChallengeFile:
        return read_challenge(self.workspace)

    @cached_property
    def listing(self) -> tuple[str, ...]:
        return tuple(self.workspace.list_files())

    def named_helpers(self, check: Check) -> Iterator[str]:
        """Files that the prompt names and that are only called like tests: others have them, and these have none."""
        tests = set(self.suites.pytest_files)
        for path in self.request.files if tests else ():
            called_so = is_pytest_file(path) and not is_test_file(join(dirname(path), "_"))
            if called_so and path not in tests and path not in check.argv:
                yield path

    # --- commands -----------------------------------------------------------------------------------------------------

    def _named(self) -> Check | None:
        """The command that the request says fails, or is to pass."""
        named = suites.named_command
        if not any(rule.search(self.request.prompt) for rule in (_PROGRAM, _LINTED)):  # the module is not always loaded
            return None
        if not (command := named.named_command(self.workspace, self.request.prompt)):
            return None
        recipe = named.recipe_of(self.workspace, command)
        check = self._command(command, self.settings.test_timeout_s, OF_COMMAND)
        if (tests := self._tests()) is not None and tests.argv == check.argv:
            return replace(tests, source=OF_COMMAND)
        settings = checks.linters.settings_of(f"{command} {recipe}", self.workspace, self.listing)
        judges = self._judging(named.program_of(command))
        check = replace(check, protected=tuple(dict.fromkeys([*check.protected, *judges, *settings, *self._all_tests])))
        if check.kind == "command" and not check.of_linter and named.looks_only(self.workspace, command):
            check = replace(check, env=checks.linters.NO_CACHES, of_linter=True, beside=tests)
        if tests is None or named.is_about_command(self.request.prompt):
            return check
        # What is to be mended first is told by the tests, and none of them is excused.
        if named.mends_first(self.request.prompt):
            return replace(tests, beside=replace(check, beside=None))
        return replace(check, beside=tests)

    def _judging(self, path: str) -> list[str]:
        """The program that a request names as what has to pass, unless it is what else there is, or a part of that."""
        others = [text_of(self.workspace, other) for other in self.listing if other.endswith(".py") and other != path]
        uses = re.compile(rf"\b(?:import|from) (?:[\w.]+\.)?{re.escape(splitext(basename(path))[0])}\b")
        alone = self._programs == (path,) or any(map(uses.search, others))
        return [path] if self.workspace.is_file(path) and not alone else []

    def _command(self, command: str, timeout_s: float, source: str) -> Check:
        runs = suites.named_command.recipe_of(self.workspace, command).splitlines()
        tests = read_command(command, self.workspace.root)
        resolved = [shlex.join(tests.argv)] if tests is not None and tests.declared_in else []
        programs = self._programs
        alone = programs[0] if len(programs) == 1 and set(self.request.files) <= set(programs) else ""
        if CHECKER.match(basename(alone)) and len(self.listing) > 1 and not self.challenge.check:
            alone = ""
        rests_on = partial(files_of_command, self.workspace, tests=self._all_tests, entry=self.found_entry, alone=alone)
        # What a recipe runs may be built by it, again and again.
        of_recipe = [path for text in runs for path in rests_on(text) if is_code(path) or text_of(self.workspace, path)]
        named = [path for text in (command, *resolved) for path in rests_on(text)] + of_recipe
        protected = self._existing([*named, challenge_file.NAME, INPUT_NAME, ARGS_NAME])
        argv = ("sh", "-c", command)
        check = Check(kind="command", argv=argv, protected=protected, timeout_s=timeout_s, source=source)
        # As the shell understands it: variables, pipes and `cd` are none of our business.
        if tests is None or tests.cwd or not (tests.kind == "pytest" or tests.declared_in):
            of_linter = bool(_LINTED.search(command)) and checks.linters.is_linter(command)
            # It says nothing of what the program does.
            return replace(check, of_linter=of_linter, beside=self._tests() if of_linter else None)
        if tests.declared_in:
            source = f"{source}: {'the tests of ' if tests.partial else ''}`{command}` as {tests.declared_in} has it"
        one = tests.kind == "pytest" and tests.argv[3:] in {(path,) for path in protected}
        suite = tests.argv[:3] if one else ()
        return replace(check, kind="tests", argv=tests.argv, env=tests.env, source=source, suite=suite)

    # --- expected output ----------------------------------------------------------------------------------------------

    @cached_property
    def found_entry(self) -> str | None:
        return find_entry(self.workspace, self.request.files)

    @cached_property
    def entry(self) -> str | None:
        """The program that is to print the expected output; it need not exist yet."""
        if self.challenge.entry:
            return self.challenge.entry
        new = find_new_program(self.workspace, self.request.prompt, self.request.files, self.found_entry)
        # A new program that the task asks for goes before one that is there: that one must print something else.
        return new or self.found_entry or (self._programs[0] if len(self._programs) == 1 else None)

    @cached_property
    def _programs(self) -> tuple[str, ...]:
        return tuple(path for path in self.listing if path.endswith(".py") and not is_test_file(path))

    def _expect(self, expect_file: str) -> Check:
        path = (self.workspace.root / expect_file).resolve()
        if not path.is_file():
            raise UsageError(
                f"there is no file {expect_file} with the expected output",
                remedy="Give --expect a path relative to the workspace, or an absolute one.",
            )
        other = self._other("") if self.entry is None else None
        entry = self.entry or (other.path if other is not None else None)
        if entry is None:
            raise UsageError(
                f"it is not clear which program should print {expect_file}",
                remedy='Name it in the prompt (e.g. "fix main.py"), or give a command with --check.',
            )
        inside = path.is_relative_to(self.workspace.root)
        expected = path.relative_to(self.workspace.root).as_posix() if inside else str(path)
        return self._output(entry, f"expected output given: {expect_file}", file=expected)

    def _expected(self) -> Check | None:
        if self.entry is None:
            return self._expected_elsewhere()
        for directory in dict.fromkeys((dirname(self.entry), "")):
            for name in EXPECTED_NAMES:
                path = join(directory, name)
                if self.workspace.is_file(path):
                    where = "beside" if directory == dirname(self.entry) else "above"
                    return self._output(self.entry, f"{name} {where} {self.entry}", file=path)
        return None

    def _expected_elsewhere(self) -> Check | None:
        """The one expected output in a directory with one program, where the whole workspace has no clear program."""
        found = [path for path in self.listing if basename(path) in EXPECTED_NAMES]
        if len(found) != 1:
            return None
        beside = [path for path in self._programs if dirname(path) == dirname(found[0])]
        named = [path for path in beside if path in self.request.files]
        scripts = [path for path in (named or beside)[:MAX_PARSED] if look(self.workspace, path).script]
        entry = next((group[0] for group in (named, scripts, beside) if len(group) == 1), None)
        if entry is None:
            return None
        return self._output(entry, f"{basename(found[0])} beside {entry}", file=found[0])

    def _stated(self) -> Check | None:
        if self.entry is None or (text := stated_output(self.request.prompt)) is None:
            return None
        if self.entry not in self.request.files and self._named_others:
            return None
        return self._output(self.entry, _STATED, text=text)

    def _of_other_language(self) -> Check | None:
        """The output of a program that is not Python: what lies beside the only one at the top, or is stated of one.

        After tests, as programs in other languages are seldom all that a directory is about.
        """
        found = [name for name in EXPECTED_NAMES if self.workspace.is_file(name)]
        if self.entry is None and len(found) == 1 and (other := self._other("")):
            return self._output(other.path, f"{found[0]} beside {other.path}", file=found[0])
        text = stated_output(self.request.prompt)
        named = self._named_others
        return self._output(named[0], _STATED, text=text) if text is not None and len(named) == 1 else None

    def _output(self, entry: str, source: str, *, file: str | None = None, text: str | None = None) -> Check:
        directories = tuple(dict.fromkeys((dirname(file or entry), dirname(entry), "")))
        stdin_file = self._beside(directories, INPUT_NAME)
        args_file = self._beside(directories, ARGS_NAME)
        args = self.challenge.args
        if args is None:
            args = self._args(args_file) if args_file else ()
        defining = (file, stdin_file, args_file, challenge_file.NAME)
        other = None if entry.endswith(".py") else self._other(dirname(entry), entry)
        usual_s = self.settings.test_timeout_s if other is not None and other.is_built else self.settings.timeout_s
        return Check(
            kind="output",
            argv=other.argv(args) if other is not None else (PYTHON, entry, *args),
            entry=entry,
            stdin_file=stdin_file,
            expected_file=file,
            expected_text=text,
            protected=self._existing(path for path in defining if path),
            timeout_s=self.challenge.timeout_s or usual_s,
            source=source,
        )

    @cached_property
    def _named_others(self) -> tuple[str, ...]:
        """Programs in other languages that the request names."""
        others = [(path, self._other(dirname(path), path)) for path in self.request.files if not path.endswith(".py")]
        return tuple(path for path, other in others if other is not None and other.path == path)

    def _other(self, directory: str, *named: str) -> OtherProgram | None:
        return checks.programs.other_languages.other_program(
            self.workspace, self.listing, directory, named or self.request.files
        )

    def _beside(self, directories: Iterable[str], name: str) -> str | None:
        paths = (join(directory, name) for directory in directories)
        return next((path for path in paths if self.workspace.is_file(path)), None)

    def _args(self, path: str) -> tuple[str, ...]:
        try:
            return split_args(self.workspace.read_text(path).text)
        except ValueError as error:
            raise ConfigError(str(error), file=path, remedy=SPLIT_REMEDY) from error

    def _of_linter(self) -> Check | None:
        """A linter's command, if the request is that it finds nothing; then the tests have to pass as well."""
        if not _LINTED.search(self.request.prompt):  # the module is not loaded for every task
            return None
        asked = checks.linters.asked_for(self.workspace, self.request.prompt, self.request.files, self.listing)
        if asked is None:
            return None
        tests = self._tests()
        if tests is not None:  # of tests that it is to find nothing in, the linter alone tells
            looked = [path for path in tests.protected if any(f"{path}/".startswith(f"{at}/") for at in asked.places)]
            tests = tests.without(looked)
        return Check(
            kind="command",
            argv=("sh", "-c", shlex.join(asked.argv)),
            env=checks.linters.NO_CACHES,
            protected=asked.configured_by,
            timeout_s=self.settings.test_timeout_s,
            source=OF_REQUEST,
            of_linter=True,
            beside=tests,
        )

    # --- tests --------------------------------------------------------------------------------------------------------

    @cached_property
    def suites(self) -> Suites:
        request = self.request
        named = [path for path in request.files if not re.search(_DELETED.format(re.escape(path)), request.prompt)]
        return Suites(workspace=self.workspace, listing=self.listing, named=named, changed=request.changed)

    @cached_property
    def _all_tests(self) -> tuple[str, ...]:
        """Tests and the code that they rest on."""
        collected = set(self.suites.pytest_files)
        return tuple(path for path in self.listing if path in collected or is_test_code(path))

    def _tests(self) -> Check | None:
        suite = self.suites.find() or self.suites.find_doctests()
        if suite is None:
            return None
        # A module of Go says how tests are run, whether there are any or not.
        untested = suite.argv[0] == "go" and not any(map(is_test_file, self.listing))
        if untested and (other := self._of_other_language()):
            return other
        return self.of_suite(suite)

    def of_suite(self, suite: Suite) -> Check:
        """The check that some tests pass."""
        timeout_s = self.challenge.timeout_s or self.settings.test_timeout_s
        declaration = self._existing([challenge_file.NAME])
        return Check(
            kind="tests",
            argv=suite.argv,
            protected=tuple(dict.fromkeys([*self._all_tests, *suite.files, *declaration])),
            env=suite.env,
            timeout_s=timeout_s,
            source=suite.source,
            suite=suite.whole,
        )

    def _syntax(self) -> Check | None:
        named = [path for path in self.request.files if path.endswith(".py")]
        # Of a project that is still to be made it will be declared.
        may_say = bool(self.listing) and _PROGRAM.search(self.request.prompt)
        said = may_say and suites.named_command.spoken_command(self.request.prompt)
        if not (said or named or self.to_parse) and not any(path.endswith(".py") for path in self.listing):
            return None
        entry = self.found_entry or next(iter(named), None)
        source = (
            f"`{said}` was not run: it is not declared here, or its name says more than a look" if said else NOT_FOUND
        )
        return Check(kind="syntax", argv=(), entry=entry, timeout_s=self.settings.timeout_s, source=source)

    def _existing(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(path for path in dict.fromkeys(paths) if self.workspace.is_file(path))

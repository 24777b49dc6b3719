"""Finds the check that applies to a task. Nothing is run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from posixpath import basename, dirname, join
from typing import TYPE_CHECKING

from codur.errors import ConfigError, UsageError, WorkspaceError
from codur.types import Check
from codur.verification import challenge_file
from codur.verification.challenge_file import ChallengeFile, read_challenge
from codur.verification.entry import find_entry, imports_of, is_test_file
from codur.verification.expectation import files_to_edit, programs_named, stated_output

if TYPE_CHECKING:
    from codur.config.settings import VerificationSettings
    from codur.workspace.workspace import Workspace

__all__ = ["find_check", "find_entry", "unprotected_by_prompt"]

PYTHON = "{python}"
EXPECTED_NAMES = ("expected.txt", "expected_output.txt")
INPUT_NAME = "input.txt"
ARGS_NAME = "args.txt"
NOTHING_FOUND = "no expected output and no tests were found"
_PYTEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_PYTEST_SUPPORT = re.compile(r"(?:.*/)?(?:conftest\.py|pytest\.ini)|(?:.*/)?tests?/.*\.py")
_MAKE_TARGET = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_NO_TEST = "no test specified"


def find_check(
    workspace: Workspace,
    *,
    prompt: str,
    files: Sequence[str],
    settings: VerificationSettings,
    command: str | None = None,
    expect_file: str | None = None,
) -> Check | None:
    """The check that applies: a command, expected output, tests, else the syntax of Python files.

    Args:
        prompt: the request; it may state the output, name the program, or ask for edits to files of the check.
        files: existing files that the prompt names, most relevant first.
        command: a command whose exit status is the verdict; else `settings.command`.
        expect_file: a file with the expected output, relative to the workspace or absolute.

    Returns:
        None if nothing can be checked: no check was found and there is no Python file.

    Raises:
        UsageError: `expect_file` does not exist, or it is not clear which program should print it.
        ConfigError: `challenge.yaml` or `args.txt` is wrong.
    """
    search = _Search(workspace=workspace, prompt=prompt, files=tuple(files), settings=settings)
    check = search.find(command or settings.command, expect_file)
    if check is None:
        return None
    freed = unprotected_by_prompt(check, prompt, files)
    return replace(check, protected=tuple(path for path in check.protected if path not in freed))


def unprotected_by_prompt(check: Check, prompt: str, files: Sequence[str]) -> tuple[str, ...]:
    """The files of the check that the prompt asks to change ("update tests/test_x.py"), not merely to satisfy.

    Args:
        files: existing files that the prompt names; they settle which one is meant if several have the same name.
    """
    return files_to_edit(prompt, check.protected, files)


@dataclass(frozen=True, kw_only=True)
class _Search:
    """One look for a check; what several rules need is found once."""

    workspace: Workspace
    prompt: str
    files: tuple[str, ...]
    settings: VerificationSettings

    def find(self, command: str | None, expect_file: str | None) -> Check | None:
        if command:
            return self._command(command, self.settings.test_timeout_s, "the command given")
        if expect_file:
            return self._expect(expect_file)
        if self.challenge.check:
            timeout_s = self.challenge.timeout_s or self.settings.test_timeout_s
            return self._command(self.challenge.check, timeout_s, f"check in {challenge_file.NAME}")
        rules: tuple[Callable[[], Check | None], ...] = (self._expected, self._stated, self._tests, self._syntax)
        return next((check for rule in rules if (check := rule()) is not None), None)

    @cached_property
    def challenge(self) -> ChallengeFile:
        return read_challenge(self.workspace)

    @cached_property
    def listing(self) -> tuple[str, ...]:
        return tuple(self.workspace.list_files())

    # --- commands -----------------------------------------------------------------------------------------------------

    def _command(self, command: str, timeout_s: float, source: str) -> Check:
        defining = [*self._named_in(command), *(challenge_file.NAME, INPUT_NAME, ARGS_NAME)]
        return Check(
            kind="command",
            argv=("sh", "-c", command),
            protected=self._existing(defining),
            timeout_s=timeout_s,
            source=source,
        )

    def _named_in(self, command: str) -> list[str]:
        """Tests and expected output that the command names; all tests if it runs a test runner without naming any."""
        words = re.split(r"[\s;|&<>()'\"=]+", command)
        named = [path for word in words for path in self._check_files(word)]
        if not any(is_test_file(path) for path in named) and re.search(r"\b(?:pytest|unittest|test)\b", command):
            named += [path for path in self.listing if _is_pytest_file(path)]
        return named

    def _check_files(self, word: str) -> list[str]:
        """The files of the check that one word of a command stands for: a path, a module or a directory."""
        path = word.partition("::")[0].removeprefix("./").rstrip("/")
        if not path:
            return []
        if self.workspace.is_dir(path):
            return [item for item in self.listing if item.startswith(f"{path}/") and is_test_file(item)]
        names = (path, path.replace(".", "/") + ".py", dirname(path.replace(".", "/")) + ".py")
        return [name for name in names if is_test_file(name) or basename(name).startswith("expected")]

    # --- expected output ----------------------------------------------------------------------------------------------

    @cached_property
    def entry(self) -> str | None:
        """The program that is to print the expected output; it need not exist yet."""
        if self.challenge.entry:
            return self.challenge.entry
        found = find_entry(self.workspace, self.files)
        new = self._new_program(found)
        if found is None or (new is not None and self._is_named_before(new, found)):
            return new or found or self._only_python_file()
        return found

    def _new_program(self, found: str | None) -> str | None:
        """The first program that the prompt names and that is still to be written."""
        imported = imports_of(self.workspace, found) if found else frozenset()
        for name in programs_named(self.prompt):
            try:
                path = self.workspace.relative(name)
            except WorkspaceError:
                continue
            if not self.workspace.exists(path) and not is_test_file(path) and path not in imported:
                return path
        return None

    def _is_named_before(self, new: str, found: str) -> bool:
        """Whether the prompt speaks of the new program first, or not at all of the other."""
        place = self.prompt.find(basename(found))
        return place < 0 or self.prompt.find(basename(new)) < place

    def _only_python_file(self) -> str | None:
        python = [path for path in self.listing if path.endswith(".py") and not is_test_file(path)]
        return python[0] if len(python) == 1 else None

    def _expect(self, expect_file: str) -> Check:
        path = (self.workspace.root / expect_file).resolve()
        if not path.is_file():
            raise UsageError(
                f"there is no file {expect_file} with the expected output",
                remedy="Give --expect a path relative to the workspace, or an absolute one.",
            )
        if self.entry is None:
            raise UsageError(
                f"it is not clear which program should print {expect_file}",
                remedy='Name it in the prompt (e.g. "fix main.py"), or give a command with --check.',
            )
        inside = path.is_relative_to(self.workspace.root)
        expected = path.relative_to(self.workspace.root).as_posix() if inside else str(path)
        return self._output(self.entry, source=f"expected output given: {expect_file}", expected_file=expected)

    def _expected(self) -> Check | None:
        if self.entry is None:
            return self._expected_elsewhere()
        for directory in dict.fromkeys((dirname(self.entry), "")):
            for name in EXPECTED_NAMES:
                path = join(directory, name)
                if self.workspace.is_file(path):
                    where = "beside" if directory == dirname(self.entry) else "above"
                    return self._output(self.entry, source=f"{name} {where} {self.entry}", expected_file=path)
        return None

    def _expected_elsewhere(self) -> Check | None:
        """The one expected output in a directory with one program, where the whole workspace has no clear program."""
        found = [path for path in self.listing if basename(path) in EXPECTED_NAMES]
        if len(found) != 1:
            return None
        directory = dirname(found[0])
        beside = [path for path in self.files if dirname(path) == directory]
        python = [path for path in self.listing if dirname(path) == directory and path.endswith(".py")]
        entry = find_entry(self.workspace, beside) or (python[0] if len(python) == 1 else None)
        if entry is None or dirname(entry) != directory:
            return None
        return self._output(entry, source=f"{basename(found[0])} beside {entry}", expected_file=found[0])

    def _stated(self) -> Check | None:
        text = stated_output(self.prompt)
        if text is None or self.entry is None:
            return None
        return self._output(self.entry, source="expected output stated in the prompt", expected_text=text)

    def _output(
        self, entry: str, *, source: str, expected_file: str | None = None, expected_text: str | None = None
    ) -> Check:
        directories = tuple(dict.fromkeys((dirname(expected_file or entry), dirname(entry), "")))
        stdin_file = self._beside(directories, INPUT_NAME)
        args_file = self._beside(directories, ARGS_NAME)
        args = self.challenge.args
        if args is None:
            args = self._args(args_file) if args_file else ()
        defining = (expected_file, stdin_file, args_file, challenge_file.NAME)
        return Check(
            kind="output",
            argv=(PYTHON, entry, *args),
            entry=entry,
            stdin_file=stdin_file,
            expected_file=expected_file,
            expected_text=expected_text,
            protected=self._existing(path for path in defining if path),
            timeout_s=self.challenge.timeout_s or self.settings.timeout_s,
            source=source,
        )

    def _beside(self, directories: Iterable[str], name: str) -> str | None:
        paths = (join(directory, name) for directory in directories)
        return next((path for path in paths if self.workspace.is_file(path)), None)

    def _args(self, path: str) -> tuple[str, ...]:
        try:
            return tuple(shlex.split(self.workspace.read_text(path).text))
        except ValueError as error:
            message = f"cannot be split into arguments: {str(error).lower()}"
            raise ConfigError(message, file=path, line=1, remedy="Close the quote.") from error

    # --- tests --------------------------------------------------------------------------------------------------------

    def _tests(self) -> Check | None:
        tests = [path for path in self.listing if _is_pytest_file(path)]
        if tests:
            return self._pytest(tests)
        for name, argv, applies in _RUNNERS:
            if self.workspace.is_file(name) and applies(self._text(name)):
                return self._test_run(argv, [path for path in self.listing if is_test_file(path)], source=name)
        return None

    def _pytest(self, tests: Sequence[str]) -> Check:
        named = [path for path in self.files if path in tests]
        only = tuple(named) if len(named) == 1 else ()
        defining = [path for path in self.listing if _is_pytest_file(path) or _PYTEST_SUPPORT.fullmatch(path)]
        source = f"the tests in {only[0]}, named in the prompt" if only else f"the tests in {_some(tests)}"
        return self._test_run((PYTHON, "-m", "pytest", *only), defining, source=source)

    def _test_run(self, argv: tuple[str, ...], defining: Sequence[str], *, source: str) -> Check:
        timeout_s = self.challenge.timeout_s or self.settings.test_timeout_s
        protected = self._existing([*defining, challenge_file.NAME])
        return Check(kind="tests", argv=argv, protected=protected, timeout_s=timeout_s, source=source)

    def _text(self, path: str) -> str:
        """The file's text; empty if it is no text."""
        try:
            return self.workspace.read_text(path).text
        except WorkspaceError:
            return ""

    # --- syntax -------------------------------------------------------------------------------------------------------

    def _syntax(self) -> Check | None:
        named = [path for path in self.files if path.endswith(".py")]
        if not named and not any(path.endswith(".py") for path in self.listing):
            return None
        entry = find_entry(self.workspace, self.files) or next(iter(named), None)
        return Check(kind="syntax", argv=(), entry=entry, timeout_s=self.settings.timeout_s, source=NOTHING_FOUND)

    def _existing(self, paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(path for path in dict.fromkeys(paths) if self.workspace.is_file(path))


def _is_pytest_file(path: str) -> bool:
    return bool(_PYTEST_FILE.fullmatch(path))


def _some(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _has_test_script(text: str) -> bool:
    try:
        package = json.loads(text)
    except ValueError:
        return False
    scripts = package.get("scripts") if isinstance(package, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    return isinstance(script, str) and bool(script.strip()) and _NO_TEST not in script


def _always(text: str) -> bool:
    return True


def _has_test_target(text: str) -> bool:
    return bool(_MAKE_TARGET.search(text))


_RUNNERS: tuple[tuple[str, tuple[str, ...], Callable[[str], bool]], ...] = (
    ("package.json", ("npm", "test"), _has_test_script),
    ("Cargo.toml", ("cargo", "test"), _always),
    ("go.mod", ("go", "test", "./..."), _always),
    ("Makefile", ("make", "test"), _has_test_target),
    ("makefile", ("make", "test"), _has_test_target),
)

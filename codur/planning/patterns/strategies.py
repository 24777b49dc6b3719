"""One strategy a kind of request: which rules may settle it, and what else is found out if none does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.config.settings import Settings
from codur.planning.patterns.classify import Classification
from codur.planning.patterns.involved_files import involved_files
from codur.planning.patterns.named_paths import SOURCE_SUFFIXES, FileNames, Mention, suffix_of
from codur.planning.patterns.prompt_tokens import PromptText, word_set
from codur.planning.patterns.rules import (
    file_change_rules,
    file_rules,
    git_rules,
    run_rules,
    search_rules,
    structure_rules,
    web_rules,
)
from codur.planning.patterns.rules.rule import Rule
from codur.tools.git.git_history import uncommitted
from codur.types import Check, Discovery, TaskType

if TYPE_CHECKING:
    from codur.sandbox.launcher import Launcher

_MADE = r"\b(?:into|create|creating|new|called|named|write|add|extract|split|move|put)\b[^.;\n]{{0,80}}{}"
"""A name after one of these words is that of a file to be made."""
_CHECK_CHARS = 100_000
"""Of a prompt, this much is searched for an expected output."""
_MAX_CANDIDATES = 3
_NO_MODULES = word_set("the code file files script program project test tests it this that and for with not app new")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A prompt, and what is needed to find out more about it.

    Attributes:
        mentions: the files that it names.
        launcher: starts git; None if nothing is to be started.
        check_command, expect_file: the check that the caller gave, if any.
    """

    prompt: str
    text: PromptText
    names: FileNames
    mentions: tuple[Mention, ...]
    settings: Settings
    launcher: Launcher | None = None
    check_command: str | None = None
    expect_file: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The existing files that it names; of a name that may stand for several, the first few at the end."""
        clear = [mention.path for mention in self.mentions if mention.path is not None]
        unclear = [path for mention in self.mentions for path in mention.candidates[:_MAX_CANDIDATES]]
        return tuple(dict.fromkeys((*clear, *unclear)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How one kind of request is dealt with.

    Attributes:
        rules: what may settle it; none for kinds that need a model.
        discover: what is known about it if no rule settles it.
    """

    rules: tuple[Rule, ...] = ()
    discover: Callable[[Request, Classification], Discovery]


def discover_files(request: Request, found: Classification) -> Discovery:
    """The kind, and the files that the prompt names."""
    return Discovery(
        task_type=found.task_type,
        confidence=found.confidence,
        files=request.files,
        missing_files=_missing(request),
        reason=found.reason,
    )


def discover_code(request: Request, found: Classification) -> Discovery:
    """Also the check that applies, the program, and the sources it imports.

    Raises:
        UsageError: `expect_file` does not exist, or a file that defines the check is wrong.
    """
    from codur.checks.discover import find_entry  # noqa: PLC0415 - lazy: settled requests need no check

    if _names_absent_source(request, found.task_type):
        return discover_files(request, found)
    named = request.files or _modules(request)
    check = _check(request, named)
    entry = check.entry if check is not None and check.entry else find_entry(request.names.workspace, named)
    entry = entry if entry is not None and request.names.workspace.is_file(entry) else None
    files = involved_files(request.names, named, entry) or _tested_files(request, check)
    return Discovery(
        task_type=found.task_type,
        confidence=found.confidence,
        files=files,
        missing_files=_missing(request),
        entry=entry,
        check=check,
        reason=found.reason,
    )


def _tested_files(request: Request, check: Check | None) -> tuple[str, ...]:
    """What the tests import, for a request that names no file ("make the tests pass")."""
    if check is None or check.kind != "tests":
        return ()
    tests = tuple(path for path in check.protected if path.endswith(".py"))
    return tuple(path for path in involved_files(request.names, tests, None) if path not in tests)


def _names_absent_source(request: Request, kind: TaskType) -> bool:
    """Whether the source that is to be changed is not there; another one must not be taken in its place."""
    text = request.prompt[:_CHECK_CHARS]
    absent = any(
        suffix_of(name) in SOURCE_SUFFIXES and not re.search(_MADE.format(re.escape(name)), text, re.IGNORECASE)
        for name in _missing(request)
    )
    return absent and not request.files and kind != "code_generation" and not request.check_command


def discover_unknown(request: Request, found: Classification) -> Discovery:
    """As for code, since it may turn out to be about code."""
    return discover_code(request, found)


def _check(request: Request, files: tuple[str, ...]) -> Check | None:
    from codur.checks.discover import CheckRequest, find_check  # noqa: PLC0415 - lazy: settled requests need no check

    root, launcher = request.names.workspace.root, request.launcher
    return find_check(
        request.names.workspace,
        request.settings.verification,
        CheckRequest(
            prompt=request.prompt[:_CHECK_CHARS],
            files=files,
            command=request.check_command,
            expect_file=request.expect_file,
            changed=lambda: uncommitted(root, launcher) if launcher else (),
        ),
    )


def _missing(request: Request) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mention.name for mention in request.mentions if mention.missing))


def _modules(request: Request) -> tuple[str, ...]:
    """Sources whose name without suffix is a word of the prompt ("fix the parser"), if no file is named."""
    said = {token.key for token in request.text.tokens if token.kind in {"word", "code"}} - _NO_MODULES
    stems = ((path, path.rpartition("/")[2].partition(".")[0].casefold()) for path in request.names.sources)
    found = tuple(path for path, stem in stems if len(stem) >= 3 and stem in said)
    return found if len(found) <= _MAX_CANDIDATES else ()


STRATEGIES: Mapping[TaskType, Strategy] = {
    "greeting": Strategy(discover=discover_files),
    "git": Strategy(rules=git_rules.RULES, discover=discover_files),
    "run": Strategy(rules=run_rules.RULES, discover=discover_files),
    "explanation": Strategy(rules=structure_rules.RULES, discover=discover_files),
    "search": Strategy(rules=search_rules.RULES, discover=discover_files),
    "file_operation": Strategy(rules=(*file_rules.RULES, *file_change_rules.RULES), discover=discover_files),
    "web_search": Strategy(rules=web_rules.RULES, discover=discover_files),
    "code_fix": Strategy(discover=discover_code),
    "code_generation": Strategy(discover=discover_code),
    "refactor": Strategy(discover=discover_code),
    "unknown": Strategy(discover=discover_unknown),
}

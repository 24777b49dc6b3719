"""Tasks of SWE-bench's form: a file with an instance a line, and checkouts in directories that are named after them."""

import json
from collections.abc import Sequence
from pathlib import Path
from shlex import join
from typing import Annotated

from msgspec import Meta, ValidationError

from codur.batch.challenge_directory import MAX_PROMPT_CHARS, Challenge
from codur.batch.discovery import require_directory
from codur.errors import UsageError
from codur.lazy import regex
from codur.structs import Struct, convert, field

_MAX_COMMAND = 100_000
"""Characters of a check's command: the system takes 131,072 in one argument."""
_HASH = regex(r"[0-9a-f]{40}")

Tests = tuple[str, ...] | str
"""Names of tests: a list, or the same as JSON text."""


class _Instance(Struct):
    """The columns that are read; all others are passed over, the solution among them."""

    instance_id: Annotated[str, Meta(pattern=r"^[\w.-]*\w[\w.-]*$", max_length=200)]
    problem_statement: Annotated[str, Meta(min_length=1)]
    repo: str = ""
    base_commit: str = ""
    fail_to_pass: Tests = field(default=(), name="FAIL_TO_PASS")
    pass_to_pass: Tests = field(default=(), name="PASS_TO_PASS")


def read_dataset(path: Path, directories: Sequence[Path]) -> list[Challenge]:
    """The challenges that a dataset describes, by name; one without its checkout is a challenge with a problem.

    Args:
        path: of a file with one JSON object a line.
        directories: where the checkouts are: `DIRECTORY/instance_id`, in the first that has it.

    Raises:
        UsageError: a directory is absent; the file cannot be read, is empty, or a line of it is no instance.
    """
    for directory in directories:
        require_directory(directory)
    found: dict[str, Challenge] = {}
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    challenge = _challenge(line, f"{path}:{number}", directories)
                    if found.setdefault(challenge.name, challenge) is not challenge:
                        raise UsageError(f"{path}:{number}: {challenge.name} occurs twice", remedy="Remove one.")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text", remedy="Name a JSON Lines file.") from error
    if not found:
        raise UsageError(f"{path}: no instance found", remedy="It holds one JSON object a line.")
    return [found[name] for name in sorted(found)]


def _challenge(line: str, place: str, directories: Sequence[Path]) -> Challenge:
    try:
        instance: _Instance = convert(json.loads(line), _Instance)
        failing, passing = _names(instance.fail_to_pass), _names(instance.pass_to_pass)
    except (ValueError, RecursionError) as error:  # those of json and msgspec are ValueErrors
        reason = str(error) if isinstance(error, ValidationError) else "no JSON object"
        raise UsageError(f"{place}: {reason}", remedy="docs/BATCHES.md names the columns.") from error
    below = [directory / instance.instance_id for directory in directories]
    checkout = next((path for path in below if path.is_dir()), below[0])
    return Challenge(
        name=instance.instance_id,
        directory=checkout.resolve(),
        problem=_problem(checkout, instance),
        task=instance.problem_statement[:MAX_PROMPT_CHARS],
        check=_command(failing, passing),
    )


def _names(tests: Tests) -> tuple[str, ...]:
    names: tuple[str, ...] = convert(json.loads(tests or "[]") if isinstance(tests, str) else tests, tuple[str, ...])
    return names


def _command(failing: Sequence[str], passing: Sequence[str]) -> str:
    """What runs the tests that are to pass: all that fail now, and as many of the others as a command can hold.

    Returns:
        Empty where they are not named as pytest names tests: the checkout's own check decides.
    """
    names = list(dict.fromkeys((*failing, *passing)))
    if not failing or not all(".py" in name and not name.startswith("-") for name in names):
        return ""
    words = ["python", "-m", "pytest", "-q"]
    while len(command := join([*words, *names])) > _MAX_COMMAND:
        names = names[: min(len(names) - 1, len(names) * _MAX_COMMAND // len(command))]
    return command


def _problem(checkout: Path, instance: _Instance) -> str:
    """Why an instance cannot be worked on; empty if nothing is known to be wrong."""
    if not checkout.is_dir():
        commit = f" at {instance.base_commit}" if instance.base_commit else ""
        return f"no checkout of {instance.repo or 'its repository'}{commit}: {checkout}"
    head = checkout / ".git" / "HEAD"
    commit = head.read_text(errors="replace").strip() if head.is_file() else ""
    if _HASH.fullmatch(commit) and instance.base_commit and not commit.startswith(instance.base_commit):
        return f"the checkout is at {commit}, and not at {instance.base_commit}"
    return ""

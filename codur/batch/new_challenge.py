"""Makes a new challenge: a small example that is red, to be replaced by one's own."""

import unicodedata
from pathlib import Path

from codur.batch.challenge_directory import PROMPT_FILE
from codur.config.resources import resource_path
from codur.errors import UsageError, reason_of

_BY_OUTPUT = {PROMPT_FILE: "prompt.output.txt", "main.py": "main.py.txt", "expected.txt": "expected.txt"}
_BY_TESTS = {PROMPT_FILE: "prompt.tests.txt", "main.py": "main.py.txt", "test_main.py": "test_main.py.txt"}
"""The files of a challenge, and those of `config/templates/challenge` that hold what is in them."""
_ROLES = {
    PROMPT_FILE: "the task, in the words of someone who wants it done",
    "main.py": "the program with its bug",
    "expected.txt": "what a right program prints",
    "test_main.py": "tests of which one at least fails now",
}


def make_challenge(name: str, *, within: Path, tests: bool) -> tuple[Path, tuple[tuple[str, str], ...]]:
    """Make a challenge; nothing that is there is changed.

    Args:
        name: its directory's name.
        within: the directory that it is made in; made, too, if it is not there.
        tests: it is checked by tests rather than by what it prints.

    Returns:
        The challenge's directory, and its files with what each is for.

    Raises:
        UsageError: the name is no name of a directory, something of that name is there, or it cannot be written.
    """
    _require_name(name)
    directory = within / name
    files = _BY_TESTS if tests else _BY_OUTPUT
    try:
        within.mkdir(parents=True, exist_ok=True)
        directory.mkdir()
        for file, source in files.items():
            (directory / file).write_bytes(resource_path(f"templates/challenge/{source}").read_bytes())
    except FileExistsError as error:
        raise UsageError(f"{directory}: is there already", remedy="Give another name, or remove it first.") from error
    except OSError as error:
        raise UsageError(
            f"{directory}: cannot be made: {reason_of(error)}",
            remedy="Name a directory that you may write with --output.",
        ) from error
    return directory, tuple((file, _ROLES[file]) for file in files)


def _require_name(name: str) -> None:
    unseen = any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in name)
    if not name.strip() or name.startswith((".", "-")) or "/" in name or unseen:
        raise UsageError(
            f"{name!r} is no name for a challenge",
            remedy="Use one directory name that does not begin with a dot or a dash; --output says where it goes.",
        )

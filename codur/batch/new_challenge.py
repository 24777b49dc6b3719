"""Makes a new challenge: a small example that is red, to be replaced by one's own."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from codur.batch.challenge_directory import PROMPT_FILE
from codur.errors import UsageError

_PROGRAM = '''"""Prints what each order costs.

An example of a challenge: put the program that is to be fixed in place of this one, with its bug. What else it needs
(input.txt on standard input, args.txt as arguments, more modules, data) goes beside it.
"""

ORDERS = [("pens", 4, 120), ("paper", 10, 450), ("ink", 12, 900)]


def price(quantity, each):
    """Cents for a quantity; from ten on, one is free."""
    if quantity > 10:
        quantity -= 1
    return quantity * each


def main():
    for name, quantity, each in ORDERS:
        print(f"{name:6} {price(quantity, each) / 100:8.2f}")


if __name__ == "__main__":
    main()
'''
_EXPECTED = "pens       4.80\npaper     40.50\nink       99.00\n"
_PROMPT_BY_OUTPUT = """The order for ten packs of paper comes out too dear: from ten on, one should be free.
Fix main.py so that it prints what is expected.
"""
_PROMPT_BY_TESTS = """The order for ten packs of paper comes out too dear: from ten on, one should be free.
Fix main.py so that its tests pass.
"""
_TESTS = '''"""What a right program does. Put your own tests in place of these: one at least has to fail for the bug."""

from main import price


def test_less_than_ten_cost_what_each_costs():
    assert price(4, 120) == 480


def test_from_ten_on_one_is_free():
    assert price(10, 450) == 4050
    assert price(12, 900) == 9900
'''
_BY_OUTPUT = {PROMPT_FILE: _PROMPT_BY_OUTPUT, "main.py": _PROGRAM, "expected.txt": _EXPECTED}
_BY_TESTS = {PROMPT_FILE: _PROMPT_BY_TESTS, "main.py": _PROGRAM, "test_main.py": _TESTS}
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
        for file, text in files.items():
            (directory / file).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(f"{directory}: is there already", remedy="Give another name, or remove it first.") from error
    except OSError as error:
        raise UsageError(
            f"{directory}: cannot be made: {(error.strerror or 'unknown error').lower()}",
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

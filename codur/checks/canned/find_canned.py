"""Does a change make a program print a canned answer instead of computing it?

The change is read as syntax trees, never run. The rules, in the order in which they are tried:

1. *Encoded*: a new literal decodes (base64, hex, zlib or gzip, reversed) to most of the expected lines.
2. *Replaced*: a `print` or `write` that showed a computed value now shows a constant that equals whole expected lines.
3. *Spelled out*: new literals spell at least 80 % of the expected lines. Words that conditions choose ("Fizz", "yes" or
   "no") do not count: neither a single line in a branch, nor the values of a table.
4. *Always the same*: a function that computed now returns one constant that a test expects.
5. *Special case*: the change adds nothing to a function but a comparison of its input with a constant that yields an
   expected constant (or puts several such cases, number for number, in place of a computation).

Not canned: a repaired spelling, a constant in place of another, the program's own data shown in full, text that the
prompt of a new program tells to print, base cases (0, 1, "", None, True …), one more case in a chain or table.

Limits: only changed Python files that are no tests are read. Tables of new programs are taken as data. `match`,
`dict.get`, printed docstrings, formats with widths and several writes to one line are not followed. Where the rules
cannot tell, the change is taken as honest: refusing an ordinary fix is worse than missing a sly one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from codur.checks.canned.canned_case import Case, assertions
from codur.checks.canned.canned_program import read
from codur.checks.canned.constant_functions import always_the_same
from codur.checks.canned.encoded import encoded
from codur.checks.canned.printed import replaced, spelled_out
from codur.checks.canned.special_cases import special_cased
from codur.checks.canned.wording import lines_of, told_to_print

_RULES = (encoded, replaced, spelled_out, always_the_same, special_cased)


def find_canned(
    before: Mapping[str, bytes | None],
    after: Mapping[str, bytes | None],
    expected: str,
    *,
    prompt: str,
    tests: Mapping[str, str],
) -> str | None:
    """Decides whether a change prints a canned answer (rules and limits: see the module).

    Args:
        before: workspace-relative path → bytes before the change; None or a missing path where the file was absent.
        after: the changed files, in the same way.
        expected: the expected output; empty if tests judge.
        prompt: the user's request.
        tests: the test files' text by path; empty if expected output judges.

    Returns:
        One sentence that names the file and what it does, or None. Files that do not parse are passed over.
    """
    paths = [path for path in after if _is_program(path, tests) and after[path] != before.get(path)]
    try:
        pairs = {path: (read(before.get(path)), read(after[path])) for path in paths}
        changes = {path: (old, new) for path, (old, new) in pairs.items() if new.tree is not None}
        is_new = not any(old.has_code for old, _ in changes.values())
        told = told_to_print(prompt, expected) if is_new else ""
        lines = Counter(lines_of(expected))
        case = Case(lines=lines, is_new=is_new, told=told, asserts=assertions(tests), prompt=prompt)
        return next((found for rule in _RULES if (found := rule(changes, case))), None)
    except RecursionError:  # the user's program nests deeper than Python can walk
        return None


def _is_program(path: str, tests: Mapping[str, str]) -> bool:
    name = PurePosixPath(path).name
    is_test = path in tests or name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")
    return name.endswith((".py", ".pyw")) and not is_test

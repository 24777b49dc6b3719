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

Limits: only changed Python files that are no tests are read. Tables of new programs are taken as data. Printed
docstrings, formats with widths and several writes to one line are not followed. Where the rules
cannot tell, the change is taken as honest: refusing an ordinary fix is worse than missing a sly one.
"""

import ast
import base64
import binascii
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from codur.checks.canned import canned_syntax
from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes, read
from codur.checks.canned.printed import replaced, spelled_out
from codur.checks.canned.special_cases import special_cased
from codur.checks.canned.wording import is_number, lines_of, short, told_to_print


def find_canned(
    before: Mapping[str, bytes | None],
    after: Mapping[str, bytes | None],
    expected: str,
    *,
    prompt: str,
    tests: Mapping[str, str],
) -> str | None:
    """Why a change prints a canned answer (rules: see the module), in a sentence with its file; None if it does not.

    Args:
        before, after: bytes of the changed files by workspace-relative path; None, or no such path, where one is not.
            Those that do not parse are passed over.
        expected: the expected output; empty if tests judge.
        tests: the test files' text by path; empty if expected output judges.
    """
    paths = [path for path in after if _is_program(path, tests) and after[path] != before.get(path)]
    try:
        pairs = {path: (read(before.get(path)), read(after[path])) for path in paths}
        changes = {path: (old, new) for path, (old, new) in pairs.items() if new.tree is not None}
        is_new = not any(old.has_code for old, _ in changes.values())
        told = told_to_print(prompt, expected) if is_new else ""
        lines = Counter(lines_of(expected))
        case = Case(lines=lines, is_new=is_new, told=told, tests=tests, prompt=prompt)
        return next((found for rule in _RULES if (found := rule(changes, case))), None)
    except RecursionError:  # the user's program nests deeper than Python can walk
        return None


def _is_program(path: str, tests: Mapping[str, str]) -> bool:
    name = PurePosixPath(path).name
    is_test = path in tests or name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")
    return name.endswith((".py", ".pyw")) and not is_test


def always_the_same(changes: Changes, case: Case) -> str | None:
    for path, (old, new) in changes.items():
        if new.tree is None or old.broken:  # what a file computed that did not parse nobody knows
            continue
        earlier = canned_syntax.functions(old.tree) if old.tree else {}
        for name, function in canned_syntax.functions(new.tree).items():
            value = canned_syntax.literal(canned_syntax.constant_return(function)) or ""
            if value in canned_syntax.TRIVIAL or not _ignores_input(function, earlier.get(name), value, case):
                continue
            if case.asserts_together({value}, {function.name} if case.is_new else {value}):
                return f"{path} always returns {short(value)} from {name}() instead of computing it"
    return None


def _ignores_input(
    function: canned_syntax.Function, earlier: canned_syntax.Function | None, value: str, case: Case
) -> bool:
    """Had the function something to compute? New ones are suspected only of a number that the prompt does not name."""
    arguments = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
    has_input = bool(arguments - {"self", "cls"})
    if earlier is not None and canned_syntax.has_code(earlier):
        return canned_syntax.constant_return(earlier) is None and (has_input or is_number(value))
    # A new function may well return a word or what it was told to; a number out of nothing is a result.
    return has_input and is_number(value) and value not in case.prompt


MIN_ENCODED_CHARS = 16  # shorter words decode to something by chance
MAX_DECODED_BYTES = 1_000_000  # a few bytes can unpack to gigabytes
_ZLIB_OR_GZIP = 47  # 32 + 15: the header says which, with the largest window

_DECODERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: base64.b64decode(b"".join(data.split()), validate=True),
    lambda data: binascii.unhexlify(b"".join(data.split())),
    lambda data: data[::-1],
)


def encoded(changes: Changes, case: Case) -> str | None:
    # Data that the program had before is its own.
    known = {literal.value for old, _ in changes.values() for literal in old.literals}
    for path, (_, new) in changes.items():
        for value in (literal.value for literal in new.literals):
            if not isinstance(value, str | bytes) or value in known or len(value) < MIN_ENCODED_CHARS:
                continue
            if any(case.covers_most(Counter(lines_of(text))) for text in _decodings(value)):
                return f"{path} holds the expected output as an encoded literal"
    return None


def _decodings(value: str | bytes) -> Iterator[str]:
    candidates = [] if isinstance(value, str) else [value]
    for decode in _DECODERS:
        try:
            candidates.append(decode(value.encode("utf-8", "replace") if isinstance(value, str) else value))
        except ValueError:
            continue
    for data in candidates:
        yield data.decode("utf-8", "replace")
        try:
            yield zlib.decompressobj(_ZLIB_OR_GZIP).decompress(data, MAX_DECODED_BYTES).decode("utf-8", "replace")
        except zlib.error:
            continue


_RULES = (encoded, replaced, spelled_out, always_the_same, special_cased)

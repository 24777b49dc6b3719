"""Checks, verdicts and attempts as short texts for a model."""

import re
from collections.abc import Collection, Sequence

from codur.lazy import regex
from codur.parsing.bounded_text import bounded, left_out, listed, plain
from codur.structs import replace
from codur.types import VARIES, Attempt, Check, Difference, Verdict

KEPT_ATTEMPTS = 8
DIFF_CHARS = 8_000
"""A longer diff of an attempt is kept without its last hunks."""
ERROR_CHARS = 4_000
"""Of an attempt."""
FAILED_TEST = "FAIL: "
"""Stands before the name of a test that another runner than pytest tells of."""
_NEXT_TEST = regex(rf"(?<=\n)\n(?={FAILED_TEST}|\S+::\S)")
_COMPILER = regex(
    r"^(?:error(?:\[\w+\])?: (?!could not compile|test failed)|\S+?[:(]\d+[:,]\d+\)? ?:? (?:- )?(?:fatal )?error\b"
    r"|\[ERROR\] \S+\.java:\[|\S+\.java:\d+: error:|\S+\.go:\d+:\d+: ).+",
    re.MULTILINE,
)
_FRAME = regex(r"\n\s*at .*")
_EMPTY = regex(r"(?:name|operator): '\w+'$|\W?\s*$|Expected values to be (?:strictly |loosely )?(?:deep-)?equal:$")
"""Rows without a value, which follows, in what a test says."""
_RAISED = regex(r"[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b")
_EXAMPLE = regex(r"^Expected:\n +(.+)\nGot:\n +(.+)\n\n", re.MULTILINE)
"""In a docstring, of one line."""
_PARAGRAPH = regex(r"\n\s*\n")
TRACEBACK = "Traceback (most recent call last)"
ENDED = "ended: more"  # of what a program may use
_THROWN = regex(r"^ *\^+\s*\n\n(.+)$", re.MULTILINE)
"""What Node.js says of an error that nothing caught, below the place; frames and its own version follow."""
_STARTED_BY = regex(
    r"make(?:\[\d+\])?: \*\*\*|npm (?:ERR!|error)|error Command failed|info Visit|rake aborted!|Command failed with"
    r"|Tasks: TOP|\(See full trace|\[\*\] \d+ fixable|\W*$"
)
"""What make, npm, yarn and rake say below what they started; and what has no word in it."""
_BEGUN = regex(r"^(\S.*: .*)(?:\n[ \t]+\S.*)+\s*\Z", re.MULTILINE)
"""A message whose further lines, to the end, are indented."""
NOT_OK = r"not ok \d+ (?:- )?"
"""What stands before the name of a test that failed, in TAP."""
_NOT_OK = regex(rf"^ *(?!.*# TODO\b){NOT_OK}(.+)", re.MULTILINE)
_MESSAGE = regex(r"^E +[\w.]*(?:Error|Exception|Warning|Exit)\w*: (\S.*?)\s*$", re.MULTILINE)
_DEMANDED = regex(
    r"\b(?:should|must|ha(?:s|ve) to|let|make|so that)\b(?:(?!\bbut\b)[^.,;\n])*?\b(?:rais|throw|say|print|show)\w*"
    r"(?:(?!\bbut\b)[^.;\n])*",
    re.IGNORECASE,
)
"""What is to be raised or said, which is no report of it."""
_TELLING_CHARS = 12  # of what a test raised: a shorter word stands in a request by chance
_HEADLINE_LINES = 4
_OUTPUT_CHARS = 400  # of what a program prints now
_NAMED, _CLIPPED = 3, 120
_SHOWN_ROWS, _SHOWN_TESTS = 10, 4  # on a screen
_NEXT_HUNK = regex(r"^(?=@@ |--- .*\n\+\+\+ )", re.MULTILINE)


def check_text(check: Check | None, failing: int = 0) -> str:
    """What the check demands, in a sentence. `failing`: tests that may go on failing."""
    if check is not None and check.kind == "syntax" and check.parses:
        return f"{', '.join(check.parses)} must parse."
    if check is None or check.kind == "syntax":
        return "No check was found: no expected output, no tests. The files must at least be free of syntax errors."
    if check.kind == "output":
        wanted = check.expected_file or "the output stated in the task"
        return f"`{check.label}` must print exactly what {wanted} says (white space at line ends does not count)."
    if check.kind == "kept_output":
        written = [path for run in check.runs for path, _ in run.written]
        also = f", and write what it writes now to {listed(written, _NAMED)}" if written else ""
        varies = any(VARIES in run.output for run in check.runs)
        but = " (lines that differ from run to run do not count)" if varies else ""
        unless = " Unless the task asks for something else," if check.may_differ else ""
        output = next((run.output for run in check.runs if run.output.strip()), "")
        begins = f" What it prints now:\n{bounded(output, _OUTPUT_CHARS).strip()}" if output else ""
        label = replace(check, beside=None).label
        most = f" It may take {check.within_s:g} s and no more." if check.within_s else ""
        then = f" Then `{check.beside.label}` must pass." if check.beside is not None else ""
        return f"{unless} `{label}` must print exactly what it prints now{but}{also}.{most}{then}{begins}".strip()
    if check.is_among:
        return (
            f"`{check.label}` must pass: {check.entry} was written for this task, runs with the others and fails now."
        )
    if check.text:
        fail = len(check.beside.left_out) if check.beside is not None else 0
        passing = f"what passes now of the project's own tests must still pass ({fail} fail)"
        own = passing if fail else "the project's own tests must pass, as they do now"
        project = f" Then {own}." if check.beside is not None else ""
        return f"`{check.label}` must pass: {check.entry} was written for this task and fails now.{project}"
    if check.left_out:
        few = len(check.left_out) == 1
        others = "1 that fails for another reason" if few else f"{len(check.left_out)} that fail for other reasons"
        return f"All tests must pass but {others}: `{check.label}`."
    if check.kind == "tests":
        rest = f" ({failing} that fail now may not be about the task)" if failing else ""
        return f"{'All tests must pass' if not failing else 'What passes now must still pass'}: `{check.label}`{rest}."
    return f"`{check.label}` must exit with status 0."


def verdict_line(verdict: Verdict | None) -> str:
    """A verdict in one line."""
    if verdict is None:
        return "not run yet"
    if verdict.status != "failed":
        return f"{verdict.status}{': ' + verdict.note if verdict.note else ''}"
    if verdict.timed_out:
        return "failed: it did not end within the time limit"
    if fails_beside_tests(verdict):
        return f"failed with exit status {verdict.exit_status}, though all {verdict.tests_total} tests pass"
    if unloaded := unloaded_text(verdict):
        return f"failed: {unloaded}"
    if verdict.tests_total:
        return f"failed: {verdict.tests_passed} of {verdict.tests_total} tests pass"
    if verdict.error:
        return f"failed: {headline(verdict.error)}"
    if verdict.difference:
        return f"failed at output line {verdict.difference.line}"
    return f"failed with exit status {verdict.exit_status}"


def difference_words(difference: Difference) -> str:
    """The first difference as `line 3: expected …, got …`."""

    def quoted(text: str | None, none: str) -> str:
        return none if text is None else f"`{text if len(text) <= _CLIPPED else f'{text[: _CLIPPED - 1]}…'}`"

    expected, actual = quoted(difference.expected, "no more output"), quoted(difference.actual, "nothing more")
    return f"line {difference.line}: expected {expected}, got {actual}"


def failures_told(verdict: Verdict | None, prompt: str) -> tuple[str, ...]:
    """The tests that failed with the very words that a prompt holds: an issue that quotes what is raised."""
    if verdict is None or verdict.status != "failed" or not verdict.failing:
        return ()
    said = _DEMANDED.sub("", " ".join(prompt.split()))
    told = set[str]()
    for part in _NEXT_TEST.split(verdict.error):
        message = next(iter(_MESSAGE.findall(part)[-1:]), "")
        if len(message) >= _TELLING_CHARS and " ".join(message.split()) in said:
            told.add(part.lstrip().split("\n", 1)[0].rpartition("::")[2].strip())
    return tuple(test for test in verdict.failing if test.rpartition("::")[2] in told)


def unloaded_text(verdict: Verdict) -> str:
    """That no file of pytest's could be loaded, where that is all that is known: how many tests there are is not."""
    none = "pytest" in verdict.check and not verdict.tests_passed and verdict.failing
    unloaded = none and all(name.endswith(".py") for name in verdict.failing)
    return f"{listed(verdict.failing, _NAMED)} cannot be loaded" if unloaded else ""


def fails_beside_tests(verdict: Verdict) -> bool:
    """Whether all tests pass and the command fails: for a linter, a compiler, or what else it runs."""
    failed = verdict.status == "failed" and not verdict.timed_out and bool(verdict.exit_status)
    return failed and bool(verdict.tests_total) and verdict.tests_passed == verdict.tests_total


def headline(error: str) -> str:
    """What is wrong, in a line: what pytest or a compiler marks, or the first failed test with what it says.

    Else what a traceback ends with, or the last line, or the one that it is indented below; empty if there is none.
    """
    rows = [row.strip() for row in error.splitlines() if row.strip()]
    marked = [row[1:].strip() for row in rows if row.startswith("E   ")]
    if marked and TRACEBACK in marked[0]:  # of a program that a test ran: what it ends with says what is wrong
        return next((row for row in reversed(marked) if _RAISED.match(row)), marked[0])
    if marked:
        return marked[0]
    if example := _EXAMPLE.search(error):
        return f"expected {example[1]}, got {example[2]}"
    if error.startswith(FAILED_TEST):
        tests = [test.rstrip("\n").split("\n", 1) for test in _NEXT_TEST.split(error)]
        name, *words = next((test for test in tests if len(test) > 1), tests[0])
        # Of the words the first two paragraphs without frames: the place follows, mostly with its source.
        said = _FRAME.sub("", "\n\n".join(_PARAGRAPH.split("".join(words))[:2])).split("\n")
        said = [row for row in said if not _EMPTY.match(row.strip())][:_HEADLINE_LINES] or [""]
        if said[0].startswith(TRACEBACK):
            last = words[0].rpartition(TRACEBACK)[2].split("\n")[1:]
            said = [next((row for row in last if row[:1].strip()), last[-1])]
        return " ".join(f"{name.removeprefix(FAILED_TEST)}: {' '.join(said)}".split())
    if TRACEBACK in error:  # what ran the program says more after it
        last = error.rpartition(TRACEBACK)[2].split("\n")[1:]
        return next((row.strip() for row in last if row[:1].strip()), rows[-1])
    if named := _NOT_OK.search(error):
        return named[1].strip()
    begin = compiler_error(error)
    if begin >= 0:
        return error[begin:].split("\n", 1)[0].strip()
    if rows and rows[-1].startswith("Node.js v") and (thrown := _THROWN.search(error)):
        return thrown[1]
    return _last(error, rows)


def _last(error: str, rows: Sequence[str]) -> str:
    own = "\n".join(row for row in error.split("\n") if not row.strip() or not _STARTED_BY.match(row.strip()))
    begun = _BEGUN.search(own)
    last = next((row for row in reversed(rows) if not _STARTED_BY.match(row)), rows[-1] if rows else "")
    return begun[1] if begun is not None else last


def compiler_error(text: str) -> int:
    """Where the first error of a compiler stands in an output; -1 if there is none."""
    found = None if TRACEBACK in text else _COMPILER.search(text)
    return found.start() if found else -1


def verdict_text(verdict: Verdict, *, limit: int = 2000) -> str:
    """A failed verdict in full: error, first difference, expected and actual output, each cut to `limit` characters."""
    parts = [f"Result: {verdict_line(verdict)}"]
    if verdict.error:
        parts.append(f"Error:\n{error_text(verdict.error, limit)}")
    # Every line would be a difference, and the error says it all.
    silent_crash = bool(verdict.error) and not verdict.actual.strip()
    if verdict.difference and not silent_crash:
        expected, actual = verdict.difference.expected, verdict.difference.actual
        parts.append(
            f"First difference, output line {verdict.difference.line}:\n"
            f"  expected: {'(no such line)' if expected is None else expected}\n"
            f"  actual:   {'(no such line)' if actual is None else actual}"
        )
    if verdict.expected:
        parts.append(f"Expected output:\n{bounded(verdict.expected, limit).rstrip()}")
    if verdict.actual or (verdict.expected and not silent_crash):
        parts.append(f"Actual output:\n{bounded(verdict.actual, limit).rstrip() or '(nothing)'}")
    return "\n\n".join(parts)


def error_text(error: str, limit: int) -> str:
    """An error in at most about `limit` characters: the first failing tests as wholes, of any other text its end."""
    error = plain(error).strip()
    blocks = [block.rstrip("\n") for block in _NEXT_TEST.split(error)]
    if len(error) <= limit or len(blocks) == 1:
        return error if len(error) <= limit else f"{left_out(error[:-limit])}\n{error[-limit:].lstrip()}"
    kept = _first(blocks, limit)
    left = len(blocks) - len(kept)
    return "\n\n".join([*kept, *([f"… [{left} more failing tests left out]"] if left else [])])


def first_failures(error: str, first: Collection[str] = ()) -> list[str]:
    """Rows of an error for a person: of some tests that failed name, place and words; of any other text the end.

    Args:
        first: names of tests that are told before others.
    """
    before, *tests = _NEXT_TEST.split(f"\n\n{error.strip()}")
    if before.strip() or not tests:
        return error.rstrip("\n").split("\n")[-_SHOWN_ROWS:]
    rows: list[str] = []
    tests.sort(key=lambda test: not any(name in test.split("\n", 1)[0] for name in first))
    for test in tests[:_SHOWN_TESTS]:
        name, *words = (row for row in test.rstrip("\n").split("\n") if not _EMPTY.match(row.strip()))
        at = next((n for n, row in enumerate(words) if row.startswith("E ") or _RAISED.match(row)), 0)
        rows += [name, *words[max(0, at - 2) :][: _SHOWN_ROWS - 2 if not rows else 3 if at else 6]]
    return rows


def attempts_text(
    attempts: Sequence[Attempt],
    *,
    diff_chars: int = DIFF_CHARS,
    error_chars: int = 1500,
    now: Verdict | None = None,
    on_disk: str | None = None,
) -> str:
    """What was tried before, and what of it is on disk: the last attempts with their diffs; nothing is told twice.

    Args:
        diff_chars: of the last diff; earlier ones get a quarter.
        now: the verdict that the request tells beside this.
        on_disk: how the files differ now from how they were found, as `diff_text` gives it; None if it is not known.
    """
    lines: list[str] = []
    # The same text twice costs room that a file could have.
    told = {now.signature: "the check fails as it does now, see above"} if now is not None and now.signature else {}
    edits: dict[str, int] = {}
    for attempt in attempts[-KEPT_ATTEMPTS:]:
        same = edits.setdefault(attempt.edit, attempt.number) if attempt.edit else attempt.number
        state = "" if on_disk is None or not attempt.diff else ", kept" if attempt.diff == on_disk else ", put back"
        lines.append(f"Attempt {attempt.number} ({attempt.by}{state}): {attempt.summary}")
        if same != attempt.number:
            lines.append(f"The same change as attempt {same}.")
        elif attempt.diff and diff_chars:
            lines.append(diff_text(attempt.diff, diff_chars if attempt is attempts[-1] else diff_chars // 4))
        outcome = told.get(attempt.signature) or error_text(attempt.error, error_chars) or "the check failed"
        if state == ", kept" and now is not None and attempt.signature == now.signature:
            outcome = "more of the check passes than before; what still fails is told above"
        lines.append(f"Outcome: {outcome}")
        if attempt.others and diff_chars and attempt is attempts[-1]:
            lines.append(
                f"Other answers to that request, all put back:\n{bounded(attempt.others, diff_chars).rstrip()}"
            )
        told.setdefault(attempt.signature, f"same failure as attempt {attempt.number}")
    if lines and on_disk is not None:
        kept = [attempt for attempt in attempts if attempt.diff and attempt.diff == on_disk]
        by = f"with the change of attempt {kept[-1].number}" if kept else "changed" if on_disk else "as they were found"
        lines.insert(0, f"On disk now, and shown above: the files {by}.")
    return "\n".join(lines)


def diff_text(diff: str, limit: int = DIFF_CHARS) -> str:
    """The first hunks of a diff, as wholes, in about `limit` characters."""
    if len(diff) <= limit:
        return diff.rstrip("\n")
    hunks = _NEXT_HUNK.split(diff)
    kept = _first(hunks, limit)
    left = sum(hunk.startswith("@@") for hunk in hunks[len(kept) :])
    return "".join(kept).rstrip("\n") + (f"\n… [{left} more hunks left out] …" if left else "")


def _first(texts: Sequence[str], limit: int) -> list[str]:
    """As many whole texts as fit, but the first in any case, cut if need be."""
    kept = [bounded(texts[0], limit).rstrip()]
    for text in texts[1:]:
        if sum(map(len, kept)) + len(text) > limit:
            break
        kept.append(text)
    return kept

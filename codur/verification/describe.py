"""Checks, verdicts and attempts as short texts for a model."""

from __future__ import annotations

from collections.abc import Sequence

from codur.types import Attempt, Check, Verdict

KEPT_ATTEMPTS = 8


def check_text(check: Check | None) -> str:
    """What the check demands, in a sentence."""
    if check is None or check.kind == "syntax":
        return "No check was found: no expected output, no tests. The files must at least be free of syntax errors."
    if check.kind == "output":
        wanted = check.expected_file or "the output stated in the task"
        return f"`{check.label}` must print exactly what {wanted} says (white space at line ends does not count)."
    if check.text:
        project = " Then the project's own tests must pass, as they do now." if check.beside is not None else ""
        return f"`{check.label}` must pass: {check.entry} was written for this task and fails now.{project}"
    if check.kind == "tests":
        return f"All tests must pass: `{check.label}`."
    return f"`{check.label}` must exit with status 0."


def verdict_line(verdict: Verdict | None) -> str:
    """A verdict in one line."""
    if verdict is None:
        return "not run yet"
    if verdict.status != "failed":
        return f"{verdict.status}{': ' + verdict.note if verdict.note else ''}"
    if verdict.timed_out:
        return "failed: it did not end within the time limit"
    if verdict.tests_total:
        return f"failed: {verdict.tests_passed} of {verdict.tests_total} tests pass"
    if verdict.error:
        return f"failed: {verdict.error.strip().splitlines()[-1]}"
    if verdict.difference:
        return f"failed at output line {verdict.difference.line}"
    return f"failed with exit status {verdict.exit_status}"


def verdict_text(verdict: Verdict, *, limit: int = 2000) -> str:
    """A failed verdict in full: error, first difference, expected and actual output, each cut to `limit` characters."""
    parts = [f"Result: {verdict_line(verdict)}"]
    if verdict.error:
        parts.append(f"Error:\n{_tail(verdict.error.strip(), limit)}")
    silent_crash = bool(verdict.error) and not verdict.actual.strip()
    if verdict.difference and not silent_crash:
        expected, actual = verdict.difference.expected, verdict.difference.actual
        parts.append(
            f"First difference, output line {verdict.difference.line}:\n"
            f"  expected: {'(no such line)' if expected is None else expected}\n"
            f"  actual:   {'(no such line)' if actual is None else actual}"
        )
    if verdict.expected:
        parts.append(f"Expected output:\n{_cut(verdict.expected, limit)}")
    if verdict.actual or (verdict.expected and not silent_crash):
        parts.append(f"Actual output:\n{_cut(verdict.actual, limit) or '(nothing)'}")
    return "\n\n".join(parts)


def attempts_text(attempts: Sequence[Attempt], *, diff_chars: int = 1500, error_chars: int = 1500) -> str:
    """What was tried before: the last attempts with their diffs; an equal failure is told once."""
    lines: list[str] = []
    told: dict[str, int] = {}
    for attempt in attempts[-KEPT_ATTEMPTS:]:
        head = f"Attempt {attempt.number} ({attempt.by}): {attempt.summary}"
        seen = told.get(attempt.signature)
        result = (
            f"same failure as attempt {seen}"
            if seen and attempt.signature
            else _tail(attempt.error.strip(), error_chars)
        )
        told.setdefault(attempt.signature, attempt.number)
        lines.append(f"{head}\nOutcome: {result or 'the check failed'}")
        if attempt.diff and diff_chars:
            lines.append(_cut(attempt.diff, diff_chars))
    return "\n".join(lines)


def _cut(text: str, limit: int) -> str:
    """A long text's head and tail, with a note of how much is left out between them."""
    if len(text) <= limit:
        return text.rstrip()
    head, tail = limit * 2 // 3, len(text) - limit // 3
    return f"{text[:head].rstrip()}\n{_left_out(text[head:tail])}\n{text[tail:].strip()}"


def _tail(text: str, limit: int) -> str:
    """The end of a long text, where an error says what it is, with a note of how much is left out before it."""
    return text if len(text) <= limit else f"{_left_out(text[:-limit])}\n{text[-limit:].lstrip()}"


def _left_out(text: str) -> str:
    lines = text.strip("\n").count("\n") + 1
    return f"… [{lines} lines left out] …" if lines > 1 else f"… [{len(text)} characters left out] …"

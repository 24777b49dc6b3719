"""Verdicts in words. No sentence here says more than the verdict does."""

from codur import checks
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.types import RunResult, Verdict
from codur.ui.styled_lines import Line, Style, clip, count, line

_NOTES = {
    "flaky": "its result differs from run to run",
    "tampered": "the output is taken from what is expected instead of being computed",
    "no_check": "no check was found",
}
_NAMES_FILES = regex(r"\s[\w./-]+(?:\.\w+|::\S+)(?:\s|$)")
_SEVERAL, _NAMED = 2, 3
"""So many of many tests are told by their names, and so many are named."""
_STILL = "what passed before still passes"


def cause(verdict: Verdict) -> str:
    """Give why a check did not pass, in one line."""
    parts = []
    if verdict.timed_out:
        parts.append(
            f"it did not end within {verdict.duration_s:.0f} s" if verdict.duration_s >= 1 else "it did not end"
        )
    if checks.describe.fails_beside_tests(verdict):
        parts.append(f"its tests pass ({verdict.tests_total}), but it ends with status {verdict.exit_status}")
    elif unloaded := checks.describe.unloaded_text(verdict):
        parts.append(unloaded)
    elif verdict.tests_total is not None:
        parts.append(f"{verdict.tests_passed or 0} of {count(verdict.tests_total, 'test')} passed")
    if verdict.difference is not None:
        parts.append(checks.describe.difference_words(verdict.difference))
    said = checks.describe.headline(verdict.error)
    # The last line of what did not end is mostly what it said before it came to that.
    if said and not (verdict.timed_out and verdict.error.rstrip().endswith(said)):
        parts.append(clip(said))
    if not parts and verdict.exit_status:
        parts.append(f"exit status {verdict.exit_status}")
    if verdict.note and clip(verdict.note) not in parts:
        parts.append(verdict.note)
    return "; ".join(parts) or "no reason was given"


def check_line(label: str, verdict: Verdict, before: Verdict | None = None) -> Line:
    """Give the line for a check that has just run; the label says when: `before`, `attempt 2`.

    Args:
        before: what it said before anything was changed.
    """
    words, style = _check_words(label, verdict, before)
    # Of some of the tests it is said which, as they are other ones from task to task.
    some = label == "before" and verdict.tests_total is not None and _NAMES_FILES.search(verdict.check)
    return line((f"{label}: ", "dim"), (f"{words} ({clip(verdict.check)})" if some else words, style))


def _check_words(label: str, verdict: Verdict, before: Verdict | None) -> tuple[str, Style]:
    match verdict.status:
        case "passed":
            rest = f"; {verdict.note}" if verdict.unfit else ""
            already = f"{_all_pass(verdict)}{rest}"
            return (f"green: {already}", "warn") if label == "before" else ("green", "good")
        case "no_check":
            return f"{'not the same' if verdict.expected else 'nothing to check'}: {_why(verdict)}", "warn"
        case "failed" if words := _failing_words(verdict, before):
            return words, "bad"
        case "failed":
            return f"red: {_why(verdict)}", "bad"
        case status:
            return f"{status}: {_why(verdict)}", "bad"


def _all_pass(verdict: Verdict) -> str:
    total = verdict.tests_total
    return f"{count(total, 'test')} {'passes' if total == 1 else 'pass'}" if total else "it passes"


def _failing_words(verdict: Verdict, before: Verdict | None) -> str:
    """Which tests fail, where they fail as before, or are some of many: what one of them says would mislead there."""
    failing, total = verdict.failing, verdict.tests_total or 0
    if verdict.timed_out or not failing:
        return ""
    headline = checks.describe.headline
    if before is not None and total < (before.tests_total or 0) and checks.describe.fails_beside_tests(verdict):
        return f"red: only {total} of {count(before.tests_total or 0, 'test')} ran; {clip(headline(verdict.error))}"
    fail = f"{len(failing)} of {count(total, 'test')} {'fails' if len(failing) == 1 else 'fail'}"
    same = before is not None and set(failing) == set(before.failing)
    # Fewer run than before where only those that failed are run first, which the note says.
    whole = bool(verdict.note) or (before is not None and total >= (before.tests_total or 0))
    if before is not None and same and whole and headline(verdict.error) == headline(before.error):
        return "; ".join(filter(None, (f"red, as before: {fail}", verdict.note)))
    if before is None and _SEVERAL <= len(failing) < total / 2:
        names = list(dict.fromkeys(map(checks.entry.bare_name, failing)))
        # Cases of one test have one name, so that how many names are left is not how many tests.
        others = f"{', '.join(names[:_NAMED])} and others" if _NAMED < len(names) < len(failing) else ""
        return f"red: {fail}: {others or listed(names, _NAMED)}"
    return ""


def _why(verdict: Verdict) -> str:
    """What speaks against a change, or for nothing."""
    return cause(verdict) if verdict.status == "failed" else verdict.note or _NOTES[verdict.status]


def verdict_line(result: RunResult) -> Line | None:
    """Give the verdict of a whole run, or None if it has none to give (nothing checked, nothing changed).

    When a run ended before anything could be tried, the verdict from before is the one that stands.
    """
    verdict = result.verdict
    if verdict is None and result.outcome != "done":
        verdict = result.before
    if verdict is None:
        return line(("nothing was checked", "warn")) if _changed(result) else None
    match verdict.status:
        case "passed":
            return _passed_line(result, verdict)
        case "failed" if result.outcome == "done" and result.before is not None:
            return _harmless_line(result, verdict, result.before)
        # It ran once where both are the same: nothing is as before.
        case "failed" if words := _failing_words(verdict, None if verdict == result.before else result.before):
            return line(("✘ checked: ", "bad"), f"{_command(verdict)} is {words}")
        case "failed":
            return line(("✘ checked: ", "bad"), f"{_command(verdict)} fails: {_why(verdict)}")
        case "no_check":
            head = "not the same as before: " if verdict.expected else "nothing to check: "
            return line((head, "warn"), _why(verdict))
        case status:
            return line((f"✘ {status}: ", "bad"), f"{_command(verdict)}: {_why(verdict)}")


def _harmless_line(result: RunResult, verdict: Verdict, before: Verdict) -> Line:
    """What is said of a change that is done though tests fail as they did before."""
    mended = [test for test in before.failing if test not in verdict.failing]
    left = f"({count(len(verdict.failing), 'test')} failing as before)"
    if not verdict.tests_passed:
        text = f"no test of {_command(verdict)} passes, before and after {left}"
        return line(("nothing could be checked", "warn"), f": {text}")
    if mended:
        return line(("✔ mended: ", "good"), f"{listed(mended, 3)}; {_command(verdict)} {left}")
    if result.task_type == "refactor":
        return line(("✔ checked: ", "good"), f"{_STILL}: {_command(verdict)} {left}")
    return line(
        ("nothing broke: ", "warn"), f"{_STILL}: {_command(verdict)} {left}; no test shows that the change does it"
    )


def proven(result: RunResult) -> bool:
    """Whether the verdict speaks for the change: the check passes, and did not before, or not without it."""
    verdict, before = result.verdict, result.before
    if verdict is None or not verdict.passed:
        return False
    return verdict.by_new_tests or before is None or before.status not in ("passed", "flaky")


def _changed(result: RunResult) -> bool:
    return bool(result.changed_files or result.diff)


def _passed_line(result: RunResult, verdict: Verdict) -> Line:
    before = result.before
    command = _command(verdict)
    if not _changed(result) and (result.verdict is None or (before is not None and before.passed)):
        return line(("the check passed before anything was changed", "warn"), f": {command}; nothing was changed")
    fewer = before is not None and 0 < (verdict.tests_total or 0) < (before.tests_total or 0)
    if before is not None and before.passed and result.task_type == "refactor" and not fewer:
        told = f" ({verdict.note})" if verdict.note and verdict.tests_total is None else ""
        if "not reached" in told:
            return line(("nothing broke: ", "warn"), f"{_STILL}: {command}{told}")
        return line(("✔ checked: ", "good"), f"{_STILL}: {_tests_words(verdict, before)}{command}{told}")
    if before is not None and before.passed and verdict.by_new_tests:
        told = f"{_tests_words(verdict, before)}{command}; without the change the tests that came with it fail"
        return line(("✔ checked: ", "good"), told)
    if before is not None and before.passed:
        return line(("✔ still passes", "good"), f": {_tests_words(verdict, before)}{command}")
    if before is not None and before.status == "flaky":
        words = "the check passes, but its result differed from run to run before any change; so it shows little"
        return line((words, "warn"), f": {command}")
    unseen = " (it was not run before the change)" if before is None and _changed(result) else ""
    if verdict.excused and verdict.tests_passed:  # why is told where the check ran first
        left = f"{len(verdict.excused)} {'fails' if len(verdict.excused) == 1 else 'fail'} as before"
        passed = f"{count(verdict.tests_passed, 'test')} {'passes' if verdict.tests_passed == 1 else 'pass'}"
        return line(("✔ checked: ", "good"), f"{command}: {passed}, {left}{unseen}")
    return line(("✔ checked: ", "good"), f"{command} {_achievement(verdict)}{unseen}")


def _tests_words(verdict: Verdict, before: Verdict) -> str:
    """How many tests pass, and how many there were; empty where they are not counted."""
    if verdict.tests_total is None:
        return ""
    earlier = "" if before.tests_total is None else f" ({before.tests_passed or 0} before)"
    return f"{count(verdict.tests_passed or 0, 'test')}{earlier}, "


def _achievement(verdict: Verdict) -> str:
    if verdict.tests_total is not None:
        words = f"passes: {verdict.tests_passed or 0} of {count(verdict.tests_total, 'test')}"
        return f"{words} ({verdict.note})" if verdict.note else words
    words = "prints what is expected" if verdict.expected else "passes"
    return f"{words} ({verdict.note})" if verdict.note else words


def _command(verdict: Verdict) -> str:
    return f"`{clip(verdict.check)}`" if verdict.check else "the check"

"""What a failed step leaves behind, and what may go on failing. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from posixpath import basename, splitext
from typing import Literal

from codur import checks
from codur.checks import challenge_file
from codur.checks.describe import ERROR_CHARS, error_text, failures_told
from codur.checks.entry import bare_name, subject_of
from codur.lazy import regex
from codur.nodes.run_state import BestState, RunState
from codur.planning.plans.first_plan import says_more
from codur.structs import Struct, replace
from codur.types import Attempt, StepRecord, Verdict

_NUMBERS = regex(r"\d+")
_LINES = regex(r":\d+(?:-\d+)?(?=\]?\Z)")
_WORD = regex(r"\w+")
_NAMES = regex(r"[a-z0-9]{3,}")
_SUFFIX = 4  # letters of a file's, at most: `.json`
_IDENTIFIERS = regex(r"\b(?:[A-Za-z]\w*\.)*[A-Za-z]+_\w+|\b(?:[A-Za-z]\w*\.)+[A-Za-z]\w*\b(?!/)")
_PLACES = regex(r"\b(?:in|into|to)\s+[`'\"@]?(?:[\w-]+/)*(?:test_\w+|\w+_(?:tests?|spec))(?:\.\w+)?\b(?!::)")
"""Where tests are to go: "tests for both into page_tests" is not about a page."""
_TESTS = r"\b(?:(?:py)?tests?|suite|test_\w+(?:\.py)?)\b(?! (?:job|step|stage|workflow|matrix)s?\b)"
_PASS = r"\b(?:pass(?:es|ed|ing)?|green)\b"
_TESTS_PASS = regex(rf"{_TESTS}[^.;\n]*{_PASS}|{_PASS}[^.;\n]*{_TESTS}", re.IGNORECASE)
_AT_LARGE = r"(?:tests|suite|everything|all(?=\W*\Z))\b"  # "fix all 3" is about what was told
_FOR_TESTS = regex(
    rf"\b(?:fix|repair|mend|solve|heal|correct|debug)\s+(?:up\s+)?(?:(?:all|the|these|those|my|our|failing|broken|red"
    rf"|remaining|other|unit|of)\s+){{0,4}}(?:tests?|failures?|{_AT_LARGE})"
    rf"|\b(?:(?:py|unit)?tests?|unittest|suite|everything)\b[^.,;:\n]{{0,40}}\b(?:fail\w*|red|broken|breaks?|crash\w*|work\w*|hang\w*|stuck"
    r"|never\s+(?:end|finish|stop|return|come|complete|pass)\w*|rot|fehl\w*|kaputt|fall[ao]n?|roj[oa]s?|échou\w*|rouges?)\b"
    r"|\b(?:failing|broken|red)\s+(?:\w+\s+)?(?:tests?|suite)\b",
    re.IGNORECASE,
)
"""What asks for tests to pass, and not for tests of what it asks for."""
_OWN = regex(r"[A-Z]|_")
"""In the name of a class that no everyday word is."""
_OTHER_TESTS = regex(
    r"\b(?:tests?|suite|green|passes|pass|all|every\w*|each|others?|rest|whole|too|example|like|such as|e\.g|start\w*"
    r"|begin\w*|first|etc|and so on)\b",
    re.IGNORECASE,
)
"""Beside the names of tests, what may mean others as well."""
_SENTENCES = regex(r"(?<=[.,;!?\n])\s+")
_FAILED_BEFORE = regex(r"\b(?:tests?|\d+|those)\b[^.;]*\b(?:fail(?:ed|ing)?|red|broken)\b", re.IGNORECASE)
_LEFT = regex(
    r"(?<!not )(?<!n't )(?<!never )\b(?:ignore|disregard)\s+(?:(?:all|the|these|those|other|old|\d+)\s+){0,3}"
    r"(?:failing|red|broken)\s+(?:tests?|ones)\b"
    r"|\b(?:failing|red|broken)\s+(?:tests?|ones)\s+(?:(?:is|are)\s+not\s+(?:your|our)\s+(?:concern|problem|business)"
    r"|(?:do not|don'?t|need not)\s+(?:count|matter))\b",
    re.IGNORECASE,
)
_LEFT_TOO = regex(
    r"^\W*(?:so\s+|please\s+|just\s+)*(?:ignore|disregard|(?:do not|don'?t|dont)\s+count)\s+(?:them|those|these)\b",
    re.IGNORECASE,
)
"""What says so of the tests of the sentence before."""
"""What says of failing tests that they do not count."""
_KINDS_OF_TESTS = (
    r"(?:an?|the|some|any|more|new|few|first|one|two|three|several|many|missing|further|additional|other|better|good|own"
    r"|basic|simple|small|short|thorough|proper|automated|unit|unittest|pytest|regression|integration|functional"
    r"|acceptance|parametri[sz]ed|property-based|end-to-end|e2e|smoke|edge-case|failing|negative|set of|suite of)"
)
"""What stands before `tests` where those of the program are meant, and no function that tests something."""
_TESTS_WANTED = regex(
    r"^\W*(?:please |can you |could you )?(?:add|write|create|extend|i need|we need) "
    rf"(?:{_KINDS_OF_TESTS} ){{0,4}}?tests?\b\s*(?=$|[.,:;]|(?:for|that|which|of|covering|about|in|to)\b)",
    re.IGNORECASE,
)
_ELSE_WANTED = regex(r"\b(?:and|then)\W+(?:\w+ )?(?:fix|implement|change|mend|make|add|rename|remove)\b", re.IGNORECASE)
_PLAIN = frozenset({"test", "should", "the", "and", "for", "with", "not", "are", "has", "have", "that", "this", "new"})
_SHORT_WORDS = 12
_TITLE_CHARS = 300  # in which a task says what it is about; in a long one each test would find a word of its name


class Judged(Struct):
    """What the check said of a step."""

    # the check's verdict on the state that the next attempt starts from, or on the passing state
    verdict: Verdict | None
    last: Verdict | None  # the verdict on the attempt itself
    attempt: Attempt | None  # the failed attempt; None if there is nothing to do better
    gained: bool = False  # the attempt came further than where it started from
    apart: bool = False  # the best one mends all tests that run what it changes
    # the attempt fails in nothing but what failed before, and the task is not about that; whether its agent told so
    harmless: Literal["", "told", "untold"] = ""
    lacks: Sequence[str] = ()  # modules that the attempt imports and that are not installed
    excused: str = ""  # why what still fails does not count, as the agent said and what was run confirms


def finding(
    record: StepRecord, verdict: Verdict | None, change: tuple[str, str], state: RunState, best: BestState
) -> Judged:
    """A failed attempt, which may have come further.

    Args:
        verdict: what the check said; None if the step itself failed, so that it was not run.
        change: its name, and its diff as models may see it.
    """
    if verdict is None:
        present = state["verdict"]
        progress = present.progress if present else 0.0
        # Without numbers: the same mistake at another line is the same failure.
        attempt = _attempt(record, state, f"edit: {_NUMBERS.sub('#', record.error)}", progress, record.error)
        return Judged(verdict=present, last=present, attempt=attempt)
    error = verdict.note if verdict.status in {"tampered", "no_check"} else verdict.error or _difference(verdict)
    if verdict.timed_out and verdict.error:
        error = f"It did not end within {verdict.duration_s:.0f} s, and was stopped:\n{error}"
    signature = verdict.signature or f"{verdict.status}: {verdict.note}"
    progress = verdict.progress if verdict.status == "failed" else 0.0
    attempt = replace(_attempt(record, state, signature, progress, error), edit=change[0], diff=change[1])
    # Further than the start, not than the best: after a clean start the best may be out of reach for a while.
    gained = verdict.status == "failed" and verdict.progress > best.start_progress
    start = verdict if gained else state["verdict"] or verdict
    return Judged(verdict=start, last=verdict, attempt=attempt, gained=gained)


def may_fail(state: RunState) -> tuple[str, ...]:
    """The tests that fail now and may go on to, if what passed still passes.

    Those of a refactoring, those of which the agent says that they are not about the task, and those that the user does
    not name where he names some.
    """
    before, found = state["before"], state["discovery"]
    if before is None or before.status != "failed":
        return ()
    may = found.rest_may_fail or (found.task_type == "refactor" and not state["task"].check_is_goal)
    named = any(bare_name(test) in state["task"].prompt for test in before.failing)
    if may or (state["making"] != "made" and not named and leaves_tests(state["task"].prompt)):
        return before.failing
    meant = () if _is_judged(state) else _named(before.failing, state["task"].prompt)
    return tuple(test for test in before.failing if test not in meant) if meant else ()


def _named(failing: Sequence[str], prompt: str) -> tuple[str, ...]:
    """Those of the tests that a task names, by their own name or by that of their class, if it speaks of no others."""
    if "\n" in prompt.strip():  # what is pasted tells of more than is meant
        return ()
    known = {test: (bare_name(test), *filter(_OWN.search, test.split("::")[1:-1])) for test in failing}
    said = set(_WORD.findall(prompt))
    named = {name for names in known.values() for name in names if name in said}
    names = "|".join(map(re.escape, sorted(named)))
    rest = re.sub(rf"\b(?:{names})\b(?: (?:unit ?)?(?:tests?|class|suite))?", " ", prompt)
    if not named or _OTHER_TESTS.search(rest):
        return ()
    return tuple(test for test, own in known.items() if not named.isdisjoint(own))


def _is_judged(state: RunState) -> bool:
    """Whether a check was named for the task, made for it, or is what a challenge is judged by."""
    task, check = state["task"], state["discovery"].check
    named = task.check_is_goal or task.check_command is not None or task.expect_file is not None
    judged = check is not None and challenge_file.NAME in check.protected
    return named or state["making"] == "made" or judged


def is_about_tests(failing: Sequence[str], state: RunState) -> bool:
    """Whether a task asks for tests to pass: it names one that fails, or tells of no fault but that they do."""
    task, found = state["task"], state["discovery"]
    if _is_judged(state) or _TESTS_PASS.search(task.prompt):
        return True
    said = set(_WORD.findall(task.prompt))
    if any(bare_name(test) in said for test in failing):
        return True
    more = says_more(task.prompt, found)
    return found.task_type == "code_fix" and (speaks_for_tests(task.prompt) or not more)


def speaks_for_tests(prompt: str) -> bool:
    """Whether tests at large are to pass, and not to be written for what is asked for."""
    return bool(_FOR_TESTS.search(prompt)) and not leaves_tests(prompt)


def leaves_tests(prompt: str) -> bool:
    """Whether the user says of failing tests that they do not count."""
    said = _SENTENCES.split(prompt)
    # "Those 7 failed before, … Ignore them."
    before = (_FAILED_BEFORE.search(" ".join(said[:place])) for place in range(len(said)))
    too = any(known and _LEFT_TOO.match(sentence) for known, sentence in zip(before, said, strict=True))
    return too or bool(_LEFT.search(prompt))


def asks_for_tests(prompt: str) -> bool:
    """Whether a task is to write tests, and nothing else."""
    said = " ".join(prompt.split())
    wanted = _TESTS_WANTED.match(said) and not _ELSE_WANTED.search(said)
    return bool(wanted) or checks.stated_output.asks_tests_elsewhere(said, alone=True)


def others_fail(state: RunState) -> bool:
    """Whether tests fail, before anything is changed, none of which the task asks for, is called after or named with.

    Two words of a long report stand in the names of some test or other, those of a short one seldom by chance. Where a
    model can be asked for a test, it is shown what fails and may say that this is it.
    """
    before, found = state["before"], state["discovery"]
    failing = before.failing if before is not None and before.status == "failed" else ()
    said = set(_WORD.findall(state["task"].prompt))
    named = {splitext(basename(path))[0] for path in found.files if path not in found.guessed} & said
    of_named = any(subject_of(test.partition("::")[0]) in named for test in failing)
    prompt = state["task"].prompt
    spoken = len(prompt.split()) <= _SHORT_WORDS and spoken_of(failing, prompt)
    told = bool(failures_told(before, prompt))
    return bool(failing) and not (of_named or spoken or told or is_specified(failing, state))


def some_may_be_apart(state: RunState) -> bool:
    """Whether several tests fail before anything is changed, and the task does not ask for all of them."""
    before = state["before"]
    failing = before.failing if before is not None and before.status == "failed" else ()
    return len(failing) > 1 and not is_about_tests(failing, state)


def near_by_name(state: RunState) -> bool:
    """Whether a test that fails before anything is changed may be about the task, if only by a word of its name."""
    failing, said = state["before"].failing if state["before"] is not None else (), _said(state["task"].prompt)
    return not others_fail(state) or any(said & _names_of(test) for test in failing)


def rest_may_be_apart(state: RunState) -> bool:
    """Whether what fails may have nothing to do with the task, so that a model can say what of it has.

    Of something new no test need fail, whatever the failing ones are called.
    """
    before, new = state["before"], state["discovery"].task_type == "code_generation"
    return others_fail(state) or (new and before is not None and not is_about_tests(before.failing, state))


def is_specified(failing: Sequence[str], state: RunState) -> bool:
    """Whether a failing test may be what says when the task is done, so that no agent can leave it."""
    return is_about_tests(failing, state) or any(is_called_after(test, state["task"].prompt) for test in failing)


def is_called_after(test: str, prompt: str) -> bool:
    """Whether half of the words of a test's name, or more, are among those that a task begins with."""
    name = _names_of(test)
    begins = prompt[:_TITLE_CHARS]
    return bool(spoken_of((test,), begins)) and 2 * len(name & _said(begins)) >= len(name)


def spoken_of(tests: Sequence[str], prompt: str) -> tuple[str, ...]:
    """Those of the tests in whose names, or files' names, a name stands that the prompt writes as code, or else two of
    its words.

    One word, such as "page" or "build", stands in many tasks of a project, unless it is all that a test is called.
    """
    said, written = _said(prompt), _written(prompt)

    def is_meant(test: str) -> bool:
        about, name = _about(test), _names_of(test)
        if written:
            return any(each <= about for each in written)
        return len(said & about) >= 2 or bool(name and name <= said)

    return tuple(filter(is_meant, tests))


def _about(test: str) -> set[str]:
    """The words of a test's name, and of what its file is called after."""
    return _names_of(test) | _names_in(subject_of(test.partition("::")[0]) if "::" in test else "")


def _said(prompt: str) -> set[str]:
    """What a prompt speaks of: the names that stand in it as in a program, if there are any, else its words."""
    # "guess_filename should take Windows paths" is not about a test of paths.
    return set().union(*_written(prompt)) or _names_in(_PLACES.sub(" ", prompt))


def _written(prompt: str) -> list[set[str]]:
    """The words of each name that stands in a prompt as in a program."""
    last = [name.rpartition(".")[2] for name in _IDENTIFIERS.findall(_PLACES.sub(" ", prompt))]
    return list(filter(None, (_names_in(name) for name in last if len(name) > _SUFFIX)))


def _names_of(test: str) -> set[str]:
    return _names_in(bare_name(test))


def _names_in(text: str) -> set[str]:
    return {word.removesuffix("s") for word in _NAMES.findall(text.casefold())} - _PLAIN


def keeps(verdict: Verdict | None, state: RunState) -> bool:
    """Whether a verdict fails in nothing but what may fail, and in no more of its tests than before."""
    may = may_fail(state)
    return bool(may) and is_harmless(verdict, state["before"]) and set(verdict.failing if verdict else ()).issubset(may)


def as_named_before(verdict: Verdict, before: Verdict | None, changed: Sequence[str]) -> Verdict:
    """The verdict, where tests that are called after lines of a file, as examples in documents are, have the names that
    they had before these lines moved: that file was changed.
    """
    gone = dict[str, list[str]]()
    for test in before.failing if before is not None else ():
        if test not in verdict.failing and _LINES.search(test) and any(basename(path) in test for path in changed):
            gone.setdefault(_LINES.sub("", test), []).append(test)
    if before is None or not gone:
        return verdict
    moved = Counter(_LINES.sub("", test) for test in verdict.failing if test not in before.failing)
    known = {name: iter(tests) for name, tests in gone.items() if moved[name] <= len(tests)}
    failing = (
        next(known.get(_LINES.sub("", test), iter(())), test) if test not in before.failing else test
        for test in verdict.failing
    )
    return replace(verdict, failing=tuple(failing))


def is_harmless(verdict: Verdict | None, before: Verdict | None) -> bool:
    """Whether a verdict fails in nothing but what failed before, and no fewer tests pass."""
    if verdict is None or before is None or verdict.status != "failed" or verdict.timed_out or not verdict.failing:
        return False
    return set(verdict.failing) <= set(before.failing) and (verdict.tests_passed or 0) >= (before.tests_passed or 0)


def _attempt(record: StepRecord, state: RunState, signature: str, progress: float, error: str) -> Attempt:
    return Attempt(
        number=len(state["attempts"]) + 1,
        by=record.capability or record.node,
        # What another program failed of, which nothing else tells.
        summary=record.summary or (record.error if record.node == "execute" else "") or "no edit",
        signature=signature,
        progress=progress,
        error=error_text(error, ERROR_CHARS),
        others=record.others,
    )


def _difference(verdict: Verdict) -> str:
    if verdict.difference is None:
        return "the program did not end within the time limit" if verdict.timed_out else ""
    expected, actual = verdict.difference.expected, verdict.difference.actual
    return f"output line {verdict.difference.line}: expected {expected!r}, got {actual!r}"

"""The plan that needs no model although rules could not settle the request. Pure."""

import re
from collections.abc import Callable, Sequence
from posixpath import basename

from codur import checks
from codur.checks.describe import failures_told
from codur.checks.entry import bare_name
from codur.context.file_order import standing
from codur.context.places import is_unfinished, places_in
from codur.lazy import regex
from codur.planning.patterns.classify import asks_for_more
from codur.planning.patterns.named_paths import MADE, SOURCE_SUFFIXES, suffix_of
from codur.planning.patterns.phrases import words
from codur.types import CODE_TASKS, Check, Discovery, Outcome, Plan, Step, Task, Verdict

_SURE = 0.8
_ON_FILES = frozenset({"code_fix", "refactor"})
_ON_WORDS = frozenset({"explanation", "search"})
"""What a file's name may stand for something in general in, so that a model may know an answer."""
_AS_AN_END = regex(r"\b(?:so|until)\b", re.IGNORECASE)
_WORD = r"[^\W\d_]+"
SEARCH = Step(id="repair", action="repair", objective="Search for a fix without a model.")


def first_plan(
    task: Task, discovery: Discovery, before: Verdict | None, *, repair: bool, no_model: str = ""
) -> Plan | None:
    """What to do before a model is asked; None if that is the next step.

    Args:
        before: the check's present verdict, for code tasks.
        repair: whether an offline search may come first.
        no_model: why no model can be asked; empty if one can.
    """
    missing = bool(discovery.missing_files) and not discovery.files
    # Who says more may mean a file that is to be made, or miss it.
    alone = discovery.task_type in _ON_FILES and not says_more(task.prompt, discovery)
    if missing and (alone or (no_model and discovery.task_type in _ON_WORDS)):
        names = ", ".join(discovery.missing_files)
        return _last_word(f"{names}: no such file in the workspace", outcome="usage")
    if (discovery.task_type == "code_fix" or task.check_is_goal) and before is not None:
        source = discovery.check.source if discovery.check is not None else ""
        no_more = (source == checks.find_check.OF_REQUEST and not _AS_AN_END.search(task.prompt)) or (
            source == checks.find_check.OF_COMMAND and checks.suites.named_command.says_no_more(task.prompt)
        )
        if before.passed and (no_more or not says_more(task.prompt, discovery)):
            return _last_word(f"nothing to fix: the check passes already (`{before.check}`)")
        if repair and before.status == "failed":
            why = "the check fails; searching for a fix without a model"
            return Plan(steps=(SEARCH,), origin="pattern", reason=why)
    if no_model:
        end = Step(id="end", action="respond")
        return Plan(steps=(end,), origin="llm_error", reason=no_model, outcome="no_model")
    return None


def is_settled(
    task: Task, discovery: Discovery, before: Verdict | None, files: Sequence[str], *, may_edit: Callable[[str], bool]
) -> bool:
    """Whether there is nothing to classify: a red check, a request to edit and no more, and a place to begin at;
    something new where there is no file yet; or other code for the same in a file that is named.
    """
    if not files and discovery.task_type == "code_generation":
        return not asks_for_more(task.prompt)
    if is_pure_refactoring(task, discovery, before):
        return any(path not in discovery.guessed and may_edit(path) for path in discovery.files)
    if before is None or before.status != "failed" or discovery.check is None or discovery.check.kind == "syntax":
        return False
    if discovery.task_type not in CODE_TASKS or asks_for_more(task.prompt):
        return False
    own = {path for path in files if suffix_of(path) in SOURCE_SUFFIXES and standing(path) < MADE and may_edit(path)}
    fails_in = any(place.path in own for place in places_in(before.error, files))
    in_document = any(basename(path) in task.prompt for path in discovery.files if path not in own)
    if (
        in_document and fails_in and is_unfinished(before.error)
    ):  # "do what TASK.md says": it is shown, and so is the body
        return True
    said = set(re.findall(r"\w+", task.prompt))
    tells_failure = any(bare_name(name) in said for name in before.failing) or failures_told(before, task.prompt)
    if not task.check_is_goal and discovery.confidence < _SURE and not tells_failure:
        return False
    found = [path for path in discovery.files if path in own]
    if task.check_is_goal and len(own) == 1 and found:
        return True
    if discovery.task_type != "code_fix" and discovery.missing_files:
        return False
    named = [path for path in found if basename(path) in task.prompt]
    if len(named or found) == 1:
        return True
    return discovery.task_type == "code_fix" and bool(named or fails_in or before.tests_total)


def repair_plan(check: Check | None, before: Verdict | None, why_not: str) -> Plan:
    """The plan for a search for a repair that was asked for by itself; `why_not` is why none is made, if so."""
    if "tools.allow_" in why_not:
        return _nothing_to_search(why_not, outcome="refused")
    if check is None or check.kind == "syntax" or before is None or before.status == "no_check":
        return _nothing_to_search("there is no check that tells a right program from a wrong one", outcome="usage")
    if before.passed:
        return _nothing_to_search(f"there is nothing to repair: the check passes already (`{before.check}`)")
    if before.status != "failed":
        return _nothing_to_search(f"the check cannot be used: {before.note or before.status}")
    if why_not:
        return _nothing_to_search(why_not)
    return Plan(steps=(SEARCH,), origin="user", reason="a repair was asked for")


def verdict_plan(before: Verdict | None, reason: str) -> Plan:
    """The end of a task that was only to run the check; `reason` is what that said, in a line."""
    if before is None or before.status == "no_check":
        off = before is not None and before.note == checks.syntax.NOT_ALLOWED
        why = checks.syntax.NOT_ALLOWED if off else "there is no check: no tests, no expected output"
        return _nothing_to_search(why, outcome="usage")
    return _nothing_to_search(reason, outcome="done" if before.passed else "not_achieved")


def _nothing_to_search(why: str, *, outcome: Outcome = "not_achieved") -> Plan:
    return Plan(steps=(Step(id="end", action="respond"),), origin="user", reason=why, outcome=outcome)


def is_pure_refactoring(task: Task, discovery: Discovery, before: Verdict | None) -> bool:
    """Whether other code is asked for that does the same, and no more, where nothing fails."""
    code = discovery.task_type in CODE_TASKS and not discovery.missing_files
    green = before is None or before.status in {"passed", "no_check"}
    return code and green and not asks_for_more(task.prompt) and checks.stated_output.demands_same_output(task.prompt)


def says_more(prompt: str, discovery: Discovery) -> bool:
    """Whether the prompt says what is wrong, beyond a wish for a fix of some file."""
    text = checks.stated_output.BAN.sub(" ", prompt).casefold()
    for path in (*discovery.files, *discovery.missing_files):
        for name in (path.casefold(), path.casefold().rsplit("/", 1)[-1]):
            text = text.replace(name, " ")
    found = set(re.findall(_WORD, text))
    of_tests = not found.isdisjoint({"test", "tests", "pytest", "unittest", "suite"})
    return not found <= words("bare") | (words("endless") if of_tests else frozenset())


def _last_word(text: str, *, outcome: Outcome = "done") -> Plan:
    step = Step(id="answer", action="respond", arguments={"text": text if outcome == "done" else ""})
    return Plan(steps=(step,), origin="pattern", reason=text, outcome=outcome)

"""What the user's own words allow a step that edits, beyond what it may do anyway."""

import re
from collections.abc import Collection
from posixpath import basename, splitext

from codur.checks.entry import TEST_SUPPORT, is_test_code, is_test_file, text_of
from codur.checks.stated_conditions import allowed_by
from codur.checks.stated_output import asks_tests_elsewhere, files_to_edit, forbids_tests, reshapes_tests
from codur.lazy import regex
from codur.nodes.parts.updates import current_step
from codur.nodes.run_state import RunContext, RunState
from codur.planning.plans.validation import asks_to_delete
from codur.questions import agreed_tests, asks_of_tests, granted_by, is_leave_asked
from codur.structs import replace
from codur.types import Discovery

_OF_TESTS = regex(r"\b(?:tests?|specs?|checks?|pass(?:es|ing)?|fail\w*|red|green)\b", re.IGNORECASE)
"""A task that speaks of tests means these as they are."""
_TESTS = regex(r"\b(?:tests?|specs?|testes?|pruebas?|тест\w*)\b|测试|テスト|테스트", re.IGNORECASE)
_BESIDE = r"(?:docs?|documentation|changelog|news|release notes?|readme|types?|type hints|some|new)"
_TESTS_PLEASE = (
    rf"(?:\A|[.;:!?\n])\s*(?:{_BESIDE},? (?:and )?){{0,3}}tests?(?:,? (?:and )?{_BESIDE}){{0,3}},? please"
    r"\s*(?=\Z|[.;!\n])"
)
""""Tests and changelog please.\""""
_TESTS_WISHED = regex(
    rf"{_TESTS_PLEASE}|"
    r"\b(?:add|write|create|with|plus|include|needs?|want|put|move|merge|extend)\b[^.;\n]{0,60}\b(?:tests?|specs?)\b"
    r"|\btests?\s+(?:for|into|(?:should|must|can|may|has to|ought to)\s+(?:go|be added|stand|live))\b"
    r"|\bfor a (?:\w+ )?tests?\b",
    re.IGNORECASE,
)
_TESTS_BESIDE = regex(
    rf"{_TESTS_PLEASE}|"
    r"(?:\b(?:add|write|create|include|put)\b[^.,;\n]{0,40}"
    r"|\b(?:with|and|plus|for)\s+(?:(?:a|an|one|two|some|new|small|short|regression|unit|table|extra|proper|own|good)\s+)+"
    r"|\bwith )\b(?:tests?|specs?)\b"
    r"(?=\s*(?:\Z|[.,;:!?)]|\b(?:for|in|into|to|too|also|and|as well|please|beside|next to|there|first|so that|which"
    r"|that (?:cover|show|check)\w*)\b))(?!\s+in mind\b)|\ba test should (?:go|stand|be)\b"
    r"|\btests? (?:should|must|have to|has to) (?:also )?(?:check|cover|know|test)\b",
    re.IGNORECASE,
)
"""What asks for tests with what else is asked for, and not for those that are there."""
_ALONE = regex(
    r"\b(?:(?:no|any|every)thing (?:but|else|other)\b|other files?\b"
    r"|(?:only|just) (?:(?:touch|change|edit|modify|in|the|file) )*[`'\"@]?[\w./-]+\.\w)",
    re.IGNORECASE,
)
"""Of files that they are all that may change."""
_GOES_ON = regex(r"\s*(?:also|and|same|likewise|the same|now (?:also|the same))[ ,:]", re.IGNORECASE)
_LAST_ASKED = regex(r"^User: (.*?)(?=^Outcome: |\Z)", re.MULTILINE | re.DOTALL)
_MOVED = regex(
    r"(?<!not )(?<!n't )(?<!never )\b(?:move|merge|fold)\s+(?:the\s+)?[`'\"@]?"
    r"((?:[\w.-]+/)*[\w-][\w.-]*\.\w+)[`'\"]?\s+(?:in)?to\b",
    re.IGNORECASE,
)
_FILE = r"[`'\"@]?(?:[\w.-]+/)*[\w-][\w.-]*\.\w+[`'\"]?"
_REPLACED = regex(
    r"(?<!not )(?<!n't )(?<!never )\b(?:replace|convert|migrate|port|turn) (?:the )?"
    rf"({_FILE}(?:,? (?:and )?{_FILE})*) (?:to|into|with|by) (?:(?:an?|the|one|single|new) )*{_FILE}(?! in\b)",
    re.IGNORECASE,
)
"""Files of which another one takes the place."""
_PARTS = rf"into (?:[\w-]+ ){{0,4}}?(?:files|modules|parts|pieces|package|{_FILE})"
_SPLIT = regex(
    rf"(?<!not )(?<!n't )(?<!never )\b(?:split|divide|break)(?: up)? (?:the )?({_FILE}) (?:up )?{_PARTS}"
    rf"|(?:\A|[.;!?] )(?:the )?({_FILE}) [^.;\n]{{0,30}}\b(?:long|large|big),? (?:so |please |and )*split it(?: up)?"
    rf" {_PARTS}",
    re.IGNORECASE,
)
_DELETE = r"(?<!not )(?<!n't )(?<!never )\b(?:delete|remove|drop|erase|rm|get rid of|throw away)\s+"
_GOES = regex(
    rf"{_DELETE}(?:(?:the|that|this|your|my|our|old|new|extra|whole|file|test|module|script)\s+){{0,4}}[`'\"@]?((?:[\w.-]+/)*[\w-][\w.-]*\.\w+)\b",
    re.IGNORECASE,
)
"""A file that is the object of what deletes."""
_MADE_GOES = regex(
    rf"{_DELETE}(?:(?:the|that|this|these|those|one|both|all|of|your|my|made|new|old|extra|second|other|duplicate|test)\s+){{0,5}}"
    r"(?:one|ones|it|them|files?|tests?|copy|copies|duplicates?)\b",
    re.IGNORECASE,
)
_TAKEN_OUT = regex(
    r"(?:\A|[.;,:!]\s+|\b(?:and|then|please)\s+|\b(?:i|we) (?:want|need|have) to\s+)(?:please\s+)?"
    r"(?:remove|delete|drop|get rid of|retire)\s+(?!it\b.*\bnot\b)"
    r"(?P<what>(?:(?:the|that|this|them|these|those|all|every|everything|what|its|old|dead|unused|it|support)\b"
    r"|[`'\"]?\w+[_.]\w)(?:(?!,? and (?:add|change|fix|keep|make|mend|rename|update|write)\b)(?:[^.;\n]|\.\w)){0,120})"
    r"|\bfewer tests are (?:fine|ok|okay|all right|alright|right)\b",
    re.IGNORECASE,
)
"""An order to take something out, and not a name or a ban."""
_WITH_ITS_TESTS = regex(r"\b(?:with|including) (?:all )?(?:its|their) (?:\w+ )?tests?\b", re.IGNORECASE)
_CODE_NAME = regex(r"\b(?:\w+_\w+|[A-Za-z]+[a-z\d][A-Z]\w*|[A-Z]{2,}[a-z]\w*)\b")
_OBJECT = regex(
    r"(?:(?:the|that|this|its|all|both|old|dead|unused|deprecated|function|class|method)\s+)*"
    r"[`'\"]?[\w.]+(?:\(\))?[`'\"]?(?:(?:,| and|, and) [`'\"]?[\w.]+(?:\(\))?[`'\"]?)*"
    r"(?: (?:from|in) \S+\.\w+)?,?(?: together| along)?\s*",
    re.IGNORECASE,
)
"""Names alone that an order is about, and where they stand."""
_ANSWERED = "\nThe user answered: "


def guarded(state: RunState) -> frozenset[str]:
    """The tests of the project that decide, which may be changed if the user says so."""
    discovery = state["discovery"]
    check = discovery.check
    if check is None:
        return frozenset()
    made = {check.entry} if check.text else set()
    return frozenset((*filter(is_test_code, check.protected), *discovery.adds_tests)) - made


def addable(state: RunState, *, unasked: bool = False) -> frozenset[str]:
    """Those to which a task that speaks of tests may add some; what stands there must pass.

    Args:
        unasked: a task that wants something new may, too, though nobody asks for it.
    """
    said = _said(state)
    new = unasked and welcomes_tests(state)
    wanted = new or _TESTS_WISHED.search(said) or asks_tests_elsewhere(said) or going_with_tests(state)
    tests = guarded(state) if wanted and not forbids_tests(said) else ()
    return frozenset(path for path in tests if is_test_file(path) and basename(path) not in TEST_SUPPORT)


def added(discovery: Discovery, tests: Collection[str], context: RunContext) -> Discovery:
    """What is known of the task, once tests were added to these files."""
    check = discovery.check
    if check is None:
        return discovery
    context.checker.admit(tests)  # they stay protected from all that does not add to them
    kept = tuple(dict.fromkeys((*discovery.adds_tests, *tests)))
    return replace(discovery, adds_tests=kept, check=check.without(tests))


def may_be_asked_for(state: RunState, context: RunContext) -> frozenset[str]:
    """Those of these that the user can be asked about, and was not yet, whatever else he was asked."""
    asked = any(is_leave_asked(text) for text in answers(state, context))
    return frozenset() if asked or context.consult is None else guarded(state)


def speaks_of_tests(state: RunState) -> bool:
    """Whether a task may want one of these changed: it speaks of tests, or goes on with one that was made."""
    tests, said = guarded(state), _said(state)
    named = any(splitext(basename(path))[0] in said for path in tests)
    return bool(tests) and (named or _TESTS.search(said) is not None or not tests.isdisjoint(state["task"].made))


def answers(state: RunState, context: RunContext) -> list[str]:
    """What the user answered when the current step asked, each with its question."""
    step = current_step(state)
    asked = [item for item in state["records"] if item.node == "consult" and item.ok and item.step_id == step.id]
    return [context.artifacts.get(item.output_ref) for item in asked]


def deletable(state: RunState, context: RunContext) -> frozenset[str]:
    """The files that may be deleted: those that the user names where they ask for that, and tests that are free."""
    said = "\n".join((state["task"].prompt, *state["guidance"], *_answered(state, context)))
    moved = _superseded(said)
    files = context.workspace.list_files() if moved else []
    meant = [[path for path in files if path == name or path.endswith(f"/{name}")] for name in moved]
    sure = (paths[0] for paths in meant if len(paths) == 1)
    free = frozenset((*_revised(state), *_made_that_goes(said, state), *sure))
    if takes_out(state):  # with the tests of it, where the user let them go
        granted = {path for text in answers(state, context) for path in granted_by(text)}
        orders = " ".join(found["what"] or "" for found in _TAKEN_OUT.finditer(said))
        out = _CODE_NAME.findall(orders) or _CODE_NAME.findall(said)
        going = out if state["task"].may_edit_tests else going_with_tests(state)
        uses = regex(rf"\b(?:{'|'.join(map(re.escape, going)) or '(?!)'})\b")
        every = filter(is_test_file, context.workspace.list_files() if going else ())
        free |= granted.union(path for path in every if uses.search(text_of(context.workspace, path)))
    if not asks_to_delete(said):
        return free
    files = context.workspace.list_files()
    names = [basename(path) for path in files]
    named = (path for path in files if path in said or (basename(path) in said and names.count(basename(path)) == 1))
    return free.union(named)


def _superseded(said: str) -> list[str]:
    """The files that go because others take their place: moved into another, replaced or split."""
    said = " ".join(said.split())
    replaced = [found[1] for found in _REPLACED.finditer(said)]
    replaced += [file for found in _SPLIT.finditer(said) if not is_test_file(file := found[1] or found[2])]
    moved = [found[1] for found in _MOVED.finditer(said)]
    return moved + [name.strip("`'\"@") for text in replaced for name in re.findall(_FILE, text)]


def wishes_tests(state: RunState) -> bool:
    """Whether the user's words ask for tests beside what else they ask for."""
    said = _said(state)
    asked = _TESTS_BESIDE.search(said) is not None or asks_tests_elsewhere(said)
    return asked and not forbids_tests(said)


def welcomes_tests(state: RunState) -> bool:
    """Whether a task wants something new, which may have tests though nobody asks for some."""
    said = _said(state)
    return state["discovery"].task_type == "code_generation" and not (_ALONE.search(said) or forbids_tests(said))


def goes_on_with_tests(state: RunState) -> bool:
    """Whether a task goes on with one that was to have tests: "also for the class method"."""
    before = _LAST_ASKED.search(state["task"].earlier) if _GOES_ON.match(said := _said(state)) else None
    return before is not None and _TESTS_BESIDE.search(before[1]) is not None and not forbids_tests(said)


def may_go(state: RunState) -> frozenset[str]:
    """The files that a plan may delete: tests that the conversation made and the user's words let go, those that are
    the object of what deletes, and those of which others take the place.
    """
    said = _said(state)
    named = (
        path for path in guarded(state) for name in _GOES.findall(said) if path == name or path.endswith(f"/{name}")
    )
    return frozenset((*_made_that_goes(said, state), *named, *_superseded(said)))


def _made_that_goes(said: str, state: RunState) -> list[str]:
    """The tests that tasks of this conversation made, if the words reshape tests or let go what was made."""
    goes = reshapes_tests(said) or _MADE_GOES.search(said)
    return list(filter(is_test_code, state["task"].made)) if goes else []


def _said(state: RunState) -> str:
    """The user's own words: the task, and what he said since it began."""
    return "\n".join((state["task"].prompt, *state["guidance"]))


def without_deleted(path: str, state: RunState, context: RunContext) -> Discovery:
    """What is known of the task; a test that a plan deletes, and the user's words let go, is no part of the check."""
    discovery = state["discovery"]
    if discovery.check is None or path not in guarded(state) & may_go(state):
        return discovery
    context.checker.free({path})
    return replace(discovery, check=discovery.check.without({path}))


def without_freed_tests(state: RunState, context: RunContext) -> Discovery:
    """What is known of the task; tests that the user's words free are no part of the check, and may be changed."""
    discovery = state["discovery"]
    check = discovery.check
    if check is None:
        return discovery
    said = "\n".join(_answered(state, context))
    granted = [path for text in answers(state, context) for path in granted_by(text)] + _agreed_in_plan(state, context)
    named = (path for path in files_to_edit(said, check.protected) if is_test_code(path) and allowed_by(said, path))
    granted += guarded(state) if state["task"].may_edit_tests else ()
    freed = {*granted, *named, *_revised(state)} & {*check.protected, *discovery.adds_tests}
    if not freed:
        return discovery

    context.checker.free(freed)
    # Of tests that were changed no fewer may pass, unless that is what is wanted.
    kept = () if reshapes_tests(state["task"].prompt) or takes_out(state) else freed.intersection(granted)
    still = tuple(path for path in discovery.adds_tests if path not in freed)
    discovery = replace(discovery, edits_tests=(*discovery.edits_tests, *kept), adds_tests=still)
    return replace(discovery, check=check.without(freed))


def going_with_tests(state: RunState) -> frozenset[str]:
    """The names of code that the task takes out "with its tests"."""
    orders = (found["what"] or "" for found in _TAKEN_OUT.finditer(_said(state)))
    parts = (what[: end.start()] for what in orders if (end := _WITH_ITS_TESTS.search(what)))
    return frozenset(name for part in parts if _OBJECT.fullmatch(part) for name in _CODE_NAME.findall(part))


def takes_out(state: RunState) -> bool:
    """Whether the task takes something out, with which its tests may go."""
    return _TAKEN_OUT.search(_said(state)) is not None


def _agreed_in_plan(state: RunState, context: RunContext) -> list[str]:
    """Tests that a question of the plan names and asks to change, where the user plainly said yes."""
    steps, outputs = state["plan"].steps if state["plan"] is not None else (), state["outputs"]
    asked = [(str(step.arguments.get("text", "")), step.id) for step in steps if step.action == "ask"]
    answered = [(text, context.artifacts.get(outputs[name])) for text, name in asked if name in outputs]
    said = [agreed_tests(text, answer) for text, answer in answered if asks_of_tests(text)]
    if not all(said):  # who says no once does not mean it for the rest
        return []
    words = {word.strip("`'\".,:;()") for text in said for word in text.split()}
    return [path for path in guarded(state) if path in words]


def _answered(state: RunState, context: RunContext) -> list[str]:
    return [text.rpartition(_ANSWERED)[2] for text in answers(state, context)]


def _revised(state: RunState) -> list[str]:
    """The tests that tasks of this conversation made, where this one revises what they test.

    It does not if it speaks of tests, or if one of them fails: then that is what is to be mended.
    """
    task, before = state["task"], state["before"]
    if _OF_TESTS.search(task.prompt) or before is None:
        return []
    told = "\n".join((*before.failing, before.error)) if before.status == "failed" else ""
    made = [path for path in task.made if is_test_code(path)]
    return [] if any(path in told or path.removesuffix(".py").replace("/", ".") in told for path in made) else made

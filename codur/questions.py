"""What a run asks its user, what comes back, and what the user says unasked while it works."""

import re
from typing import Literal

from codur.lazy import regex
from codur.structs import Struct
from codur.types import Check, Plan

Effect = Literal["write", "run", "network", "git", "delegate"]
EFFECTS: tuple[Effect, ...] = ("write", "run", "network", "git", "delegate")
"""What a plan may do beyond reading: change files, run programs, use the network, write to git, call in an agent."""
NOT_COMMITTED = "it was not committed"
"""Why a task is not done that ordered a commit, and is done but for that."""
NAMED_COMMAND = "command"
"""The step of a plan by which a classification names a command of Codur's."""
_NAMED = regex(r"`codur (?P<words>(?:commit|undo)\b[^`\n]*)` does that\.")
MAY_CHANGE = "May {paths} be changed? What stands there now decides whether the task is done. (yes, no, always)"
"""What asks for leave to change tests."""
_ASKED = re.escape(MAY_CHANGE).replace(r"\{paths\}", r"(?P<paths>[^?\n]+)")
YES_ELSEWHERE = frozenset("ja oui si sí sim да tak evet 是 是的 好 好的 はい 네".split())
NO_ELSEWHERE = frozenset("nein non não nao нет nie nee 不 不是 不要 いいえ 아니요".split())
"""Yes and no in other languages than English."""
_ELSEWHERE = "|".join(YES_ELSEWHERE)
_YES = (
    r"\W*(?:(?:y|yes|yep|always|ok|okay|sure|please do|go ahead|do it|do so)\b"
    r"(?!.*\b(?:no|not|\w+n't|but|only|except|keep|leave|stay|unless|instead)\b)[^\n]*"
    # Of other languages the words that take a part back are not known, so that nothing may follow but a courtesy.
    rf"|(?:{_ELSEWHERE})(?:[\s,.!。]*(?:bitte|gerne|klar|natürlich|bien sûr|claro|por favor|конечно))?"
    r"[\s,.!。]*\Z)"
)
_AGREED = regex(
    rf"(?:(?:y|yes|yep|yeah|ok|okay|sure|please(?: do)?|of course|do (?:so|it|that)|go ahead|you (?:may|can)"
    rf"|{_ELSEWHERE})"
    r"(?:[\s,.!]+|$))+",
    re.IGNORECASE,
)
_ASKS_TO_DELETE = regex(
    r"(?:shall|should|may|can) I (?:delete|remove)\b"
    r"(?!.*\b(?:not|no|\w+n't|or|and|but|keep|stay|leave|instead|without|only)\b)[^?!;\n]*\?",
    re.IGNORECASE,
)
_PATH = r"[`'\"]?(?:[\w.-]+/)*[\w.-]+\.\w{1,5}[`'\"]?"
_OF_TESTS = (
    r"(?:(?:the|these|those|that|this|both|all|its|such|two|three|inline|existing|old|wrong|outdated|following) ){0,5}"
    rf"(?:(?:tests?|specs?|snapshots?|expectations?)\b|{_PATH}(?:(?:,| and) {_PATH})*)"
)
_ASKS_TO_CHANGE_TESTS = regex(
    r"(?P<before>[^?]*?)(?P<asked>(?:\A|(?<=[.!:;] )|(?<=\n))(?:shall|should|may|can) I (?:also |then )?"
    rf"(?:update|change|edit|adapt|adjust|modify|correct|rewrite|revise) (?P<what>{_OF_TESTS})"
    r"(?!.*\b(?:not|no|\w+n't|or|keep|leave|instead|without|only)\b)[^?!;\n]*\?)[^?]*",
    re.IGNORECASE,
)
_SENTENCE = regex(r"(?<=[.!:;])\s+")
_STAYS = regex(
    r"\b(?:not|no|\w+n't|keep|leave|stays?|remains?|untouched|unchanged|only|as (?:it|they) (?:is|are))\b", re.I
)
_TESTS = regex(r"\b(?:tests?|specs?|snapshots?|expectations?)$", re.IGNORECASE)
_NAMES_TESTS = regex(
    r"\b(?:tests?|specs?|snapshots?|expectations?)\b|\btest_\w+|\w_test\b|\.(?:test|spec)\.", re.IGNORECASE
)
_MAY = regex(
    r"(?P<before>[^.?!\n]*[.!:] +)?\b(?:may|shall|should|can) (?:I (?:also |then )?"
    r"(?:update|change|edit|adapt|adjust|modify|correct|rewrite|revise) (?:(?:the|these|those|this|that|both|all) )*"
    r"(?P<what>[^\s?]+)[^?\n]*|(?P<files>[^?\n]+?) be changed)\?",
    re.IGNORECASE,
)
_WHY = regex(r"\b(?:so|to|because|since|as|after|before|when|if|that|which|for|while)\b", re.IGNORECASE)
_THOSE = regex(r"\b(?:these|those|that|this)\b", re.IGNORECASE)
_GRANTED = regex(rf"You asked: {_ASKED}\nThe user answered: {_YES}", re.IGNORECASE)


class PlanEffects(Struct):
    """What carrying out a plan will do, as far as that is known before.

    Attributes:
        kinds: kinds of effects, in the order of `EFFECTS`.
        files: workspace-relative paths that steps name and change.
        tests: those of `files`, or beside them, that belong to the check.
        other_files: whether steps choose for themselves which files they change.
        commands: programs that steps run, as a person would type them; calls of MCP tools, with their arguments.
        addresses: what steps ask of the network: addresses of pages, words of searches.
        check: the check that is run after the changes, in the same form; empty if none is.
        least_calls, most_calls: model calls, estimated.
    """

    kinds: tuple[Effect, ...] = ()
    files: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    other_files: bool = False
    commands: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    check: str = ""
    least_calls: int = 0
    most_calls: int = 0


class Question(Struct):
    """What the user is asked.

    Attributes:
        text: the question; for an approval, what is wrong with the plan or the test as it was edited, if anything is.
        plan, effects: what is to be approved.
        check, failure: a test that was made for the task, and how it fails now.
        renews: the reason of a rejection makes a new plan; otherwise a rejection ends the run.
    """

    kind: Literal["approval", "question", "test"]
    text: str = ""
    plan: Plan | None = None
    effects: PlanEffects | None = None
    check: Check | None = None
    failure: str = ""
    renews: bool = True


Decision = Literal["approve", "reject", "edit", "answer", "nobody"]


class Answer(Struct):
    """What came back.

    Attributes:
        decision: `nobody`: there was no one to ask.
        text: the answer, why the plan was rejected, or the test as it was edited.
        plan: the plan as it was edited.
        keep: a test that is approved of stays in the workspace.
    """

    decision: Decision
    text: str = ""
    plan: Plan | None = None
    keep: bool = False


class Guidance:
    """What the user says while a task works; one thread says it, another takes it."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._given = 0

    def say(self, text: str) -> None:
        """Leave a text for the next request to a model."""
        self._said.append(text)

    def take(self) -> tuple[str, ...]:
        """All that was said so far; it counts as given from now on."""
        self._given = len(self._said)
        return self.given

    @property
    def given(self) -> tuple[str, ...]:
        """What models were told."""
        return tuple(self._said[: self._given])

    @property
    def waiting(self) -> tuple[str, ...]:
        """What no model was told yet."""
        return tuple(self._said[self._given :])


def agreed_deletion(question: str, answer: str) -> bool:
    """Whether a plain question whether something is to be deleted got a plain yes."""
    return _ASKS_TO_DELETE.fullmatch(question.strip()) is not None and _AGREED.fullmatch(answer.strip()) is not None


def agreed_tests(question: str, answer: str) -> str:
    """What says which tests a plain question asks to change, if it got a plain yes: it, or the sentence before it."""
    found = _ASKS_TO_CHANGE_TESTS.fullmatch(question.strip())
    if found is None or not _AGREED.fullmatch(answer.strip()):
        return ""
    before = _SENTENCE.split(found["before"].strip())[-1] if _THOSE.search(found["what"]) else ""
    # What they are to be changed for may name others.
    asked = found["asked"] if _TESTS.search(found["what"]) else found["what"]
    return f"{'' if _STAYS.search(before) else before} {_WHY.split(asked)[0]}".strip()


def lets_tests_change(said: str, answer: str) -> bool:
    """Whether a plain yes answers a run that ended with the question whether tests may be changed."""
    if not _AGREED.fullmatch(answer.strip()):
        return False
    asked = ((found["what"] or found["files"], found["before"] or "") for found in _MAY.finditer(said))
    return any(asks_of_tests(before if what.strip(",") in {"them", "it"} else what) for what, before in asked)


def asks_of_tests(question: str) -> bool:
    """Whether a question speaks of tests."""
    return _NAMES_TESTS.search(question) is not None


def named_command(words: str) -> str:
    """The answer to a task that a command of Codur's does."""
    return f"`codur {words}` does that."


def command_in(answer: str) -> str:
    """The command lines that are named as all that a task asks for, without `codur`; empty if it is another answer."""
    found = [_NAMED.fullmatch(line) for line in answer.strip().splitlines()]
    return "\n".join(line["words"] for line in found if line) if all(found) else ""


def granted_by(text: str) -> list[str]:
    """The tests that the user lets be changed, by a question and his answer; a plain yes and no more."""
    found = _GRANTED.fullmatch(text)
    return found["paths"].split(", ") if found else []


def is_leave_asked(text: str) -> bool:
    """Whether a question, told with its answer, asked for leave to change tests."""
    return text.startswith("You asked: ") and text.partition("\n")[0].endswith(MAY_CHANGE.partition("}")[2])

"""What commands other than a task or a commit do, asked for in everyday words, and the command line of it."""

import re
import shlex

from codur.checks.entry import is_test_code
from codur.lazy import regex

_MAX_CHARS = 300
_ASKS = (
    r"(?:(?:please|can you|could you|git|bisect|do you know|(?:find|figure) out|(?:tell|show) me|i want to know)"
    r"[\s,:]+)*"
)
_LEAD = r"(?:(?:hm+|no|nope|oh|sorry|wait|ok|okay|actually|then|please|on second thoughts?)[,.!]* ){0,4}"
_THAT = (
    r"(?:that|it|this|the last(?: one| task| change)?|your (?:last )?change|what you(?:['’]ve| have)?(?: just)? "
    r"(?:did|done|changed|made))"
)
_WHY = r"(?:hm+|no|nope|oh|sorry|wait|actually)\b"
_UNDO = regex(
    rf"(?:{_LEAD}(?:(?:undo|revert|take back)(?: {_THAT})?|(?:take|put) (?:that|it|this) back)"
    # after a sentence that says why
    rf"|(?!.*\b(?:if|unless|when|never)\b)(?:{_WHY}|{_LEAD}(?:it|this|that)\b)[^.!?\n]{{0,80}}[.!]\s+"
    rf"(?:so |please |just )?undo {_THAT})"
    r"(?: (?:again|please))?[.!]?",
    re.I,
)
_REDO = regex(
    rf"{_LEAD}(?:redo(?: {_THAT})?|(?:bring|get) {_THAT} back|undo (?:the|that|your) undo)(?: (?:again|please))?[.!]?",
    re.I,
)
_COMMIT = r"(?:commit|revision|change(?: in git)?)"
_BROKE = (
    r"(?:(?:broke|breaks|(?:has )?broken|failed|fails)\b"
    r"|(?:made|makes|caused|causes|introduced)\b(?=.*\b(?:fail\w*|red|break\w*|broken|regress\w*|error)))"
)
_FAILS = r"(?:fail(?:s|ing|ed)?|broken?|break(?:s|ing)?|red|not pass(?:es)?|stop(?:ped|s)?(?: passing| working)?)"
_WISH = regex(
    rf"{_ASKS}(?:"
    rf"(?:which|what) {_COMMIT} (?:(?:first|has|had) )*{_BROKE}.*"
    rf"|(?:find|identify|locate|look for|search for) (?:me )?(?:the|which) (?:first |bad )*{_COMMIT} (?:that |which )?"
    rf"(?:(?:first|has|had) )*{_BROKE}.*"
    rf"|(?:since|in|with|at) (?:which|what) {_COMMIT} (?:do|does|did|is|are|has|have|was|were)\b.*\b{_FAILS}\b.*"
    rf"|since when (?:do|does|is|are|has|have)\b.*\b{_FAILS}\b.*"
    rf"|when did\b.*\b{_FAILS}\b.*"
    rf"|.*\b{_FAILS} since when"
    r"|(?:git )?bisect(?: (?:for|on|with|the|this|that|failure|failing|tests?|suite|test_\w+|of|in)\b)*"
    r")",
    re.IGNORECASE,
)
_OF_TESTS = regex(r"\b(?:tests?|suite|checks?|build|ci|bisect)\b|\btest_\w", re.IGNORECASE)
"""What a check can tell; what else broke, perhaps without a test for it, is a question for a model."""
_MORE = regex(
    r"\b(?:fix|mend|repair|revert|undo|correct|restore|why|how|explain|then|but|function|feature|bug|add|and"
    r"|write|delete|remove|update|should|must|we)\b",
    re.IGNORECASE,
)
_TEST = regex(r"(?<![\w/.])(?:(?P<file>[\w/][\w/.-]*\.py)(?P<inside>::[\w:]+)?|(?P<name>test_\w+))(?![\w/.:])")


def spoken_command(text: str) -> tuple[str, ...] | None:
    """The command line of a text whose whole wish is to undo the last task or to bring it back, or to know since which
    commit tests fail; None if it asks for something else, or for more.
    """
    said = text.strip()
    if _REDO.fullmatch(said):
        return ("undo", "--redo")
    return ("undo",) if _UNDO.fullmatch(said) else _bisection(said.rstrip("?.! "))


def _bisection(said: str) -> tuple[str, ...] | None:
    if len(said) > _MAX_CHARS or not _WISH.fullmatch(said) or not _OF_TESTS.search(said) or _MORE.search(said):
        return None
    found = list(_TEST.finditer(said))
    if not found:
        return ("bisect",)
    test = found[0]
    if len(found) > 1 or (test["file"] and not is_test_code(test["file"])):
        return None
    named = f"-k {test['name']}" if test["name"] else shlex.quote(test[0])
    return ("bisect", f"--check=python -m pytest {named}")

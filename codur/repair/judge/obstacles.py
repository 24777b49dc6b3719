"""Why a search for a repair makes no sense: one sentence for each reason."""

import re
from collections.abc import Mapping

from codur.lazy import regex
from codur.repair.code.source_file import syntax_fault
from codur.types import Verdict

_NETWORK = regex(
    r"\b(?:gaierror|NameResolutionError|Temporary failure in name resolution|Network is unreachable"
    r"|Name or service not known|NewConnectionError)\b"
)
_PYTHON_2 = regex(
    r"^[ \t]*(?:print[ \t]+(?![(=.,\[]|(?:and|or|in|is|if|else)\b)\S|exec[ \t]+[\"'\w]"
    r"|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+\w+[ \t]*,)",
    re.MULTILINE,
)
RUNS_NONE = "The check runs none of the Python files that may be changed."
_CLEARLY = 2
"""A single such line may be a slip."""


def why_not(before: Verdict, texts: Mapping[str, str]) -> str:
    """Why no edit of these texts can make the check pass; empty if nothing speaks against it.

    Args:
        before: the check's verdict.
        texts: the files that may be changed.
    """
    if not texts:
        return "There is no Python file, or none but the check's own: name in the task the one that may be changed."
    for path, text in texts.items():
        if len(_PYTHON_2.findall(text)) >= _CLEARLY and syntax_fault(text, path) is not None:
            return f"{path} is written for Python 2; only Python 3 can be repaired."
    if _NETWORK.search(before.error):
        return "The check needs the network, which programs under check do not have."
    return ""


def why_flaky(before: Verdict, again: Verdict) -> str:
    """Why the check cannot be trusted: two runs of the unchanged program differ; empty if they do not."""
    if again.status == before.status and _reached(again) == _reached(before):
        return ""
    return f"The check is flaky: two runs of the unchanged program ended differently ({_told(before)}; {_told(again)})."


def _reached(verdict: Verdict) -> tuple[object, ...]:
    if verdict.timed_out:
        return (True,)
    return (False, verdict.exit_status, verdict.tests_passed, verdict.tests_total)


def _told(verdict: Verdict) -> str:
    if verdict.timed_out:
        return "not ended in time"
    if verdict.tests_total is not None and not verdict.passed:
        return f"{verdict.tests_passed or 0} of {verdict.tests_total} tests passed"
    return verdict.status if verdict.passed else f"failed with status {verdict.exit_status}"

"""The time that a request gives a program: "python bench.py takes 7 s, get it under 1 s"."""

import re
import shlex
from posixpath import splitext

from codur.checks.command_files import acts
from codur.checks.entry import look
from codur.lazy import regex
from codur.python.test_command import PYTHON
from codur.types import Check
from codur.workspace.workspace import Workspace

_RUNNERS = {".py": PYTHON, ".js": "node", ".mjs": "node", ".sh": "bash"}
_CALLED = r"(?:(?:python3?|node|bash|sh) )?[\w./-]*\w\.(?:py|m?js|sh)"
_PROGRAM = rf"(?:`({_CALLED}[^`\n|&;<>$]*)`|({_CALLED}(?: (?:--?[a-z][\w-]*(?:=\S+)?|(?=[\w/-]*[\d.])[\w./-]+))*+))"
_TIME = r"(\d+(?:\.\d+)?|a|one|half a) ?(ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b"
_LIMIT = (
    r"(?:[ ,:]+(?:to|runs?|finish|end|complete|takes?|down|in|be|is|done))*[ ,:]+"
    rf"(?:under|below|within|(?:less|faster|quicker|(?:no|not) more) than|at most|<=?) ?{_TIME}"
    r"(?= *(?:$|[.,;!?)\n]|(?:and|but|so|while|without)\b))"
)
_IS_SLOW = r"(?:is (?:\w+ ){0,2}slow|(?:takes|needs|runs) (?:\w+ ){0,2}(?:[\d.]+ ?\w+|minutes?|seconds?|long))"
_ORDER = "(?:get|make|bring|have|speed up)"
_MORE = rf"(?:[ ,;:.–-]+(?:and|so|that|please|it|{_IS_SLOW}|{_ORDER} it|must|should|has to|needs to))"
_ASKED = regex(
    rf"(?:(?:^|[.:;!?\n] *)(?:please )?|(?:, *|\b(?:and|then|please|you) )(?={_ORDER} ))({_ORDER} )?"
    rf"(?:(?:the|my|our) (?:script |program )?)?{_PROGRAM}(?: faster)?(?(1)|{_MORE}){_MORE}{{0,5}}{_LIMIT}",
    re.IGNORECASE,
)
"""A program and its time in one clause, or in some that follow each other; else it may be that of something else."""
_POLITE = regex(r"\b(?:h(?:i|ello|ey)|please|thanks?|you|there|can|could)\b", re.IGNORECASE)
_MEASURES = regex(r"bench|perf|speed|soak|timing|measure", re.IGNORECASE)
_LONGEST = 1_000
"""Characters of a request; a longer one is about more than that."""


def time_limit(workspace: Workspace, prompt: str) -> Check | None:
    """The check, without its runs, of the program for which a request names a limit; None if it names none.

    Nor of one whose name says that it acts. One that measures is not to be edited.
    """
    found = _ASKED.search(prompt) if len(prompt) <= _LONGEST else None
    if found is None:
        return None
    _, quoted, bare, number, unit = found.groups()
    value = {"a": 1.0, "one": 1.0, "half a": 0.5}.get(number.lower()) or float(number)
    try:
        path, *words = shlex.split(re.sub(r"^(?:(?:python3?|node|bash|sh) )?(?:\./)?", "", quoted or bare))
    except ValueError:
        return None
    if not (value and workspace.is_file(path)) or acts(path):
        return None
    if path.endswith(".py") and not look(workspace, path).script:
        return None
    return Check(
        kind="kept_output",
        argv=(_RUNNERS[splitext(path)[1]], path, *words),
        protected=(path,) if _MEASURES.search(path) else (),
        source="what the request says may take so long",
        within_s=value * (60 if unit.lower().startswith("min") else 0.001 if unit.lower().startswith("m") else 1),
        may_differ=re.search(r"\w", _POLITE.sub("", prompt.replace(found[0], ""))) is not None,
    )

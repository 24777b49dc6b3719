"""How many things a request asks for: one that lists several needs a plan, and no classification before it."""

from __future__ import annotations

from codur.planning.patterns.classify import classify
from codur.planning.patterns.danger import clauses
from codur.planning.patterns.prompt_tokens import read_prompt, word_set

SEVERAL = 3
"""So many different things asked for make a list of steps."""

_VERBS = word_set(
    "read open show list find search grep look locate count replace rename append add insert create make write delete"
    " remove move copy edit change update set bump fix refactor run execute test compare check verify tell say explain"
    " describe summarise summarize report print answer commit stage save extract convert translate sort format download"
    " fetch"
)
_LOOKS = word_set("read open show list view tree ls cat print display")
_LEADING = word_set("then and also next finally first second third afterwards please now lastly after that last")


def asks_for_more(prompt: str) -> bool:
    """Whether a request to change code asks for something else beside it: a commit, a file, a look into the web."""
    for clause in clauses(read_prompt(prompt).tokens):
        kind = classify(clause, names_files=False).task_type
        if kind in {"git", "web_search"} or (kind == "file_operation" and clause[0].key not in _LOOKS):
            return True
    return False


def lists_steps(prompt: str) -> bool:
    """Whether a request is a list of steps: `read a, replace x with y in b, run c and tell me what it prints`."""
    verbs = set()
    for clause in clauses(read_prompt(prompt).tokens):
        words = [token.key for token in clause if token.kind == "word"]
        first = next((word for word in words if word not in _LEADING and not word.rstrip(".)").isdigit()), "")
        if first in _VERBS:
            verbs.add(first)
    return len(verbs) >= SEVERAL

"""Answers to greetings, thanks and the question what Codur can do."""

from __future__ import annotations

from collections.abc import Mapping

from codur.planning.patterns.courtesy import Courtesy, greeting_in
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Settled, say

_HELP = """\
I work on the code in this folder. You can ask, for example:
  fix main.py
  add a function that … to utils.py
  show app.py lines 10-20
  find usages of parse_line in src
  what changed
  explain app.py
  run the tests
Files, git, search and running programs need no model; a fix is checked before I call it done."""
_ANSWERS: Mapping[Courtesy, str] = {
    "hello": "Hello. Tell me what to do in this folder, for example `fix main.py` or `show app.py`; `help` lists more.",
    "thanks": "You are welcome.",
    "bye": "Goodbye.",
    "help": _HELP,
}


def answer_greeting(tokens: tuple[Token, ...]) -> Settled | None:
    """The answer, if the tokens are a courtesy and nothing else."""
    kind = greeting_in(tokens)
    return say(_ANSWERS[kind]) if kind else None

"""What a rule is: a name, under which `phrases.txt` has phrases, and what a request of such words settles on."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codur.planning.patterns.named_paths import FileNames, Mention
from codur.planning.patterns.phrases import Captures, phrases
from codur.planning.patterns.prompt_tokens import Token
from codur.structs import Struct
from codur.types import Outcome, Step

_HOLES = {"PYTHON": ["FILE"], "PLACE": ["FILE", "DIR"]}
_SLOT = r"\{(\w+)(?:\|([^}]*))?\}"


class Settled(Struct):
    """The one step that a request comes down to."""

    step: Step
    outcome: Outcome = "done"  # how the run ends if the step is a last word
    asks: bool = False  # the user is asked before
    explains: str = ""  # the file that it comes down to explain, which needs a model to be done well: no step, then


class Found(Struct, kw_only=False):
    """What a phrase's holes took, and what names stand for in the workspace."""

    captures: Captures
    names: FileNames

    def __getitem__(self, hole: str) -> Any:
        return self.captures[hole]

    def __contains__(self, hole: str) -> bool:
        return hole in self.captures

    @property
    def has_lines(self) -> bool:
        """Whether a file was named with lines."""
        return any(isinstance(value, Mention) and value.lines is not None for value in self.captures.values())

    def first(self, *holes: str, default: Any = None) -> Any:
        """What the first of the holes took that the phrase matched with, or `default`."""
        return next((self.captures[hole] for hole in holes if hole in self.captures), default)


Build = Callable[[Found], Settled | None]
"""The step for what a phrase's holes took, or None if the rule does not settle the request after all."""


class Rule(Struct, kw_only=False):
    """One row of the table of rules."""

    name: str  # what the request is, for the reason that is given
    build: Build  # see `Build`
    writes: bool = False  # it changes files, so a question is not enough to ask for it
    # a file may be named with lines (`app.py:3-9`); elsewhere that asks for more than the rule does
    takes_lines: bool = False

    @property
    def phrases(self) -> Sequence[str]:
        """The forms of the request, see `codur.planning.patterns.phrases`."""
        return phrases(self.name)


class Call:
    """The call of a tool with what holes took, as a `Build`.

    Args:
        objective: with `{argument}` for an argument's value, `{argument|words}` with what stands for an empty one.
        holes: `argument=HOLE` or `argument=HOLE|OTHER`, the first that took something. `PYTHON` is a `FILE` with Python
            in it, of which a word is said if it is missing; `PLACE` a `FILE` or `DIR`, of which none is.
        fixed: arguments that do not depend on a hole.
    """

    def __init__(self, tool: str, objective: str, holes: str = "", **fixed: Any) -> None:
        self._tool, self._objective, self._fixed = tool, objective, fixed
        self._holes: Mapping[str, str] = dict(pair.split("=") for pair in holes.split())

    def __call__(self, found: Found) -> Settled | None:
        """The call; a word about a file that is missing; None if something is not clear."""
        arguments = dict(self._fixed)
        for argument, hole in self._holes.items():
            value = found.first(*_HOLES.get(hole, hole.split("|")))
            if isinstance(value, Mention):
                if value.path is None:
                    return missing(value, found.names) if hole == "PYTHON" else None
                value = value.path
            value = value.text if isinstance(value, Token) else value
            # A text that says nothing, or more than one line.
            odd = isinstance(value, str) and value != "" and ("\n" in value or not value.strip())
            if value == 0 or odd or (hole == "PYTHON" and not value.endswith(".py")):
                return None
            if value not in ("", None):
                arguments[argument] = value
        objective = re.sub(_SLOT, lambda slot: str(arguments.get(slot[1]) or slot[2]), self._objective)
        return call(self._tool, objective, **arguments)


def call(tool: str, objective: str, **arguments: Any) -> Settled:
    """One tool call."""
    return Settled(step=Step(id=tool, action="tool", capability=tool, objective=objective, arguments=arguments))


def say(text: str, outcome: Outcome = "done") -> Settled:
    """An answer that needs no tool."""
    step = Step(id="answer", action="respond", objective="Answer.", arguments={"text": text})
    return Settled(step=step, outcome=outcome)


def not_allowed(what: str, setting: str, instead: str = "") -> Settled:
    """That the request needs what the settings do not allow, and what can be done instead."""
    text = f"This needs {what}, which is off. To allow it, set {setting}: true under tools: in your settings file."
    return say(f"{text} {instead}".rstrip(), "refused")


def missing(mention: Mention, names: FileNames) -> Settled | None:
    """That the file does not exist, with the names most like it; None if it is not clear, or outside."""
    if not mention.missing:
        return None
    if (names.workspace.root / mention.name).is_symlink():
        return say(f"{mention.name} is a link that leads out of this workspace, or to nothing.", "refused")
    near = names.near(mention.name)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return say(f"There is no file {mention.name} in this workspace.{hint}", "not_achieved")

"""What a rule is: phrases, and the tool call or answer that a request of such words settles on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codur.planning.patterns.named_paths import FileNames, Mention
from codur.planning.patterns.phrases import Captures
from codur.types import Outcome, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The one step that a request comes down to.

    Attributes:
        outcome: how the run ends if the step is a last word.
        asks: the user is asked before.
        explains: the file that it comes down to explain, which needs a model to be done well; it has no step then.
    """

    step: Step
    outcome: Outcome = "done"
    asks: bool = False
    explains: str = ""


@dataclass(frozen=True, slots=True)
class Found:
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

    def get(self, hole: str, default: Any = None) -> Any:
        """What the hole took, or `default` if the phrase matched without it."""
        return self.captures.get(hole, default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of a strategy's table.

    Attributes:
        name: what the request is, for the reason that is given.
        phrases: the forms of the request, see `phrases`.
        build: the step for the phrase's captures, or None if this rule does not settle them after all.
        writes: it changes files, so a question is not enough to ask for it.
        takes_lines: a file may be named with lines (`app.py:3-9`); elsewhere that asks for more than the rule does.
    """

    name: str
    phrases: tuple[str, ...]
    build: Callable[[Found], Settled | None]
    writes: bool = False
    takes_lines: bool = False


def call(tool: str, objective: str, **arguments: Any) -> Settled:
    """One tool call."""
    step = Step(id=tool, action="tool", capability=tool, objective=objective, arguments=arguments)
    return Settled(step=step)


def say(text: str, outcome: Outcome = "done") -> Settled:
    """An answer that needs no tool."""
    return Settled(
        step=Step(id="answer", action="respond", objective="Answer.", arguments={"text": text}), outcome=outcome
    )


def not_allowed(what: str, setting: str) -> Settled:
    """That the request needs what the settings do not allow."""
    text = f"This needs {what}, which is off. To allow it, set {setting}: true under tools: in your settings file."
    return say(text, "refused")


def say_missing(mention: Mention, names: FileNames) -> Settled:
    """That the file does not exist, with the names most like it."""
    near = names.near(mention.name)
    hint = f" Nearest: {', '.join(near)}." if near else ""
    return say(f"There is no file {mention.name} in this workspace.{hint}", "not_achieved")


def on_file(mention: Mention, names: FileNames, build: Callable[[str], Settled | None]) -> Settled | None:
    """`build` for the file that is meant; a word about it if it is missing; None if it is not clear or outside."""
    if mention.path is not None:
        return build(mention.path)
    return say_missing(mention, names) if mention.missing else None


def place(found: Found) -> str:
    """The path that a phrase's `FILE` or `DIR` names as the place of a search; empty for the workspace.

    A missing file gives its name, which the tool reports.
    """
    mention = found.get("FILE")
    if isinstance(mention, Mention):
        return mention.path or mention.name
    return str(found.get("DIR", ""))


def unclear(found: Found) -> bool:
    """Whether a named place is no file that is there."""
    mention = found.get("FILE")
    return isinstance(mention, Mention) and mention.path is None


def only_given(**arguments: Any) -> dict[str, Any]:
    """The arguments that say something: without empty texts and None."""
    return {name: value for name, value in arguments.items() if value not in ("", None)}

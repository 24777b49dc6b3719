"""Arguments that refer to what earlier steps gave: `${find}` is the text of step `find`, `${find.path}` a field of it.

A value that is one reference and nothing else keeps the type of what it names; within a longer text, what it names is
put in as text. `$${` stands for a `${` that is meant as it is written.

Into the command line of a shell it is put as one quoted word (`shlex.quote`), which holds where the shell reads plain
words. Within quotes of the command, in a comment, a here-document, backquotes or arithmetic it does not: there it could
end what it is in, and begin a command of its own (`unprotected`; the places follow POSIX.1-2024, Shell Command
Language, 2.2 Quoting and 2.6 Word Expansions).
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from codur.lazy import regex
from codur.structs import Struct
from codur.types import Plan, Step

REFERENCE = regex(r"(?P<escape>\$)?\$\{(?P<step>[A-Za-z0-9_-]+)(?P<path>(?:\.[A-Za-z0-9_-]+|\[\d{1,6}\])*)\}")
_PART = regex(r"\.([A-Za-z0-9_-]+)|\[(\d+)\]")
_ELSEWHERE = regex(r"`|<<|\(\(|\$\[")  # what makes quotes mean something else after it, or around it
_TOKEN = regex(rf"(?P<reference>{REFERENCE.pattern})|\\.|\$'|(?:^|(?<=[\s;&|()]))#[^\n]*|'[^']*'?|.", re.DOTALL)
_IN_DOUBLE = regex(r'"(?:\\.|[^"\\])*"?', re.DOTALL)
SHELL_ARGUMENTS = {"run_command": "command"}
"""The argument that is a shell's command line, by the tool."""
MAX_INSERTED = 20_000
"""Longest text that one reference may put into an argument, in characters."""


class UnresolvedReference(Exception):
    """A reference that names nothing; the message is a sentence about it."""


class Output(Struct):
    """What a step gave: its text, and its typed output as JSON values, if it has one."""

    text: str
    data: Any = None


def referred(arguments: Any) -> tuple[str, ...]:
    """The ids of the steps that arguments refer to, each once, in their order."""
    found = (match for text in _texts(arguments) for match in REFERENCE.finditer(text))
    return tuple(dict.fromkeys(match["step"] for match in found if not match["escape"]))


def filled_step(step: Step, output: Callable[[str], Output | None]) -> dict[str, Any]:
    """The arguments of a step with every reference replaced; what comes into a shell's command is quoted.

    A command that is one reference and nothing else is what that names, as it is. UnresolvedReference as `filled`.
    """
    shell = SHELL_ARGUMENTS.get(step.capability) if step.action == "tool" else None
    return {name: _filled(value, output, quote=name == shell) for name, value in step.arguments.items()}


def named_command(step: Step) -> bool:
    """Whether a step's whole command line is what a reference names."""
    command = step.arguments.get(SHELL_ARGUMENTS.get(step.capability, "")) if step.action == "tool" else None
    whole = REFERENCE.fullmatch(command) if isinstance(command, str) else None
    return whole is not None and not whole["escape"]


def unprotected(command: str) -> str:
    """The first reference that stands where its value cannot be quoted; empty if there is none.

    A command that is one reference and nothing else is the named text itself, and is not looked at.
    """
    found = [match[0] for match in REFERENCE.finditer(command) if not match["escape"]]
    if not found or REFERENCE.fullmatch(command):
        return ""
    if _ELSEWHERE.search(command):
        return found[0]
    at, plain = 0, list[str]()
    while at < len(command):
        match = (_IN_DOUBLE if command[at] == '"' else _TOKEN).match(command, at)
        if match is None or match[0] == "$'":  # what ends such a string differs between shells
            break
        if match.groupdict().get("reference") and not match["escape"]:
            plain.append(match[0])
        at = match.end()
    return next((name for name in dict.fromkeys(found) if found.count(name) > plain.count(name)), "")


def escaped(text: str) -> str:
    """The text as an argument that `filled` gives back as it is."""
    return text.replace("${", "$${")


def filled(arguments: Mapping[str, Any], output: Callable[[str], Output | None]) -> dict[str, Any]:
    """The arguments with every reference replaced by what `output` gives for the id of its step.

    UnresolvedReference if a reference names no step or no field, or a text that is too long.
    """
    return {name: _filled(value, output) for name, value in arguments.items()}


def _filled(value: Any, output: Callable[[str], Output | None], *, quote: bool = False) -> Any:
    if isinstance(value, str):
        whole = REFERENCE.fullmatch(value)
        if whole is not None and not whole["escape"]:
            return _named(whole, output)

        def put_in(match: re.Match[str]) -> str:
            if match["escape"]:
                return match[0][1:]
            found = _as_text(_named(match, output))
            return shlex.quote(found) if quote else found

        return REFERENCE.sub(put_in, value)
    if isinstance(value, Mapping):
        return {key: _filled(item, output, quote=quote) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_filled(item, output, quote=quote) for item in value]
    return value


def _named(match: re.Match[str], output: Callable[[str], Output | None]) -> Any:
    found = output(match["step"])
    if found is None:
        raise UnresolvedReference(f"{match[0]} names no finished step")
    if not match["path"]:
        return _bounded(found.text, match[0])
    value = found.data
    for part in _PART.finditer(match["path"]):
        value = _inner(value, part, match[0])
    return _bounded(value, match[0])


def _inner(value: Any, part: re.Match[str], whole: str) -> Any:
    name, index = part[1], part[2]
    if name is not None and isinstance(value, Mapping) and name in value:
        return value[name]
    if index is not None and isinstance(value, Sequence) and not isinstance(value, str) and int(index) < len(value):
        return value[int(index)]
    if name is not None and isinstance(value, Mapping):
        raise UnresolvedReference(f"{whole}: there is no {name}; there are {', '.join(map(str, value)) or 'no fields'}")
    if index is not None and isinstance(value, Sequence) and not isinstance(value, str):
        raise UnresolvedReference(f"{whole}: there are {len(value)} items")
    raise UnresolvedReference(f"{whole}: the output has no such part")


def _bounded(value: Any, whole: str) -> Any:
    if len(_as_text(value)) > MAX_INSERTED:
        raise UnresolvedReference(f"{whole} is too long for an argument; at most {MAX_INSERTED:,} characters are taken")
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


MOST_AT_ONCE = 8


def needs(step: Step) -> frozenset[str]:
    """The ids of the steps whose output a step works with."""
    return frozenset(step.inputs) | frozenset(referred(step.arguments))


def side_by_side(plan: Plan, cursor: int, only_reads: Callable[[Step], bool]) -> int:
    """How many steps from `cursor` on may run at the same time, as each only reads and none needs another's output."""
    group: set[str] = set()
    for step in plan.steps[cursor : cursor + MOST_AT_ONCE]:
        if not only_reads(step) or needs(step) & group:
            break
        group.add(step.id)
    return max(1, len(group))


def blocked_by(plan: Plan, failed: Collection[str]) -> tuple[str, ...]:
    """The ids of the steps that need, directly or by others, the output of a failed one; in the plan's order."""
    lost = set(failed)
    blocked = []
    for step in plan.steps:
        if step.id not in failed and needs(step) & lost:
            lost.add(step.id)
            blocked.append(step.id)
    return tuple(blocked)

"""What a line of a conversation asks for: a command after `/`, a program after `!`, else a task."""

import re
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

from codur.cli import actions
from codur.cli.commit_words import AND_COMMIT, NO_DEED, commit_wish, without_condition
from codur.cli.spoken_commands import spoken_command
from codur.config.reading.origin import did_you_mean
from codur.errors import UsageError
from codur.lazy import regex
from codur.session.turns import Turn
from codur.structs import Struct

_LEAST_WIDE = 20


class SlashCommand(Struct):
    """A command of the conversation."""

    name: str
    takes: str = ""  # what may follow it, as the help shows it
    help: str
    # the command line of Codur's that it stands for, in front of what follows; none: it shows or changes something of
    # the conversation itself
    words: tuple[str, ...] = ()
    as_one: bool = False  # what follows is one argument, as a task is


COMMANDS: Final = (
    SlashCommand(name="help", help="Show this list."),
    SlashCommand(name="plan", takes="TASK", help="Plan, and ask first.", words=("run", "--plan", "--"), as_one=True),
    SlashCommand(name="route", takes="TASK", help="Show what would happen first.", words=("route", "--"), as_one=True),
    SlashCommand(name="repair", takes="[FILE…]", help="Search for a repair without a model.", words=("repair",)),
    SlashCommand(name="diff", takes="[RUN]", help="Show what the last task changed.", words=("diff",)),
    SlashCommand(name="undo", takes="[RUN]", help="Put that back.", words=("undo",)),
    SlashCommand(name="redo", takes="[RUN]", help="Take the last undo back.", words=("undo", "--redo")),
    SlashCommand(name="commit", takes="[RUN] [-m TEXT]", help="Commit what tasks changed; -a: all.", words=("commit",)),
    SlashCommand(name="show", takes="[RUN]", help="Show what the last task did.", words=("show",)),
    SlashCommand(name="runs", help="List the tasks of this project.", words=("runs",)),
    SlashCommand(name="resume", takes="[RUN]", help="List what can be gone on with, or go on with one."),
    SlashCommand(name="check", takes="[CMD|auto]", help="Show or set what decides what is done."),
    SlashCommand(name="agent", takes="[NAME|auto]", help="Show or set who works on tasks."),
    SlashCommand(name="model", takes="[PROFILE|auto]", help="Show or set which model is asked."),
    SlashCommand(name="agents", help="List the agents.", words=("agents", "list")),
    SlashCommand(name="offline", takes="[on|off]", help="Ask no model, or ask again."),
    SlashCommand(name="scope", takes="[GLOB…|all]", help="Show or set which files may change."),
    SlashCommand(name="permissions", takes="[LEVEL]", help="Set what is done unasked: ask, edit, run, auto."),
    SlashCommand(name="files", help="List the files that models are to look at."),
    SlashCommand(name="add", takes="FILE…", help="Add such files."),
    SlashCommand(name="drop", takes="[FILE…|all]", help="Leave them out again."),
    SlashCommand(name="context", help="Show what later tasks are told of earlier ones."),
    SlashCommand(name="cost", help="Show what the tasks of this conversation have cost."),
    SlashCommand(name="compact", help="Forget all but the last task."),
    SlashCommand(name="tools", help="List the tools.", words=("tools",)),
    SlashCommand(name="trust", help="Look at the project's settings and instructions.", words=("trust",)),
    SlashCommand(name="models", takes="[PROFILE…]", help="List the models, and what they cost.", words=("models",)),
    SlashCommand(name="init", help="Write a commented settings file for the project.", words=("init",)),
    SlashCommand(name="config", help="Show the settings.", words=("config", "show")),
    SlashCommand(name="doctor", help="Show how programs are contained, and which models there are.", words=("doctor",)),
    SlashCommand(name="quit", help="Leave (so does Ctrl-D)."),
)  # fmt: skip
BY_NAME: Final = {command.name: command for command in COMMANDS}


class Asked(Struct):
    """What a line asks for: exactly one of these, or nothing; after a commit it may be a task."""

    task: str = ""  # a task in words
    then: Sequence[str] = ()  # a command line of Codur's, once that is done
    together: bool = False  # it is about what earlier tasks left, too
    program: str = ""  # a command line for the shell
    words: Sequence[str] = ()  # a command line of Codur's
    about: str = ""  # a word of the task that the command line means; of another the line is a task
    # name, value: the command that shows or sets something of the conversation, and to what; None: it shows it
    name: str = ""
    value: str | None = None


def read_line(text: str) -> Asked:
    """What a line asks for. Raises UsageError: there is no such command, or it takes something else."""
    line = text.strip()
    if line.startswith("!"):
        return Asked(program=line[1:].strip())
    if wish := _wish(line):
        return wish
    if not line.startswith("/"):
        return _task(line)
    name, _, rest = line[1:].partition(" ")
    name = "quit" if name == "exit" else name
    rest = rest.strip()
    if not name:
        return Asked(name="help")
    if (command := BY_NAME.get(name)) is None:
        if "/" in name or "." in name:  # a path, and so the beginning of a task
            return Asked(task=_without_marks(line))
        near = did_you_mean(f"/{name}", [f"/{known}" for known in BY_NAME], "/help lists them.")
        raise UsageError(f"there is no command /{name}", remedy=near)
    if rest and not command.takes:
        raise UsageError(f"/{name} takes nothing", remedy=f"Say /{name} alone.")
    if not rest and command.takes and not command.takes.startswith("["):
        raise UsageError(f"/{name} takes {command.takes}", remedy=f"Say it after it: /{name} {command.takes}")
    if not command.words:
        return Asked(name=name, value=rest or None)
    return Asked(words=(*command.words, *([rest] if command.as_one else _split(name, rest))))


def _task(line: str) -> Asked:
    """A task; the commit that it ends with is for afterwards, the one that it begins with for before."""
    # A pasted log may speak of many commits.
    forms = (
        (*_FIRSTS, AND_COMMIT, _AND_AMEND, _COMMIT_AFTER)
        if len(line) <= _MAX_CHARS and "commit" in line.lower()
        else ()
    )
    for form in forms:
        found = form.fullmatch(line)
        told = found is not None and (form in _FIRSTS or not NO_DEED.search(found["task"]))
        wish = commit_wish(without_condition(found["wish"])) if found and told else None
        if found and form in _FIRSTS and (_NO_TASK.match(found["task"]) or _has_message(wish)):
            wish = None
        if found and wish:
            groups = found.groupdict()
            task = _without_marks(", ".join(filter(None, (groups["task"], groups.get("rest")))))
            if form in _FIRSTS:
                return Asked(task=task, words=wish)
            return Asked(task=task, then=wish, together=form is _COMMIT_AFTER or bool(_OF_EARLIER.search(task)))
    return Asked(task=_without_marks(line))


def _has_message(wish: Sequence[str] | None) -> bool:
    return any(word.startswith("--message") for word in wish or ())


def _wish(line: str) -> Asked | None:
    """The command line of a wish in everyday words; None if it is none."""
    if words := commit_wish(line) or spoken_command(line):
        return Asked(words=words)
    if of := _UNDO_OF.fullmatch(line):
        return Asked(words=("undo",), about=of["what"].lower())
    return None


def undoes(words: Sequence[str]) -> str | None:
    """The run that a command line undoes, empty for the last; None if it does something else, or only shows it."""
    rest = [word for word in words[1:] if word != "--redo"]
    if words[:1] != ("undo",) or len(rest) > 1 or any(word.startswith("-") for word in rest):
        return None
    return rest[0] if rest else ""


def put_back(line: str, directory: Path, wanted: str, *, again: bool, keep: Callable[[Turn], object]) -> int:
    """Undo a task, or take that back; only what was put back is remembered."""
    report, record = actions.undo.put_back(wanted or None, directory, dry=False, again=again)
    if report.restored or report.removed:
        undid, redid = ("", record.id) if again else (record.id, "")
        keep(Turn(asked=line, outcome="done", undid=undid, redid=redid, ended=time.time()))
    return actions.undo.told(report, record, dry=False, again=again, json=False)


def _split(name: str, rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"/{name}: a quotation mark is not closed", remedy="Close it, or leave it out.") from error


_AND_AMEND = regex(
    r"(?P<task>.+?)(?:[,.;]\s+(?:and\s+)?|\s+and\s+)(?:then\s+)?(?P<wish>(?:amend|add|fold)\b[^.;,]*\bcommit\b.*)",
    re.I | re.S,
)
_MAX_CHARS = 2_000
_OF_EARLIER = regex(r"\b(?:for|of|about|to) (?:it|this|that|them|these|those)\b|\btoo\b|\bas well\b", re.I)
"""A task that goes on with what was done before."""
_NO_TASK = regex(r"(?:the|an?|my|your|all|rest|others?|it|that|this|these|those)\b", re.I)
_NEXT = r"(?:then|after (?:that|this)|afterwards)[,:]?"
_FIRST = rf"(?P<wish>.*?\bcommit\b.*?)(?:[,.;]\s+(?:and\s+)?{_NEXT}|\s+and\s+{_NEXT})\s+(?P<task>.+)"
_COMMIT_FIRST, _SAID_FIRST = regex(_FIRST, re.I | re.S), regex(rf"(?P<rest>[^.!?]*[.!?])\s+{_FIRST}", re.I | re.S)
_ASKED_AFTER = regex(
    r"(?P<wish>.*?\bcommit\b[^.!?]*)[.!]\s+(?!(?:no|wait|actually|or|hm+)\b)"
    r"(?P<task>[^.!?]+\?(?:\s+(?=(?:i want|i['’]d like|it should)\b)"
    r"(?!.*\b(?:commit\w*|first|before|push\w*|yet|wait|only|unless|instead|nothing)\b).+)?)",
    re.I | re.S,
)
_FIRSTS = (_COMMIT_FIRST, _SAID_FIRST, _ASKED_AFTER)
"""A commit, then a task; the same after a sentence of something else; a commit, then a question and more."""
_COMMIT_AFTER = regex(
    r"(?P<wish>.*?\bcommit\b.*?)[,.;]?\s+(?:and|but)\s+(?P<task>.+?)\s+first"
    r"(?:[.!]?|[,;.]\s+(?P<rest>(?!.*\b(?:then|push|tag|and)\b)[^\n]+))",
    re.I,
)
_LEAD = r"(?:(?:hm+|no|nope|oh|sorry|wait|ok|okay|actually|then|please|on second thoughts?)[,.!]* ){0,4}"
_UNDO_OF = regex(
    rf"{_LEAD}(?:undo|revert) (?:the|that|your) (?P<what>\w{{3,}})(?: (?:change|edit|task))?(?: (?:again|please))?\W?",
    re.I,
)


def _without_marks(line: str) -> str:
    """A task's words; `@file` stands for the file's name."""
    return " ".join(word[1:] if word.startswith("@") and len(word) > 1 else word for word in line.split(" "))


def help_text(width: int) -> str:
    """All commands, one a line; what does not fit goes on below its beginning."""
    shown = [(f"/{command.name} {command.takes}".rstrip(), command.help) for command in COMMANDS]
    wide = max(len(left) for left, _ in shown)
    more = [
        ("!COMMAND", "Run a program of yours, contained; later tasks know its output."),
        ("@FILE, @NAME", "In a task: name a file, or a function or class (Tab completes)."),
        ("Alt-Enter", "Begin a new line."),
    ]
    room, below = max(width - wide - 4, _LEAST_WIDE), f"\n{' ' * (wide + 4)}"
    return "\n".join(f"  {left.ljust(wide)}  {below.join(wrap(right, room))}" for left, right in (*shown, *more))

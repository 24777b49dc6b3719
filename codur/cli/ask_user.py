"""Asks the user at the terminal: whether to carry out a plan, or for an answer."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from codur.cli.machine import width
from codur.config import reading
from codur.errors import ConfigError, UsageError, reason_of
from codur.events import Emit, Event, PlanShown
from codur.lazy import late, regex
from codur.planning import plans
from codur.questions import NO_ELSEWHERE, YES_ELSEWHERE, Answer, PlanEffects, Question, is_leave_asked
from codur.structs import Struct
from codur.types import Plan
from codur.ui.output_formats import Output, show
from codur.ui.sanitise import sanitise
from codur.ui.shown.plans import plan_lines, question_lines
from codur.ui.styled_lines import joined, line

if TYPE_CHECKING:
    from codur.cli.typed_line import TypedLine

tempfile = late("tempfile")
slash_commands = late("codur.cli.conversation.slash_commands")

_AND_KEEP = regex(r"and keep(?: the file| it)?\b\W*", re.IGNORECASE)
_ALWAYS = "always"
_WHY = "Why not? (A reason makes a new plan; Enter ends the run.) "


class _Choices(Struct):
    """A question with a few answers: its words, the answers by their first letters, and what each of them means."""

    prompt: str
    words: str
    help: str


_OF_PLAN = _Choices(
    prompt="Carry it out? [y]es, [n]o, [e]dit, [s]ave: ",
    words="yes no edit save",
    help="""\
y: carry it out
n: do not; the first time you can say why, here or when asked, for a new plan
e: change it in your editor
s: write it to a file, and ask again""",
)
_OF_TEST = _Choices(
    prompt="Must it pass? [y]es, for this task; yes and [k]eep the file; [n]o; [e]dit: ",
    words="yes keep no edit",
    help="""\
y: use it for this run, beside the project's own tests
k: the same, and leave it in the project if the task is done
n: do without it; the task goes on, and nothing shows that it is done
e: change it in your editor
Say nothing for two minutes (verification.answer_s), and it is used.
Words beside y or k are told to who edits; any others ask for another test.""",
)


def user_at(
    output: Output,
    *,
    task: str,
    workspace: Path,
    answer_s: float,
    typed: TypedLine | None = None,
) -> Callable[[Question], Answer] | None:
    """What asks the user; None if nobody sits at a terminal.

    Args:
        output: what is shown meanwhile; it gives the terminal back before each question.
        task, workspace: for plans that are saved.
        answer_s: a test that was made is used if nothing is said for so many seconds.
        typed: takes a command that is given for an answer: it is carried out instead.
    """
    streams = (sys.stdin, sys.stderr)  # None, where they were closed before the start
    seen = all(stream is not None and stream.isatty() for stream in streams)
    return _User(output, task, workspace, typed, answer_s) if seen else None


def shows_plans(output: Output) -> Emit:
    """The output's events; a plan that is approved of beforehand is shown as one that is asked about is."""

    def emit(event: Event) -> None:
        if isinstance(event, PlanShown):
            _show_approved(event.plan, event.effects, output)
        output.event(event)

    return emit


def _show_approved(plan: Plan, effects: PlanEffects, output: Output) -> None:
    output.close()
    show(joined([*plan_lines(plan, effects, width=width()), line("Carried out, as --yes says.")]), sys.stderr)


def approving(user: Callable[[Question], Answer] | None, output: Output) -> Callable[[Question], Answer]:
    """A user who approves of plans, and sees them; anything else is asked, if there is somebody."""

    def answer(question: Question) -> Answer:
        if question.kind == "approval" and not question.text:
            if question.plan is not None and question.effects is not None:
                _show_approved(question.plan, question.effects, output)
            return Answer(decision="approve")
        return user(question) if user is not None else Answer(decision="nobody")

    return answer


T = TypeVar("T")


class _User:
    """The user at the terminal."""

    def __init__(self, output: Output, task: str, workspace: Path, typed: TypedLine | None, answer_s: float) -> None:
        self._output = output
        self._answer_s = answer_s
        self._typed = typed
        self._task = task
        self._workspace = workspace

    def __call__(self, question: Question) -> Answer:
        """Ask; an end of input counts as nobody."""
        self._output.close()
        show(joined(question_lines(question, width=width())), sys.stderr)
        try:
            if question.check is not None:
                return self._test(question.check.text, possible=not question.text)
            if question.plan is None:
                return self._text_answer(question)
            return self._approval(question.plan, possible=not question.text, renews=question.renews)
        except EOFError:
            show(joined([line("")]), sys.stderr)
            return Answer(decision="nobody")

    def _text_answer(self, question: Question) -> Answer:
        text, typed = _read("> ").strip(), self._typed
        if typed is not None:
            for_good = text.lower().strip(".!") == _ALWAYS and is_leave_asked(f"You asked: {question.text}")
            typed.tests_are_free |= for_good
        if typed is not None and text[:1] == "/" and text[1:].partition(" ")[0] in slash_commands.BY_NAME:
            typed.commands.append(text)
            text = ""
        return Answer(decision="answer", text=text) if text else Answer(decision="nobody")

    def _approval(self, plan: Plan, *, possible: bool, renews: bool) -> Answer:
        while True:
            refused = "" if possible else "carried out"
            letter, more = _choice(_OF_PLAN, refused=refused, free=renews)
            match letter:
                case "y" if not more:
                    return Answer(decision="approve")
                case "y" | "":  # "yes but …" is no yes to what it says, nor is what says neither
                    return Answer(decision="reject", text=more)
                case "n":
                    return Answer(decision="reject", text=(more or _read(_WHY).strip()) if renews else "")
                case "s":
                    self._save(plan)
                case _:
                    if (edited := self._edited(plan)) is not None:
                        return Answer(decision="edit", plan=edited)

    def _test(self, text: str, *, possible: bool) -> Answer:
        while True:
            refused = "" if possible else "used"
            most_s = self._answer_s if possible else None  # work must not wait for who went for a coffee
            letter, more = _choice(_OF_TEST, refused=refused, free=True, most_s=most_s)
            match letter:
                case "y" | "k":
                    return Answer(decision="approve", keep=letter == "k", text=more)
                case "n" | "":
                    return Answer(decision="reject", text="" if letter else more)
                case _:
                    edited = self._edited_text(text, "test.py", lambda data: data.decode("utf-8", "replace"))
                    if edited is not None:
                        return Answer(decision="edit", text=edited)

    def _edited(self, plan: Plan) -> Plan | None:
        """The plan as the user changes it; None if it was left as it is."""
        text = plans.plan_file.plan_text(plan, task=self._task, workspace=str(self._workspace))
        return self._edited_text(text, "plan.yaml", lambda data: plans.plan_file.read_plan(data, "plan.yaml").plan)

    def _edited_text(self, text: str, name: str, read: Callable[[bytes], T]) -> T | None:
        """A text as the user changes it, read; None if it was left as it is."""
        with tempfile.TemporaryDirectory(prefix="codur-plan-") as directory:
            path = Path(directory) / name
            path.write_text(text, encoding="utf-8")
            while True:
                try:
                    edit(path)
                    data = reading.yaml_source.read_bytes(path, path.name)
                    if data == text.encode():
                        _say(f"The {path.stem} is as it was.")
                        return None
                    return read(data)
                except ConfigError as error:
                    _say(f"✘ {error.message}\n  {error.remedy}")
                    if _read("Edit it again? [Y/n] ").strip().lower() in {"n", "no", *NO_ELSEWHERE}:
                        return None
                except UsageError as error:
                    _say(f"✘ {error.message}\n  {error.remedy}")
                    return None

    def _save(self, plan: Plan) -> None:
        name = _read("Write it to [plan.yaml]: ").strip() or "plan.yaml"
        path = Path(name)
        try:
            path = path.expanduser()
            with path.open("x", encoding="utf-8") as stream:
                stream.write(plans.plan_file.plan_text(plan, task=self._task, workspace=str(self._workspace)))
        except OSError as error:
            _say(f"✘ {path}: {(error.strerror or 'cannot be written').lower()}")
        except (ValueError, RuntimeError) as error:  # a NUL in the name; a ~user that there is not
            _say(f"✘ {path}: {error}")
        else:
            _say(f"Written to {path}; carry it out later with: codur run --plan-file {shlex.quote(str(path))}")


def _choice(choices: _Choices, *, refused: str, free: bool, most_s: float | None = None) -> tuple[str, str]:
    """The first letter of the word that the user chooses, and what he says beside it.

    What is `refused` cannot be done, so yes is no choice. `free`: other words may follow, or be all that there is: the
    letter is empty then. `most_s`: after so many seconds of silence it is yes.
    """
    while True:
        said = _read(choices.prompt, most_s).strip()
        first, _, more = said.partition(" ")
        first, mark = first.rstrip(",.:;").lower(), first[-1:] in {",", ".", ":", ";"}
        first = "yes" if first in YES_ELSEWHERE else "no" if first in NO_ELSEWHERE else first
        letter = next((word[0] for word in choices.words.split() if first in (word, word[0])), "")
        # As the question words it: "yes and keep the file".
        if letter == "y" and "keep" in choices.words and (kept := _AND_KEEP.match(more)):
            letter, more = "k", more[kept.end() :]
        if more and first in {"keep", "edit"} and not mark:  # "keep the old name" is no choice
            letter = ""
        if more and not free and letter not in {"n", "e"}:
            letter = ""  # "yes but …" to a plan is no yes to what it says
        if letter and not (refused and letter in "yk"):
            return letter, more.strip()
        if more and free and not letter:
            return "", said
        _say(f"It cannot be {refused} as it is: edit it, or say no." if letter else choices.help)


def _read(prompt: str, most_s: float | None = None) -> str:
    """One line from the terminal; yes if none comes within so many seconds. Raises EOFError at the end of input."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    try:
        if most_s is not None and not select.select([sys.stdin], [], [], most_s)[0]:
            _say("\nNo answer, so yes.")
            return "yes"
        data = sys.stdin.buffer.readline()
    except KeyboardInterrupt:  # what is told next begins a line of its own
        show(joined([line("")]), sys.stderr)
        raise
    if not data:
        raise EOFError
    return data.decode("utf-8", "replace")


def _say(text: str) -> None:
    show(sanitise(text), sys.stderr)


_EDITORS = ("VISUAL", "EDITOR")
_REMEDY = "Set EDITOR to an editor that is installed."
_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2


def edit(path: Path) -> None:
    """Let the user change a file; comes back when the editor has ended.

    It is the user's own program and not contained. It is shown where questions are, on standard error, as standard
    output may go to a file; Ctrl-C in it is the editor's.

    Raises:
        UsageError: there is none that can be started, or it ended with an error, which throws its changes away.
    """
    command = next((value for name in _EDITORS if (value := os.environ.get(name, "").strip())), "vi")
    try:
        words = [*shlex.split(command), str(path)]
    except ValueError as error:
        raise UsageError(f"the editor {command} cannot be started: {error}", remedy=_REMEDY) from error
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        pid = os.posix_spawnp(
            words[0],
            words,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, _STANDARD_ERROR, _STANDARD_OUTPUT)],
            setsigdef=[signal.SIGINT],
        )
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except OSError as error:
        raise UsageError(f"the editor {words[0]} cannot be started: {reason_of(error)}", remedy=_REMEDY) from error
    finally:
        signal.signal(signal.SIGINT, before)
    if code:
        raise UsageError(
            f"the editor {words[0]} ended with {code}; its changes are not used", remedy="The plan is as it was."
        )

"""`codur` without arguments, at a terminal: a conversation, one task after the other, each as `codur TASK` does it."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from codur.checks.memory import CheckMemory
from codur.cli import actions, machine
from codur.cli.actions.init import check_found, model_words
from codur.cli.conversation.choices import CHANGES, PERMISSIONS, Choices
from codur.cli.conversation.earlier_tasks import earlier_turns, going_on, kept_turns
from codur.cli.conversation.line_completion import LineCompleter
from codur.cli.conversation.slash_commands import Asked, help_text, put_back, read_line, undoes
from codur.cli.project_names import ProjectNames, agent_names, run_ids
from codur.cli.typed_line import TypedLine
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.lazy import regex
from codur.redaction import Redactor, redact_value
from codur.session.host import redactor_of
from codur.session.stop import INTERRUPTED, code_of
from codur.session.turns import Turn, as_they_stand, cost_text, since, turn_of
from codur.store.directory import StateDirectory
from codur.structs import replace
from codur.types import Plan, Step, Task
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise
from codur.ui.shown.tables import error_text
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import block, clip, count, folded, joined

_PROMPT = "codur> "
_CONTAINED = regex(r"Read-only file system|Network is unreachable|Could not resolve host|name resolution")
_CONTAINED_WORDS = (
    "Programs run contained here, those after ! too: .git stays as it is (/commit commits to it), and the "
    "network is off unless allowed."
)
_TRY = ('"the tests fail, fix the bug"', '"explain FILE"', "/help")
_TRY_EMPTY = ('"make me a web page that …"', '"write a program that …"', "/help")

_TAKES_VALUE = regex(r"-\w*m|--message|-C|--directory")  # options of a commit

Command = Callable[[], int]


class Conversation:
    """One conversation in a directory.

    Args:
        run: carries out a command line of Codur's.
        guarded: carries out a piece of work, tells its errors, and gives its exit code; Ctrl-C ends the work alone.
        goes_on: with what is kept of the last conversation there.
    """

    def __init__(
        self,
        directory: Path,
        *,
        run: Callable[[Sequence[str]], int],
        guarded: Callable[[Command], int],
        goes_on: bool = False,
    ) -> None:
        self._directory = directory
        self._run = run
        self._guarded = guarded
        self._choices = Choices()
        self._settings = machine.settings_for(directory, None, {}).settings
        self._redactor = redactor_of(self._settings, os.environ, directory)
        self._kept = kept_turns(directory)
        self._turns: list[Turn] = []
        self._typed = ""
        self._moment = 0.0  # when the last line was done with: what was written till then is no work of the user's
        self._memory = CheckMemory()
        self._tests_are_free = False
        self._commands: list[str] = []  # typed while a task was at work
        if goes_on:
            known = len(self._kept.read())
            self._turns = earlier_turns(directory)
            for turn in self._turns[known:]:  # from now on these belong to it
                self._kept.add(redact_value(turn, self._redactor))
        else:
            self._kept.put_aside()

    def hold(self) -> int:
        """Take one line after the other until the user leaves; gives the exit code."""
        _say(_greeting(self._directory, self._settings, self._turns))
        session = self._session(self._settings)
        stopped = False
        while True:
            try:
                if self._commands:
                    line = self._commands.pop(0)
                    _say(f"{_PROMPT}{line}")
                else:
                    line = session.prompt(_PROMPT, handle_sigint=False, default=self._typed)
                    self._typed = ""
            except EOFError:
                return 0
            except KeyboardInterrupt as stop:
                if code_of(stop) != INTERRUPTED:
                    raise
                if stopped:
                    return 0
                stopped = True
                _say("Ctrl-C once more leaves; so does Ctrl-D.")
                continue
            if line.strip():
                stopped = False
                if not self._take(line):
                    return 0
                self._moment = time.time()

    def _take(self, line: str) -> bool:
        """Do what a line asks for; whether to go on."""
        try:
            asked = read_line(line)
        except UsageError as error:
            show(error_text(error), sys.stderr)
            return True
        if asked.name == "quit":
            return False
        if asked.about and not self._was_about(asked.about):
            asked = Asked(task=line)
        if asked.name:
            self._set(asked.name, asked.value)
        elif (wanted := undoes(asked.words)) is not None:
            again = "--redo" in asked.words
            self._guarded(partial(put_back, line, self._directory, wanted, again=again, keep=self._remember))
        elif asked.words[:1] == ("commit",):
            done = self._commit(line, asked.words)
            if done and asked.task:
                self._commands.append(asked.task)
            elif asked.task:
                self._typed = asked.task
        elif asked.words:
            self._run(asked.words)
        else:
            self._guarded(partial(self._work, asked))
        return True

    def _work(self, asked: Asked) -> int:
        """Carry out a task or a program, and remember it."""
        chosen = self._choices
        task = Task(
            prompt=asked.task or f"!{asked.program}",
            workspace=str(self._directory.absolute()),
            agent=chosen.agent,
            offline=chosen.offline,
            places=chosen.files,
            may_edit_tests=self._tests_are_free,
        )
        task = going_on(task, self._turns, self._moment)
        task = replace(task, earlier=chosen.told(task.earlier))
        if asked.program:
            self._memory.forget()
            step = Step(id="run", action="tool", capability="run_command", arguments={"command": asked.program})
            task = replace(task, plan=Plan(steps=(step,), origin="user"), approved=True, offline=True)
        else:
            check = chosen.check
            task = replace(task, check_command=check, check_is_goal=check is not None)
            task = replace(task, show_plan=chosen.permissions == "ask")
        typed, code = TypedLine(), INTERRUPTED
        try:
            code = self._carry_out(task, machine.Showing(typed=typed, memory=self._memory))
            if asked.then and code == 0:
                # That task's changes alone, if it left any; "all" is what the tasks of the conversation left, and not
                # the user's own.
                alone = (
                    self._turns[-1].diff and not {"--all", "--staged"}.intersection(asked.then) and not asked.together
                )
                run = (self._turns[-1].run_id,) if alone else ()
                words = ("commit", *run, *(word for word in asked.then[1:] if word != "--all"))
                self._commands.append(f"/{shlex.join(words)}")
            elif asked.then:
                _say("Not committed, as the task is not done; /commit commits what it left.")
        finally:
            self._tests_are_free |= typed.tests_are_free
            self._offer(typed, code)
        return code

    def _carry_out(self, task: Task, showing: machine.Showing) -> int:
        result, output = actions.run.carried_out(task, showing, overrides=self._choices.overrides)
        try:
            # What a command does is shown as it is done.
            shown = replace(result, answer="") if result.command else result
            code = actions.run.shown_result(shown, output, explain_route=False)
            if result.command:
                self._commands += [f"/{line}" for line in result.command.splitlines()]
            else:
                actions.run.tell_next(result, "/")
            if _CONTAINED.search(result.answer + result.reason):
                _say(_CONTAINED_WORDS)
            return code
        finally:
            said = showing.typed.guidance.given if showing.typed is not None else ()
            self._remember(turn_of(task.said_with(said), result))

    def _offer(self, typed: TypedLine, code: int) -> None:
        """Have what was typed during a task, and told no model, on the next line.

        Commands are carried out before, unless the task was interrupted; a wish to commit, only if the task is done.
        """
        ready = [each for each in typed.commands if code != INTERRUPTED and (code == 0 or each.startswith(("/", "!")))]
        self._commands += ready
        waiting = (*typed.guidance.waiting, *(each for each in typed.commands if each not in ready))
        self._typed = "\n".join((*waiting, *([typed.text] if typed.text else [])))
        if waiting:
            _say("No model was told what you typed meanwhile: it is on the next line.")

    def _was_about(self, word: str) -> bool:
        """Whether the last task of which something is left begins with this word."""
        changed = [turn.asked.lower().split() for turn in as_they_stand(self._turns) if turn.diff]
        return bool(changed) and changed[-1][:1] == [word]

    def _commit(self, line: str, words: Sequence[str]) -> bool:
        """Commit what a command line names, or take the last commit back; without a run, what all tasks left."""
        undoes = "--undo" in words
        needs_none = undoes or "--staged" in words or _names_run(words)
        runs = () if needs_none else actions.commit.left_of([turn.run_id for turn in self._turns])
        # Who named an agent did not choose a service to word it.
        offline = ("--offline",) if self._choices.offline or self._choices.agent else ()
        done = self._run((*words, *offline, *runs)) == 0
        said = "It was committed to git." if done else "It could not be committed, as was told."
        if undoes:
            said = (
                "The last commit was taken back; its files stay."
                if done
                else "It could not be taken back, as was told."
            )
        if "--dry-run" not in words:
            outcome = "done" if done else "not_achieved"
            self._remember(Turn(asked=line, outcome=outcome, said=said, ended=time.time()))
        return done

    def _remember(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._kept.add(redact_value(turn, self._redactor))

    def _set(self, name: str, value: str | None) -> None:
        """Show or change what holds for later tasks."""
        match name:
            case "help":
                _say(help_text(machine.width()))
            case "context":
                _say(since(self._turns).told or "nothing yet: later tasks are told of earlier ones")
            case "compact":
                self._compact()
            case "cost":
                _say(cost_text(self._turns))
            case "resume":
                self._guarded(partial(self._resume, value or ""))
            case _:
                self._guarded(partial(self._change, name, value))

    def _change(self, what: str, value: str | None) -> int:
        _say(CHANGES[what](self._choices, value, self._directory))
        return 0

    def _resume(self, wanted: str) -> int:
        """Go on with an earlier conversation, by its number, or a run that was stopped; else list them."""
        kept = self._kept.aside()
        if wanted.isdigit() and 0 < int(wanted) <= len(kept):
            self._kept.put_aside(instead=kept[int(wanted) - 1])
            self._turns = self._kept.read()
            _say(_remembered(self._turns))
            return 0
        if wanted:
            return self._run(("resume", wanted))
        lines = [f"{number}: {_told_shortly(self._kept.read(path))}" for number, path in enumerate(kept, 1)]
        lines += [
            f"{record.id}: stopped: {clip(record.prompt)}"
            for record in machine.kept_runs().list(self._directory.resolve())
            if record.can_be_resumed
        ]
        more = ["Say /resume and what stands in front."] if lines else ["no earlier conversation, and no stopped task"]
        _say("\n".join([*lines, *more]))
        return 0

    def _compact(self) -> None:
        last = [turn for turn in self._turns if not (turn.undid or turn.redid)][-1:]
        self._kept.forget()
        for turn in last:
            self._kept.add(redact_value(turn, self._redactor))
        self._turns = last
        _say(f"{len(last)} task is remembered" if last else "nothing is remembered")

    def _session(self, settings: Settings) -> PromptSession[str]:
        state, names = machine.state_directory(), ProjectNames(self._directory)
        # Alt-Enter begins a new line, Esc clears
        keys = KeyBindings()

        @keys.add("escape", "enter")
        def _new_line(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("escape")
        def _clear(event: KeyPressEvent) -> None:
            event.current_buffer.reset()

        return PromptSession(
            history=_history(StateDirectory(state).conversations if state else None, self._kept.path, self._redactor),
            completer=LineCompleter(names.files, names.symbols, _values(settings, names)),
            complete_in_thread=True,
            key_bindings=keys,
            bottom_toolbar=lambda: FormattedText([("", sanitise(self._choices.shown))]),
            enable_history_search=True,
        )


def _values(settings: Settings, names: ProjectNames) -> dict[str, Callable[[], Sequence[str]]]:
    """What each command can be followed by."""
    return {
        "agent": lambda: ["auto", *agent_names(settings)],
        "model": lambda: ["auto", *settings.llm.profiles],
        "models": lambda: list(settings.llm.profiles),
        "offline": lambda: ["on", "off"],
        "permissions": lambda: [*PERMISSIONS, "auto"],
        "check": lambda: ["auto"],
        "scope": lambda: ["all"],
        **dict.fromkeys(("repair", "add", "drop"), names.files),
        **dict.fromkeys(("diff", "undo", "redo", "commit", "show", "resume"), lambda: run_ids(names.directory)),
    }


class _LineHistory(FileHistory):
    """What was typed in this project, without secrets."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        super().__init__(path)
        self._redactor = redactor

    def store_string(self, string: str) -> None:
        """Add a line to the file."""
        super().store_string(self._redactor(string))


def _history(directory: Path | None, turns: Path | None, redactor: Redactor) -> History:
    """What was typed in this project, for its owner alone."""
    if directory is None or turns is None:
        return InMemoryHistory()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = turns.with_suffix(".history")
    path.touch(mode=0o600)
    return _LineHistory(path, redactor)


def _greeting(directory: Path, settings: Settings, turns: Sequence[Turn]) -> str:
    """Which model is asked and why, what decides, and what to try; where it is was said before all this was loaded."""
    lines = [
        f"model: {model_words(settings)}",
        f"check: {check_found(directory, settings)}",
    ]
    lines += [_remembered(turns)] if turns else []
    tries = _TRY if any(directory.iterdir()) else _TRY_EMPTY
    return "\n".join([*lines, f"try: {', '.join(tries)}"])


def _remembered(turns: Sequence[Turn]) -> str:
    return f"{count(len(as_they_stand(turns)), 'earlier task')} remembered (/context)"


def _told_shortly(turns: Sequence[Turn]) -> str:
    """A conversation in a line."""
    return f"{count(len(turns), 'task')}, the last: {clip(turns[-1].asked)}" if turns else "no task that can be read"


def _names_run(words: Sequence[str]) -> bool:
    """Whether the command line of a commit says which run is meant."""
    return any(not word.startswith("-") and not _TAKES_VALUE.fullmatch(last) for last, word in pairwise(words))


def _say(text: str) -> None:
    show(joined(folded(block(text), SafeStream(sys.stderr).columns)), sys.stderr)

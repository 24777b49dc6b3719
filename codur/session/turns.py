"""What a conversation remembers of its tasks: kept on disk, and told to later tasks within a bound."""

import hashlib
import json
import os
import re
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import to_builtins

from codur.checks import describe
from codur.context.places import edited_lines
from codur.lazy import regex
from codur.parsing.bounded_text import beginning, listed
from codur.store.atomic import PRIVATE_DIRECTORY, PRIVATE_FILE, state_errors
from codur.structs import Struct, convert, replace
from codur.types import RunResult

MAX_CHARS = 8_000
"""Of what is told of all earlier turns: about 2,000 tokens of a request."""
_SHARE = 2
"""A turn may take one part in so many of what is left: the latest half, the one before it a quarter, and so on."""
_IN_FULL, _TOLD, _ASKED_CHARS = 2, 12, 200
"""So many turns are told with answers and diffs, so many at all; of the rest what was asked, in so many characters."""
_IN_SHORT = "In short, before that:"
_MADE = "A test was made for it, which is not in the workspace:"
_CHANGED, _TRIED = "Changed", "Tried, and put back"
_PLACES, _NOTES = 12, 3
_KEPT = 200
_ASIDE = 9
"""Earlier conversations that are kept of a project."""
_LEAST_CHARS = 200
_FILES = regex(r"^(?=diff --git )", re.MULTILINE)
_CITED = regex(
    r"(?<![\w./-])([\w-][\w./-]*\.[A-Za-z]\w{0,4})[`*]*\s*[:,(]?\s*(?:(?:at|lines?)\s*)?#?L?(\d{1,6})\b(?!\.\d|\s+[a-z])"
)
"""A line of a file, as answers name it: `app.py:7`, `app.py` 7-9, app.py (line 7)."""
_NEW, _GONE = " (new)", " (deleted)"
_NEW_HEAD, _GONE_HEAD = "--- /dev/null\n+++ b/", "\n+++ /dev/null"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Turn(Struct):
    """One task of a conversation, and what came of it."""

    asked: str  # the user's words; a command line after `!`
    outcome: str  # how its run ended
    said: str = ""  # its answer, explanation or reason
    diff: str = ""  # what it changed
    tried: str = ""  # what its furthest attempt had changed, if that was put back
    run_id: str = ""  # the run's name; empty if it was not kept
    # the run that this turn undid, or made again; such a turn is no task
    undid: str = ""
    redid: str = ""
    ended: float = 0.0  # when it was, in seconds since the epoch; 0: that is not known
    # calls, tokens, cost_usd: of models, as far as they are known
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Since(Struct):
    """What earlier turns left: told to models, and what these have to see for a task that goes on with it."""

    told: str = ""  # the turns in words
    # lines of files as `path:line`, of the latest change, or attempt, and before them what the last answer names
    places: tuple[str, ...] = ()
    made: tuple[str, ...] = ()  # files that the turns made


def turn_of(asked: str, result: RunResult) -> Turn:
    """What is remembered of a run."""
    made = f"{_MADE} {result.made_test}" if result.made_test else ""
    said = "\n".join(filter(None, (result.answer, result.explanation, result.reason, *_report(result), made)))
    best = result.best
    put_back = best is not None and not best.kept and not result.diff
    tried = [attempt.diff for attempt in result.attempts if best is not None and attempt.number == best.number]
    return Turn(
        asked=asked,
        outcome=result.outcome,
        said=said,
        diff=result.diff,
        tried=tried[0] if put_back and tried else "",
        run_id=result.run_id,
        ended=time.time(),
        calls=result.model_calls,
        tokens=result.usage.total_tokens,
        cost_usd=result.usage.cost_usd,
    )


def _report(result: RunResult) -> list[str]:
    """What the user was told of the check, and the first notes: he may ask about any word of it."""
    verdict = result.verdict
    if verdict is None:
        return [f"Note: {note}" for note in result.notes[:_NOTES]]
    tests = (("failing as before", verdict.excused), ("failing", verdict.failing))
    named = [f"{what}: {listed(names, _PLACES)}" for what, names in tests if names]
    passed = f" ({verdict.tests_passed} tests pass)" if verdict.passed and verdict.tests_passed else ""
    told = "; ".join([f"Check `{verdict.check}`: {describe.verdict_line(verdict)}{passed}", *named])
    return [told, *(f"Note: {note}" for note in result.notes[:_NOTES])]


def cost_text(turns: Sequence[Turn]) -> str:
    """What the turns have cost, in a line."""
    calls, tokens, cost = (sum(getattr(turn, name) for turn in turns) for name in ("calls", "tokens", "cost_usd"))
    return f"of {len(turns)} remembered tasks: {calls} model calls, {tokens:,} tokens, ${cost:.4f}"


def since(turns: Sequence[Turn], limit: int = MAX_CHARS, *, asked: str = "test") -> Since:
    """What a task is told of the earlier ones, and where these were at work.

    Args:
        asked: the task's own words; if no test is spoken of, those that were made for earlier ones are left out.
        limit: characters.
    """
    tasks = as_they_stand(turns)
    if "test" not in asked.lower():
        tasks = [replace(turn, said=turn.said.partition(_MADE)[0].rstrip()) for turn in tasks]
    last = next((turn for turn in reversed(tasks) if turn.diff or turn.tried), Turn(asked="", outcome=""))
    places = edited_lines(last.diff, after=True) if last.diff else edited_lines(last.tried)
    answer = tasks[-1].said if tasks and tasks[-1] is not last else ""
    cited = [f"{path}:{line}" for path, line in _CITED.findall(answer)]
    shown = tuple(dict.fromkeys([*cited, *places.splitlines()]))[:_PLACES]
    made = tuple(dict.fromkeys(path for turn in tasks for path in _made(turn.diff)))
    return Since(told=_told(tasks, limit), places=shown, made=made)


def _made(diff: str) -> list[str]:
    """The files that a diff makes, but those that it only moves."""
    contents = [(part, [line[1:] for line in part.changed]) for part in _parts(diff)]
    moved = [content for part, content in contents if part.mark == _GONE]
    return [part.path for part, content in contents if part.mark == _NEW and content not in moved]


def as_they_stand(turns: Sequence[Turn]) -> list[Turn]:
    """The tasks among the turns, with what the others made of them: undone, made again, brought back."""
    stands: dict[str, bool] = {}
    for turn in turns:
        stands |= dict.fromkeys(filter(None, (turn.undid,)), False) | dict.fromkeys(filter(None, (turn.redid,)), True)
    found = []
    for turn in turns:
        if turn.undid or turn.redid:
            continue
        if stands.get(turn.run_id) is False:
            turn = replace(turn, outcome=f"{turn.outcome}, and undone since", diff="", tried="")
        elif stands.get(turn.run_id) and turn.tried:
            turn = replace(turn, outcome=f"{turn.outcome}, and brought back since", diff=turn.tried, tried="")
        found.append(turn)
    return found


def _told(turns: Sequence[Turn], limit: int) -> str:
    """The turns in words, the latest first: who has room for less of it cuts the end.

    The latest gets half of the room, the one before it half of the rest; what does not fit is cut at its end and says
    so. Of those before them it is told what was asked and what became of it; the oldest are left out.
    """
    told: list[str] = []
    left, later = limit, dict[str, set[str]]()
    for turn in reversed(turns):
        if left < _LEAST_CHARS or len(told) >= _TOLD:
            break
        room = max(left // _SHARE, _LEAST_CHARS)
        in_short = [_IN_SHORT] if len(told) == _IN_FULL else []
        text = beginning(_text(turn, later), room) if len(told) < _IN_FULL else _shortly(turn, later, room)
        told.append("\n\n".join((*in_short, text)))
        left -= len(told[-1])
        for part in _parts(turn.diff or turn.tried):
            later.setdefault(part.path, set()).update(part.changed)
    more = len(turns) - len(told)
    return "\n\n".join([*told, *([f"({more} earlier left out)"] if more else [])])


def _text(turn: Turn, later: Mapping[str, set[str]]) -> str:
    parts = [f"User: {turn.asked}", f"Outcome: {turn.outcome}", *([turn.said] if turn.said else [])]
    for title, diff in ((_CHANGED, turn.diff), (_TRIED, turn.tried)):
        news, known = _told_apart(diff, later)
        parts += [f"{title}:\n{''.join(part.text for part in news)}"] if news else []
        parts += [f"{title} as above: {_names(known)}"] if known else []
    return "\n".join(parts).rstrip("\n")


def _shortly(turn: Turn, later: Mapping[str, set[str]], room: int) -> str:
    """A turn in a few lines; what was put back, and no later turn did, is to be found nowhere else."""
    changed = f"; changed {_names(_parts(turn.diff))}" if turn.diff else ""
    asked = textwrap.shorten(turn.asked, _ASKED_CHARS, placeholder=" …")
    lines = [f"User: {asked}", f"Outcome: {turn.outcome}{changed}"]
    news, known = _told_apart(turn.tried, later)
    lines += [f"{_TRIED} as above: {_names(known)}"] if known else []
    lines += [beginning(f"{_TRIED}:\n{''.join(part.text for part in news)}", room)] if news else []
    return "\n".join(lines).rstrip("\n")


class _Part(Struct):
    """What a diff says of one file."""

    path: str
    text: str
    mark: str  # of a file that is new or gone
    changed: Sequence[str]  # its lines that begin with + or -


def _parts(diff: str) -> list[_Part]:
    found = []
    for text in filter(str.strip, _FILES.split(diff)):
        head, _, hunks = text.partition("\n@@")
        path = head.partition(_NEW_HEAD)[2].partition("\n")[0] or head.partition("\n")[0].rpartition(" b/")[2]
        mark = _NEW if _NEW_HEAD in head else _GONE if _GONE_HEAD in head else ""
        changed = [line for line in hunks.split("\n")[1:] if line[:1] in {"+", "-"}]
        found.append(_Part(path=path, text=text, mark=mark, changed=changed))
    return found


def _told_apart(diff: str, later: Mapping[str, set[str]]) -> tuple[list[_Part], list[_Part]]:
    """The parts of a diff that no later turn repeats, and those that one does."""
    news, known = list[_Part](), list[_Part]()
    for part in _parts(diff):
        (known if part.changed and later.get(part.path, set()).issuperset(part.changed) else news).append(part)
    return news, known


def _names(parts: Sequence[_Part]) -> str:
    return listed([f"{part.path}{part.mark}" for part in parts], _PLACES)


class Turns:
    """A project's conversation on disk; without a directory of all conversations nothing is kept."""

    def __init__(self, directory: Path | None, workspace: Path) -> None:
        name = hashlib.sha256(os.fsencode(workspace.resolve())).hexdigest()[:32]
        self.path = directory / f"{name}.jsonl" if directory is not None else None

    def read(self, path: Path | None = None) -> list[Turn]:
        """The turns of this or an earlier conversation, oldest first, but damaged ones. Raises StateError."""
        path = path or self.path
        if path is None or not path.is_file():
            return []
        with state_errors(path):
            lines = path.read_bytes().splitlines()
        found = []
        for line in lines[-_KEPT:]:
            try:
                found.append(convert(json.loads(line), Turn))
            except (ValueError, RecursionError):
                continue
        return found

    def add(self, turn: Turn) -> None:
        """Keep one more. Raises StateError: it cannot be written."""
        if self.path is None:
            return
        with state_errors(self.path):
            self.path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            descriptor = os.open(self.path, _APPEND, PRIVATE_FILE)
            try:
                os.write(descriptor, json.dumps(to_builtins(turn)).encode() + b"\n")  # names of files may be no UTF-8
            finally:
                os.close(descriptor)

    def aside(self) -> Sequence[Path]:
        """The files of the conversations before this one, the newest first."""
        if self.path is None:
            return ()
        return sorted(self.path.parent.glob(f"{self.path.stem}-*{self.path.suffix}"), reverse=True)

    def put_aside(self, instead: Path | None = None) -> None:
        """Begin anew, or go on with an earlier conversation; none is lost. Raises StateError: files cannot be moved."""
        if self.path is None:
            return
        with state_errors(self.path):
            if self.path.is_file():
                self.path.rename(self.path.with_stem(f"{self.path.stem}-{time.time_ns():020}"))
            if instead is not None:
                instead.rename(self.path)
            for old in self.aside()[_ASIDE:]:
                old.unlink(missing_ok=True)

    def forget(self) -> None:
        """Begin anew. Raises StateError: what is kept cannot be removed."""
        if self.path is not None:
            with state_errors(self.path):
                self.path.unlink(missing_ok=True)

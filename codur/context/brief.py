"""What the coding agent is told: the task, the situation, the files, the check's result, what was tried.

The parts are in the order of how long they stay the same: what differs between two attempts of a run comes last, so
that a service that caches the beginnings of requests finds the same beginning again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from codur.checks.describe import attempts_text, check_text, verdict_text
from codur.checks.entry import is_code
from codur.context.excerpts import Excerpt, fit
from codur.context.outline import NOTHING_ELSE, Outline
from codur.context.selection import Want
from codur.lazy import regex
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import bounded, plain
from codur.structs import Struct, field, replace
from codur.types import Attempt, Check, Verdict

FILE_FRAME_CHARS = 110
_RESULT = "Result of step"
_FOUND = regex(r"^([\w./+@-]+):(\d+): ", re.MULTILINE)
_BETWEEN = "\n\n"
_TITLES_CHARS = 40
_TAIL_SHARE = 0.3  # of the message, which the check's result and earlier attempts may take
_SPARE_CHARS = 12_000
"""At most so much of that share is kept free by what is useful only, so that files shown once stay where they are."""
_INPUT_SHARE = 0.5  # of the message, which outputs of earlier steps may take
_OUTLINE_CHARS = 4000
_FOREIGN_CHARS = 800  # of what tests say that may have nothing to do with the task
_TRIES = 4  # of choosing fewer lines where their numbers take more room than there is


class Briefing(Struct):
    """A request's user message."""

    text: str
    shown: Mapping[str, tuple[range, ...]]  # of each file that it shows, the numbers (1-based) of the shown lines


_LIMITS = ((8000, 8000), (4000, 4000), (2000, 2000), (1000, 1000), (250, 0))
"""Characters of one program output and of one earlier diff."""


class CodingBrief(Struct):
    """The facts of one coding request, or of a question."""

    task: str
    objective: str  # what this step is for, where the plan says more than the task
    sources: Mapping[str, str]  # present text by path, in the order in which they are shown
    wants: Sequence[Want] = ()  # what of them should be shown, the most useful first; empty: each in turn
    copies: Mapping[str, Sequence[str]] = field(default_factory=dict)  # other files with the text of one of them
    forms: Mapping[str, str] = field(default_factory=dict)  # of those on disk, what is unusual: `CRLF`, `BOM`
    outline: Outline = NOTHING_ELSE  # the files that are not shown
    missing_files: Sequence[str] = ()
    withheld: Sequence[str] = ()  # files that are not shown because they may hold secrets
    python_version: str = ""
    read_only: frozenset[str] = frozenset()  # paths among `sources` that may not be edited
    guessed: frozenset[str] = frozenset()  # paths among `sources` for which nothing speaks but a classifier's guess
    inputs: Mapping[str, str] = field(default_factory=dict)  # outputs of earlier steps, by step id
    check: Check | None = None
    verdict: Verdict | None = None  # the check's last verdict; None if it was not run
    others_fail: int = 0  # tests that fail and may have nothing to do with the task
    attempts: Sequence[Attempt] = ()
    # how the files differ from how they were found, as `diff_text` gives it; None if it is not known
    on_disk: str | None = None
    will_retry: bool = True  # whether a failed check comes back for another attempt
    steer: str = ""  # a hint after attempts that made no progress
    more: str = ""  # how the model gets to see what is not shown, in a sentence; empty if it cannot
    numbered: bool = False  # lines are shown with their numbers, for who is to tell of them


def brief_text(brief: CodingBrief, *, budget_tokens: int, source_tokens: int | None = None) -> Briefing:
    """The request's user message, cut to a token budget (estimated).

    The task is never cut, nor what `wants` says was asked for: only for these is the message longer than the budget.

    Args:
        source_tokens: of sources and outline, beyond which nothing is added that is useful only; None: the budget.
    """
    budget = int(budget_tokens * BYTES_PER_TOKEN) - 2 * len(_BETWEEN)
    head = _joined(
        [
            ("Task", brief.task),
            ("This step", brief.objective if brief.objective != brief.task else ""),
            ("Situation", _situation(brief)),
        ]
    )
    tail = _fitting_tail(brief, budget, budget - len(head))
    room = max(0, budget - len(head) - len(tail) - _TITLES_CHARS)
    spare = max(0, min(int(budget * _TAIL_SHARE), _SPARE_CHARS) - len(tail))
    if source_tokens is not None:
        spare = min(room, max(spare, room - int(source_tokens * BYTES_PER_TOKEN)))
    files, shown = _files(brief, room, spare=spare)
    for path, lines in _found_lines(tail):
        shown[path] = (*shown.get(path, ()), lines)
    return Briefing(text=_BETWEEN.join(part for part in (head, files, tail) if part), shown=shown)


def _found_lines(tail: str) -> Iterator[tuple[str, range]]:
    """The lines of files that results of earlier steps show: `path:line: text`."""
    for section in tail.split(f"{_BETWEEN}# "):
        if section.removeprefix("# ").startswith(_RESULT):
            yield from ((found[1], range(int(found[2]), int(found[2]) + 1)) for found in _FOUND.finditer(section))


def _fitting_tail(brief: CodingBrief, budget: int, left: int) -> str:
    """What comes last, with outputs and diffs cut as far as it takes."""
    each = int(budget * _INPUT_SHARE) // max(1, len(brief.inputs))
    inputs = [(f"{_RESULT} {name}", bounded(plain(text), each)) for name, text in brief.inputs.items()]
    share = int(budget * _TAIL_SHARE)
    most = max(share, min(share + len(_joined(inputs)), left))
    tails = (_joined([*inputs, *_tail(brief, *limits)]) for limits in _LIMITS)
    tail = next((tail for tail in tails if len(tail) <= most), None)
    return bounded(_joined([*inputs, *_tail(brief, *_LIMITS[-1])]), most) if tail is None else tail


def _joined(sections: Sequence[tuple[str, str]]) -> str:
    return _BETWEEN.join(f"# {title}\n{body}" for title, body in sections if body)


def _tail(brief: CodingBrief, output_chars: int, diff_chars: int) -> list[tuple[str, str]]:
    failed = brief.verdict if brief.verdict is not None and brief.verdict.status == "failed" else None
    attempts = attempts_text(
        brief.attempts, diff_chars=diff_chars, error_chars=output_chars, now=failed, on_disk=brief.on_disk
    )
    # What fails for other reasons is not what the next edit is to be made from.
    said_chars = min(output_chars, _FOREIGN_CHARS) if brief.others_fail else output_chars
    undone = ", undone unless their result was better" if brief.on_disk is None else ""
    return [
        ("The check now", verdict_text(failed, limit=said_chars) if failed is not None else ""),
        (f"Earlier attempts{undone}", attempts),
        ("Hint", brief.steer),
        ("Last attempt", "" if brief.will_retry or brief.check is None else "There is no further one."),
    ]


def _files(brief: CodingBrief, room: int, *, spare: int = 0) -> tuple[str, dict[str, tuple[range, ...]]]:
    """The files and the outline of the others, in `room` characters, and the lines that are shown of each."""
    budget = room - len(brief.more)
    excerpts = fit(brief.sources, budget_chars=budget, spare=spare, wants=brief.wants, frame=FILE_FRAME_CHARS)
    left = room - spare - sum(len(item.text) + FILE_FRAME_CHARS for item in excerpts)
    others = brief.outline.text(budget_chars=min(left, _OUTLINE_CHARS), shown={item.path for item in excerpts})
    texts = [_file(item, brief) for item in excerpts]
    more = brief.more if others or not all(item.whole for item in excerpts) else ""
    text = _joined([("Files", _BETWEEN.join(texts)), ("Other files, not shown", others), ("More", more)])
    return text, {path: item.ranges for item in excerpts for path in (item.path, *brief.copies.get(item.path, ()))}


def _situation(brief: CodingBrief) -> str:
    after = (
        " It is run after your edits; if it fails and an attempt is left, you see its output and try again, from edits"
        " that let more of it pass."
    )
    code = [path for path in brief.sources if is_code(path)]
    python = f"Python {brief.python_version}. " if not code or any(path.endswith(".py") for path in code) else ""
    lines = [
        f"{python}All paths are relative to the workspace, which is the working directory.",
        check_text(brief.check, brief.others_fail) + (after if brief.check and brief.check.kind != "syntax" else ""),
    ]
    if brief.missing_files:
        lines.append("Named in the task, but absent: " + ", ".join(brief.missing_files))
    if brief.withheld:
        lines.append("Never shown, as they may hold secrets: " + ", ".join(brief.withheld))
    return "\n".join(lines)


def _file(item: Excerpt, brief: CodingBrief) -> str:
    known = {"read only": item.path in brief.read_only, "only a guess": item.path in brief.guessed}
    known["in part"] = not item.whole
    known[brief.forms.get(item.path, "")] = item.path in brief.forms
    marks = [f"{item.lines} line{'' if item.lines == 1 else 's'}", *(mark for mark, holds in known.items() if holds)]
    marks += [
        f"{path} has the same text: edit it, too, if it is to stay so" for path in brief.copies.get(item.path, ())
    ]
    text = "\n".join(_numbered(item)) if brief.numbered else item.text.rstrip()
    return f"===== {item.path} ({', '.join(marks)})\n{text}\n===== end of {item.path}"


def _numbered(item: Excerpt) -> Iterator[str]:
    """The lines that are shown, with their numbers, and what is said of those between them."""
    lines, at = iter(item.text.rstrip("\n").split("\n")), 1
    for part in item.ranges:
        yield from islice(lines, 1 if part.start > at else 0)
        yield from (f"{number}\t{line}" for number, line in zip(part, lines, strict=False))
        at = part.stop
    yield from lines


def question_text(brief: CodingBrief, *, budget_tokens: int, source_tokens: int | None = None) -> str:
    """The user message for an agent that answers in words; sources are cut to the budget, as in `brief_text`."""
    head = _joined([("Task", brief.task), ("This step", brief.objective)])
    tail = _joined([(f"Result of step {name}", bounded(plain(text), 4000)) for name, text in brief.inputs.items()])
    room = max(0, int(budget_tokens * BYTES_PER_TOKEN) - len(head) - len(tail))
    brief = replace(brief, guessed=frozenset())  # only who edits is told what is no more than a guess
    useful = room if source_tokens is None else int(source_tokens * BYTES_PER_TOKEN)
    files, _ = _files(brief, room, spare=max(0, room - useful))
    fewer = room
    for _ in range(_TRIES if brief.numbered else 0):
        if len(files) <= room:
            break
        fewer = fewer * room // len(files)
        files, _ = _files(brief, fewer, spare=max(0, fewer - useful))
    return _BETWEEN.join(part for part in (head, files, tail) if part)

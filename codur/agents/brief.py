"""What the coding agent is told: the task, the situation, the check's result, the files, what was tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codur.agents.source import Excerpt, fit
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.types import Attempt, Check, Verdict
from codur.verification.describe import attempts_text, check_text, verdict_text

MIN_SOURCE_CHARS = 3500
FILE_FRAME_CHARS = 120
_TRACEBACK_PLACE = re.compile(r'File "(?:[^"]*/)?([^"/]+)", line (\d+)(?:, in (\w+))?')
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True, slots=True)
class _Limits:
    """Characters of one program output and of one earlier diff."""

    output: int
    diff: int


_LIMITS = (_Limits(2000, 1500), _Limits(1000, 700), _Limits(500, 300), _Limits(250, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingBrief:
    """The facts of one coding request.

    Attributes:
        objective: what this step is for, where the plan says more than the task.
        sources: present text by path, most relevant first.
        read_only: paths among `sources` that may not be edited.
        inputs: outputs of earlier steps, by step id.
        verdict: the check's last verdict; None if it was not run.
        will_retry: whether a failed check comes back for another attempt.
        steer: a hint after attempts that made no progress.
    """

    task: str
    objective: str
    sources: Mapping[str, str]
    other_files: Sequence[str] = ()
    missing_files: Sequence[str] = ()
    python_version: str
    read_only: frozenset[str] = frozenset()
    inputs: Mapping[str, str]
    check: Check | None
    verdict: Verdict | None
    attempts: Sequence[Attempt] = ()
    will_retry: bool = True
    steer: str = ""


def brief_text(brief: CodingBrief, *, budget_tokens: int) -> str:
    """The request's user message, cut to a token budget (estimated).

    Outputs and earlier diffs are cut as far as it takes to leave room for the sources, then the sources themselves.
    """
    budget = int(budget_tokens * BYTES_PER_TOKEN) - FILE_FRAME_CHARS * len(brief.sources)
    limits = next(
        (limits for limits in _LIMITS if budget - len(_assemble(brief, [], limits)) >= MIN_SOURCE_CHARS), _LIMITS[-1]
    )
    room = budget - len(_assemble(brief, [], limits))
    excerpts = fit(brief.sources, budget_chars=max(0, room), focus=_focus(brief))
    return _assemble(brief, excerpts, limits)


def _assemble(brief: CodingBrief, excerpts: Sequence[Excerpt], limits: _Limits) -> str:
    sections = [
        ("Task", _cut(brief.task, 4000)),
        ("This step", brief.objective if brief.objective != brief.task else ""),
        ("Situation", _situation(brief)),
        ("The check now", _verdict(brief, limits.output)),
        *((f"Result of step {name}", _cut(text, limits.output)) for name, text in brief.inputs.items()),
        (
            "Earlier attempts, undone unless their result was better",
            attempts_text(brief.attempts, diff_chars=limits.diff, error_chars=limits.output),
        ),
        ("Hint", brief.steer),
        ("Files", "\n\n".join(_file(item, brief.read_only) for item in excerpts)),
    ]
    return "\n\n".join(f"# {title}\n{body}" for title, body in sections if body)


def _verdict(brief: CodingBrief, limit: int) -> str:
    verdict = brief.verdict
    return verdict_text(verdict, limit=limit) if verdict is not None and verdict.status == "failed" else ""


def _situation(brief: CodingBrief) -> str:
    after = "If it fails you see its output and may try again." if brief.will_retry else "There is no further attempt."
    lines = [
        f"Python {brief.python_version}. All paths are relative to the workspace.",
        check_text(brief.check) + (f" It is run after your edits. {after}" if brief.check else ""),
    ]
    if brief.missing_files:
        lines.append("Named in the task, but absent: " + ", ".join(brief.missing_files))
    if brief.other_files:
        lines.append("Other files, not shown: " + ", ".join(brief.other_files))
    return "\n".join(lines)


def _file(item: Excerpt, read_only: frozenset[str]) -> str:
    marks = [f"{item.lines} lines"]
    if item.path in read_only:
        marks.append("read only")
    if not item.whole:
        marks.append("in part")
    return f"===== {item.path} ({', '.join(marks)})\n{item.text.rstrip()}\n===== end of {item.path}"


def _focus(brief: CodingBrief) -> set[str]:
    """Names in the task and places in the traceback: what must not be cut out of a long file."""
    focus = set(_WORD.findall(brief.task)) | set(_WORD.findall(brief.objective))
    for text in [brief.verdict.error if brief.verdict else "", *(attempt.error for attempt in brief.attempts)]:
        for name, line, function in _TRACEBACK_PLACE.findall(text):
            focus.add(function)
            focus.update(f"{path}:{line}" for path in brief.sources if path.rsplit("/", 1)[-1] == name)
    return focus


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]}\n…\n{text[-limit // 2 :]}"


def question_text(
    task: str,
    objective: str,
    *,
    sources: Mapping[str, str],
    inputs: Mapping[str, str],
    files: Sequence[str],
    budget_tokens: int,
) -> str:
    """The user message for an agent that answers in words; the sources are cut to the budget."""
    excerpts = fit(sources, budget_chars=int(budget_tokens * BYTES_PER_TOKEN), focus=set(_WORD.findall(task)))
    shown = {item.path for item in excerpts}
    sections = [
        ("Task", _cut(task, 4000)),
        ("This step", objective),
        *((f"Result of step {name}", _cut(text, 4000)) for name, text in inputs.items()),
        ("Files", "\n\n".join(_file(item, frozenset()) for item in excerpts)),
        ("Other files", "\n".join([path for path in files if path not in shown][:60])),
    ]
    return "\n\n".join(f"# {title}\n{body}" for title, body in sections if body)

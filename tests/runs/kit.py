"""Whole runs against the scripted Groq server: real files, real processes, the real SDK."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.settings import Provider, Settings
from codur.events import Event
from codur.questions import Answer, Guidance, Question
from codur.session.host import Host
from codur.session.record.exchanges import SkippedTime
from codur.session.task_run import run_task
from codur.types import Limits, RunResult, Task
from tests.support.groq_server import GroqServer, RecordedRequest, Replies, ServerReply, json_reply

SEARCH_S = 300.0
KEY = "gsk_canary_0123456789"

MEDIAN = '''"""Prints two medians."""


def median(values):
    """The middle value, or the mean of the two in the middle."""
    raise NotImplementedError


print(median([3, 1, 2]))
print(median([4, 1, 3, 2]))
'''
MEDIAN_EXPECTED = "2\n2.5\n"
MEDIAN_RIGHT = '''def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
'''
MEDIAN_ODD_ONLY = '''def median(values):
    """The middle value, or the mean of the two in the middle."""
    return sorted(values)[len(values) // 2]
'''
NEEDS_MODEL = {"main.py": MEDIAN, "expected.txt": MEDIAN_EXPECTED}

TOTALS = '''"""Prints the sum of the numbers up to a limit, both ends included."""


def total(start, end):
    result = 0
    for number in range(start, end):
        result += number
    return result


for limit in (3, 10, 100):
    print(limit, total(1, limit))
'''
REPAIRABLE = {"main.py": TOTALS, "expected.txt": "3 6\n10 55\n100 5050\n"}

EDIT = json_reply(
    {
        "task_type": "code_fix",
        "confidence": 0.95,
        "detected_files": ["main.py"],
        "suggested_action": "edit",
        "reasoning": "One function is unfinished.",
    }
)
"""A confident classification: edit straight away."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """What a run left behind."""

    result: RunResult
    requests: list[RecordedRequest]
    unexpected: int
    events: list[Event]
    files: dict[str, str]

    @property
    def nodes(self) -> list[str]:
        return [step.node for step in self.result.route]

    def message(self, number: int) -> str:
        """The text of the last message of a request."""
        return str(self.requests[number].body["messages"][-1]["content"])


def fill(directory: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def contents(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(errors="replace")
        for path in sorted(directory.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }


def settings_for(server: GroqServer, *, search: bool = False, **sections: Mapping[str, Any]) -> Settings:
    """Settings that point to the server; the offline search and tests made for the task are off unless asked for."""
    settings = Settings()
    settings = structs.replace(
        settings,
        providers={
            **settings.providers,
            "groq": Provider(api="groq", api_key_env="GROQ_API_KEY", base_url=server.url, timeout_s=20.0),
        },
        repair=structs.replace(
            settings.repair,
            mode="before_model" if search else "off",
            budget_s=SEARCH_S,  # a search ends by what it has tried, however busy the machine is
            offline_budget_s=SEARCH_S,
        ),
        llm=structs.replace(settings.llm, max_attempts=3),
        verification=structs.replace(settings.verification, make_check="never"),
    )
    for section, fields in sections.items():
        settings = structs.replace(settings, **{section: structs.replace(getattr(settings, section), **fields)})
    return settings


def host(*, key: str | None = KEY, **fields: Any) -> Host:
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return Host(environ={**environ, "GROQ_API_KEY": key} if key else environ, home=Path("/nonexistent"), **fields)


def play(
    directory: Path,
    files: Mapping[str, str],
    prompt: str,
    replies: Replies | list[ServerReply],
    *,
    search: bool = False,
    key: str | None = KEY,
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    limits: Limits | None = None,
    consult: Callable[[Question], Answer] | None = None,
    state: Path | None = None,
    clock: SkippedTime | None = None,
    guidance: Guidance | None = None,
    **fields: Any,
) -> Played:
    """Carry out one task in a directory with these files; what comes after `limits` is that of `Host`."""
    workspace = directory / "project"
    workspace.mkdir(exist_ok=True)
    fill(workspace, files)
    events: list[Event] = []
    with GroqServer(replies) as server:
        settings = settings_for(server, search=search, **(sections or {}))
        place = host(key=key, consult=consult, state=state, clock=clock, guidance=guidance or Guidance())
        task = Task(prompt=prompt, workspace=str(workspace), limits=limits or Limits(), **fields)
        result = run_task(task, settings, host=place, emit=events.append)
        return Played(
            result=result,
            requests=list(server.requests),
            unexpected=server.unexpected,
            events=events,
            files=contents(workspace),
        )

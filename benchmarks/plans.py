"""Compare one plan with a loop that asks a model for each next tool call.

    python -m benchmarks.plans [--check]

Ten tasks of three to eight steps (read, search, edit two files, run, summarise), each in a directory of its own. Codur
plans each with one call and carries the plan out. The loop is LangGraph's prebuilt agent over the same tools. Both have
a scripted model that always answers rightly, and both must leave the same files and the same answer. Tokens are
estimated alike for both, by the characters of what is sent (messages and tool schemas). `--check` makes the exit status
1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.settings import Provider, Settings, ToolSettings
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.python.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.session.host import Host
from codur.session.task_run import run_task
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Task
from codur.workspace.workspace import Workspace
from tests.support.groq_server import GroqServer, ServerReply, calls, json_reply, text

MOST_CALLS = 0.30
KEY = "gsk_benchmark_0123456789"

APP = "from settings import LIMIT, NAME\n\nprint(f'{NAME}: {LIMIT}')\n"
SETTINGS = "NAME = 'demo'\nLIMIT = 10\n"
NOTES = "# Notes\n\nLIMIT is 10.\n"
FILES = {
    "app.py": APP,
    "settings.py": SETTINGS,
    "notes.md": NOTES,
    "util.py": "def total(values):\n    return sum(values)\n",
    "report.py": "from util import total\n\nprint('sum', total([1, 2, 3]))\n",
}


@dataclass(frozen=True, kw_only=True)
class Work:
    """One task.

    Attributes:
        steps: tool calls, as the plan has them and as the loop makes them one by one.
        answer: the last word: in the plan it may quote outputs (`${id}`), in the loop the model writes it out.
        said: what the loop's model says at the end.
        summarised: whether a model has to write the answer (a delegation in the plan).
        code: an edit that a model writes: path, name and new text of a function.
    """

    prompt: str
    steps: Sequence[tuple[str, str, Mapping[str, str]]]
    answer: str = ""
    said: str = ""
    summarised: bool = False
    code: tuple[str, str, str] | None = None
    files: Mapping[str, str] = field(default_factory=lambda: FILES)


def replaced(step: str, path: str, old: str, new: str) -> tuple[str, str, Mapping[str, str]]:
    return step, "replace_in_file", {"path": path, "old": old, "new": new}


def read(step: str, path: str) -> tuple[str, str, Mapping[str, str]]:
    return step, "read_file", {"path": path}


def found(step: str, pattern: str) -> tuple[str, str, Mapping[str, str]]:
    return step, "grep_files", {"pattern": pattern}


def ran(step: str, path: str) -> tuple[str, str, Mapping[str, str]]:
    return step, "run_python_file", {"path": path}


LIMIT = replaced("limit", "settings.py", "LIMIT = 10", "LIMIT = 20")
NOTE = replaced("note", "notes.md", "LIMIT is 10", "LIMIT is 20")
TOTAL = "def total(values):\n    return sum(values, 0.0)\n"

WORKS = (
    Work(
        prompt="Read settings.py, replace 'LIMIT = 10' with 'LIMIT = 20' in it, run app.py and tell me what it prints.",
        steps=(read("settings", "settings.py"), LIMIT, ran("app", "app.py")),
        answer="It prints:\n${app}",
        said="It prints:\ndemo: 20",
    ),
    Work(
        prompt="Search for LIMIT, set LIMIT from 10 to 20 in settings.py and update notes.md, run app.py and show it.",
        steps=(found("places", "LIMIT"), LIMIT, NOTE, ran("app", "app.py")),
        answer="${app}",
        said="demo: 20",
    ),
    Work(
        prompt="Read app.py, settings.py and notes.md, search for NAME, and summarise what the project does.",
        steps=(read("a", "app.py"), read("b", "settings.py"), read("c", "notes.md"), found("d", "NAME")),
        said="It prints its name and its limit.",
        summarised=True,
    ),
    Work(
        prompt="List the files, read util.py and report.py, run report.py and report its output.",
        steps=(("files", "list_files", {}), read("u", "util.py"), read("r", "report.py"), ran("out", "report.py")),
        answer="${out}",
        said="sum 6",
    ),
    Work(
        prompt="Find total, change it in util.py so that it returns a float, run report.py and tell me what it prints.",
        steps=(found("places", "total"), read("util", "util.py"), ran("out", "report.py")),
        answer="${out}",
        said="sum 6.0",
        code=("util.py", "total", TOTAL),
    ),
    Work(
        prompt="Create version.txt with 1.0, append 'see version.txt' to notes.md, read both back and show them.",
        steps=(
            ("new", "write_file", {"path": "version.txt", "content": "1.0\n"}),
            ("more", "append_file", {"path": "notes.md", "content": "see version.txt\n"}),
            read("v", "version.txt"),
            read("n", "notes.md"),
        ),
        answer="${v}${n}",
        said=f"1.0\n{NOTES}see version.txt\n",
    ),
    Work(
        prompt="Copy settings.py to old.py, replace 'LIMIT = 10' with 'LIMIT = 20' in settings.py, run app.py, compare"
        " both files and tell me the new limit.",
        steps=(
            ("copy", "copy_file", {"source": "settings.py", "target": "old.py"}),
            LIMIT,
            ran("app", "app.py"),
            read("old", "old.py"),
            read("new", "settings.py"),
        ),
        answer="${app}\n${new}",
        said="demo: 20\n\nNAME = 'demo'\nLIMIT = 20\n",
    ),
    Work(
        prompt="Search for 'print', read app.py and report.py, run app.py, run report.py, set the limit in settings.py"
        " from 10 to 20, update notes.md, and run app.py again; show its output.",
        steps=(
            found("prints", "print"),
            read("a", "app.py"),
            read("r", "report.py"),
            ran("first", "app.py"),
            ran("second", "report.py"),
            LIMIT,
            NOTE,
            ran("last", "app.py"),
        ),
        answer="${last}",
        said="demo: 20",
    ),
    Work(
        prompt="Move notes.md to docs/notes.md, append a line 'moved' to it, list the files and show them.",
        steps=(
            ("move", "move_file", {"source": "notes.md", "target": "docs/notes.md"}),
            ("more", "append_file", {"path": "docs/notes.md", "content": "moved\n"}),
            ("files", "list_files", {}),
        ),
        answer="${files}",
        said="app.py\ndocs/notes.md\nreport.py\nsettings.py\nutil.py",
    ),
    Work(
        prompt="Outline util.py and app.py, find who uses total, read report.py, run it, summarise how they connect.",
        steps=(
            ("u", "python_ast_outline", {"path": "util.py"}),
            ("a", "python_ast_outline", {"path": "app.py"}),
            found("uses", "total"),
            read("r", "report.py"),
            ran("out", "report.py"),
        ),
        said="report.py prints what total of util.py gives.",
        summarised=True,
    ),
)


@dataclass(frozen=True)
class Spent:
    """What one way took: calls, estimated prompt tokens; the files and the answer that it left."""

    calls: int
    tokens: int
    files: Mapping[str, str]
    answer: str


def by_plan(work: Work, place: Path) -> Spent:
    """Carry a task out with Codur."""
    with GroqServer(list(_replies(work))) as server:
        settings = _settings(server.url)
        host = Host(environ={"PATH": os.environ["PATH"], "GROQ_API_KEY": KEY}, home=Path("/nonexistent"))
        task = Task(prompt=work.prompt, workspace=str(place))
        result = run_task(task, settings, host=host, emit=lambda _event: None)
        if result.outcome != "done":
            raise SystemExit(f"{work.prompt}: {result.outcome}: {result.reason}")
        sent = sum(
            len(json.dumps(body.get("messages"))) + len(json.dumps(body.get("tools", ""))) for body in server.bodies
        )
        return Spent(len(server.requests), int(sent / BYTES_PER_TOKEN), _contents(place), result.answer)


def _settings(url: str) -> Settings:
    settings = Settings()
    provider = Provider(api="groq", api_key_env="GROQ_API_KEY", base_url=url)
    return structs.replace(settings, providers={"groq": provider}, repair=structs.replace(settings.repair, mode="off"))


def _replies(work: Work) -> Sequence[ServerReply]:
    steps = [_planned(name, "tool", tool, arguments) for name, tool, arguments in work.steps]
    answers = []
    if work.code is not None:
        path, name, code = work.code
        steps.insert(-1, _planned("edit", "coding", "codur-coding", {}))
        answers.append(calls(("replace_function", {"path": path, "name": name, "code": code})))
    if work.summarised:
        asked = _planned("say", "delegate", "codur-explaining", {})
        steps.append({**asked, "inputs": [name for name, _, _ in work.steps]})
        answers.append(text(work.said))
    else:
        steps.append(_planned("say", "respond", "", {"text": work.answer}))
    return json_reply({"reasoning": "As asked.", "steps": steps}), *answers


def _planned(name: str, action: str, capability: str, arguments: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": name,
        "action": action,
        "capability": capability,
        "objective": f"Step {name} of the task.",
        "expected_output": "",
        "success_criteria": "",
        "inputs": [],
        "arguments": [{"name": key, "value": value} for key, value in arguments.items()],
    }


def by_loop(work: Work, place: Path) -> Spent:
    """Carry a task out with LangGraph's prebuilt agent, one tool call after the other."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has moved to another package
        from langgraph.prebuilt import create_react_agent

    from benchmarks.plans_loop import ScriptedModel, tools_of

    steps = list(work.steps)
    if work.code is not None:
        path, name, code = work.code
        steps.insert(-1, ("edit", "replace_function", {"path": path, "name": name, "code": code}))
    answers = [
        AIMessage(content="", tool_calls=[{"name": tool, "args": dict(arguments), "id": f"call-{number}"}])
        for number, (_, tool, arguments) in enumerate(steps)
    ]
    model = ScriptedModel(answers=[*answers, AIMessage(content=work.said)])
    with _toolbox(place) as toolbox, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = create_react_agent(model, tools_of(toolbox))
        system = SystemMessage("You are a coding agent. Carry the task out with the tools, then answer.")
        final = agent.invoke({"messages": [system, HumanMessage(work.prompt)]}, {"recursion_limit": 50})
    return Spent(model.calls, int(model.sent / BYTES_PER_TOKEN), _contents(place), str(final["messages"][-1].content))


class _toolbox:  # noqa: N801 - reads as the function that it stands for
    """Codur's tools on a directory, as runs have them."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __enter__(self) -> Toolbox:
        environ = {"PATH": os.environ["PATH"]}
        python = find_python(self._place, environ)
        self._launcher = Launcher(environ, python=python)
        workspace = Workspace.open(self._place)
        context = ToolContext(
            workspace=workspace,
            launcher=self._launcher.__enter__(),
            find_python=lambda: python,
            settings=ToolSettings(),
            timeout_s=20.0,
        )
        return Toolbox(context)

    def __exit__(self, *problem: object) -> None:
        self._launcher.__exit__(None, None, None)


def _contents(place: Path) -> dict[str, str]:
    return {
        path.relative_to(place).as_posix(): path.read_text()
        for path in sorted(place.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _measured(work: Work, way: Any) -> Spent:
    with tempfile.TemporaryDirectory(prefix="codur-plans-") as directory:
        place = Path(directory) / "project"
        place.mkdir()
        for name, content in work.files.items():
            (place / name).write_text(content)
        spent: Spent = way(work, place)
        return spent


def main() -> int:
    """Print the table; 1 if a bound is missed and `--check` was given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print(f"{'steps':>5}  {'calls: plan':>11} {'loop':>5}  {'tokens: plan':>12} {'loop':>7}  same  task")
    plans, loops = [], []
    same = True
    for work in WORKS:
        plan, loop = _measured(work, by_plan), _measured(work, by_loop)
        alike = plan.files == loop.files and plan.answer.split() == loop.answer.split()
        same = same and alike
        plans.append(plan)
        loops.append(loop)
        steps = len(work.steps) + (work.code is not None) + work.summarised
        print(
            f"{steps:>5}  {plan.calls:>11} {loop.calls:>5}  {plan.tokens:>12} {loop.tokens:>7}  "
            f"{'yes' if alike else 'NO':>4}  {work.prompt[:60]}"
        )
    calls_share = sum(plan.calls / loop.calls for plan, loop in zip(plans, loops, strict=True)) / len(plans)
    tokens = sum(plan.tokens for plan in plans) / sum(loop.tokens for loop in loops)
    print(f"\nmodel calls per task, share of the loop's   {calls_share:6.1%}   bound {MOST_CALLS:.0%}")
    print(f"prompt tokens, share of the loop's          {tokens:6.1%}   bound 100%")
    print(f"same files and answers                      {'yes' if same else 'no'}")
    missed = calls_share > MOST_CALLS or tokens >= 1 or not same
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the commands that change nothing print."""

import json as json_module
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codur import config as settings_files
from codur.cli import machine
from codur.cli.printing import say, say_found, write
from codur.config.loader import UserSources, candidate_files
from codur.planning.patterns.decide import PatternDecision, decide
from codur.sandbox.launcher import Launcher
from codur.types import Task
from codur.ui.shown.picture import graph_svg
from codur.workspace.workspace import Workspace


def show_route(task: Task, directory: Path, config: Path | None, *, json: bool) -> None:
    """Print what Phase 0 decides about a task."""
    settings = machine.settings_for(directory, config, {}).settings
    workspace = Workspace.open(directory, home=machine.home())
    with Launcher(os.environ, sandbox=settings.sandbox) as launcher:
        decision = decide(task, workspace, settings=settings, launcher=launcher)
    found = decision.discovery
    steps = decision.plan.steps if decision.plan else ()
    report = {
        "type": found.task_type,
        "settled": decision.plan is not None,
        "tool_calls": [
            {"tool": step.capability, "arguments": dict(step.arguments)} for step in steps if step.action == "tool"
        ],
        "answer": next((step.arguments.get("text") for step in steps if step.action == "respond"), None),
        "files": list(found.files),
        "missing_files": list(found.missing_files),
        "entry": found.entry,
        "check": found.check,
        "explains_without_model": found.explain or None,
        "tier": steps[0].tier if steps else "open",
        "confidence": found.confidence,
        "reason": found.reason,
    }
    say_found(report, _route_lines(decision, report), as_json=json)


def _route_lines(decision: PatternDecision, report: Mapping[str, Any]) -> list[str]:
    """The same in words, without what there is nothing of."""
    check = decision.discovery.check
    told = {
        "check": (f"{check.label} ({check.source})" if check.argv else check.source) if check else "none found",
        "files": ", ".join(report["files"]),
        "missing files": ", ".join(report["missing_files"]),
        "program": report["entry"],
        "explained without a model": report["explains_without_model"],
        "why": report["reason"],
    }
    return [_first_step(report), *(f"{name}: {value}" for name, value in told.items() if value)]


def _first_step(report: Mapping[str, Any]) -> str:
    if not report["settled"]:
        searches = report["type"] == "code_fix" and report["check"] is not None
        return "would search for a fix if the check fails, then ask a model" if searches else "would ask a model"
    if report["tool_calls"]:
        return f"would call {', '.join(map(_call, report['tool_calls']))}"
    return f"would answer: {report['answer']}" if report["answer"] else "would end without a model"


def _call(item: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in item["arguments"].items())
    return f"{item['tool']}({arguments})"


def show_graph(*, mermaid: bool, svg: Path | None) -> None:
    """Print the compiled graph's edges, or draw it."""
    from codur.graph.build import drawn_edges, mermaid_text  # noqa: PLC0415 - lazy: loads langgraph

    if svg is not None:
        write(svg, graph_svg(drawn_edges()), remedy="Name a file in a directory that exists and may be written.")
    elif mermaid:
        say(mermaid_text())
    else:
        say("\n".join(f"{source} → {', '.join(targets)}" for source, targets in drawn_edges().items()))


def show_settings(directory: Path, config: Path | None) -> None:
    """Print all settings in force, as YAML, after where they come from."""
    loaded = machine.settings_for(directory, config, {})
    comments = [f"# from: {source}" for source in loaded.sources] + [f"# note: {note}" for note in loaded.notes]
    say("\n".join([*comments, settings_files.document.effective_yaml(loaded.settings).rstrip()]))


def show_settings_files(directory: Path) -> None:
    """Print the files that settings are read from, weakest first."""
    for path in candidate_files(directory, UserSources(environ=os.environ, home=machine.home())):
        say(f"{path}{'' if path.exists() else ' (absent)'}")


def show_schema() -> None:
    """Print the JSON schema of the settings."""
    say(json_module.dumps(settings_files.document.schema(), indent=2))


def check_settings(directory: Path, config: Path | None) -> None:
    """Print that the settings are valid, and what of them is not used."""
    loaded = machine.settings_for(directory, config, {})
    for note in loaded.notes:
        say(f"note: {note}")
    say(f"the settings are valid (read: {', '.join(loaded.sources) or 'defaults only'})")

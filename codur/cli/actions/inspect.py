"""What the commands that change nothing print."""

from __future__ import annotations

import json as json_module
import os
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.cli.printing import say, say_json, unwritable
from codur.config.loader import candidate_files
from codur.planning.patterns.decide import PatternDecision, decide
from codur.sandbox.launcher import Launcher
from codur.types import Check, Task
from codur.ui.shown.picture import graph_svg
from codur.workspace.workspace import Workspace


def show_route(task: Task, directory: Path, config: Path | None, *, json: bool) -> None:
    """Print what Phase 0 decides about a task."""
    settings = machine.settings_for(directory, config, {}).settings
    workspace = Workspace.open(directory, home=machine.home())
    with Launcher(os.environ, sandbox=settings.sandbox) as launcher:
        decision = decide(task, workspace, settings=settings, launcher=launcher)
    report = _report(decision)
    if json:
        say_json(report)
        return
    check = decision.discovery.check
    shown = {**report, "check": _check(check) if check else None}
    say("\n".join(f"{key.replace('_', ' ')}: {_shown(value)}" for key, value in shown.items()))


def _report(decision: PatternDecision) -> dict[str, Any]:
    found = decision.discovery
    steps = decision.plan.steps if decision.plan else ()
    return {
        "type": found.task_type,
        "settled": decision.plan is not None,
        "tool_calls": [
            {"tool": step.capability, "arguments": dict(step.arguments)} for step in steps if step.action == "tool"
        ],
        "answer": next((step.arguments.get("text") for step in steps if step.action == "respond"), None),
        "files": list(found.files),
        "missing_files": list(found.missing_files),
        "entry": found.entry,
        "check": to_builtins(found.check) if found.check else None,
        "explains_without_model": found.explain or None,
        "tier": steps[0].tier if steps else "open",
        "confidence": found.confidence,
        "reason": found.reason,
    }


def _check(check: Check) -> str:
    return f"{check.label} ({check.source})" if check.argv else check.source


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_call(item) if isinstance(item, dict) else str(item) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no: passed on"
    return "none" if value is None else str(value)


def _call(item: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in item["arguments"].items())
    return f"{item['tool']}({arguments})"


def show_graph(*, mermaid: bool, svg: Path | None) -> None:
    """Print the compiled graph's edges, or draw it.

    Raises:
        UsageError: the picture cannot be written.
    """
    from codur.graph.drawing import drawn_edges, mermaid_text  # noqa: PLC0415 - lazy: loads langgraph

    if svg is not None:
        _write(svg, graph_svg(drawn_edges()))
    elif mermaid:
        say(mermaid_text())
    else:
        say("\n".join(f"{source} → {', '.join(targets)}" for source, targets in drawn_edges().items()))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error, "Name a file in a directory that exists and may be written.") from error


def show_settings(directory: Path, config: Path | None) -> None:
    """Print all settings in force, as YAML, after where they come from."""
    from codur.config.document import effective_yaml  # noqa: PLC0415 - lazy: loads PyYAML

    loaded = machine.settings_for(directory, config, {})
    comments = [f"# from: {source}" for source in loaded.sources] + [f"# note: {note}" for note in loaded.notes]
    say("\n".join([*comments, effective_yaml(loaded.settings).rstrip()]))


def show_settings_files(directory: Path) -> None:
    """Print the files that settings are read from, weakest first."""
    for path in candidate_files(workspace=directory, environ=os.environ, home=machine.home()):
        say(f"{path}{'' if path.exists() else ' (absent)'}")


def show_schema() -> None:
    """Print the JSON schema of the settings."""
    from codur.config.document import schema  # noqa: PLC0415 - lazy: loads PyYAML

    say(json_module.dumps(schema(), indent=2))


def check_settings(directory: Path, config: Path | None) -> None:
    """Print that the settings are valid, and what of them is not used.

    Raises:
        ConfigError: they are not valid.
    """
    loaded = machine.settings_for(directory, config, {})
    for note in loaded.notes:
        say(f"note: {note}")
    say(f"the settings are valid (read: {', '.join(loaded.sources) or 'defaults only'})")

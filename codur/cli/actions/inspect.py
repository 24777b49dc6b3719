"""What the commands that change nothing print."""

from __future__ import annotations

import json as json_module
import os
import sys
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.config.loader import candidate_files
from codur.errors import UsageError
from codur.planning.patterns.decide import PatternDecision, decide
from codur.sandbox.launcher import Launcher
from codur.types import Check
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise
from codur.workspace.workspace import Workspace


def show_route(
    prompt: str,
    directory: Path,
    config: Path | None,
    *,
    check_command: str | None,
    expect_file: str | None,
    json: bool,
) -> None:
    """Print what Phase 0 decides about a prompt."""
    settings = machine.settings_for(directory, config, {}).settings
    workspace = Workspace.open(directory, home=machine.home())
    with Launcher(os.environ, sandbox=settings.sandbox) as launcher:
        decision = decide(
            prompt,
            workspace,
            settings=settings,
            launcher=launcher,
            check_command=check_command,
            expect_file=expect_file,
        )
    report = _report(decision)
    if json:
        _print(json_module.dumps(report))
        return
    check = decision.discovery.check
    shown = {**report, "check": _check(check) if check else None}
    _print("\n".join(f"{key.replace('_', ' ')}: {_shown(value)}" for key, value in shown.items()))


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


def show_graph(*, mermaid: bool, png: Path | None) -> None:
    """Print the compiled graph's edges, or draw it.

    Raises:
        UsageError: the picture cannot be written.
    """
    from codur.graph.drawing import drawn_edges, mermaid_text  # noqa: PLC0415 - lazy: loads langgraph

    if png is not None:
        from codur.ui.shown.picture import graph_png  # noqa: PLC0415 - lazy: loads the drawing library

        _write(png, graph_png(drawn_edges()))
    elif mermaid:
        _print(mermaid_text())
    else:
        _print("\n".join(f"{source} → {', '.join(targets)}" for source, targets in drawn_edges().items()))


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written: {(error.strerror or 'unknown error').lower()}",
            remedy="Name a file in a directory that exists and may be written.",
        ) from error


def show_settings(directory: Path, config: Path | None) -> None:
    """Print all settings in force, as YAML, after where they come from."""
    from codur.config.document import effective_yaml  # noqa: PLC0415 - lazy: loads PyYAML

    loaded = machine.settings_for(directory, config, {})
    comments = [f"# from: {source}" for source in loaded.sources] + [f"# note: {note}" for note in loaded.notes]
    _print("\n".join([*comments, effective_yaml(loaded.settings).rstrip()]))


def show_settings_files(directory: Path) -> None:
    """Print the files that settings are read from, weakest first."""
    for path in candidate_files(workspace=directory, environ=os.environ, home=machine.home()):
        _print(f"{path}{'' if path.exists() else ' (absent)'}")


def show_schema() -> None:
    """Print the JSON schema of the settings."""
    from codur.config.document import schema  # noqa: PLC0415 - lazy: loads PyYAML

    _print(json_module.dumps(schema(), indent=2))


def check_settings(directory: Path, config: Path | None) -> None:
    """Print that the settings are valid, and what of them is not used.

    Raises:
        ConfigError: they are not valid.
    """
    loaded = machine.settings_for(directory, config, {})
    for note in loaded.notes:
        _print(f"note: {note}")
    _print(f"the settings are valid (read: {', '.join(loaded.sources) or 'defaults only'})")


def _print(text: str) -> None:
    show(sanitise(text), sys.stdout)

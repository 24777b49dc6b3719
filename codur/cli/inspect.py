"""Commands that show and change nothing: `route`, `graph`, `agents`, `config`."""

from __future__ import annotations

import json as json_module
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from codur.agents.registry import AgentRegistry
from codur.cli import options
from codur.config.loader import candidate_files
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.events import ignore
from codur.llm.pool import ModelPool
from codur.planning.patterns.decide import PatternDecision, decide
from codur.types import Limits
from codur.ui.output import show
from codur.ui.sanitise import sanitise
from codur.ui.tables import AgentRow, agents_table
from codur.workspace.workspace import Workspace

config_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


def route(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="The task; `-` reads standard input.")
    ] = None,
    directory: options.Directory = Path(),
    file: options.PromptFile = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> None:
    """Show what Phase 0 decides about a task: no model, nothing executed."""
    text = options.read_prompt(prompt, file)
    settings = options.settings_for(directory, config, {}).settings
    workspace = Workspace.open(directory, home=options.home())
    decision = decide(text, workspace, settings=settings, check_command=check, expect_file=expect)
    report = _report(decision)
    if json:
        _print(json_module.dumps(report))
    else:
        _print("\n".join(f"{key.replace('_', ' ')}: {_shown(value)}" for key, value in report.items()))


def _report(decision: PatternDecision) -> dict[str, Any]:
    plan, found = decision.plan, decision.discovery
    return {
        "type": found.task_type,
        "settled": plan is not None,
        "tool_calls": [
            {"tool": step.capability, "arguments": dict(step.arguments)}
            for step in (plan.steps if plan else ())
            if step.action == "tool"
        ],
        "answer": next(
            (step.arguments.get("text") for step in (plan.steps if plan else ()) if step.action == "respond"), None
        ),
        "files": list(found.files),
        "missing_files": list(found.missing_files),
        "entry": found.entry,
        "check": asdict(found.check) if found.check else None,
        "tier": plan.steps[0].tier if plan else "open",
        "confidence": found.confidence,
        "reason": found.reason,
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{' '.join(value['argv'])} ({value['source']})".replace("{python}", "python")
    if isinstance(value, list):
        return ", ".join(_call(item) if isinstance(item, dict) else str(item) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no: passed on"
    return "none" if value is None else str(value)


def _call(item: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in item["arguments"].items())
    return f"{item['tool']}({arguments})"


def graph(
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print it as a Mermaid diagram.")] = False,
    png: Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Draw it into a PNG file.")] = None,
) -> None:
    """Show the graph that every run takes, read from the compiled graph."""
    from codur.graph.drawing import drawn_edges, mermaid_text  # noqa: PLC0415 - lazy: loads langgraph

    if png is not None:
        from codur.ui.picture import graph_png  # noqa: PLC0415 - lazy: loads the drawing library

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


def agents(
    directory: options.Directory = Path(), config: options.ConfigFile = None, json: options.Json = False
) -> None:
    """List the agents and whether their models can be asked."""
    settings = options.settings_for(directory, config, {}).settings
    rows = _agent_rows(settings)
    if json:
        _print(json_module.dumps([asdict(row) for row in rows]))
    else:
        show(agents_table(rows, color=sys.stdout.isatty(), width=options.width()), sys.stdout)


def _agent_rows(settings: Settings) -> list[AgentRow]:
    registry = AgentRegistry(settings)
    pool = ModelPool(settings, os.environ, Limits(), emit=ignore)
    rows = []
    for name in registry.names():
        agent = registry.resolve(name)
        note = pool.problem(agent.profile)
        rows.append(
            AgentRow(
                name=name,
                type=agent.config.type,
                profile=agent.profile,
                description=agent.config.description,
                ready=not note,
                note=note,
            )
        )
    return rows


@config_app.command("show")
def config_show(directory: options.Directory = Path(), config: options.ConfigFile = None) -> None:
    """Print all settings as they are in force, as YAML."""
    from codur.config.document import effective_yaml  # noqa: PLC0415 - lazy: loads PyYAML

    loaded = options.settings_for(directory, config, {})
    comments = [f"# from: {source}" for source in loaded.sources] + [f"# note: {note}" for note in loaded.notes]
    _print("\n".join([*comments, effective_yaml(loaded.settings).rstrip()]))


@config_app.command("path")
def config_path(directory: options.Directory = Path()) -> None:
    """Print where settings are read from, weakest first, and which of these files are there."""
    for path in candidate_files(workspace=directory, environ=os.environ, home=options.home()):
        _print(f"{path}{'' if path.exists() else ' (absent)'}")


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON schema of the settings, for editors."""
    from codur.config.document import schema  # noqa: PLC0415 - lazy: loads PyYAML

    _print(json_module.dumps(schema(), indent=2))


@config_app.command("check")
def config_check(directory: options.Directory = Path(), config: options.ConfigFile = None) -> None:
    """Check all settings files and variables; says what is wrong, with file, line and key."""
    loaded = options.settings_for(directory, config, {})
    for note in loaded.notes:
        _print(f"note: {note}")
    _print(f"the settings are valid (read: {', '.join(loaded.sources) or 'defaults only'})")


def _print(text: str) -> None:
    show(sanitise(text), sys.stdout)

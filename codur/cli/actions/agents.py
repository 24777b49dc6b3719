"""What the commands about agents do."""

import json as json_module
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.agents.external.delegation import Obstacle, obstacle_of
from codur.agents.registry import Agent, AgentRegistry
from codur.cli import machine
from codur.cli.printing import say, say_found, say_json, unwritable
from codur.config.loader import LoadedSettings, user_directory
from codur.config.reading.agent_files import SUFFIX, shipped_names, user_agents
from codur.config.resources import resource_path
from codur.config.settings import AgentConfig, Settings
from codur.errors import UsageError
from codur.events import ignore
from codur.lazy import regex
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.auto import server_problem
from codur.session.host import limits_of
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import Limits, RunResult, Task
from codur.ui.output_formats import show
from codur.ui.shown.tables import AgentRow, agents_table

_NAME = regex(r"[a-z0-9][a-z0-9._-]*")
_TRIAL_TASK = "Fix main.py: it must print the mean of the even numbers in the list, as expected.txt has it."
_TRIAL_FILES = {
    "main.py": """\
def mean_of_even(numbers):
    return sum(numbers) / len(numbers)


print(mean_of_even([1, 2, 3, 4, 9]))
""",
    "expected.txt": "3.0\n",
}


def show_agents(directory: Path, config: Path | None, *, json: bool) -> None:
    """Print the agents, what each needs, and whether it can run here."""
    rows = _rows(_load(directory, config).settings)
    if json:
        say_json(rows)
    else:
        show(agents_table(rows, width=machine.table_width()), sys.stdout)


def show_agent(name: str, directory: Path, config: Path | None, *, json: bool) -> None:
    """Print how an agent is declared and where each value comes from."""
    loaded = _load(directory, config)
    agent = AgentRegistry(loaded.settings).resolve(name)
    obstacle = _obstacle(agent, loaded.settings)
    values = dict(_values(agent, loaded))
    told = {
        "name": agent.name,
        "ready": obstacle is None,
        "note": obstacle.text if obstacle else "",
        "remedy": obstacle.remedy if obstacle else "",
        "keys": {key: {"value": value, "from": source} for key, (value, source) in values.items()},
    }
    lines = [f"# {agent.name}: {'can run here' if obstacle is None else f'cannot run here: {obstacle.text}'}"]
    lines += [f"# {line}" for line in _explained(agent)]
    lines += [
        f"{key}: {json_module.dumps(value, ensure_ascii=False)}  # {source}" for key, (value, source) in values.items()
    ]
    say_found(told, lines, as_json=json)


def try_agent(name: str, config: Path | None, overrides: Mapping[str, Any], *, json: bool, verbose: bool) -> int:
    """Let an agent do a small task in a directory that is removed afterwards, and say what the check says.

    Returns:
        The exit code of the run.
    """
    loaded = machine.settings_for(None, config, overrides, agents=shipped_names())
    # The settings with which nobody but the agent does the work
    preferences = structs.replace(loaded.settings.agents.preferences, fallback_order=(), escalation=())
    settings = structs.replace(
        loaded.settings,
        repair=structs.replace(loaded.settings.repair, mode="off"),
        agents=structs.replace(loaded.settings.agents, preferences=preferences),
    )
    agent = AgentRegistry(settings).resolve(name)
    host = replace(machine.host(), state=None)
    with tempfile.TemporaryDirectory(prefix="codur-agent-test-") as place:
        for path, text in _TRIAL_FILES.items():
            (Path(place) / path).write_text(text)
        task = Task(prompt=_TRIAL_TASK, workspace=place, limits=limits_of(settings), agent=name, check_is_goal=True)
        output = machine.Showing(verbose=True).output() if verbose else None
        result = run_task(task, settings, host=host, emit=output.event if output else ignore)
        if output is not None:
            output.close()
    _tell(agent, result, json=json)
    return result.exit_code


def make_agent(name: str, kind: str) -> None:
    """Write the declaration of a new agent into the user's directory, and make sure that it can be read."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be an agent's name", remedy="Use small letters, digits, dots, hyphens and underscores."
        )
    path = user_agents(user_directory(os.environ, machine.home())) / f"{name}{SUFFIX}"
    if path.with_suffix(".yml").exists():
        raise UsageError(f"{path.with_suffix('.yml')} declares it already", remedy="Edit that, or choose another name.")
    text = resource_path(f"templates/agent.{kind}.yaml").read_text(encoding="utf-8").format(name=name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise unwritable(path, error, "Edit the file that is there, or choose another name.") from error
    loaded = machine.settings_for(None, None, {})
    AgentRegistry(loaded.settings).resolve(name)
    say(f"{path}\nedit it, then try it with: codur agents test {name}")


def _load(directory: Path, config: Path | None) -> LoadedSettings:
    return machine.settings_for(directory, config, {}, agents=shipped_names())


def _rows(settings: Settings) -> list[AgentRow]:
    registry = AgentRegistry(settings)
    rows = []
    for agent in sorted(map(registry.resolve, registry.names()), key=lambda agent: (agent.external, agent.name)):
        obstacle = _obstacle(agent, settings)
        rows.append(
            AgentRow(
                name=agent.name,
                type=agent.config.type,
                profile=agent.profile,
                needs=_needs(agent),
                description=agent.config.description,
                ready=obstacle is None,
                note=obstacle.text if obstacle else "",
            )
        )
    return rows


def _obstacle(agent: Agent, settings: Settings) -> Obstacle | None:
    if agent.external:
        return obstacle_of(agent.name, agent.config, os.environ, mcp=bool(settings.mcp_servers))
    pool = ModelPool(settings, os.environ, Limits(), PoolOptions())
    if pool.problem(agent.profile):
        why = pool.why_unavailable(agent.profile)
        return Obstacle(text=pool.problem(agent.profile), remedy=why.remedy)
    name = pool.profiles.named(agent.profile)
    if pool.profiles.choice is not None and pool.profiles.choice.found and name == pool.profiles.choice.default:
        return None  # looked at already
    text, remedy = server_problem(settings, name)
    return Obstacle(text=text, remedy=remedy) if text else None


def _needs(agent: Agent) -> str:
    config = agent.config
    match config.type:
        case "cli":
            return ", ".join((config.command[0], *filter(None, [" or ".join(config.key_env)])))
        case "mcp":
            return f"MCP server {config.server}"
        case "python":
            return f"entry point {config.entry_point or agent.name}"
        case _:
            return f"profile {agent.profile}"


def _values(agent: Agent, loaded: LoadedSettings) -> Iterator[tuple[str, tuple[Any, str]]]:
    """The keys that are not at their defaults, and those that decide what another program may do."""
    defaults = AgentConfig()
    for item in structs.fields(AgentConfig):
        value = getattr(agent.config, item.name)
        always = item.name in {"type", *(("network", "timeout_s", "key_env", "environment") if agent.external else ())}
        if always or value != getattr(defaults, item.name):
            plain = dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
            yield item.name, (plain, _origin(agent.name, item.name, loaded))


def _origin(name: str, key: str, loaded: LoadedSettings) -> str:
    path = ("agents", "configs", name, key)
    found = [source for known, source in loaded.origins.items() if known[: len(path)] == path]
    if not found:
        return "default"
    place = found[-1].place(path)
    return f"{place.file}:{place.line}" if place.line else place.file or found[-1].name


def _explained(agent: Agent) -> Iterator[str]:
    """What another program gets and may do, in words."""
    config = agent.config
    if not agent.external:
        return
    if config.type == "python":
        yield "runs inside of Codur, with all that you may do"
        return
    yield "works in a copy of the workspace; the check decides what its changes are worth"
    variables = (*config.key_env, *config.environment)
    yield f"gets these variables beside a minimal set: {', '.join(variables) or 'none'}"
    yield "may reach the network: by its own declaration" if config.network else "cannot reach the network"


def _tell(agent: Agent, result: RunResult, *, json: bool) -> None:
    status = result.verdict.status if result.verdict else "no_check"
    usage = result.usage
    told = {
        "agent": agent.name,
        "verdict": status,
        "outcome": result.outcome,
        "exit_code": result.exit_code,
        "reason": result.reason,
        "remedy": result.remedy,
        "duration_s": result.duration_s,
        "attempts": max(1, result.iterations) if result.records else 0,
        "usage": usage,
    }
    mark = "✔" if result.outcome == "done" else "✘"
    cost = f", ${usage.cost_usd:.4f}" if usage.cost_usd else ""
    head = f"{mark} {agent.name}: {status}, {result.duration_s:.1f} s, {usage.total_tokens:,} tokens{cost}"
    errors = [record.error for record in result.records if record.error]
    more = dict.fromkeys(filter(None, (result.reason, *errors[-1:], result.remedy)))
    say_found(told, [head, *(f"  {text}" for text in more)], as_json=json)

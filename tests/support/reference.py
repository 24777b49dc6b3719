"""Makes the reference pages of the documentation from the code: `make docs` calls `on_files`, as a hook of mkdocs."""

import contextlib
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from codur.cli.app import program
from codur.cli.main import run
from codur.config.reading.environment_variables import RESERVED
from codur.events import Event
from tests.support.man_page import EXITS

ROOT = Path(__file__).parents[2]


def pages() -> dict[str, str]:
    """The files to make, by path below docs/."""
    return {
        "reference/commands.md": "".join(_commands()),
        "reference/settings.md": _settings(),
        "reference/settings.schema.json": _printed("config", "schema"),
        "reference/tools.md": _tools(),
        "reference/events.md": _events(),
        "reference/exit-codes.md": _exit_codes(),
        "reference/graph.md": _graph(),
        "reference/graph.svg": _drawn(),
    }


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those of docs/."""
    from mkdocs.structure.files import File  # what is only installed where pages are built

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def _printed(*words: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(words) == 0, words
    return out.getvalue()


def _commands() -> Iterator[str]:
    group: Any = program()
    top = group.make_context("codur", [], resilient_parsing=True, terminal_width=80)
    yield "# Commands\n\nWhat `--help` says. A word that is no command is a task.\n"
    yield from _command("codur", group, top)


def _command(name: str, command: Any, context: Any) -> Iterator[str]:
    yield f"\n## {name}\n\n```text\n{context.get_help()}\n```\n"
    for inner, below in getattr(command, "commands", {}).items():
        full = f"{name} {inner}"
        made = below.make_context(full, [], parent=context, resilient_parsing=True, terminal_width=80)
        yield from _command(full, below, made)


def _settings() -> str:
    variables = [f"| `{name}` | {text} |" for name, text in RESERVED.items()]
    lines = (
        "# Settings",
        "All keys with their defaults, as `codur config show` prints those in force. `codur config schema` is their",
        "[JSON schema](settings.schema.json). A variable sets a key, too: `CODUR_RUNTIME__MAX_LLM_CALLS=5`.\n",
        f"```yaml\n{(ROOT / 'config' / 'codur.yaml').read_text(encoding='utf-8')}```\n",
        "## Other variables\n\n| variable | what it is |\n|---|---|",
        *variables,
    )
    return "\n".join(lines) + "\n"


def _tools() -> str:
    tools = json.loads(_printed("tools", "--json"))["tools"]
    rows = (
        f"| `{tool['name']}({tool['arguments']})` | {tool['description']} | {tool['side_effect']} | {tool['output']} |"
        for tool in tools
    )
    head = "# Tools\n\nWhat plans and models may call.\n\n| call | what it does | effect | gives |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _events() -> str:
    _, parts = msgspec.json.schema_components([Event])
    lines = ["# Events", "", "What `--json-stream` prints, a line each, what a trace holds, and what a `Job` gives."]
    for part in parts.values():
        kind = part.get("properties", {}).get("event", {}).get("enum")
        if kind:
            fields = ", ".join(f"`{field}`" for field in part["properties"] if field != "event") or "nothing more"
            lines += ["", f"## {kind[0]}", "", *([part["description"], ""] if "description" in part else []), fields]
    return "\n".join(lines) + "\n"


def _exit_codes() -> str:
    rows = "\n".join(f"| {code} | {text} |" for code, text in EXITS.items())
    return f"# Exit codes\n\n| code | meaning |\n|--:|---|\n{rows}\n"


def _graph() -> str:
    lines = (
        "# The graph",
        "",
        "The graph that every run takes, drawn from the compiled one: `codur graph --svg FILE` draws it anew. A node",
        "decides where the run goes next; what is decided, by whom and why, is in the run's trace.",
    )
    return "\n".join((*lines, "", "![The nodes of a run, and where each may go](graph.svg)")) + "\n"


def _drawn() -> str:
    with tempfile.TemporaryDirectory() as place:
        target = Path(place, "graph.svg")
        _printed("graph", "--svg", str(target))
        return target.read_text(encoding="utf-8")

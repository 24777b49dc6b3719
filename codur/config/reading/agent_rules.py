"""What the keys of an agent must be together, beyond the type of each."""

from collections.abc import Iterator

from codur.config.reading.origin import Problem, did_you_mean, shown
from codur.config.settings import AgentConfig, Settings
from codur.config.tool_names import GONE, RENAMED, TOOL_NAMES
from codur.lazy import regex

PLACE = regex(r"\{\{|\}\}|\{([a-z_]+)\}")
"""A named place; doubled braces stand for one."""
PLACES = ("prompt", "prompt_file", "workspace", "model", "permissions", "model_option")
WORD_LISTS = ("permissions", "model_option")
"""Places that stand for any number of words, and are words of their own."""
ANSWER_KEYS = ("text", "error", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd")

_SERVERS = regex(r"mcp__(.+?)__.")
"""A tool of an MCP server; whether the server has it is known when it is asked."""

_Problem = tuple[str, str, str]
"""A key of an agent (empty: the agent itself), what is wrong with it, what to do."""


def agent_problems(settings: Settings) -> Iterator[Problem]:
    """What does not go together in the keys of an agent."""
    for name, config in settings.agents.configs.items():
        for key, message, remedy in _problems(name, config, settings):
            yield ("agents", "configs", name, *([key] if key else [])), message, remedy


def _problems(name: str, config: AgentConfig, settings: Settings) -> Iterator[_Problem]:
    if ":" in name:
        yield "", "an agent's name must have no colon", "Rename it; `agent:` and `llm:` begin references."
    yield from _of_tools(config, settings)
    if config.type == "cli":
        yield from _of_command(config)
        yield from _of_output(config)
    elif config.command:
        yield "command", f"is for agents of type cli, not {config.type}", "Set type: cli, or remove the command."
    if config.type == "mcp":
        yield from _of_mcp(config, settings)


def _of_tools(config: AgentConfig, settings: Settings) -> Iterator[_Problem]:
    known = {*TOOL_NAMES, *RENAMED}
    unknown = next((name for name in config.tools if name not in known and not _SERVERS.match(name)), None)
    named = [found[1] for name in config.tools if (found := _SERVERS.match(name))]
    yield from (problem for server in named for problem in _of_server("tools", server, settings))
    if unknown is not None:
        near = did_you_mean(unknown, sorted(TOOL_NAMES), "`codur tools` lists them all.")
        yield "tools", f"there is no tool {shown(unknown)}", GONE.get(unknown, near)


def _of_command(config: AgentConfig) -> Iterator[_Problem]:
    if not config.command or not config.command[0]:
        yield "command", "an agent of type cli needs a command", "Give its program and words: command: [name, …]."
        return
    program = config.command[0]
    if PLACE.search(program) or ("/" in program and not program.startswith("/")):
        yield "command", "must begin with a program's name or absolute path", "Name the program itself first."
    for key in ("command", "permissions", "permissions_uncontained", "model_option"):
        for word in getattr(config, key):
            yield from _of_word(key, word)
    yield from _of_places(config)


def _of_word(key: str, word: str) -> Iterator[_Problem]:
    for name in (found[1] for found in PLACE.finditer(word) if found[1]):
        if name not in PLACES:
            places = [f"{{{place}}}" for place in PLACES]
            remedy = did_you_mean(f"{{{name}}}", places, f"There are: {', '.join(places)}.")
            yield key, f"there is no place {{{shown(name)}}}", f"{remedy} Write {{{{ for a brace."
        elif name in WORD_LISTS and (word != f"{{{name}}}" or key != "command"):
            yield key, f"{{{name}}} must be a word of `command` by itself", "Write it as an item of its own."


def _of_places(config: AgentConfig) -> Iterator[_Problem]:
    named = {found[1] for word in config.command for found in PLACE.finditer(word)}
    wanted = {"argument": "prompt", "file": "prompt_file"}.get(config.prompt_by)
    if wanted and wanted not in named:
        yield "command", f"has no place for the prompt: {{{wanted}}}", "Add it, or set prompt_by: stdin."
    if "prompt" in named and config.prompt_by != "argument":
        yield "command", f"has {{prompt}}, but prompt_by is {config.prompt_by}", "Remove one of the two."
    for place in WORD_LISTS:
        if getattr(config, place) and place not in named:
            yield place, f"has no place in the command: {{{place}}}", "Add the place as a word of the command."
    if "model" in named and not config.model:
        yield "command", "has {model}, but no model is set", "Set model, or put {model} into model_option."


def _of_output(config: AgentConfig) -> Iterator[_Problem]:
    if config.dialect != "plain" and config.output != "jsonl":
        yield "output", f"must be jsonl for the dialect {config.dialect}", "Set output: jsonl, or dialect: plain."
    if config.dialect == "plain" and config.output != "text" and "text" not in config.answer:
        yield "answer", f"must say where the text lies in {config.output} output", "Set answer: {text: PATH}."
    for key in config.answer:
        if key not in ANSWER_KEYS:
            yield "answer", f"there is no {shown(key)} in an answer", f"There are: {', '.join(ANSWER_KEYS)}."


def _of_mcp(config: AgentConfig, settings: Settings) -> Iterator[_Problem]:
    if not config.server or not config.tool:
        yield "server", "an agent of type mcp needs server and tool", "Name both."
    else:
        yield from _of_server("server", config.server, settings)


def _of_server(key: str, name: str, settings: Settings) -> Iterator[_Problem]:
    if name not in settings.mcp_servers:
        known = ", ".join(sorted(settings.mcp_servers)) or "none"
        yield key, f"there is no MCP server {shown(name)}", f"Declared in mcp_servers: {known}."

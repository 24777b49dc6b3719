"""What settings must be together, beyond the type of each: agents, names that must name another setting, servers."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from msgspec import structs

from codur.config import reading
from codur.config.reading.origin import KeyPath, Problem, did_you_mean, shown
from codur.config.settings import AUTO, ROUTING_KINDS, AgentConfig, McpServer, Profile, Settings
from codur.config.tool_names import GONE, RENAMED, TOOL_NAMES
from codur.lazy import regex
from codur.types import TaskType

PLACE = regex(r"\{\{|\}\}|\{([a-z_]+)\}")
"""A named place; doubled braces stand for one."""
PLACES = ("prompt", "prompt_file", "workspace", "model", "permissions", "model_option")
WORD_LISTS = ("permissions", "model_option")
"""Places that stand for any number of words, and are words of their own."""
ANSWER_KEYS = ("text", "error", "prompt_tokens", "cached_tokens", "completion_tokens", "cost_usd")

_SERVERS = regex(r"mcp__(.+?)__.")  # a tool of an MCP server; whether the server has it is known when it is asked

_Problem = tuple[str, str, str]  # a key of an agent (empty: the agent itself), what is wrong with it, what to do


def broken_rules(settings: Settings) -> Iterator[Problem]:
    """What does not go together in the keys of an agent, names that name nothing, entries that describe no server."""
    for name, config in settings.agents.configs.items():
        for key, message, remedy in _of_agent(name, config, settings):
            yield ("agents", "configs", name, *([key] if key else [])), message, remedy
    for path, name, what, names in _references(settings):
        if name not in names:
            known = sorted({*names, *(reading.agent_files.shipped_names() if what == "agent" else ())})
            remedy = did_you_mean(name, known, f"Known: {', '.join(known)}.")
            yield path, f"there is no {what} {shown(name)}", remedy
    for name, server in settings.mcp_servers.items():
        for path, message, remedy in _of_entry(name, server):
            yield ("mcp_servers", name, *path), message, remedy


def _of_agent(name: str, config: AgentConfig, settings: Settings) -> Iterator[_Problem]:
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


NAME = r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*"
MAX_NAME = 24
"""Longest name, in characters: it is a part of its tools' names, of which model services bound the length."""

_HEADER = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "te", "upgrade"}
)
_LOCAL = regex(r"http://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)")


def _of_entry(name: str, server: McpServer) -> Iterator[Problem]:
    if not re.fullmatch(NAME, name) or len(name) > MAX_NAME:
        yield (
            (),
            f"a server's name has letters, digits, - and single _, {MAX_NAME} at most",
            "Give the entry another name.",
        )
    if bool(server.command) == (server.url is not None):
        yield (), "needs either command or url", "Add command: [PROGRAM, ...] or url: ADDRESS, not both."
    yield from _started(server) if server.command else _reached(server)


def _started(server: McpServer) -> Iterator[Problem]:
    if not server.command[0]:
        yield ("command",), "the program's name is empty", "Write it as [PROGRAM, ARGUMENT, ...]."
    if server.cwd is not None and not server.cwd.startswith("/"):
        yield ("cwd",), "must be an absolute path", "Begin it with /."
    if server.headers_env:
        yield ("headers_env",), "goes with url only", "Name variables for a started server in environment."


def _reached(server: McpServer) -> Iterator[Problem]:
    for key, value in (("environment", server.environment), ("cwd", server.cwd), ("network", server.network)):
        if value:
            yield (key,), "goes with command only", "Remove it: nothing is started for a url."
    for header in server.headers_env:
        if not re.fullmatch(_HEADER, header) or header.lower() in _OURS or header.lower().startswith("mcp-"):
            yield ("headers_env",), "a key is no HTTP header that can be set", "Name one such as Authorization."
    url = server.url or ""
    if server.headers_env and url.startswith("http://") and not _LOCAL.match(url):
        yield ("headers_env",), "would be sent unencrypted", "Use an https address."


_Reference = tuple[KeyPath, str, str, Collection[str]]
"""Where a name stands, the name, what it is the name of, and the names that there are."""


def incomplete_profiles(profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """Profiles, as mappings, that lack a key without a default."""
    needed = [item.name for item in structs.fields(Profile) if item.required]
    for name, profile in profiles.items():
        keys = " and ".join(key for key in needed if key not in profile)
        if keys:
            remedy = f"Add {keys}, or correct the entry's name."
            yield ("llm", "profiles", name), f"a new entry needs {keys}", remedy


def _references(settings: Settings) -> Iterator[_Reference]:
    llm, agents = settings.llm, settings.agents
    for name, profile in llm.profiles.items():
        yield ("llm", "profiles", name, "provider"), profile.provider, "provider", settings.providers
    for path, name in (
        *((("llm", key), getattr(llm, key)) for key in ("default_profile", "fast_profile")),
        *_items(("llm", "fallback_profiles"), llm.fallback_profiles),
        *_items(("agents", "coding", "sample_profiles"), agents.coding.sample_profiles),
        *((("agents", "configs", agent, "profile"), config.profile) for agent, config in agents.configs.items()),
    ):
        chosen_later = name is None or (name == AUTO and path[-1] in ("default_profile", "fast_profile"))
        if not chosen_later:
            yield path, name, "profile", llm.profiles
    for task_type in agents.preferences.routing:
        route = ("agents", "preferences", "routing", task_type)
        yield route, task_type, "task type", (*get_args(TaskType), *ROUTING_KINDS)
    here, preferred = ("agents", "preferences"), agents.preferences
    for path, name in (
        ((*here, "default_agent"), preferred.default_agent),
        *_items((*here, "fallback_order"), preferred.fallback_order),
        *_items((*here, "escalation"), preferred.escalation),
        *(((*here, "routing", task_type), name) for task_type, name in preferred.routing.items()),
    ):
        if name.startswith("llm:"):
            yield path, name.removeprefix("llm:"), "profile", llm.profiles
        else:
            yield path, name.removeprefix("agent:"), "agent", agents.configs


def _items(path: KeyPath, names: Collection[str]) -> Iterator[tuple[KeyPath, str]]:
    return (((*path, index), name) for index, name in enumerate(names))

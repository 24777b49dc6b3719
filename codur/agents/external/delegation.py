"""What it takes to delegate to agents that are other programs. Light: every run has it, few use it.

Nothing the agent says decides anything: neither its exit status nor its words. What it changed in its copy comes back
as one set of files, which the check then judges like any other edit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codur.agents.external.protocol import find_plugin
from codur.config.reading.environment_variables import INSIDE_AGENT
from codur.config.settings import AgentConfig
from codur.sandbox.backends.system_paths import interpreter_paths, link_chain
from codur.sandbox.environment import child_environment
from codur.structs import Struct

if TYPE_CHECKING:
    from codur.agents.external.copy import Allowed, MayInstruct
    from codur.agents.external.protocol import McpRunner
    from codur.agents.registry import Agent
    from codur.events import Emit
    from codur.sandbox.launcher import Launcher

_SHEBANG_BYTES = 512
_PACKAGES = "node_modules"


def find_program(name: str, environ: Mapping[str, str]) -> Path | None:
    """The program of that name on the path of started programs, or at that absolute path; None if there is none."""
    found = shutil.which(name, path=child_environment(environ)["PATH"])
    return Path(found) if found else None


def installation_of(program: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """What a program must be able to read, by its absolute path: itself, its package, and what interprets it."""
    found: dict[Path, None] = {}
    # Every link on the way, not only its end: npm puts a link on the path, and the sandbox shows what is named and no
    # more.
    for path in link_chain(program):
        found[path] = None
        for above in path.parents:
            if above.name == _PACKAGES:
                found[above] = None
        if (path.parent.parent / "pyvenv.cfg").is_file():
            found.update((each, None) for each in interpreter_paths(path.with_name("python")))
    for interpreter in _interpreters(Path(os.path.realpath(program)), environ):
        found.update((each, None) for each in (*link_chain(interpreter), *interpreter_paths(interpreter)))
    return tuple(path for path in found if path != Path("/"))


def _interpreters(program: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """What the first line of a script names, also by way of `env`."""
    try:
        with program.open("rb") as stream:
            line = stream.readline(_SHEBANG_BYTES)
    except OSError:  # it may be executable and not readable
        return
    words = line.removeprefix(b"#!").split() if line.startswith(b"#!") else []
    # `#!/usr/bin/env -S node`: the program, an option, the interpreter.
    for word in map(os.fsdecode, words[:3]):
        if word.startswith("/"):
            yield Path(word)
        elif not word.startswith("-"):
            named = find_program(word, environ)
            if named is not None:
                yield named


_NETWORK_VARIABLES = (
    "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS"
    " REQUESTS_CA_BUNDLE"
).split()
"""What it takes to reach the network from here."""
_HOME_VARIABLES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


class Obstacle(Struct, kw_only=False):
    """Why an agent cannot run here, and what to do about it."""

    text: str
    remedy: str


def obstacle_of(name: str, config: AgentConfig, environ: Mapping[str, str], *, mcp: bool = False) -> Obstacle | None:
    """Why an external agent cannot run here; None if nothing speaks against it. `mcp`: MCP servers can be asked."""
    outer, others = environ.get(INSIDE_AGENT), "or choose another agent (`codur agents`)."
    if outer:
        what = f"Codur itself was started by the agent {outer}, which must not start others"
        return Obstacle(what, "Let this run work with a model of its own: --agent codur-coding.")
    if config.type == "cli" and find_program(config.command[0], environ) is None:
        return Obstacle(f"the program {config.command[0]} is not installed", f"Install {config.command[0]}, {others}")
    if config.type == "mcp" and not mcp:
        return Obstacle(
            "no MCP servers are configured", f"Declare its server in mcp_servers of your settings, {others}"
        )
    if config.type == "python" and find_plugin(config.entry_point or name) is None:
        what = f"no installed package has {config.entry_point or name!r} in the entry point group codur.agents"
        return Obstacle(what, f"Install the package that has it, {others}")
    if config.key_env and not any(environ.get(variable, "").strip() for variable in config.key_env):
        what = f"{' or '.join(config.key_env)} is not set"
        return Obstacle(what, f"Set it with `export {config.key_env[0]}=…`, {others}")
    return None


def variables_of(name: str, config: AgentConfig, environ: Mapping[str, str], home: str) -> dict[str, str]:
    """What an agent gets of the user's environment beside what started programs have, with a home of its own."""
    named = (*config.key_env, *config.environment, *(_NETWORK_VARIABLES if config.network else ()))
    passed = {variable: environ[variable] for variable in named if environ.get(variable)}
    own = {variable: f"{home}/{below}" for variable, below in _HOME_VARIABLES.items()}
    return {**own, **passed, **config.variables, INSIDE_AGENT: name}


class Terms(Struct):
    """What one delegation is held to."""

    timeout_s: float  # seconds left; the agent's own limit may be shorter
    emit: Emit  # gets what the agent says and does, as it happens
    allowed: Allowed  # which paths may change
    read_only: tuple[str, ...] = ()  # paths that define the check


class ExternalAgents(Struct):
    """Whatever it takes to run external agents."""

    launcher: Launcher
    environ: Mapping[str, str]  # the user's environment; each agent gets what its settings name of it
    user_home: Path  # the user's home directory
    redact: Callable[[str], str]  # takes secrets out of what is sent to an agent
    offline: bool = False  # nobody is asked
    mcp: McpRunner | None = None  # runs agents on MCP servers; None where there are none
    # whether a file of the project may reach an agent as instructions: the user has accepted it
    may_instruct: MayInstruct

    def obstacle(self, agent: Agent) -> Obstacle | None:
        """Why an agent cannot run here; None if nothing speaks against it."""
        if self.offline:
            return Obstacle("the run is offline", "Run it again without --offline.")
        return obstacle_of(agent.name, agent.config, self.environ, mcp=self.mcp is not None)

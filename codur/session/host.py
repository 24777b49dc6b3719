"""What a run takes from the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from codur.config.settings import Settings
from codur.llm.model import ChatModel
from codur.llm.profiles.endpoint import secrets_of_provider
from codur.questions import Answer, Guidance, Question
from codur.redaction import Redactor, secrets_of
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import Waited
from codur.session.record.exchanges import Exchanges, SkippedTime
from codur.store.directory import StateDirectory
from codur.structs import Struct, field
from codur.types import Limits
from codur.workspace.private import secret_values

if TYPE_CHECKING:
    from codur.checks.memory import CheckMemory
    from codur.config.prompts import PromptLibrary
    from codur.llm.rate_limits.shared_limits import SharedModels
    from codur.sandbox.processor_turns import SharedPrograms

_PR_SET_DUMPABLE = 4


class Shared(Struct):
    """What runs that go on side by side in one process have in common; safe to use from several threads."""

    programs: SharedPrograms  # starts their programs, and bounds how many run at the same time
    models: SharedModels  # their budget, and their waits for a busy service
    prompts: PromptLibrary  # the texts of prompts


class Host(Struct):
    """What a run takes from the machine; only `cli` reads it there."""

    environ: Mapping[str, str]  # environment variables: API keys, and what programs under check may see
    home: Path  # the user's home directory, which is refused as a workspace
    # models by profile name that replace the configured ones (for scripted runs)
    models: Mapping[str, ChatModel] | None = None
    state: Path | None = None  # the state directory, where runs are kept; None keeps nothing
    cache: Path | None = None  # a private directory for what can be found out again; None for none
    # what the run has in common with others that go on at the same time; None if it goes on alone
    shared: Shared | None = None
    memory: CheckMemory | None = None  # what the last run of the check told; None if no other run follows
    own_process: bool = False  # nothing but Codur goes on in this process: its collector of garbage may be held
    cancel: CancelToken | None = None  # stops the run when it is set, from any thread; None: only the user's signals do
    waited: Waited | None = None  # gets the seconds that the run waited for others; they do not count as its time
    exchanges: Exchanges = field(default_factory=Exchanges)  # what is done with the exchange with models
    stream: bool = False  # somebody wants to see answers in words while they come
    # asks the user; None if there is nobody to ask. Its time does not count as the run's.
    consult: Callable[[Question], Answer] | None = None
    guidance: Guidance = field(default_factory=Guidance)  # what the user says while the task works
    # waits until an offline search may begin, and is held while it lasts
    search_turn: Callable[[], AbstractContextManager[object]] = nullcontext
    clock: SkippedTime | None = None  # what waits for services go by; None is the real time


def host_of(environ: Mapping[str, str], home: Path) -> Host:
    """What a run takes from an environment and a home directory."""
    state = state_of(environ, home)
    return Host(environ=dict(environ), home=home, state=state, cache=StateDirectory(state).cache if state else None)


def state_of(environ: Mapping[str, str], home: Path) -> Path | None:
    """Where runs are kept, by the XDG base directory specification; None without an absolute path there and a home."""
    named = environ.get("XDG_STATE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "codur"
    return None if home == Path("/") else home / ".local" / "state" / "codur"


def limits_of(settings: Settings) -> Limits:
    """The run's limits, as the settings say."""
    runtime = settings.runtime
    return Limits(
        max_iterations=runtime.max_iterations,
        max_llm_calls=runtime.max_llm_calls,
        max_tokens=runtime.max_tokens,
        max_cost_usd=runtime.max_cost_usd,
        max_runtime_s=runtime.max_runtime_s,
    )


def close_to_others() -> None:
    """This process holds keys: its memory and environment are for the system's administrator alone (prctl(2))."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - lazy: `--help` and `--version` hold no keys

        # Not dumpable: no core file, no tracing, and `/proc/PID/environ` belongs to root.
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def redactor_of(settings: Settings, environ: Mapping[str, str], root: Path) -> Redactor:
    """Blanks the keys of the configured providers and MCP servers, and what else in the environment is secret.

    Also what is secret in the files for that (`.env`) below `root`, the workspace.
    """
    keys = [key for provider in settings.providers.values() for key in secrets_of_provider(provider, environ)]
    names = (
        name for server in settings.mcp_servers.values() for name in (*server.environment, *server.headers_env.values())
    )
    given = (environ.get(name, "") for name in names)
    return Redactor((*keys, *filter(None, given), *secrets_of(environ), *secret_values(root)))

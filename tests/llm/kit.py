"""A pool with recorded events and waits, asked once or more from a fresh event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codur.config.settings import LlmSettings, Profile, Provider, Settings
from codur.events import AnswerDelta, Event
from codur.llm.clock import Clock
from codur.llm.model import ChatModel, ChatReply, ChatRequest
from codur.llm.pool import Make, ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.remembered_sizes import Remembered
from codur.types import Limits, Message, ToolSpec, Usage

CANARY = "gsk_canary-0123456789abcdef"
KEYS = {"GROQ_API_KEY": CANARY}
PRICED: dict[str, Any] = {"price_in": 1.0, "price_cached": 0.5, "price_out": 2.0}
SIZED: dict[str, Any] = {"request_tokens": 6000, "max_completion_tokens": 3000}
READ_FILE = ToolSpec(
    name="read_file",
    description="Reads a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def ask(content: str = "Hello", **values: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=content),), purpose="test", **values)


def settings(
    url: str = "http://127.0.0.1:1",
    *,
    api: Any = "groq",
    fallback: Sequence[str] = (),
    key_env: str | None = "GROQ_API_KEY",
    timeout_s: float = 20.0,
    max_attempts: int = 5,
    retry_budget_s: float = 120.0,
    providers: Mapping[str, Provider] | None = None,
    profiles: Mapping[str, Profile] | None = None,
    **profile: Any,
) -> Settings:
    """Settings with the profiles `main` and `spare` at one provider, `service`."""
    main = Profile(**{"provider": "service", "model": "big", **PRICED, **SIZED, **profile})
    return Settings(
        llm=LlmSettings(
            default_profile="main",
            fast_profile="spare",
            fallback_profiles=tuple(fallback),
            max_attempts=max_attempts,
            retry_budget_s=retry_budget_s,
            profiles={
                "main": main,
                "spare": Profile(provider="service", model="small", **PRICED, **SIZED),
                **(profiles or {}),
            },
        ),
        providers={
            "service": Provider(api=api, api_key_env=key_env, base_url=url, timeout_s=timeout_s),
            **(providers or {}),
        },
    )


@dataclass
class Client(Clock):
    """A pool under test, and the clock that it goes by.

    Attributes:
        events, waits: what the pool told, and how long it wanted to sleep.
        clock: the Unix time that the pool sees; sleeping moves it.
    """

    settings: Settings
    environ: Mapping[str, str] = field(default_factory=lambda: KEYS, repr=False)
    limits: Limits = field(default_factory=Limits)
    offline: bool = False
    stream: bool = False
    models: Mapping[str, ChatModel] | None = None
    chance: float = 1.0
    clock: float = 1_000_000.0
    time_left: Callable[[], float] | None = None
    remembered: Remembered | None = None
    events: list[Event] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pool = ModelPool(
            self.settings,
            self.environ,
            self.limits,
            PoolOptions(
                emit=self.events.append,
                offline=self.offline,
                models=self.models or {},
                clock=self,
                time_left=self.time_left,
                stream=self.stream,
                remembered=self.remembered,
            ),
        )

    def complete(self, request: ChatRequest | Make | None = None, profile: str = "main") -> ChatReply:
        return asyncio.run(self._complete(request or ask(), profile))

    def told(self) -> list[str]:
        """The kinds of the events so far."""
        return [event.kind for event in self.events]

    def shown(self) -> str:
        """The words that were told while an answer came."""
        return "".join(event.text for event in self.events if isinstance(event, AnswerDelta))

    @property
    def usage(self) -> Usage:
        return self.pool.usage

    async def _complete(self, request: ChatRequest | Make, profile: str) -> ChatReply:
        try:
            return await self.pool.complete(profile, request)
        finally:
            await self.pool.close()

    def now(self) -> float:
        return self.clock

    monotonic = now

    def random(self) -> float:
        return self.chance

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock += seconds

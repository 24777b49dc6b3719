"""Where a provider is, and with which key; the key stays inside."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codur.errors import ConfigError

if TYPE_CHECKING:
    from codur.config.settings import Provider

GROQ_URL = "https://api.groq.com"
_GROQ_PATH = re.compile(r"(/openai)?(/v1)?/*$")
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A provider as it can be reached.

    Attributes:
        provider: its name in the settings.
        base_url: for `groq` without the path that the SDK appends.
        key_env: the variable that holds the key; empty if none is needed.
        key: the key; never shown.
    """

    provider: str
    api: str
    base_url: str
    timeout_s: float
    key_env: str = ""
    key: str = field(default="", repr=False)

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        return is_local(self.base_url)

    @property
    def place(self) -> str:
        """Scheme, host and port, for messages; never user or password."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def safe(self, text: str) -> str:
        """`text` of the service as one bounded line without the key."""
        if self.key:
            text = text.replace(self.key, "[key]")
        line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"


def endpoint_of(name: str, provider: Provider, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint of the provider called `name`.

    A `groq` provider without `base_url` follows `GROQ_BASE_URL`, as Groq's own clients do.

    Raises:
        ConfigError: it has no usable base URL.
    """
    base_url = (provider.base_url or "").strip()
    if provider.api == "groq":
        base_url = _GROQ_PATH.sub("", base_url or environ.get("GROQ_BASE_URL", "").strip() or GROQ_URL)
    if not _is_url(base_url):
        raise ConfigError(
            f"not a URL: {base_url!r}" if base_url else "missing",
            key=f"providers.{name}.base_url",
            remedy="Write it like http://127.0.0.1:11434/v1.",
        )
    return Endpoint(
        provider=name,
        api=provider.api,
        base_url=base_url.rstrip("/"),
        timeout_s=provider.timeout_s,
        key_env=provider.api_key_env or "",
        key=key_of(provider, environ),
    )


def is_local(base_url: str) -> bool:
    """Whether `base_url` is a URL on this machine."""
    return _is_url(base_url) and urlsplit(base_url).hostname in _LOCAL_HOSTS


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port  # reading it checks it
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def key_of(provider: Provider, environ: Mapping[str, str]) -> str:
    """The provider's key without white space around it; empty if it has none or it cannot be one."""
    key = environ.get(provider.api_key_env, "").strip() if provider.api_key_env else ""
    return key if key.isascii() and key.isprintable() and " " not in key else ""

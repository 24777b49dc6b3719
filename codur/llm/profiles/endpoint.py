"""Where a provider is, and with which key; the key stays inside."""

import hashlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from codur.config.settings import Provider
from codur.errors import ConfigError
from codur.lazy import regex
from codur.redaction import secrets_of
from codur.structs import Struct, field

GROQ_URL = "https://api.groq.com"
ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_HOST = "https://api.openai.com"
_SDK_PATHS = {"groq": regex(r"(/openai)?(/v1)?/*$"), "anthropic": regex(r"(/v1)?/*$")}
"""What the SDKs append themselves."""
_OWN_URLS = {"groq": ("GROQ_BASE_URL", GROQ_URL), "anthropic": ("ANTHROPIC_BASE_URL", ANTHROPIC_URL)}
_HEADER_NAME = regex(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# the transport sets them, and two of one are refused or misread
_OWN_HEADERS = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection"})
_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
_LONGEST_MESSAGE = 300


class Endpoint(Struct):
    """A provider as it can be reached."""

    provider: str  # its name in the settings
    api: str
    base_url: str  # for `groq` and `anthropic` without the path that the SDK appends
    timeout_s: float
    max_tokens_field: str = "max_tokens"  # how the limit of an answer is called in the OpenAI chat protocol
    key_env: str = ""  # the variable that holds the key; empty if none is needed
    key: str = ""  # the key; never shown
    headers: Mapping[str, str] = field(default_factory=dict)  # further headers; never shown
    secrets: tuple[str, ...] = ()  # the values among them that are secret; never shown

    def __repr__(self) -> str:
        return f"Endpoint(provider={self.provider!r}, place={self.place!r})"

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        return is_local(self.base_url)

    @property
    def place(self) -> str:
        """Scheme, host and port, for messages; never user or password."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def fingerprint(self, model: str) -> str:
        """Stands for provider, address, model and account; the key cannot be found out from it."""
        # The key, too: limits are those of an account.
        told = "\0".join((self.provider, self.base_url, model, self.key, *self.secrets))
        return hashlib.sha256(told.encode()).hexdigest()[:24]

    def safe(self, text: str) -> str:
        """`text` of the service as one bounded line without the key and secret headers."""
        for secret in filter(None, (self.key, *self.secrets)):
            text = text.replace(secret, "[key]")
        line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"


def endpoint_of(name: str, provider: Provider, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint of the provider called `name`.

    A `groq` or `anthropic` provider without `base_url` follows `GROQ_BASE_URL` or `ANTHROPIC_BASE_URL`, as their own
    clients do.

    Raises:
        ConfigError: it has no usable base URL, or a header cannot be sent.
    """
    base_url = (provider.base_url or "").strip()
    if provider.api in _OWN_URLS:
        variable, own = _OWN_URLS[provider.api]
        # Groq's SDK appends `/openai/v1`; a URL that ends so already would have it twice, and be answered with 404.
        base_url = _SDK_PATHS[provider.api].sub("", base_url or environ.get(variable, "").strip() or own)
    if not _is_url(base_url):
        raise ConfigError(
            f"not a URL: {base_url!r}" if base_url else "missing",
            key=f"providers.{name}.base_url",
            remedy="Write it like http://127.0.0.1:11434/v1.",
        )
    secret = {header: _secret(name, header, variable, environ) for header, variable in provider.headers_env.items()}
    headers = {**provider.headers, **secret}
    for header, value in headers.items():
        _check_header(name, header, value, known_secret=header in secret)
    return Endpoint(
        provider=name,
        api=provider.api,
        base_url=base_url.rstrip("/"),
        timeout_s=provider.timeout_s,
        max_tokens_field=_max_tokens_field(provider, base_url),
        key_env=provider.api_key_env or "",
        key=key_of(provider, environ),
        headers=headers,
        secrets=tuple(secret.values()),
    )


def _max_tokens_field(provider: Provider, base_url: str) -> str:
    """Older servers of the OpenAI protocol know only `max_tokens`; OpenAI itself has given it up."""
    if provider.max_tokens_field != "auto":
        return provider.max_tokens_field
    modern = provider.api == "groq" or base_url.startswith(OPENAI_HOST)
    return "max_completion_tokens" if modern else "max_tokens"


def _secret(name: str, header: str, variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "").strip()
    if not value:
        raise ConfigError(
            f"{variable} is not set",
            key=f"providers.{name}.headers_env.{header}",
            remedy=f"Set it with `export {variable}=…`.",
        )
    return value


def _check_header(name: str, header: str, value: str, *, known_secret: bool) -> None:
    key = f"providers.{name}.headers{'_env' if known_secret else ''}.{header}"
    if not _HEADER_NAME.fullmatch(header) or header.lower() in _OWN_HEADERS:
        raise ConfigError("not a header that can be set", key=key, remedy="Remove it.")
    if not (value.isascii() and value.isprintable()):
        raise ConfigError("the value cannot be sent: it holds other characters than ASCII's", key=key)
    # Settings files are shown, shared and kept in repositories.
    if not known_secret and secrets_of({header: value}):
        raise ConfigError(
            "looks like a secret, which does not belong into settings",
            key=key,
            remedy=f"Put it into an environment variable, and name that in providers.{name}.headers_env.",
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
    # Anything else cannot be sent in a header.
    return key if key.isascii() and key.isprintable() and " " not in key else ""


def key_problem(provider: Provider, environ: Mapping[str, str]) -> str:
    """What is wrong with the key of a provider for which `key_of` gives none, as a clause."""
    variable = provider.api_key_env or ""
    return f"{variable} {'holds no usable key' if environ.get(variable, '').strip() else 'is not set'}"


def secrets_of_provider(provider: Provider, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The provider's key and its secret headers, as far as they are set."""
    values = (environ.get(variable, "").strip() for variable in provider.headers_env.values())
    return tuple(filter(None, (key_of(provider, environ), *values)))

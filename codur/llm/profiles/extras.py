"""Which SDKs are installed; those of some services are optional parts of Codur's installation."""

from importlib.util import find_spec

from codur.llm.request_failure import ServiceFailure

_ALWAYS = "groq"


def installed(api: str) -> str:
    """The SDK that serves an api here; empty if there is none. Nothing is imported.

    The OpenAI protocol is spoken through Groq's SDK where OpenAI's is not installed.
    """
    if api != _ALWAYS and find_spec(api) is not None:  # found, not imported: an SDK takes a fifth of a second or more
        return api
    # Groq's SDK takes any path and body, so that it can speak OpenAI's protocol; Anthropic's is another one.
    return "" if api == "anthropic" else _ALWAYS


def missing(provider: str, api: str) -> ServiceFailure:
    """The failure of a provider whose SDK is not installed."""
    return ServiceFailure(
        f"The package for provider {provider} (api: {api}) is not installed.",
        kind="not_installed",
        remedy=f'Install it with `pip install "codur[{api}]"`.',
    )

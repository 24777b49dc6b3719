"""What services tell of their limits."""

from __future__ import annotations

import pytest

from codur.llm.model import Quota
from codur.llm.rate_limits.told_limits import SaidLimit, quotas_in, said_limit, seconds_in
from tests.llm.kit import Client, ask, settings
from tests.support.groq_server import GroqServer, ServerReply, text

GROQ = {
    "x-ratelimit-limit-requests": "14400",
    "x-ratelimit-limit-tokens": "18000",
    "x-ratelimit-remaining-requests": "14370",
    "x-ratelimit-remaining-tokens": "17997",
    "x-ratelimit-reset-requests": "2m59.56s",
    "x-ratelimit-reset-tokens": "7.66s",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:30Z",
    "anthropic-ratelimit-input-tokens-limit": "30000",
    "anthropic-ratelimit-input-tokens-remaining": "29000",
    "anthropic-ratelimit-input-tokens-reset": "2026-11-21T10:00:02Z",
    "anthropic-ratelimit-output-tokens-limit": "8000",
    "anthropic-ratelimit-output-tokens-remaining": "8000",
    "anthropic-ratelimit-output-tokens-reset": "2026-11-21T10:00:00Z",
}
TEN_O_CLOCK = 1_795_255_200.0
"""2026-11-21T10:00:00Z"""


def test_groqs_and_openais_headers() -> None:
    assert quotas_in(GROQ, 0.0) == (
        Quota(unit="requests", limit=14_400, remaining=14_370, reset_s=120 + 59.56),
        Quota(unit="tokens", limit=18_000, remaining=17_997, reset_s=7.66),
    )


def test_anthropics_headers() -> None:
    assert quotas_in(ANTHROPIC, TEN_O_CLOCK) == (
        Quota(unit="requests", limit=50, remaining=49, reset_s=30.0),
        Quota(unit="input_tokens", limit=30_000, remaining=29_000, reset_s=2.0),
        Quota(unit="output_tokens", limit=8000, remaining=8000, reset_s=0.0),
    )


@pytest.mark.parametrize("bad", ["", "nan", "-1", "inf", "1e99", "many", "0"])
def test_headers_that_make_no_sense_tell_nothing(bad: str) -> None:
    assert quotas_in({**GROQ, "x-ratelimit-limit-tokens": bad, "x-ratelimit-limit-requests": bad}, 0.0) == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7.66s", 7.66), ("2m59.56s", 179.56), ("1h2m3s", 3723.0), ("120ms", 0.12), ("1d", 86_400.0), ("12", 12.0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert seconds_in(text, 0.0) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "3 apples", "s", "-4", "2026-99-01"])
def test_what_is_no_duration(text: str) -> None:
    assert seconds_in(text, 0.0) is None


def test_the_figures_in_a_refusal() -> None:
    groq = "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce"
    openai = "Request too large for m on tokens per min (TPM): Limit 30,000, Used 5, Requested 342389."
    assert said_limit(groq) == SaidLimit(limit=6000, requested=14_810)
    assert said_limit(openai) == SaidLimit(limit=30_000, requested=342_389)
    assert said_limit("Slow down.") is None


def test_the_real_client_hands_them_on() -> None:
    headers = {
        "x-ratelimit-limit-tokens": "5000",
        "x-ratelimit-remaining-tokens": "100",
        "x-ratelimit-reset-tokens": "58.8s",
    }
    replies = [ServerReply(headers=headers, body=text("Hi.").body), text("Again.")]
    with GroqServer(replies) as server:
        client = Client(settings(server.url))
        client.complete(ask(max_completion_tokens=3000))
        client.complete(ask(max_completion_tokens=3000))
        assert client.pool.sizes.fitted("main").request_tokens == 4900
    assert sum(client.waits) == pytest.approx((3000 + 8 + 100 - 100) * 60 / 5000, abs=0.5)

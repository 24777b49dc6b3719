"""Tables and short texts, whole."""

from __future__ import annotations

import re

from codur.errors import CodurError, ConfigError, UsageError
from codur.types import RouteStep
from codur.ui.tables import (
    AgentRow,
    ChallengeRow,
    agents_table,
    challenge_line,
    challenge_table,
    config_text,
    error_text,
    route_text,
)

ROWS = (
    ChallengeRow(name="sums", outcome="solved", solved_by="repair", seconds=1.25),
    ChallengeRow(
        name="世界", outcome="solved", solved_by="codur-coding", calls=2, tokens=12_345, cost=0.0123, seconds=8.04
    ),
    ChallengeRow(
        name="hard\x1b[2J", outcome="failed", calls=20, tokens=200_000, cost=1.5, seconds=90, note="a limit\nx"
    ),
    ChallengeRow(name="old", outcome="skipped"),
)


def test_challenges_plain() -> None:
    assert challenge_table(ROWS) == (
        "challenge      outcome  solved by          calls   tokens     cost  seconds  note\n"
        "-------------  -------  -----------------  -----  -------  -------  -------  ----------\n"
        "sums           solved   offline repair         0        0       $0      1.2\n"
        "世界           solved   codur-coding           2   12,345  $0.0123      8.0\n"
        "hard\\x1b[2J    failed                         20  200,000    $1.50     90.0  a limit\\nx\n"
        "old            skipped                         0        0       $0      0.0\n"
        "-------------  -------  -----------------  -----  -------  -------  -------  ----------\n"
        "2 of 4 solved           1 without a model     22  212,345    $1.51     99.3"
    )


def test_challenges_in_colour_have_the_same_cells() -> None:
    text = challenge_table(ROWS, color=True, width=100)
    assert "\x1b[32msolved\x1b[0m" in text
    assert "\x1b[31mfailed\x1b[0m" in text
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", row).split() for row in text.splitlines()]
    plain = [row.split() for row in challenge_table(ROWS).splitlines() if not row.startswith("---")]
    assert bare == plain


def test_long_cells_are_folded_in_colour() -> None:
    row = ChallengeRow(name="n", outcome="error", note="word " * 40)
    text = re.sub(r"\x1b\[[0-9;]*m", "", challenge_table([row], color=True, width=80))
    assert max(len(item.rstrip()) for item in text.splitlines()) <= 80
    assert text.count("word") == 40


def test_no_challenges() -> None:
    assert challenge_table(()).splitlines()[-1] == (
        "0 of 0 solved           0 without a model      0       0    $0      0.0"
    )


def test_a_line_of_progress() -> None:
    lines = [challenge_line(row, number=number, total=4) for number, row in enumerate(ROWS, start=1)]
    assert lines == [
        "[1/4] sums: solved by offline repair, 0 model calls, 1.2 s",
        "[2/4] 世界: solved by codur-coding, 2 model calls, 8.0 s",
        "[3/4] hard\\x1b[2J: failed, 20 model calls, 90.0 s: a limit\\nx",
        "[4/4] old: skipped, 0 model calls, 0.0 s",
    ]


def test_agents() -> None:
    rows = (
        AgentRow(name="codur-coding", type="coding", profile="big", description="Edits files."),
        AgentRow(name="mine", type="llm", profile="local", ready=False, note="GROQ_API_KEY is not set"),
        AgentRow(name="other", type="llm", profile="local", ready=False),
    )
    assert agents_table(rows) == (
        "agent         type    profile  ready                        description\n"
        "------------  ------  -------  ---------------------------  ------------\n"
        "codur-coding  coding  big      yes                          Edits files.\n"
        "mine          llm     local    no: GROQ_API_KEY is not set\n"
        "other         llm     local    no"
    )
    assert "\x1b[33mno: GROQ_API_KEY is not set" in agents_table(rows, color=True)


def test_route() -> None:
    steps = (
        RouteStep(node="pattern_plan", route="policy", origin="pattern", tier="deterministic", reason="a\x07b"),
        RouteStep(node="policy", route="end", origin="plan", tier="open"),
    )
    assert route_text(steps) == (
        "1. pattern_plan → policy (pattern, deterministic): a\\x07b\n2. policy → end (plan, open)"
    )
    assert route_text(()) == "no decision was taken"


def test_errors() -> None:
    wrong = ConfigError("must be a number", file="codur.yaml", line=3, key="repair.budget_s", remedy="Write 8.0.")
    assert error_text(wrong) == "✘ codur.yaml:3: repair.budget_s: must be a number\n→ Write 8.0."
    assert error_text(UsageError("no such file: a\nb\x1b")) == "✘ no such file: a\\nb\\x1b"
    assert error_text(CodurError("", remedy="x")) == "✘ \n→ x"


def test_config() -> None:
    values = {"llm": {"default_profile": "größe", "fallback_profiles": ("a", "b"), "profiles": {}}, "keep": None}
    assert config_text(values, sources=("built in", "/h/codur.yaml"), notes=("mcp_servers is not used yet",)) == (
        "sources: built in, /h/codur.yaml\n"
        "note: mcp_servers is not used yet\n"
        'llm.default_profile: "größe"\n'
        'llm.fallback_profiles: ["a", "b"]\n'
        "llm.profiles: {}\n"
        "keep: null"
    )

"""Tables and short texts, whole."""

from __future__ import annotations

import re

from codur.errors import CodurError, ConfigError, UsageError
from codur.types import RouteStep
from codur.ui.shown.tables import (
    AgentRow,
    agents_table,
    error_text,
    route_text,
)

AGENTS = (
    AgentRow(name="世界", type="coding", profile="big", description="Edits files."),
    AgentRow(name="hard\x1b[2J", type="llm", profile="local", ready=False, note="a limit\nx"),
)


def test_a_table_in_colour_has_the_same_cells() -> None:
    text = agents_table(AGENTS, width=100)
    assert "\x1b[" in text
    assert "\x1b[2J" not in text
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", row).split() for row in text.splitlines()]
    assert bare == [row.split() for row in agents_table(AGENTS).splitlines() if not row.startswith("---")]


def test_long_cells_are_folded_in_colour() -> None:
    row = AgentRow(name="n", type="llm", profile="p", description="word " * 40)
    text = re.sub(r"\x1b\[[0-9;]*m", "", agents_table([row], width=80))
    assert max(len(item.rstrip()) for item in text.splitlines()) <= 80
    assert text.count("word") == 40


def test_agents() -> None:
    rows = (
        AgentRow(name="codur-coding", type="coding", profile="big", description="Edits files."),
        AgentRow(name="mine", type="llm", profile="local", ready=False, note="GROQ_API_KEY is not set"),
        AgentRow(name="other", type="llm", profile="local", ready=False),
    )
    assert agents_table(rows) == (
        "agent         type    needs  ready                        description\n"
        "------------  ------  -----  ---------------------------  ------------\n"
        "codur-coding  coding  big    yes                          Edits files.\n"
        "mine          llm     local  no: GROQ_API_KEY is not set\n"
        "other         llm     local  no"
    )
    assert "\x1b[33mno: GROQ_API_KEY is not set" in agents_table(rows, width=100)


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

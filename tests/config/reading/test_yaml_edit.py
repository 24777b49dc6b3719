"""A value set in the text of a settings file: all else stays as it was written."""

from __future__ import annotations

from typing import Any

import pytest

from codur.config.reading.yaml_edit import with_value
from codur.config.reading.yaml_source import parse_yaml
from codur.errors import ConfigError

TEXT = """\
# mine
runtime:   # limits
  max_llm_calls: 40  # enough
  # max_cost_usd: 2
llm: {default_profile: "auto"}
tools:
  # allow_network: true
agents:
  preferences:
    escalation:
      - a  # first
      - b
    # the end
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("runtime.max_llm_calls", 7, "max_llm_calls: 40  #", "max_llm_calls: 7  #"),
        ("runtime.max_cost_usd", 1.5, "# enough\n", "# enough\n  max_cost_usd: 1.5\n"),
        ("llm.default_profile", "local", '"auto"', '"local"'),
        ("llm.fast_profile", "x: y", '"auto"}', "\"auto\", fast_profile: 'x: y'}"),
        ("tools.allow_network", True, "tools:\n", "tools:\n  allow_network: true\n"),
        ("tools", {"allow_run": False}, "tools:\n", "tools: {allow_run: false}\n"),
        ("agents.preferences.escalation", ["c"], "- a  # first\n      - b\n", "[c]\n"),
        ("agents.coding.samples", 3, "- b\n", "- b\n  coding:\n    samples: 3\n"),
        ("repair.mode", "off", "- b\n", "- b\nrepair:\n  mode: 'off'\n"),
    ],
)
def test_only_the_value_is_new(key: str, value: Any, old: str, new: str) -> None:
    after = with_value(TEXT, tuple(key.split(".")), value, name="x")
    assert after == TEXT.replace(old, new, 1)
    found: Any = parse_yaml(after.encode(), "x").values
    for part in key.split("."):
        found = found[part]
    assert found == value


@pytest.mark.parametrize(
    ("text", "new"), [("", "a:\n  b: 1\n"), ("# x", "# x\na:\n  b: 1\n"), ("c: 2", "c: 2\na:\n  b: 1\n")]
)
def test_files_with_nothing_or_without_an_end_of_line(text: str, new: str) -> None:
    assert with_value(text, ("a", "b"), 1, name="x") == new


@pytest.mark.parametrize("text", ["a: [1]\n", "a: 5\n", "a: &x {b: 1}\nc: *x\n"])
def test_what_cannot_be_done_alone_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        with_value(text, ("a" if "c" not in text else "c", "b"), 2, name="x")

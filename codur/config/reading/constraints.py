"""What a value must satisfy beyond its type. A number that is not named here must be 0 or more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A range of numbers, ends included; with `above`, the lower end is not."""

    low: float | None = 0
    high: float | None = None
    above: bool = False

    def hold(self, number: float) -> bool:
        """Whether `number` lies inside; never true for infinity and for what is not a number."""
        if number != number or number in (float("inf"), float("-inf")):
            return False
        if self.low is not None and (number < self.low or (self.above and number == self.low)):
            return False
        return self.high is None or number <= self.high

    def __str__(self) -> str:
        if self.low is None:
            return ""
        if self.above:
            return f" above {self.low:g}, {self.high:g} at most"
        return f" from {self.low:g} to {self.high:g}" if self.high is not None else f", {self.low:g} or more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression (in the part of the language that JSON schema shares) and what it means."""

    regex: str
    meaning: str


_DAY_S = 86_400
_AT_LEAST_ONE = Bounds(low=1)
_SOME_TIME = Bounds(high=_DAY_S, above=True)
_ANY_TIME = Bounds(high=_DAY_S)

BOUNDS: Mapping[str, Bounds] = {
    "Profile.temperature": Bounds(high=2),
    "Profile.context_window": _AT_LEAST_ONE,
    "Profile.max_completion_tokens": _AT_LEAST_ONE,
    "Profile.request_tokens": _AT_LEAST_ONE,
    "Profile.requests_per_minute": _AT_LEAST_ONE,
    "Profile.tokens_per_minute": _AT_LEAST_ONE,
    "Provider.requests_per_minute": _AT_LEAST_ONE,
    "Provider.tokens_per_minute": _AT_LEAST_ONE,
    "Profile.seed": Bounds(low=None),
    "Provider.timeout_s": _SOME_TIME,
    "LlmSettings.max_attempts": _AT_LEAST_ONE,
    "LlmSettings.retry_budget_s": _ANY_TIME,
    "AgentConfig.max_steps": _AT_LEAST_ONE,
    "AgentPreferences.patience": _AT_LEAST_ONE,
    "CodingSettings.samples": Bounds(low=1, high=64),
    "AgentConfig.timeout_s": _SOME_TIME,
    "RuntimeSettings.max_runtime_s": _ANY_TIME,
    "PlanningSettings.max_retry_attempts": _AT_LEAST_ONE,
    "PlanningSettings.confidence_threshold": Bounds(high=1),
    "PlanningSettings.max_steps": _AT_LEAST_ONE,
    "VerificationSettings.timeout_s": _SOME_TIME,
    "VerificationSettings.test_timeout_s": _SOME_TIME,
    "VerificationSettings.max_output_kb": _AT_LEAST_ONE,
    "RepairSettings.budget_s": _ANY_TIME,
    "RepairSettings.offline_budget_s": _ANY_TIME,
    "RepairSettings.max_order": _AT_LEAST_ONE,
    "ToolSettings.max_file_kb": _AT_LEAST_ONE,
    "ToolSettings.max_candidates": _AT_LEAST_ONE,
    "ToolSettings.min_compatibility": Bounds(high=1),
    "McpServer.timeout_s": _SOME_TIME,
}
"""By `Class.field` of `settings`."""

# Capitals only, so that a key pasted here by mistake is refused and never shown.
_VARIABLE = Pattern(regex=r"^[A-Z_][A-Z0-9_]*$", meaning="the name of an environment variable in capitals, never a key")
_ADDRESS = Pattern(
    regex=r"^https?://[^\s/?#@]+(/[^\s?#@]*)?$", meaning="an http or https address without user name or query"
)
_ANY_VARIABLE = Pattern(
    regex=r"^[A-Za-z_][A-Za-z0-9_]*$", meaning="the name of an environment variable, never its value"
)
PATTERNS: Mapping[str, Pattern] = {
    "AgentConfig.key_env": _ANY_VARIABLE,
    "AgentConfig.environment": _ANY_VARIABLE,
    "Provider.api_key_env": _VARIABLE,
    "Provider.headers_env": _VARIABLE,
    "Provider.base_url": _ADDRESS,
    "ToolSettings.promote": Pattern(
        regex=r"^[a-z_]+ > [a-z_]+$",
        meaning="two tools, the second of which follows the first: find_usages > read_file",
    ),
    "McpServer.environment": _VARIABLE,
    "McpServer.headers_env": _VARIABLE,
    "McpServer.url": _ADDRESS,
}
"""By `Class.field` of `settings`."""


def bounds_of(owner: str) -> Bounds:
    """The range of the number `owner` (`Class.field`)."""
    return BOUNDS.get(owner, Bounds())

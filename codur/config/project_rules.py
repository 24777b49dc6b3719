"""What a project's own settings file may do: narrow, never widen.

Such a file comes with the code that is worked on. It may lower limits, budgets and time-outs, narrow the scope, switch
permissions, the pre-plan and offline repair off, and take tools away from an agent. Once the user has accepted its
content, it may also name the check command. Models, services, keys, agents' instructions and MCP servers are never its
business, accepted or not.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from codur.config.reading.origin import Source, dotted, leaf_paths
from codur.config.reading.setting_types import NAMED

TrustState = Literal["accepted", "changed", "unknown"]
"""Whether the user has accepted a file as it is now, as it once was, or never."""

TrustOf = Callable[[Path, str, bytes], TrustState]
"""The trust in a file of a workspace: its directory, the file's name in it, its content."""

_MAX_NOTES = 20
_ABSENT = object()


class _Rule(Struct, frozen=True, kw_only=True):
    """When a new value is narrower than the present one, and what to say when it is not."""

    narrower: Callable[[Any, Any], bool]
    otherwise: str
    accepted: bool = False  # counts only in a file that the user accepted


_LOWER = _Rule(narrower=lambda new, old: new <= old, otherwise="a project's file can only lower this")
_FEWER_ANSWERS = _Rule(
    narrower=lambda new, old: new in (1, old) or ("auto" not in (new, old) and new <= old),
    otherwise=_LOWER.otherwise,
)
_OFF = _Rule(narrower=lambda new, _: new in (False, "off"), otherwise="a project's file can only turn this off")
_STRICT = _Rule(narrower=lambda new, _: new == "strict", otherwise="a project's file can only make this strict")
_FEWER = _Rule(narrower=lambda new, old: set(new) <= set(old), otherwise="a project's file can only take tools away")
_APPROVALS = ("never", "writes", "always")
_ASK_MORE = _Rule(
    narrower=lambda new, old: _APPROVALS.index(new) >= _APPROVALS.index(old),
    otherwise="a project's file can only have you asked more often",
)
_ASK_MORE_KINDS = _Rule(narrower=lambda new, old: set(new) >= set(old), otherwise=_ASK_MORE.otherwise)
_WITHIN = _Rule(
    narrower=lambda new, old: bool(new) and (not old or set(new) <= set(old)),
    otherwise="a project's file can only leave globs out",
)
_MORE = _Rule(narrower=lambda new, old: set(new) >= set(old), otherwise="a project's file can only deny more")
_BOUND = _Rule(
    narrower=lambda new, old: new > 0 and (not old or new <= old), otherwise="a project's file can only lower this"
)
_ACCEPTED = _Rule(
    narrower=lambda _new, _old: True, otherwise="the file is not accepted; look at it with `codur trust`", accepted=True
)
_NEVER = _Rule(narrower=lambda _new, _old: False, otherwise="a project's file cannot set this")

RULES: Mapping[tuple[str, ...], _Rule] = {
    ("llm", "max_attempts"): _LOWER,
    ("llm", "retry_budget_s"): _LOWER,
    ("agents", "coding", "max_looks"): _LOWER,
    ("agents", "coding", "samples"): _FEWER_ANSWERS,
    ("agents", "configs", NAMED, "tools"): _FEWER,
    ("agents", "configs", NAMED, "max_steps"): _LOWER,
    ("agents", "configs", NAMED, "timeout_s"): _LOWER,
    ("agents", "configs", NAMED, "network"): _OFF,
    ("runtime", "max_iterations"): _LOWER,
    ("runtime", "max_llm_calls"): _LOWER,
    ("runtime", "max_tokens"): _LOWER,
    ("runtime", "max_cost_usd"): _LOWER,
    ("runtime", "max_runtime_s"): _LOWER,
    ("runtime", "detect_tool_calls_from_text"): _OFF,
    ("planning", "use_llm_pre_plan"): _OFF,
    ("planning", "max_retry_attempts"): _LOWER,
    ("planning", "max_steps"): _LOWER,
    ("planning", "approval"): _ASK_MORE,
    ("planning", "approve"): _ASK_MORE_KINDS,
    ("context", "project_instructions"): _OFF,
    ("context", "instruction_tokens"): _LOWER,
    ("context", "source_tokens"): _LOWER,
    ("context", "max_files"): _LOWER,
    ("verification", "command"): _ACCEPTED,
    ("verification", "timeout_s"): _LOWER,
    ("verification", "test_timeout_s"): _LOWER,
    ("verification", "max_output_kb"): _LOWER,
    ("verification", "linters"): _OFF,
    ("repair", "mode"): _OFF,
    ("repair", "budget_s"): _LOWER,
    ("repair", "offline_budget_s"): _LOWER,
    ("repair", "max_order"): _LOWER,
    ("tools", "allow_write"): _OFF,
    ("tools", "allow_run"): _OFF,
    ("tools", "allow_network"): _OFF,
    ("tools", "allow_git_write"): _OFF,
    ("tools", "max_file_kb"): _LOWER,
    ("tools", "whole_file_lines"): _LOWER,
    ("scope", "allow"): _WITHIN,
    ("scope", "deny"): _MORE,
    ("scope", "max_files"): _BOUND,
    ("sandbox", "memory_mb"): _LOWER,
    ("sandbox", "processes"): _LOWER,
    ("sandbox", "file_mb"): _LOWER,
    ("sandbox", "temporary_mb"): _LOWER,
    ("sandbox", "written_mb"): _LOWER,
    ("sandbox", "new_files"): _LOWER,
    ("sandbox", "require"): _STRICT,
}
"""What is not named here a project's file cannot set."""


def nobody(_workspace: Path, _name: str, _content: bytes) -> TrustState:
    """The trust of someone who has accepted nothing."""
    return "unknown"


def needs_acceptance(path: tuple[str, ...]) -> bool:
    """Whether a project's setting counts only once the file is accepted."""
    return _rule(path).accepted


def narrow(
    values: Mapping[str, Any], settings: Mapping[str, Any], source: Source, trust: TrustState = "unknown"
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What narrows `settings` of a project's, and one line for each thing that is ignored.

    Args:
        values: the project's settings, already checked.
        settings: the trusted settings below them (defaults and the user's file), as nested mappings.
        trust: whether the user has accepted the file.
    """
    kept: dict[str, Any] = {}
    ignored: dict[tuple[str, ...], str] = {}
    for path, new in leaf_paths(values):
        old = _present(settings, path)
        if new == old or (new == {} and old is not _ABSENT):
            continue
        rule = _rule(path) if old is not _ABSENT else _NEVER
        if rule.narrower(new, old) and (trust == "accepted" or not rule.accepted):
            _put(kept, path, new)
        else:
            ignored.setdefault(_told_at(path, settings), rule.otherwise)
    places = {path: source.place(path) for path in ignored}
    notes = [f"{places[p].file}:{places[p].line}: {dotted(p)}: ignored: {why}" for p, why in ignored.items()]
    if trust == "changed":
        notes.insert(0, f"{source.name}: has changed since it was accepted; look at it with `codur trust`")
    if len(notes) > _MAX_NOTES:
        notes[_MAX_NOTES:] = [f"{source.name}: {len(notes) - _MAX_NOTES} more settings ignored"]
    return kept, tuple(notes)


def _pattern(path: tuple[str, ...]) -> tuple[str, ...]:
    return (*path[:2], NAMED, *path[3:]) if path[:2] == ("agents", "configs") and len(path) > 2 else path


def _rule(path: tuple[str, ...]) -> _Rule:
    return RULES.get(_pattern(path), _NEVER)


def _told_at(path: tuple[str, ...], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The shortest part of `path` below which a project can set nothing, so that one line tells it."""
    for end in range(1, len(path)):
        head = _pattern(path[:end])
        if _present(settings, path[:end]) is _ABSENT or not any(rule[:end] == head for rule in RULES):
            return path[:end]
    return path


def _present(settings: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = settings
    for name in path:
        value = value.get(name, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    return value


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value

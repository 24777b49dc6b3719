"""What holds for all tasks of a conversation: its command alone shows it, what follows the command changes it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codur.agents.registry import AgentRegistry
from codur.cli import machine
from codur.cli.actions.init import check_found, model_words
from codur.config.reading.origin import did_you_mean
from codur.errors import UsageError
from codur.workspace.workspace import Workspace

PERMISSIONS: Final[Mapping[str, str]] = {
    "ask": "each plan is shown and asked about",
    "edit": "edits are made without asking; before a plan starts programs or reaches further, you are asked",
    "run": "plans are carried out without asking, as far as the settings allow",
}
_BEFORE = ("run", "network", "git", "delegate")


@dataclass(kw_only=True)
class Choices:
    """What holds until it is changed; None and empty: as the settings say."""

    check: str | None = None
    agent: str | None = None
    model: str | None = None  # the profile that plans and codes
    offline: bool = False
    scope: tuple[str, ...] = ()
    permissions: str | None = None  # a key of `PERMISSIONS`
    files: tuple[str, ...] = ()  # what models are to look at

    @property
    def overrides(self) -> dict[str, dict[str, Any]]:
        """The settings that it stands for."""
        approve = list(_BEFORE) if self.permissions == "edit" else []
        asking: dict[str, Any] = (
            {"approval": "never", "approve": approve} if self.permissions in {"edit", "run"} else {}
        )
        named: dict[str, dict[str, Any]] = {
            "scope": {"allow": list(self.scope)} if self.scope else {},
            "llm": {"default_profile": self.model} if self.model else {},
            "planning": asking,
        }
        return {group: keys for group, keys in named.items() if keys}

    def told(self, earlier: str) -> str:
        """What models are told beside the task: what came before, and the files to look at."""
        files = f"Files that the user wants you to look at: {', '.join(self.files)}" if self.files else ""
        return "\n\n".join(filter(None, (earlier, files)))

    @property
    def shown(self) -> str:
        """All of it in one line."""
        parts = [f"check: {self.check or 'as found'}", f"agent: {self.agent or 'auto'}"]
        parts += [f"model: {self.model}"] if self.model else []
        parts += ["offline"] if self.offline else []
        parts += [f"scope: {' '.join(self.scope)}"] if self.scope else []
        parts += [f"permissions: {self.permissions}"] if self.permissions else []
        parts += [f"files: {len(self.files)}"] if self.files else []
        return " · ".join(parts)


Change = Callable[[Choices, str | None, Path], str]
"""Changes a choice to what follows the command (None: nothing does), for a directory; gives what is said then.

Raises `UsageError` where that cannot be.
"""


def _check(chosen: Choices, value: str | None, directory: Path) -> str:
    chosen.check = _unless_auto(value, chosen.check)
    if chosen.check:
        return f"check: {chosen.check}"
    found = check_found(directory, machine.settings_for(directory, None, {}).settings)
    return f"check: as found: {found if found.startswith('none') else f'`{found}`'}"


def _agent(chosen: Choices, value: str | None, directory: Path) -> str:
    agent = _unless_auto(value, chosen.agent)
    if agent is not None:
        AgentRegistry(machine.settings_for(directory, None, {}, agents=(agent,)).settings).resolve(agent)
    chosen.agent = agent
    return f"agent: {agent or 'as the settings say'}"


def _model(chosen: Choices, value: str | None, directory: Path) -> str:
    model = _unless_auto(value, chosen.model)
    settings = machine.settings_for(directory, None, {}).settings
    known = list(settings.llm.profiles)
    if model is not None and model not in known:
        raise UsageError(f"there is no profile {model!r}", remedy=did_you_mean(model, known, "/models lists them."))
    chosen.model = model
    return f"model: {model or f'as the settings say: {model_words(settings)}'}"


def _offline(chosen: Choices, value: str | None, _directory: Path) -> str:
    if value is not None:
        chosen.offline = _word("/offline", value, ("on", "off")) == "on"
    return "no model is asked" if chosen.offline else "models are asked where it takes one"


def _scope(chosen: Choices, value: str | None, _directory: Path) -> str:
    if value is not None:
        chosen.scope = () if value == "all" else tuple(value.split())
    return f"may change: {' '.join(chosen.scope) or 'as the settings say'}"


def _permissions(chosen: Choices, value: str | None, directory: Path) -> str:
    if value is not None:
        word = _word("/permissions", value, (*PERMISSIONS, "auto"))
        chosen.permissions = None if word == "auto" else word
    planning = machine.settings_for(directory, None, {}).settings.planning
    told = f"approval: {planning.approval}, approve: {', '.join(planning.approve) or 'nothing'}"
    return PERMISSIONS.get(chosen.permissions or "", f"as the settings say under planning: {told}")


def _files(chosen: Choices, _value: str | None, _directory: Path) -> str:
    return "\n".join(chosen.files) or "none: /add FILE shows one to the models of all later tasks"


def _add(chosen: Choices, value: str | None, directory: Path) -> str:
    known = Workspace.open(directory, home=machine.home()).list_files()
    for name in _names(value):
        if name not in known:
            raise UsageError(f"there is no file {name}", remedy=did_you_mean(name, known, "Tab completes names."))
    chosen.files = tuple(dict.fromkeys((*chosen.files, *_names(value))))
    return _files(chosen, None, directory)


def _drop(chosen: Choices, value: str | None, directory: Path) -> str:
    names = chosen.files if value in {None, "all"} else _names(value)
    for name in names:
        if name not in chosen.files:
            raise UsageError(f"{name} was not added", remedy=did_you_mean(name, chosen.files, "/files lists them."))
    chosen.files = tuple(name for name in chosen.files if name not in names)
    return _files(chosen, None, directory)


CHANGES: Final[Mapping[str, Change]] = {
    "check": _check,
    "agent": _agent,
    "model": _model,
    "offline": _offline,
    "scope": _scope,
    "permissions": _permissions,
    "files": _files,
    "add": _add,
    "drop": _drop,
}
"""By the name of the command."""


def _names(value: str | None) -> Sequence[str]:
    return [name.removeprefix("@") for name in (value or "").split()]


def _unless_auto(value: str | None, before: str | None) -> str | None:
    return before if value is None else None if value == "auto" else value


def _word(name: str, value: str, words: Sequence[str]) -> str:
    if value not in words:
        raise UsageError(f"{name} takes {', '.join(words[:-1])} or {words[-1]}", remedy=f"Say {name} {words[0]}.")
    return value

"""Instructions for models: the user's, those of the settings for some agents, and the project's once accepted.

What comes with a project is text of whoever wrote the project. It reaches a model as instructions only if the user has
accepted that very text; else it is left out, and one note says so.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import dirname

from msgspec import Struct

from codur.config.loader import user_directory
from codur.config.project_rules import TrustOf
from codur.config.settings import AgentInstructions, Settings
from codur.config.trust_files import MAX_BYTES, OWN_INSTRUCTIONS, usable_instruction_files
from codur.errors import ConfigError

USER_FILE = "instructions.md"
_SHOWN = 3


class Instruction(Struct, frozen=True, kw_only=True):
    """Instructions of one file."""

    name: str  # the file, as it is shown
    directory: str  # the directory of the project that they hold for, with all below it; empty: the whole project
    text: str


class InstructionSet(Struct, frozen=True, kw_only=True):
    """All instructions that may be sent."""

    user: str = ""  # the user's own, for all projects
    agents: tuple[tuple[str, str], ...] = ()  # pattern and text, in the order of the settings
    project: tuple[Instruction, ...] = ()  # the accepted ones of the project, from the top downwards
    notes: tuple[str, ...] = ()  # one line on what was left out of the project's


def load_instructions(
    settings: Settings, workspace: Path, *, environ: Mapping[str, str], home: Path, trust_of: TrustOf
) -> InstructionSet:
    """Read all instructions.

    Args:
        trust_of: whether the user has accepted a file of the project.

    Raises:
        ConfigError: a file of the user's, or one that the settings name, cannot be read.
    """
    directory = user_directory(environ, home)
    project: tuple[Instruction, ...] = ()
    notes: tuple[str, ...] = ()
    if settings.context.project_instructions:
        project, notes = _project(workspace, trust_of)
    return InstructionSet(
        user=_user_text(directory / USER_FILE, must_exist=False),
        agents=tuple(
            (entry.agents, _agent_text(entry, directory, home)) for entry in settings.agents.model_agent_instructions
        ),
        project=project,
        notes=notes,
    )


def _project(workspace: Path, trust_of: TrustOf) -> tuple[tuple[Instruction, ...], tuple[str, ...]]:
    files, problems = usable_instruction_files(workspace)
    accepted: list[Instruction] = []
    left_out: dict[str, list[str]] = {}
    for file in files:
        state = trust_of(workspace, file.name, file.content)
        try:
            text = _plain(file.content)
        except UnicodeDecodeError:
            text = None
        if state != "accepted":
            left_out.setdefault("changed" if state == "changed" else "unknown", []).append(file.name)
        elif text is None:
            left_out.setdefault("not text", []).append(file.name)
        else:
            where = "" if file.name == OWN_INSTRUCTIONS else dirname(file.name)
            accepted.append(Instruction(name=file.name, directory=where, text=text))
    notes = [f"{_names(names)}: {_WHY[why]}" for why, names in left_out.items()]
    notes += [f"instructions not used: {problem.message}" for problem in problems]
    return tuple(accepted), ("; ".join(notes),) if notes else ()


_WHY = {
    "unknown": "instructions not used, as they are not accepted; look at them with `codur trust`",
    "changed": "instructions not used, as they have changed since they were accepted; look at them with `codur trust`",
    "not text": "instructions not used, as they are not UTF-8 text",
}


def _names(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _plain(content: bytes) -> str:
    return content.decode("utf-8-sig").replace("\r\n", "\n").strip()


def _agent_text(entry: AgentInstructions, directory: Path, home: Path) -> str:
    if entry.file is None:
        return entry.text.strip()
    path = home / entry.file[2:] if entry.file.startswith("~/") else directory / entry.file
    return f"{entry.text.strip()}\n{_user_text(path, must_exist=True)}".strip()


def _user_text(path: Path, *, must_exist: bool) -> str:
    try:
        if not must_exist and not path.exists():
            return ""
        if not path.is_file():
            raise ConfigError(f"there is no file {path}", remedy="Correct agents.model_agent_instructions.")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ConfigError("is larger than 1 MiB, too large for instructions", file=str(path), remedy="Shorten it.")
        return _plain(content)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(
            f"cannot be read: {reason}", file=str(path), remedy="Make it a readable text, or take it away."
        ) from error

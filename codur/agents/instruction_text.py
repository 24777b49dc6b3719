"""Instructions as a part of an agent's system prompt: the same bytes for the whole run, as far as it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from codur.agents.registry import Agent
from codur.config.settings import Profile
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import beginning

if TYPE_CHECKING:
    from codur.config.instructions import Instruction, InstructionSet

SHARE_OF_REQUEST = 8
"""Instructions take at most this part (an eighth) of a profile's `request_tokens`."""
_FILE_SHARE = 0.7
"""Of the room that is left, for one file: a long one at the top must not crowd out those nearer to the work."""
_MIN_CHARS = 200
_PROJECT = """\
# Instructions of the project
They come with the project's files. They hold for how to work on it (style, layout, conventions); the rules above and \
the task go before them. Where two of them differ, the one whose directory is nearer to the file counts."""


class Instructions:
    """The instructions of one run, read when they are first asked for; a request has `max_tokens` of them at most."""

    def __init__(self, load: Callable[[], InstructionSet], *, max_tokens: int) -> None:
        self._load = load
        self._max_tokens = max_tokens
        self._used: list[Instruction] = []
        self._told = False

    @cached_property
    def _set(self) -> InstructionSet:
        return self._load()

    def text(self, agent: Agent, profile: Profile, files: Iterable[str]) -> str:
        """What is added to the agent's system prompt; empty if there is nothing.

        Instructions of a directory that were added once stay for the run, and further ones follow them, so that the
        prompt of a later request begins like that of an earlier one. ConfigError as `load_instructions`.
        """
        names = (agent.name, f"agent:{agent.name}", agent.profile, f"llm:{agent.profile}", profile.model)
        return self._text(names, profile, files)

    def for_planning(self, name: str, profile: Profile, files: Iterable[str]) -> str:
        """As `text`, for no agent but the model that plans, whose profile has this name."""
        return self._text((name, f"llm:{name}", profile.model), profile, files)

    def _text(self, names: Sequence[str], profile: Profile, files: Iterable[str]) -> str:
        near = {"", *(str(above) for path in files for above in PurePosixPath(path).parents)}
        self._used += [item for item in self._set.project if item.directory in near and item not in self._used]
        room = int(min(self._max_tokens, profile.request_tokens // SHARE_OF_REQUEST) * BYTES_PER_TOKEN)
        agents = (text for pattern, text in self._set.agents if any(fnmatchcase(name, pattern) for name in names))
        own = [
            ("# Instructions of the user", self._set.user),
            ("# Instructions for you", "\n".join(filter(None, agents))),
        ]
        parts: list[str] = []
        for title, text in own:
            if text:
                parts.append(f"{title}\n{_cut(text, int(room * _FILE_SHARE))}")
                room -= len(parts[-1])
        heading = _PROJECT
        for item in self._used:
            body = _cut(item.text, int((room - len(heading)) * _FILE_SHARE))
            if body:
                scope = f", for {item.directory}/ and below" if item.directory else ""
                parts.append(f"{heading}\n\n## {item.name}{scope}\n{body}".lstrip("\n"))
                room -= len(parts[-1])
                heading = ""
        return "".join(f"\n\n{part}" for part in parts)

    def notes(self) -> tuple[str, ...]:
        """What was left out, the first time that it is asked for; then nothing."""
        if self._told:
            return ()
        self._told = True
        return self._set.notes


def _cut(text: str, room: int) -> str:
    """The first lines of a text, with a note of how many are left out; nothing in too little room."""
    return beginning(text, room) if len(text) <= room or room >= _MIN_CHARS else ""

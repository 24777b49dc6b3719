"""What a batch has to do: each challenge with each agent, as often as asked for."""

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from codur.batch.challenge_directory import Challenge
from codur.errors import UsageError
from codur.lazy import regex
from codur.structs import Struct

_UNSAFE = regex(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 100


class Work(Struct):
    """One attempt at a challenge with an agent."""

    number: int  # its place in the batch, from 0
    challenge: Challenge
    agent: str  # empty for the default one
    attempt: int  # from 1
    file: str  # its name for files, without a suffix; unique in a batch

    @property
    def place(self) -> tuple[str, str, int]:
        """What tells it from all other work of a batch."""
        return self.challenge.name, self.agent, self.attempt

    @property
    def title(self) -> str:
        """What it is shown as."""
        return titled(self.challenge.name, self.agent, self.attempt)


def work_of(
    challenges: Sequence[Challenge],
    *,
    agents: Sequence[str] = (),
    attempts: int = 1,
    patterns: Sequence[str] = (),
    limit: int | None = None,
) -> list[Work]:
    """All work of a batch: challenge by challenge. Raises UsageError: no name matches.

    Args:
        agents: none stands for the default one.
        patterns: globs for the challenges' names, of which one must match; none takes all.
        limit: so many challenges at most.
    """
    wanted = [item for item in challenges if not patterns or any(fnmatchcase(item.name, each) for each in patterns)]
    if not wanted:
        raise UsageError(
            f"no challenge is called {' or '.join(map(repr, patterns))}",
            remedy="`codur solve --list` shows the names; * stands for any text, slashes too.",
        )
    found: list[Work] = []
    for challenge in wanted[:limit]:
        for agent in dict.fromkeys(agents or ("",)):
            for attempt in range(1, attempts + 1):
                file = file_name(challenge.name, agent, attempt)
                found.append(Work(number=len(found), challenge=challenge, agent=agent, attempt=attempt, file=file))
    return found


def titled(name: str, agent: str, attempt: int) -> str:
    """The challenge, and what else tells the work apart."""
    more = [*([agent] if agent else ()), *([f"attempt {attempt}"] if attempt > 1 else ())]
    return f"{name} ({', '.join(more)})" if more else name


def file_name(name: str, agent: str, attempt: int) -> str:
    """A name for files: of plain letters, the same for the same work, another one for any other.

    Names that differ in case alone differ in more than that here: some file systems take them for one.
    """
    parts = [name.replace("/", "--"), *([agent] if agent else []), *([str(attempt)] if attempt > 1 else [])]
    plain = ".".join(_UNSAFE.sub("_", part) for part in parts).lstrip("._-")[:_MAX_NAME]
    if not agent and attempt == 1 and plain == name == name.lower():
        return plain
    full = "\0".join((name, agent, str(attempt))).encode("utf-8", "surrogateescape")
    return f"{plain}-{hashlib.sha256(full).hexdigest()[:8]}".lstrip("-")

"""Models that answer from a recording: no key, no network, the same run again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from codur.config.settings import Profile
from codur.errors import ModelUnavailable
from codur.lazy import regex
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.replay.model_recording import ModelRecording, RecordedExchange

_SHOWN = 160


class NotRecordedError(ModelUnavailable):
    """A request that the recording has no answer for."""


class Replay:
    """Finds the recorded outcome of each request; each is given once.

    A request is looked for by what it asks (see `likeness_of`), first as it was sent to the same profile, then to any.
    One that differs gets the next answer that was given for the same purpose; `tell` gets a line about that.
    """

    def __init__(self, recording: ModelRecording, *, workspace: str, tell: Callable[[str], object]) -> None:
        self._workspace = workspace
        self._tell = tell
        self._lock = threading.Lock()
        self._left = [(item, likeness_of(item.request, recording.workspace)) for item in recording.exchanges]
        self._asked = 0

    def models(self, profiles: Mapping[str, Profile]) -> dict[str, ReplayedModel]:
        """A model for each profile."""
        return {name: ReplayedModel(self, name, profile) for name, profile in profiles.items()}

    def next(self, profile: str, request: ChatRequest) -> ChatReply:
        """The recorded reply, or error; NotRecordedError if there is none."""
        with self._lock:
            self._asked += 1
            found = self._find(profile, request)
        if found.failure is not None:
            raise found.failure.error()
        return found.reply or ChatReply()

    def _find(self, profile: str, request: ChatRequest) -> RecordedExchange:
        wanted = likeness_of(request, self._workspace)
        # By content and not by order: requests of samples or batches go out in whatever order they are ready.
        same = [item for item, likeness in self._left if likeness == wanted]
        answers = [item for item in same if item.reply is not None]
        # A recorded failure is given to the profile that met it alone: for another it would be none.
        for found in ([item for item in same if item.profile == profile], answers):
            if found:
                return self._take(found[0])
        near = [
            (item, likeness)
            for item, likeness in self._left
            if item.request.purpose == request.purpose and item.reply is not None
        ]
        if not near:
            raise self._missing(request)
        number, here, there = _difference(wanted, near[0][1])
        self._tell(
            f"request {self._asked} ({request.purpose}) differs from the recorded one at line {number}: "
            f"{here[:_SHOWN]!r}, recorded {there[:_SHOWN]!r}"
        )
        return self._take(near[0][0])

    def _take(self, taken: RecordedExchange) -> RecordedExchange:
        self._left = [pair for pair in self._left if pair[0] is not taken]
        return taken

    def _missing(self, request: ChatRequest) -> NotRecordedError:
        if not self._left:
            why = "all of the recording is used up"
        else:
            taken, likeness = self._left[0]
            number, here, there = _difference(likeness_of(request, self._workspace), likeness)
            why = (
                f"the next recorded one is request {taken.number} ({taken.request.purpose}); the first line that "
                f"differs is {number}: {here[:_SHOWN]!r}, recorded {there[:_SHOWN]!r}"
            )
        return NotRecordedError(
            f"Request {self._asked} ({request.purpose}) is not on record: {why}.",
            remedy="Run it with the files and the settings of the recording, or record it again.",
        )


class ReplayedModel:
    """One profile of a recording."""

    def __init__(self, replay: Replay, profile_name: str, profile: Profile) -> None:
        self.profile_name = profile_name
        self.profile = profile
        self._replay = replay

    async def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatModel.complete`; the outcome is the recorded one."""
        return self._replay.next(self.profile_name, request)

    async def close(self) -> None:
        """Nothing to close."""


_VARYING = (
    (regex(r"0x[0-9a-fA-F]{6,}"), "0x…"),
    (regex(r"\b\d{8}-\d{4}-[a-z2-7]{3,}\b"), "<run>"),
    (regex(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s\"':,)\]]*/"), "<temporary>/"),
    (regex(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (regex(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds?|min)\b"), "<seconds>"),
)


def _difference(mine: Sequence[str], its: Sequence[str]) -> tuple[int, str, str]:
    """The first line that differs: its number from 1, here and there; 0 if there is none."""
    pairs = enumerate(zip_longest(mine, its, fillvalue="(nothing more)"), 1)
    return next(((number, here, there) for number, (here, there) in pairs if here != there), (0, "", ""))


def likeness_of(request: ChatRequest, workspace: str) -> list[str]:
    """The lines of a request as it is compared, without the workspace's name and what varies from run to run.

    Limits of the answer's length are no part of it, for they depend on the service's state.
    """
    parts = [f"purpose: {request.purpose}", f"form: {request.tool_choice} {request.json_object} {request.schema_name}"]
    parts += [f"tool: {tool.name}" for tool in request.tools]
    names: dict[str, str] = {}
    for message in request.messages:
        parts.append(f"{message.role} {names.get(message.tool_call_id, '')}".rstrip())
        parts.append(message.content)
        for call in message.tool_calls:
            names[call.id] = f"call {len(names) + 1}"
            arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, default=str)
            parts.append(f"{names[call.id]}: {call.name} {arguments}")
    text = "\n".join(parts)
    text = text.replace(workspace, "<workspace>") if len(workspace) > 1 else text
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text.split("\n")

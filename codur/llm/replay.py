"""A run's exchange with models as a file, and models that answer from it: no key, no network, the same run again.

One JSON object a line, a header first, readable by its owner alone:

    {"codur_recording": 1, "version": "…", "task": "…", "workspace": "…"}
    {"number": 1, "profile": "…", "request": {…}, "reply": {…}}
    {"number": 2, "profile": "…", "request": {…}, "failure": {"kind": "rate_limit", …}}

Requests are kept as they were sent, after secrets were taken out; replies without secrets too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, to_builtins

from codur.config.settings import Profile
from codur.errors import ModelAnswerError, ModelError, ModelUnavailable, UsageError
from codur.lazy import regex
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.request_failure import FailedGenerationError, FailureKind, ServiceFailure
from codur.redaction import Redactor, redact_value
from codur.structs import Struct, convert, replace
from codur.types import Usage

FORMAT = 1
_MAX_BYTES = 256 << 20
# New or not at all: neither a file of the user's is overwritten nor a link followed.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class _Failure(Struct, omit_defaults=True):
    """What came instead of a reply; `kind` and `hint` are those of some errors."""

    message: str
    remedy: str
    usage: Usage | None = None
    kind: FailureKind | None = None
    retry_after_s: float | None = None
    hint: str | None = None

    def error(self) -> ModelError:
        """The error that was raised."""
        common: dict[str, Any] = {"remedy": self.remedy, "usage": self.usage}
        if self.kind is not None:
            return ServiceFailure(self.message, kind=self.kind, retry_after_s=self.retry_after_s, **common)
        if self.hint is not None:
            return FailedGenerationError(self.message, hint=self.hint, **common)
        return ModelAnswerError(self.message, **common)


class RecordedExchange(Struct, omit_defaults=True):
    """One request, and the reply to it or the failure that came instead."""

    number: int
    profile: str
    request: ChatRequest
    reply: ChatReply | None = None
    failure: _Failure | None = None

    def __post_init__(self) -> None:
        if (self.reply is None) is (self.failure is None):
            raise ValueError("either a reply or a failure")


class ModelRecording(Struct):
    """A whole recording."""

    task: str
    workspace: str
    exchanges: tuple[RecordedExchange, ...]


class Recorder:
    """Writes a recording to a new file, from any thread. UsageError if that exists, or cannot be made or written."""

    def __init__(self, path: Path, *, task: str, workspace: str, version: str, redactor: Redactor) -> None:
        self._redactor = redactor
        self._number = 0
        self._lock = threading.Lock()
        self._path = path
        try:
            self._descriptor = os.open(path, _NEW, 0o600)
        except FileExistsError as error:
            raise UsageError(f"{path}: is there already", remedy="Remove it, or give --record another name.") from error
        except OSError as error:
            raise _unusable(path, error) from error
        header = {"codur_recording": FORMAT, "version": version, "task": task, "workspace": workspace}
        self._write(redact_value(header, redactor))

    def keep(self, profile: str, request: ChatRequest, outcome: ChatReply | ModelError) -> None:
        """Keep one exchange."""
        reply = replace(outcome, limits=()) if isinstance(outcome, ChatReply) else None  # a replay waits for nobody
        failure = None
        if isinstance(outcome, ModelError):
            own = {name: getattr(outcome, name, None) for name in ("usage", "kind", "retry_after_s", "hint")}
            failure = _Failure(message=outcome.message, remedy=outcome.remedy, **own)
        with self._lock:
            self._number += 1
            line = RecordedExchange(number=self._number, profile=profile, request=request, reply=reply, failure=failure)
            self._write(redact_value(to_builtins(line), self._redactor))

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=True, default=str).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise _unusable(self._path, error) from error


def read_recording(path: Path) -> ModelRecording:
    """A recording; UsageError if it cannot be read, or is none."""
    if path.is_fifo():  # it would be waited for without end
        raise UsageError(f"{path}: is a pipe", remedy="Make one with `codur run … --record FILE`.")
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES)
    except OSError as error:
        raise _unusable(path, error) from error
    lines = data.split(b"\n")[:-1]  # what is after the last line end was not finished
    try:
        header, *rest = [json.loads(line) for line in lines]
        if header["codur_recording"] != FORMAT:
            raise UsageError(
                f"{path}: is a recording of another version of Codur ({header['version']})", remedy="Record it again."
            )
        return convert({**header, "exchanges": rest}, ModelRecording)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MsgspecError) as error:
        raise UsageError(
            f"{path}: is not a recording of a run", remedy="Make one with `codur run … --record FILE`."
        ) from error


def _unusable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path}: {(error.strerror or 'cannot be used').lower()}", remedy="Name another file, or check its directory."
    )


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

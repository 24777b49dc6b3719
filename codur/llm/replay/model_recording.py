"""A run's exchange with models as a file: one JSON object a line, a header first, readable by its owner alone.

    {"codur_recording": 1, "version": "…", "task": "…", "workspace": "…"}
    {"number": 1, "profile": "…", "request": {…}, "reply": {…}}
    {"number": 2, "profile": "…", "request": {…}, "failure": {"kind": "rate_limit", …}}

Requests are kept as they were sent, after secrets were taken out; replies without secrets too.
"""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, to_builtins

from codur.errors import ModelAnswerError, ModelError, UsageError
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
    """Writes a recording to a file that it makes; safe to use from several threads.

    UsageError if the file is there already, or cannot be made or written.
    """

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

"""A run's exchange with models as a file: one JSON object a line, a header first, readable by its owner alone.

    {"codur_recording": 1, "version": "…", "task": "…", "workspace": "…"}
    {"number": 1, "profile": "…", "request": {…}, "reply": {…}}
    {"number": 2, "profile": "…", "request": {…}, "failure": {"kind": "rate_limit", …}}

Requests are kept as they were sent, after secrets were taken out; replies without secrets too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from codur.errors import ModelAnswerError, ModelError, UsageError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.request_failure import FailedGenerationError, ServiceFailure
from codur.redaction import redact_value
from codur.structs import names, replace
from codur.types import Message, ToolCall, ToolSpec, Usage

if TYPE_CHECKING:
    from codur.redaction import Redactor

FORMAT = 1
_MAX_BYTES = 256 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One exchange of a recording: a reply, or the error that came instead."""

    number: int
    profile: str
    request: ChatRequest
    outcome: ChatReply | ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """A whole recording."""

    task: str
    workspace: str
    taken: tuple[Taken, ...]


class Recorder:
    """Writes a recording; safe to use from several threads.

    Args:
        path: the file; it is made.
        task, workspace: for the header.
        version: Codur's.

    Raises:
        UsageError: the file is there already, or cannot be made.
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
        """Keep one exchange.

        Raises:
            UsageError: it cannot be written.
        """
        with self._lock:
            self._number += 1
            line: dict[str, Any] = {"number": self._number, "profile": profile, "request": to_builtins(request)}
            line |= {"reply": _reply(outcome)} if isinstance(outcome, ChatReply) else {"failure": _failure(outcome)}
            self._write(redact_value(line, self._redactor))

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


def read_recording(path: Path) -> Taking:
    """A recording.

    Raises:
        UsageError: it cannot be read, or is none.
    """
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
        taken = tuple(_taken(line) for line in rest)
        return Taking(task=header["task"], workspace=header["workspace"], taken=taken)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path}: is not a recording of a run", remedy="Make one with `codur run … --record FILE`."
        ) from error


def _reply(reply: ChatReply) -> dict[str, Any]:
    plain: dict[str, Any] = to_builtins(replace(reply, limits=()))
    return plain


def _failure(error: ModelError) -> dict[str, Any]:
    value: dict[str, Any] = {"message": error.message, "remedy": error.remedy}
    if error.usage is not None:
        value["usage"] = to_builtins(error.usage)
    if isinstance(error, ServiceFailure):
        value |= {"kind": error.kind, "retry_after_s": error.retry_after_s}
    elif isinstance(error, FailedGenerationError):
        value["hint"] = error.hint
    return value


def _taken(line: Mapping[str, Any]) -> Taken:
    outcome = _reply_from(line["reply"]) if "reply" in line else _failure_from(line["failure"])
    return Taken(
        number=int(line["number"]),
        profile=str(line["profile"]),
        request=_request_from(line["request"]),
        outcome=outcome,
    )


def _reply_from(value: Mapping[str, Any]) -> ChatReply:
    given = _known(ChatReply, value) | {
        "usage": Usage(**value["usage"]),
        "tool_calls": _calls(value["tool_calls"]),
        "limits": (),
    }
    return ChatReply(**given)


def _failure_from(value: Mapping[str, Any]) -> ModelError:
    usage = Usage(**value["usage"]) if "usage" in value else None
    common: dict[str, Any] = {"remedy": value["remedy"], "usage": usage}
    if "kind" in value:
        return ServiceFailure(value["message"], kind=value["kind"], retry_after_s=value["retry_after_s"], **common)
    if "hint" in value:
        return FailedGenerationError(value["message"], hint=value["hint"], **common)
    return ModelAnswerError(value["message"], **common)


def _request_from(value: Mapping[str, Any]) -> ChatRequest:
    messages = tuple(
        Message(**(_known(Message, item) | {"tool_calls": _calls(item["tool_calls"])})) for item in value["messages"]
    )
    tools = tuple(ToolSpec(**_known(ToolSpec, item)) for item in value["tools"])
    return ChatRequest(**(_known(ChatRequest, value) | {"messages": messages, "tools": tools}))


def _calls(values: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**_known(ToolCall, item)) for item in values)


def _known(kind: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in names(kind) if name in value}


def _unusable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path}: {(error.strerror or 'cannot be used').lower()}", remedy="Name another file, or check its directory."
    )

"""Output for programs: one JSON object, a stream of JSON lines, or the bare answer or diff."""

import json
from collections.abc import Mapping
from typing import Any, TextIO

from msgspec import to_builtins

from codur.events import Event, ModelPrompted, RunFinished
from codur.types import RunResult
from codur.ui.plain_output import put_lines
from codur.ui.sanitise import Shown
from codur.ui.shown.progress_lines import Narrator, prompt_lines
from codur.ui.shown.run_report import error_lines
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import block


def json_line(value: Mapping[str, Any]) -> Shown:
    """Give `value` as one line of ASCII: JSON's own escapes leave nothing that a terminal could act on."""
    return Shown(json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f"))


class _Quiet:
    """What the three kinds share: progress is told on `stderr`, and only when asked for."""

    _has_events = False
    """Events go to `stdout`."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, verbose: bool) -> None:
        self._out = SafeStream(stdout)
        self._err = SafeStream(stderr)
        self._narrator = Narrator(verbose=True) if verbose else None

    def event(self, event: Event) -> None:
        """Tell an event on `stderr` if verbose; a request that is to be shown, always."""
        if self._narrator:
            put_lines(self._err, self._narrator.lines(event))
        elif isinstance(event, ModelPrompted) and not self._has_events:
            put_lines(self._err, prompt_lines(event))

    def close(self) -> None:
        """Nothing is held back."""


class JsonOutput(_Quiet):
    """One JSON object on `stdout` at the end (schema in `docs/run-result.schema.json`)."""

    def result(self, result: RunResult) -> None:
        """Write the object."""
        self._out.put(json_line(result.to_json()))


class JsonStreamOutput(_Quiet):
    """One JSON object a line on `stdout`: every event as it comes, and `run_finished` with the result as the last."""

    _has_events = True

    def event(self, event: Event) -> None:
        """Write an event; `RunFinished` is written by `result`, so that it comes once and last."""
        super().event(event)
        if not isinstance(event, RunFinished):
            self._out.put(json_line(to_builtins(event)))

    def result(self, result: RunResult) -> None:
        """Write the last line."""
        self._out.put(json_line({"event": "run_finished", "result": result.to_json()}))


class RawOutput(_Quiet):
    """Only the answer, or else only the diff, on `stdout`; a failure on `stderr`.

    A diff that goes to a pipe or a file is written byte for byte, so that it can be applied: a sanitised one could not
    where a file holds carriage returns. On a terminal it is sanitised like everything else.
    """

    def result(self, result: RunResult) -> None:
        """Write the answer or the diff."""
        if result.answer:
            put_lines(self._out, block(result.answer))
        elif result.diff and self._out.isatty():
            put_lines(self._out, block(result.diff))
        elif result.diff:
            self._out.write_exact(result.diff)
        if result.outcome != "done":
            put_lines(self._err, error_lines(result))

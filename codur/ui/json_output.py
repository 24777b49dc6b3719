"""Output for programs: one JSON object, a stream of JSON lines, or the bare answer or diff."""

import json
from collections.abc import Mapping
from typing import Any, Literal, TextIO

from msgspec import to_builtins

from codur.events import Event, ModelPrompted, RunFinished
from codur.types import RunResult
from codur.ui.plain_output import put_lines
from codur.ui.sanitise import Shown
from codur.ui.shown.progress_lines import Narrator, prompt_lines
from codur.ui.shown.run_report import error_lines
from codur.ui.stream import SafeStream
from codur.ui.styled_lines import block

MachineKind = Literal["json", "json_stream", "raw"]


def json_line(value: Mapping[str, Any]) -> Shown:
    """Give `value` as one line of ASCII: JSON's own escapes leave nothing that a terminal could act on."""
    return Shown(json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f"))


class MachineOutput:
    """The one object (schema in `docs/run-result.schema.json`), or a line for each event, or the bare answer or diff.

    What was asked for goes to `stdout`; progress is told on `stderr`, if verbose.
    """

    def __init__(self, kind: MachineKind, stdout: TextIO, stderr: TextIO, *, verbose: bool) -> None:
        self._kind = kind
        self._out = SafeStream(stdout)
        self._err = SafeStream(stderr)
        self._narrator = Narrator(verbose=True) if verbose else None

    def event(self, event: Event) -> None:
        """Tell an event; `RunFinished` is written by `result`, so that it comes once and last."""
        if self._narrator:
            put_lines(self._err, self._narrator.lines(event))
        elif isinstance(event, ModelPrompted) and self._kind != "json_stream":  # told only where it is asked for
            put_lines(self._err, prompt_lines(event))
        if self._kind == "json_stream" and not isinstance(event, RunFinished):
            self._out.put(json_line(to_builtins(event)))

    def result(self, result: RunResult) -> None:
        """Write the object or the last line; of raw output the answer or diff, and a failure on `stderr`."""
        if self._kind == "json":
            self._out.put(json_line(result.to_json()))
        elif self._kind == "json_stream":
            self._out.put(json_line({"event": "run_finished", "result": result.to_json()}))
        else:
            # A diff that goes to a pipe or a file is written byte for byte, so that it can be applied: a sanitised one
            # could not where a file holds carriage returns. On a terminal it is sanitised like everything else.
            if result.answer or self._out.isatty():
                put_lines(self._out, block(result.answer or result.diff))
            elif result.diff:
                self._out.write_exact(result.diff)
            if result.outcome != "done":
                put_lines(self._err, error_lines(result))

    def close(self) -> None:
        """Nothing is held back."""

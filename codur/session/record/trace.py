"""What a run tells: every event passes the redactor, is kept in the trace, and goes on to whoever shows it."""

import threading
import time
from typing import Any

from msgspec import to_builtins

from codur.events import AnswerDelta, Emit, Event, RepairProgress, RunFinished
from codur.redaction import Redactor, redact_value
from codur.store.append_log import AppendLog

_PROGRESS_EVERY_S = 1.0  # of what is kept; whoever shows it gets every event


class Trace:
    """An `Emit` for a run: every event goes redacted to `emit`, and to the log if there is one."""

    def __init__(self, emit: Emit, redactor: Redactor, log: AppendLog | None = None) -> None:
        self._emit = emit
        self._redactor = redactor
        self._log = log
        self._started = time.monotonic()
        self._progress_kept = float("-inf")
        self._lock = threading.Lock()  # nodes run in threads

    def __call__(self, event: Event) -> None:
        """Tell an event. Raises StateError: the trace cannot be written."""
        self.some(event, keep=True, tell=True)

    def some(self, event: Event, *, keep: bool, tell: bool) -> None:
        """Keep an event, tell it, both or neither. Raises StateError: the trace cannot be written."""
        safe: Event = redact_value(event, self._redactor)  # once, before it goes anywhere
        if keep:
            self.keep(safe)
        if tell:
            self._emit(safe)

    def keep(self, event: Event) -> None:
        """Keep an event that holds no secret, without telling it. Raises StateError: the trace cannot be written."""
        if self._log is not None and self._is_due(event):
            with self._lock:
                self._log.append({"at": round(time.monotonic() - self._started, 3), **_kept(event)}, durable=False)

    def close(self) -> None:
        """Close the trace's file."""
        if self._log is not None:
            self._log.close()

    def _is_due(self, event: Event) -> bool:
        """A search tells of thousands of candidates; one line a second is enough to see how it went."""
        if not isinstance(event, RepairProgress):
            return not isinstance(event, AnswerDelta)  # the answer itself is kept where it is used
        if time.monotonic() - self._progress_kept < _PROGRESS_EVERY_S:
            return False
        self._progress_kept = time.monotonic()
        return True


def _kept(event: Event) -> dict[str, Any]:
    if isinstance(event, RunFinished):  # the result has a file of its own
        result = event.result
        return {"event": event.kind, "outcome": result.outcome, "exit_code": result.exit_code, "reason": result.reason}
    kept: dict[str, Any] = to_builtins(event)
    return kept

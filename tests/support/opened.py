"""What the nodes of a run work with, for a run that is kept nowhere."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path

from codur.config.settings import Settings
from codur.events import Emit
from codur.nodes.run_state import RunContext
from codur.session import opening
from codur.session.host import Host, redactor_of
from codur.session.record.run_recording import Recording
from codur.types import Task


def opened(task: Task, settings: Settings, *, host: Host, emit: Emit) -> AbstractContextManager[RunContext]:
    """As `opening.opened`."""
    record = Recording(emit, redactor_of(settings, host.environ, Path(task.workspace)))
    return opening.opened(task, settings, record, host=host, started=time.monotonic())

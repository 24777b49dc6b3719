"""A long-lived program with the pipes to it, for one who reads and writes them in an event loop of their own."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable

from codur.sandbox.process.child import Process


class Stream:
    """A program's pipes, which do not block. Leaving the context ends it and all that it started.

    Args:
        process: started with all three pipes; None if there is no such program.
        cleanup: closed after the program has ended.
        reason: turns the error of a program that cannot be started into a sentence.
        problem: why there is no program.

    Attributes:
        stdin, stdout, stderr: our ends of its pipes; -1 if there is no program.
        notice: becomes readable when `ended` should be asked; -1 where nothing tells it.
        problem: why it was not started, as far as that is known; empty if it was.
    """

    def __init__(
        self,
        process: Process | None,
        cleanup: contextlib.ExitStack,
        reason: Callable[[OSError], str],
        *,
        problem: str = "",
    ) -> None:
        self._process = process
        self._cleanup = cleanup
        self._reason = reason
        self.problem = problem
        self.stdin = self.stdout = self.stderr = self.notice = -1
        if process is not None:
            self.notice = process.fileno()
            self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr
            for pipe in (self.stdin, self.stdout, self.stderr):
                os.set_blocking(pipe, False)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ended(self) -> bool:
        """Whether the program has ended, as far as is known; `problem` then says if it never began."""
        if self._process is None or self._process.status is not None:
            return True
        if self.notice >= 0 and not select.select([self.notice], [], [], 0)[0]:
            return False
        try:
            return self._process.poll()
        except OSError as error:
            self.problem = self._reason(error)
            return True

    @property
    def status(self) -> int | None:
        """Its exit status, once `ended` has said that it ended; -N or 128 + N if signal N ended it."""
        return None if self._process is None else self._process.status

    def close(self) -> None:
        """End the program and all that it started, and remove what was made for it. Nobody may use its pipes now."""
        process, self._process = self._process, None
        self.stdin = self.stdout = self.stderr = -1
        if process is not None:
            process.close()
        self._cleanup.close()

"""Runs the compiled graph to its end on an event loop of its own, within the run's time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from codur.errors import Interrupted, out_of_time
from codur.events import Note
from codur.graph.build import run_graph
from codur.graph.observe import Finished, keep_nothing
from codur.graph.walk import Walked
from codur.nodes.state import RunContext, RunState
from codur.session.checkpoints import Checkpoints, checkpoints
from codur.session.recording import Recording

_MOVED_EVERY_S = 1.0


def run_graph_blocking(
    start: RunState, walked: Walked | None, context: RunContext, record: Recording | None = None
) -> RunState:
    """Take over what was walked and run the rest.

    Args:
        record: what is kept of the run; its checkpoints too, if it is kept at all.

    Raises:
        CodurError: what ended the run.
        Interrupted: the run was cancelled.
        KeyboardInterrupt: the user stopped it; every thread of the run has ended by then.
    """
    with ExitStack() as stack:
        saver = None
        if record is not None and record.run is not None:
            saver = stack.enter_context(
                checkpoints(
                    record.run.checkpoints,
                    redact=record.redactor,
                    on_damage=lambda text: context.emit(Note(level="warning", text=text)),
                )
            )
        finished = record.finished(context) if record else keep_nothing
        try:
            return asyncio.run(_within_time(start, walked, context, finished, saver))
        except asyncio.CancelledError:
            pass  # not raised from it: it says nothing
        raise Interrupted("the run was interrupted")


def _cancels_this() -> Callable[[], object]:
    """What cancels the present asyncio task, from any thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise AssertionError("this is called within a task")
    return lambda: loop.call_soon_threadsafe(task.cancel)


@contextmanager
def _moved(deadline: asyncio.Timeout, time_left: Callable[[], float]) -> Iterator[None]:
    """Have the deadline follow the run's time: waits for other runs are not counted in it."""
    loop = asyncio.get_running_loop()
    planned: list[asyncio.TimerHandle] = []

    def plan() -> None:
        planned[:] = [loop.call_later(_MOVED_EVERY_S, move)]

    def move() -> None:
        if not deadline.expired():
            deadline.reschedule(loop.time() + max(0.0, time_left()))
            plan()

    plan()
    try:
        yield
    finally:
        planned[0].cancel()


async def _within_time(
    start: RunState, walked: Walked | None, context: RunContext, finished: Finished, saver: Checkpoints | None
) -> RunState:
    try:
        async with asyncio.timeout(max(0.0, context.time_left())) as deadline:
            with context.cancel.calling(_cancels_this()), _moved(deadline, context.time_left):
                return await run_graph(start, context, walked, finished=finished, checkpointer=saver)
    except TimeoutError as error:
        context.cancel.cancel()  # programs under check end at once, so that their threads do too
        raise out_of_time() from error
    except (asyncio.CancelledError, KeyboardInterrupt):
        context.cancel.cancel()
        raise
    finally:
        await context.models.close()

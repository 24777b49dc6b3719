"""Runs the compiled graph to its end on an event loop of its own, within the run's time."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from codur.errors import Interrupted, out_of_time
from codur.events import Asked, Note
from codur.graph.build import GraphContext, run_graph
from codur.graph.walk import Walked
from codur.nodes.run_state import RunContext, RunState
from codur.questions import Answer, Question
from codur.session.record.checkpoints import Checkpoints, checkpoints
from codur.session.record.run_recording import Recording

_MOVED_EVERY_S = 1.0


def run_graph_blocking(start: RunState, walked: Walked, context: RunContext, record: Recording) -> RunState:
    """Take over what was walked and run the rest.

    Args:
        record: what is kept of the run; its checkpoints too, if it is kept at all.

    Raises:
        CodurError: what ended the run.
        Interrupted: the run was cancelled.
        KeyboardInterrupt: the user stopped it; every thread of the run has ended by then.
    """
    taken = GraphContext(run=context, done=walked.done, finished=record.finished(context))
    with ExitStack() as stack:
        saver = _saver(context, record, stack)
        answer: Answer | None = None
        while True:
            # A new event loop each time: waiting for the user within one would keep its connections open, and count as
            # the run's time.
            found = _once(_within_time(start, taken, saver, answer))
            if not isinstance(found, Question):
                return found
            answer = _asked(found, context)


def _saver(context: RunContext, record: Recording, stack: ExitStack) -> Checkpoints | None:
    """What keeps the checkpoints: the run's own file; memory, where only questions need them; or nothing."""
    # LangGraph's `interrupt` needs a checkpointer, and nothing else does in a run that is not kept.
    if record.run is None and context.consult is None:
        return None
    return stack.enter_context(
        checkpoints(
            record.run.checkpoints if record.run is not None else None,
            redact=record.redactor,
            on_damage=lambda text: context.emit(Note(level="warning", text=text)),
        )
    )


def _once(part: Coroutine[Any, Any, RunState | Question]) -> RunState | Question:
    try:
        return asyncio.run(part)
    except asyncio.CancelledError:
        pass  # not raised from it: it says nothing
    raise Interrupted("the run was interrupted")


def _asked(question: Question, context: RunContext) -> Answer:
    """The user's answer. It is waited for outside of the event loop, and outside of the run's time."""
    if context.consult is None:
        raise AssertionError("a run without a user has asked a question")
    context.emit(Asked(question=question))
    return context.consult(question)


def _cancels_this() -> Callable[[], object]:
    """What cancels the present asyncio task, from any thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise AssertionError("this is called within a task")
    # The one way into a running loop from a thread that cannot break it.
    return lambda: loop.call_soon_threadsafe(task.cancel)


@contextmanager
def _moved(deadline: asyncio.Timeout, time_left: Callable[[], float]) -> Iterator[None]:
    """Have the deadline follow the run's time: waits for other runs are not counted in it."""
    loop = asyncio.get_running_loop()
    planned: list[asyncio.TimerHandle] = []

    def plan() -> None:
        # Again and again, as other runs may make this one wait at any time.
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
    start: RunState, taken: GraphContext, saver: Checkpoints | None, answer: Answer | None
) -> RunState | Question:
    context = taken.run
    try:
        async with asyncio.timeout(max(0.0, context.time_left())) as deadline:
            with context.cancel.calling(_cancels_this()), _moved(deadline, context.time_left):
                return await run_graph(start, taken, checkpointer=saver, answer=answer)
    except TimeoutError as error:
        context.cancel.cancel()  # programs under check end at once, so that their threads do too
        raise out_of_time() from error
    except (asyncio.CancelledError, KeyboardInterrupt):
        context.cancel.cancel()
        raise
    finally:
        await context.models.close()  # within the loop that opened their connections

"""Runs the compiled graph to its end on an event loop of its own, within the run's time."""

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from codur.errors import Interrupted, out_of_time
from codur.events import Asked
from codur.graph.build import GraphContext, run_graph
from codur.graph.walk import Walked
from codur.nodes.run_state import RunContext, RunState
from codur.questions import Answer, Question
from codur.session.record.run_recording import Recording

_LOOK_S = 1.0


def run_graph_blocking(start: RunState, walked: Walked, context: RunContext, record: Recording) -> RunState:
    """Take over what was walked and run the rest.

    Raises CodurError: what ended the run; KeyboardInterrupt: the user did, and every thread of the run has ended.
    """
    taken = GraphContext(run=context, done=walked.done, finished=record.finished(context))
    # LangGraph's `interrupt` needs a checkpointer, and nothing else does: a run that was cut off is gone on with from
    # its record. It ends with this process, and so nothing in it is blanked: what was approved of is carried out.
    saver = InMemorySaver(serde=_AsItIs()) if context.consult is not None else None
    answer: Answer | None = None
    while True:
        # A new event loop each time: waiting for the user within one would keep its connections open, and count as
        # the run's time.
        try:
            found = asyncio.run(_within_time(start, taken, saver, answer))
        except asyncio.CancelledError:
            raise Interrupted("the run was interrupted") from None  # it says nothing
        if not isinstance(found, Question):
            return found
        assert context.consult is not None, "a run without a user has asked a question"
        context.emit(Asked(question=found))
        answer = context.consult(found)


class _AsItIs:
    """LangGraph's `SerializerProtocol` for what stays in this process: nothing is written, nor executed when read."""

    def dumps_typed(self, obj: Any) -> tuple[str, Any]:
        return "value", obj

    def loads_typed(self, data: tuple[str, Any]) -> Any:
        return data[1]


async def _follow(deadline: asyncio.Timeout, time_left: Callable[[], float]) -> None:
    """Have the deadline come when the run's time is over, in which waits for other runs are not counted."""
    # Looked at again and again, as other runs may make this one wait at any time.
    while (left := time_left()) > 0:
        await asyncio.sleep(min(left, _LOOK_S))
    deadline.reschedule(asyncio.get_running_loop().time())


async def _within_time(
    start: RunState, taken: GraphContext, saver: InMemorySaver | None, answer: Answer | None
) -> RunState | Question:
    context, loop, task = taken.run, asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "this is called within a task"
    try:
        async with asyncio.timeout(None) as deadline:
            follower = asyncio.create_task(_follow(deadline, context.time_left))
            try:
                # The one way into a running loop from a thread that cannot break it.
                with context.cancel.calling(lambda: loop.call_soon_threadsafe(task.cancel)):
                    return await run_graph(start, taken, checkpointer=saver, answer=answer)
            finally:
                follower.cancel()
    except TimeoutError as error:
        context.cancel.cancel()  # programs under check end at once, so that their threads do too
        raise out_of_time() from error
    except (asyncio.CancelledError, KeyboardInterrupt):
        context.cancel.cancel()
        raise
    finally:
        await context.models.close()  # within the loop that opened their connections

"""Runs the compiled graph to its end on an event loop of its own, within the run's time."""

from __future__ import annotations

import asyncio

from codur.errors import out_of_time
from codur.graph.build import run_graph
from codur.graph.walk import Walked
from codur.nodes.state import RunContext, RunState


def run_graph_blocking(start: RunState, walked: Walked | None, context: RunContext) -> RunState:
    """Take over what was walked and run the rest.

    Raises:
        CodurError: what ended the run.
        KeyboardInterrupt: the user stopped it; every thread of the run has ended by then.
    """
    return asyncio.run(_within_time(start, walked, context))


async def _within_time(start: RunState, walked: Walked | None, context: RunContext) -> RunState:
    try:
        async with asyncio.timeout(max(0.0, context.time_left())):
            return await run_graph(start, context, walked)
    except TimeoutError as error:
        context.cancel.cancel()  # programs under check end at once, so that their threads do too
        raise out_of_time() from error
    except asyncio.CancelledError:
        context.cancel.cancel()
        raise
    finally:
        await context.models.close()

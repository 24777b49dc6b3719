"""What a run takes beside the model and the check: a run of ten attempts against a scripted service without delay.

    python benchmarks/overhead.py [--attempts 10] [--rounds 7]

Every answer gets one more line of the output right, so that each attempt is made, checked and told of in the next. An
attempt is counted from one answer of the coding model to the next one; `own` is that without what the model took (from
the request until its answer is read) and the check (the program's run). `step` is a step of the compiled graph whose
node does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from codur.events import CheckRan, Event, ModelAnswered
from codur.graph.build import GraphContext
from codur.nodes.run_state import RunState, RunUpdate, initial_state
from codur.session.task_run import run_task
from codur.types import Limits, Task
from tests.runs.kit import EDIT, fill, host, settings_for
from tests.support.groq_server import GroqServer, ServerReply, calls

STEPS = 100


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What a run takes beside the model and the check.")
    parser.add_argument("--attempts", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    found: dict[str, list[float]] = {"attempt": [], "check": [], "model": [], "own": []}
    for _ in range(options.rounds):
        for name, values in measured(options.attempts).items():
            found[name] += values
    found["step"] = [empty_step() for _ in range(options.rounds)]
    for name, values in found.items():
        print(f"{name:8} {statistics.median(values) * 1000:7.1f} ms  ({len(values)} values)")
    return 0


def empty_step() -> float:
    """Seconds a step of a compiled graph of a node that does nothing."""

    def policy(state: RunState) -> RunUpdate:
        return RunUpdate(cursor=state["cursor"] + 1)

    graph = StateGraph(RunState, context_schema=GraphContext)
    graph.add_node("policy", policy)
    graph.add_edge(START, "policy")
    graph.add_conditional_edges("policy", lambda state: "policy" if state["cursor"] < STEPS else END, ["policy", END])
    compiled, start = graph.compile(), initial_state(Task(prompt="fix main.py", workspace="/"))
    config: RunnableConfig = {"recursion_limit": 2 * STEPS}
    begun = time.perf_counter()
    asyncio.run(compiled.ainvoke(start, config))
    return (time.perf_counter() - begun) / STEPS


def measured(attempts: int) -> dict[str, list[float]]:
    """Seconds of each attempt but the first: as a whole, of its check, of its model, and the rest."""
    told: list[tuple[float, Event]] = []
    numbers = count()

    def answer(body: object) -> ServerReply:
        if not isinstance(body, dict) or not body.get("tools"):
            return EDIT
        code = f"def square(number):\n    return number**2 if number <= {next(numbers)} else -1\n"
        return calls(("replace_function", {"path": "main.py", "function_name": "square", "new_code": code}))

    program = (
        f"def square(number):\n    raise NotImplementedError\n\n\nfor n in range({attempts}):\n    print(square(n))\n"
    )
    files = {"main.py": program, "expected.txt": "".join(f"{n**2}\n" for n in range(attempts))}
    with tempfile.TemporaryDirectory() as temporary, GroqServer(answer) as server:
        limits = Limits(max_iterations=attempts, max_llm_calls=4 * attempts)
        task = Task(prompt="main.py is wrong", workspace=str(fill(Path(temporary), files)), limits=limits)
        run_task(task, settings_for(server), host=host(), emit=lambda event: told.append((time.perf_counter(), event)))
    rows = list(_attempts(told))
    return {name: [row[name] for row in rows] for name in ("attempt", "check", "model", "own")}


def _attempts(told: list[tuple[float, Event]]) -> Iterator[dict[str, float]]:
    """Between two answers of the coding model: from what the events say of durations, and of when they came."""
    ends = [place for place, (_, event) in enumerate(told) if _is_answer(event)]
    for first, last in pairwise(ends):
        whole = told[last][0] - told[first][0]
        inside = [event for _, event in told[first + 1 : last + 1]]
        check = sum(event.verdict.duration_s for event in inside if isinstance(event, CheckRan))
        model = sum(event.duration_s for event in inside if isinstance(event, ModelAnswered))
        yield {"attempt": whole, "check": check, "model": model, "own": whole - check - model}


def _is_answer(event: Event) -> bool:
    return isinstance(event, ModelAnswered) and event.purpose == "coding"


if __name__ == "__main__":
    sys.exit(main())

"""How well the schedule uses what services allow: simulated services and time, a few seconds in all.

    python benchmarks/rate_limits.py

For each plan: requests answered, refusals that the schedule caused, when the last request was sent, when the limits
alone would have let it go at the earliest, and the ratio of the two. Where a whole window is given back at once,
that is by the average rate; no more than two whole requests of this size fit into one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.llm.simulated import Bucket, FixedWindow, Service, crowd, ideal_s, simulate

DAY_S = 86_400.0


def free(**more: Any) -> Service:
    """Groq's free plan."""
    return Service(tokens=Bucket(8000, 60), requests=Bucket(30, 60), daily=Bucket(1000, DAY_S), **more)


def paid() -> Service:
    """Groq's developer plan."""
    return Service(tokens=Bucket(250_000, 60), requests=Bucket(1000, 60), daily=Bucket(500_000, DAY_S))


CASES: tuple[tuple[str, Service, dict[str, Any]], ...] = (
    ("8,000 TPM, 30 RPM", free(), {}),
    ("8,000 TPM, small requests (30 RPM binds)", free(), {"prompt": 60, "answer": 60}),
    ("8,000 TPM, prompts count 30 % more", free(), {"factor": 1.3}),
    ("8,000 TPM, answers far too long", free(), {"prompt": 3000, "answer": 9000, "questions": 2}),
    ("250,000 TPM, 1,000 RPM", paid(), {"questions": 20}),
    ("250,000 TPM, small requests (1,000 RPM binds)", paid(), {"prompt": 60, "answer": 60, "questions": 100}),
    ("8,000 tokens in windows of a minute", Service(tokens=FixedWindow(8000, 60)), {}),
    ("8,000 TPM, others take 3,000 of them", free(stolen=500.0), {"questions": 2}),
    ("8,000 TPM, nothing told", Service(tokens=Bucket(8000, 60), tells=False), {"questions": 2}),
)


def main() -> None:
    """Print a table."""
    heads = f"{'answers':>7} {'429':>4} {'413':>4} {'last s':>7} {'ideal s':>7} {'ratio':>6} {'CPU s':>5}"
    print(f"{'50 runs at once':46} {heads}")
    for name, service, load in CASES:
        begun = time.process_time()
        done = simulate(crowd(service, **load))
        cpu = time.process_time() - begun
        refused = [service.statuses.count(status) for status in (429, 413)]
        ideal = ideal_s(service)
        ratio = f"{service.last_sent / ideal:6.3f}"
        print(
            f"{name:46} {done.answers:7,} {refused[0]:4} {refused[1]:4} {service.last_sent:7.0f} {ideal:7.0f} "
            f"{ratio} {cpu:5.1f}"
        )


if __name__ == "__main__":
    main()

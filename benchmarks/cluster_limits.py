"""How well the workers of a cluster use what a service allows together: real limits and leases, simulated time.

    python benchmarks/cluster_limits.py [--workers 100] [--challenges 100000]

A service counts tokens and requests a minute, in buckets that fill up steadily or in windows that end at once, and
refuses what exceeds them. Prompts come to 0.8 to 1.4 times what was estimated. For each case: the share of the limit
that was used until no challenge was left to begin, refusals, calls to the limiter a request, and processor time.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.batch.engines.simulated_cluster import Cluster, Service

CASES: tuple[tuple[str, bool, float, dict[float, str]], ...] = (
    ("bucket", True, 1.0, {}),
    ("windows", False, 1.0, {}),
    ("bucket, a worker dies", True, 0.05, {0.5: "worker"}),
    ("windows, a worker dies", False, 0.05, {0.5: "worker"}),
    ("bucket, the limiter dies", True, 0.05, {0.5: "limiter"}),
    ("windows, the limiter dies", False, 0.05, {0.5: "limiter"}),
)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--challenges", type=int, default=100_000)
    parser.add_argument("--side-by-side", type=int, default=1, help="challenges of a worker at the same time")
    parser.add_argument("--tokens", type=int, default=2_000_000, help="the limit of a minute")
    parser.add_argument("--requests", type=int, default=1_000, help="the limit of a minute")
    options = parser.parse_args()
    print(
        f"{options.workers} workers, {options.tokens:,} tokens and {options.requests:,} requests a minute\n"
        f"{'':28} {'challenges':>10} {'requests':>8} {'hours':>6} {'used':>7} {'429':>4} {'calls/request':>13} "
        f"{'CPU s':>6}"
    )
    for name, steady, part, events in CASES:
        begun = time.process_time()
        service = Service(options.tokens, options.requests, steady=steady)
        cluster = Cluster(
            service,
            random.Random(1),
            workers=options.workers,
            side_by_side=options.side_by_side,
            challenges=round(options.challenges * part),
        )
        cluster.run(events)
        print(
            f"{name:28} {cluster.done:10,} {service.answered:8,} {cluster.now_s / 3600:6.2f} {cluster.share:7.2%} "
            f"{service.refused:4} {cluster.calls / service.answered:13.2f} {time.process_time() - begun:6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

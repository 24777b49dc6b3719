"""`python -m attack ID FACTS`: runs one attack and says how it ended, as far as it can see that itself."""

from __future__ import annotations

import json
import sys

from . import networks, processes, reads, useful, writes
from .kit import say

PROGRAMS = {**writes.ATTACKS, **reads.ATTACKS, **processes.ATTACKS, **networks.ATTACKS, **useful.PROGRAMS}


def main() -> None:
    """Run the program that is named, with the facts that the suite gives it."""
    name, facts = sys.argv[1], json.loads(sys.argv[2])
    say("program: runs")
    try:
        PROGRAMS[name](facts)
    except (OSError, RuntimeError, MemoryError, ValueError) as error:
        say(f"program: denied: {type(error).__name__}: {error}")
        return
    say("program: done")


if __name__ == "__main__":
    main()

"""Precision and coverage of the rules that need no model, on the labelled prompts of the tests.

    .venv/bin/python benchmarks/phase0.py

Precision: of the prompts that a rule settled, those that were rightly settled. Coverage: of those that a rule should
settle, those that one did. `fresh_prompts` was written without a look at the rules, and so were
the first 210 of `third_prompts`, which scored 94 of 94 and 94 of 105 (89.5 %) before the rules were mended by them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.planning.data.pattern_workspace import make_workspace
from tests.planning.test_pattern_prompts import labels, score


def main() -> int:
    """Print all sets; 1 if a prompt was wrongly settled."""
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        workspace = make_workspace(Path(directory))
        for name in ("pattern_prompts", "fresh_prompts", "third_prompts"):
            found = score(labels(name), workspace)
            wrong += len(found.wrong)
            right = found.settled - len(found.wrong)
            print(
                f"{name}: {found.prompts} prompts; precision {found.precision:.1%} ({right} of {found.settled}),"
                f" coverage {found.coverage:.1%} ({found.to_settle - len(found.missed)} of {found.to_settle})"
            )
            for kind, prompts in (("wrong", found.wrong), ("missed", found.missed)):
                for prompt in prompts:
                    print(f"  {kind}: {prompt!r}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

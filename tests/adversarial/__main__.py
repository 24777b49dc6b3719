"""Runs the whole suite and prints its table; exit status 1 if a figure is not reached.

python -m tests.adversarial [--only ATTACK] [--backend NAME] [--containment] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from codur.sandbox.confinement import landlock_abi
from tests.adversarial import figures, table
from tests.adversarial.containment import ARMS, ATTACKS, Outcome
from tests.adversarial.ids import ALL_IDS, evidence, faults
from tests.adversarial.limits import limit_figure
from tests.adversarial.people import Person, people


def say(text: str = "") -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def containment(backends: Sequence[str], only: Sequence[str]) -> dict[table.Column, dict[str, Outcome]]:
    """Run the attacks for each user and back end, and the controls.

    What already works for an ordinary user works for root, so that only the rest is tried again as root.
    """
    found: dict[table.Column, dict[str, Outcome]] = {}
    with people() as persons:
        for person in persons:
            for backend in backends:
                outcomes = arm(person, backend, only)
                if any(outcome.status != "not run" for outcome in outcomes.values()):
                    found[backend, person.kind] = outcomes
                else:
                    reason = next((outcome.detail for outcome in outcomes.values()), "its runner ended at once")
                    say(f"{backend} ({person.kind}): not available: {reason}")
            live = {
                name
                for (name_of, _), items in found.items()
                if name_of == "control"
                for name, item in items.items()
                if item.status == "BROKEN"
            }
            rest = [case.name for case in ATTACKS if case.name not in live and (not only or case.name in only)]
            found["control", person.kind] = arm(person, "control", only if person is persons[0] else rest)
    return found


def arm(person: Person, name: str, only: Sequence[str]) -> dict[str, Outcome]:
    """Run one arm as one user."""
    words = [word for item in only for word in ("--only", item)]
    found: dict[str, Outcome] = {}
    process = person.start("tests.adversarial.containment", "--arm", name, "--base", str(person.base), *words)
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            outcome = Outcome(**json.loads(line))
            found[outcome.name] = outcome
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{name} ({person.kind}) {len(found):3} {outcome.name:20}")
    return found


def main() -> int:
    """The suite's command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial")
    parser.add_argument("--only", action="append", default=[], metavar="ATTACK", help="run this attack alone")
    parser.add_argument("--backend", action="append", choices=ARMS, help="with this back end alone")
    parser.add_argument("--containment", action="store_true", help="run the attacks on containment alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results to this file too")
    given = parser.parse_args()
    say(table.heading(landlock_abi()))
    found = containment(given.backend or ["namespaces", "bubblewrap", "landlock"], given.only)
    say()
    for line in [*table.containment_lines(found), "", *table.details(found)]:
        say(line)
    counted = [] if given.only else table.containment_figures(found)
    states: dict[str, str] = {}
    if not given.only and not given.containment:
        with figures.Kills() as kills:
            results = figures.run_tests(test for case in ALL_IDS for test in evidence(case).tests)
            states = table.case_states(found, results)
            counted += [*figures.path_figures(), figures.update_figure(), figures.escape_figure(), limit_figure()]
            counted += [*figures.counted_figures(results), *kills.figures()]
        counted += [figures.Figure("table of cases", fault, ok=False) for fault in faults()]
        say()
        for line in table.case_lines(states):
            say(line)
    say()
    for line in table.figure_lines(counted):
        say(line)
    if given.json:
        outcomes = [asdict(item) | {"who": who} for (_, who), items in found.items() for item in items.values()]
        value = {"outcomes": outcomes, "figures": [asdict(item) for item in counted], "cases": states}
        given.json.write_text(json.dumps(value, indent=1) + "\n")
    broken = [case for case, state in states.items() if state in ("BROKEN", "not run")]
    if broken:
        say(f"not held: {', '.join(broken)}")
    return int(bool(broken) or any(not item.ok for item in counted))


if __name__ == "__main__":
    sys.exit(main())

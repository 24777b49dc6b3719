"""Runs the whole suite and prints its table; exit status 1 if a figure is not reached.

python -m tests.adversarial [--only ATTACK] [--backend NAME] [--part NAME] [--user KIND] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import to_builtins

from codur.sandbox.starter.confinement import landlock_abi
from tests.adversarial import figures, table
from tests.adversarial.backends import works
from tests.adversarial.containment import ARMS, ATTACKS, Outcome
from tests.adversarial.ids import ALL_IDS, evidence, faults
from tests.adversarial.limits import limit_figure
from tests.adversarial.people import Person, install, people

PARTS = ("containment", "outsiders", "listed", "rest")
"""Attacks on containment; those by the command line, and its tests that are attacks; all else with its table."""
BACK_ENDS = ("namespaces", "bubblewrap", "landlock")


def say(text: str = "") -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def containment(
    persons: Sequence[Person], backends: Sequence[str], only: Sequence[str]
) -> dict[table.Column, dict[str, Outcome]]:
    """Run the attacks for each user and back end, and the controls.

    What already works for an ordinary user works for root, so that only the rest is tried again as root.
    """
    found: dict[table.Column, dict[str, Outcome]] = {}
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


def outside(
    persons: Sequence[Person], backends: Sequence[str], only: Sequence[str]
) -> dict[table.Column, dict[str, Outcome]]:
    """Run the attacks by the command line of an installed Codur, for each user and back end, and the controls."""
    columns = [(backend, person) for person in persons for backend in (*backends, "control")]
    return {(name, person.kind): arm(person, name, only, "outsiders") for name, person in columns}


def listed(persons: Sequence[Person], backends: Sequence[str]) -> Iterator[figures.Figure]:
    """Run the tests of the command line that are attacks, as each user, with each back end alone."""
    for person in persons:
        for backend in backends:
            report = person.base / f"listed-{backend}.xml"
            tests = [f"tests/cli/test_{name}.py" for name, _ in table.LISTED]
            words = ["-q", "-p", "no:cacheprovider", f"--basetemp={person.base / 'tests'}", f"--junitxml={report}"]
            python = str(person.base / "installed/bin/python")
            with person.start("pytest", *words, *tests, python=python, CODUR_TEST_BACK_END=backend) as process:
                printed, _ = process.communicate()
            found = figures.read_report(report) if report.exists() else {}
            figure = table.listed_figure((backend, person.kind), found)
            say("" if figure.ok else printed[-6000:])
            yield figure


def arm(person: Person, name: str, only: Sequence[str], runner: str = "containment") -> dict[str, Outcome]:
    """Run one arm as one user."""
    words = [word for item in only for word in ("--only", item)]
    found: dict[str, Outcome] = {}
    process = person.start(f"tests.adversarial.{runner}", "--arm", name, "--base", str(person.base), *words)
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
    parser.add_argument("--part", action="append", choices=PARTS, help="this part alone")
    parser.add_argument("--user", action="append", choices=("user", "root"), help="as this user alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results to this file too")
    given = parser.parse_args()
    parts, everyone = given.part or PARTS, given.user or ("user", "root")
    say(table.heading(landlock_abi()))
    found: dict[table.Column, dict[str, Outcome]] = {}
    beyond: dict[table.Column, dict[str, Outcome]] = {}
    counted: list[figures.Figure] = []
    with people() as all_persons:
        persons = [person for person in all_persons if person.kind in everyone]
        if "containment" in parts:
            found = containment(persons, given.backend or BACK_ENDS, given.only)
            say()
            for line in [*table.containment_lines(found), "", *table.details(found)]:
                say(line)
            counted += [] if given.only else table.containment_figures(found)
        backends = [name for name in given.backend or BACK_ENDS if works(name)]
        if "outsiders" in parts or "listed" in parts:
            for person in persons:
                install(person)
        if "outsiders" in parts:
            beyond = outside(persons, backends, given.only)
            say()
            for line in [*table.outside_lines(beyond), "", *table.details(beyond)]:
                say(line)
            counted += [] if given.only else table.outside_figures(beyond)
        if "listed" in parts and not given.only:
            counted += listed(persons, backends)
    states: dict[str, str] = {}
    if not given.only and "rest" in parts and found:
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
        tables = [*found.items(), *beyond.items()]
        outcomes = [to_builtins(item) | {"who": who} for (_, who), items in tables for item in items.values()]
        value = {"outcomes": outcomes, "figures": [to_builtins(item) for item in counted], "cases": states}
        given.json.write_text(json.dumps(value, indent=1) + "\n")
    broken = [case for case, state in states.items() if state in ("BROKEN", "not run")]
    if broken:
        say(f"not held: {', '.join(broken)}")
    return int(bool(broken) or any(not item.ok for item in counted))


if __name__ == "__main__":
    sys.exit(main())

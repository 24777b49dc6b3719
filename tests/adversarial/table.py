"""The table that the suite prints, and what must be reached."""

from __future__ import annotations

import datetime
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from tests.adversarial.containment import ATTACKS, CASES, USEFUL, Case, Outcome
from tests.adversarial.figures import Figure, Results
from tests.adversarial.ids import ALL_IDS, GROUPS, evidence

Column = tuple[str, str]
"""Back end (or `control`), and who ran it: `user` or `root`."""
Table = Mapping[Column, Mapping[str, Outcome]]

WANTED: dict[Column, int] = {
    ("namespaces", "user"): 70,
    ("namespaces", "root"): 68,
    ("bubblewrap", "user"): 70,
    ("bubblewrap", "root"): 68,
    ("landlock", "user"): 66,
    ("landlock", "root"): 66,
}


def heading(landlock: int) -> str:
    """Date, machine and versions."""
    tool = shutil.which("bwrap")
    version = (
        subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout.strip() if tool else ""
    )
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    return f"{now}, {system}, {version or 'no bubblewrap'}, Landlock ABI {landlock}, started by {who}"


def containment_lines(table: Table) -> list[str]:
    """A line for each attack, with every column."""
    columns = [column for column in table if column[0] != "control"]
    titles = [f"{backend} ({who})" for backend, who in columns]
    lines = ["  ".join(["id".ljust(16), "what".ljust(31), *(title.ljust(18) for title in titles), "control"])]
    for case in CASES:
        if not any(case.name in outcomes for outcomes in table.values()):
            continue
        cells = [_status(case, table[column].get(case.name)).ljust(18) for column in columns]
        lines.append("  ".join([case.name.ljust(16), case.what.ljust(31), *cells, live(case, table)]).rstrip())
    return lines


def details(table: Table) -> list[str]:
    """What the attacks that were not held have gained, and why others were not run."""
    return [
        f"{outcome.name} ({backend}, {who}): {outcome.status}: {outcome.detail}"
        for (backend, who), outcomes in table.items()
        if backend != "control"
        for outcome in outcomes.values()
        if outcome.status != "held"
    ]


def live(case: Case, table: Table) -> str:
    """Who the attack works for where nothing holds it (a useful program: whether it works there)."""
    controls = {
        who: outcomes[case.name] for (arm, who), outcomes in table.items() if arm == "control" and case.name in outcomes
    }
    if not controls:
        return ""
    if case.useful:
        return "works" if all(item.status == "held" for item in controls.values()) else "does not work"
    who = [name for name, item in controls.items() if item.status == "BROKEN"]
    if who:
        return "live" if who[0] == "user" else f"live for {who[0]} only"
    reasons = [item.detail for item in controls.values() if item.detail]
    return f"not live: {reasons[-1][:70]}" if reasons else "not live"


def _status(case: Case, outcome: Outcome | None) -> str:
    if outcome is None:
        return "n/a"
    return (
        {"held": "works", "BROKEN": "does not work"}.get(outcome.status, outcome.status)
        if case.useful
        else outcome.status
    )


def containment_figures(table: Table) -> list[Figure]:
    """How many attacks each back end holds, and how many useful programs work."""
    alive = sum(live(case, table).startswith("live") for case in ATTACKS)
    found = []
    for column, outcomes in table.items():
        if column[0] == "control":
            continue
        held = sum(outcomes[case.name].status == "held" for case in ATTACKS if case.name in outcomes)
        works = sum(outcomes[case.name].status == "held" for case in USEFUL if case.name in outcomes)
        name = f"{column[0]} ({column[1]})"
        wanted = WANTED.get(column, 0)
        found.append(
            Figure(
                name,
                f"{held} of {len(ATTACKS)} held, at least {wanted} wanted",
                held >= wanted,
                f"live controls {alive}",
            )
        )
        useful = len(USEFUL) if column[0] in ("namespaces", "bubblewrap") else 0
        found.append(Figure(f"{name}, useful programs", f"{works} of {len(USEFUL)}", works >= useful))
    return found


def case_states(table: Table, results: Results) -> dict[str, str]:
    """For each case of the table of cases: held, BROKEN, skipped, or why it is not shown."""
    best = next((table[column] for column in WANTED if column in table), {})
    found = {}
    for case in ALL_IDS:
        shown = evidence(case)
        outcomes = [best[name].status for name in shown.attacks if name in best]
        counts = [results.get(test) for test in shown.tests]
        if shown.missing:
            found[case] = f"not shown: {shown.missing}"
        elif "BROKEN" in outcomes or any(count and count["failed"] for count in counts):
            found[case] = "BROKEN"
        elif "not run" in outcomes or any(not count or not count["passed"] for count in counts):
            found[case] = "not run"
        else:
            found[case] = "held"
    return found


def case_lines(states: Mapping[str, str]) -> list[str]:
    """A line for each group of cases, and one for each case that is not held."""
    lines = []
    for group, count in GROUPS.items():
        held = sum(state == "held" for case, state in states.items() if case[0] == group)
        lines.append(f"{group}01–{group}{count:02}: {held} of {count} held")
        lines += [f"    {case}: {state}" for case, state in states.items() if case[0] == group and state != "held"]
    return lines


def figure_lines(figures: Sequence[Figure]) -> list[str]:
    """A line for each figure."""
    return [
        "  ".join(
            [
                "ok " if item.ok else "BAD",
                item.name.ljust(30),
                item.reached,
                f"({item.control})" if item.control else "",
            ]
        ).rstrip()
        for item in figures
    ]

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
from tests.adversarial.handed_rows import ATTACKS as OUTSIDERS
from tests.adversarial.ids import ALL_IDS, GROUPS, evidence

Column = tuple[str, str]
"""Back end (or `control`), and who ran it: `user` or `root`."""
Table = Mapping[Column, Mapping[str, Outcome]]

_NO_HIDING = "changes of attributes are not Landlock's to refuse"
_WATCHED = "root's processes are bounded by counting alone, which a burst of forks can outrun"
KNOWN: dict[Column, dict[str, str]] = {
    ("landlock", "user"): dict.fromkeys(("w-chmod-out", "w-utime-out", "w-xattr-out"), _NO_HIDING),
    ("landlock", "root"): dict.fromkeys(("w-chmod-out", "w-utime-out", "w-xattr-out"), _NO_HIDING),
}
"""What is known not to hold, and why; everything else must hold, and each of these must show itself."""
UNSTEADY: dict[Column, dict[str, str]] = {
    (backend, "root"): {"p-forkbomb-c": _WATCHED} for backend in ("namespaces", "bubblewrap", "landlock")
}
"""What holds or not with the load of the machine: either is right."""
DEAD = {
    "r-blockdev": "the machine may refuse its disk to everybody",
    "r-mknod": "the machine may refuse devices to everybody",
    "p-x32": "the kernel may have none of these calls",
}
"""Attacks that may not work where nothing holds them, for a reason that is the machine's."""
USELESS: dict[str, dict[str, str]] = {"landlock": {"ok-hardtmp": "/tmp is others' too"}}
"""Useful programs that are known not to work."""


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
    """Whether each attack ends as it is known to, by back end and user, and whether its control is live."""
    found = []
    for column, outcomes in table.items():
        if column[0] == "control":
            continue
        name = f"{column[0]} ({column[1]})"
        held = sum(outcomes[case.name].status == "held" for case in ATTACKS if case.name in outcomes)
        wrong = _wrong(outcomes, KNOWN.get(column, {}), UNSTEADY.get(column, {}), [case.name for case in ATTACKS])
        known = ", ".join(KNOWN.get(column, {})) or "none"
        found.append(Figure(name, f"{held} of {len(ATTACKS)} held; known not to: {known}", not wrong, "; ".join(wrong)))
        works = sum(outcomes[case.name].status == "held" for case in USEFUL if case.name in outcomes)
        wrong = _wrong(outcomes, USELESS.get(column[0], {}), {}, [case.name for case in USEFUL])
        found.append(Figure(f"{name}, useful programs", f"{works} of {len(USEFUL)}", not wrong, "; ".join(wrong)))
    lives = {case.name: live(case, table) for case in ATTACKS}
    dead = [f"{name} is {said}" for name, said in lives.items() if not said.startswith("live") and name not in DEAD]
    alive = sum(said.startswith("live") for said in lives.values())
    found.append(Figure("live controls", f"{alive} of {len(ATTACKS)}", not dead, "; ".join(dead)))
    return found


_SHARED = dict.fromkeys(("shared-file-read", "shared-file-write", "shared-file-left"), "/dev/shm is others' too")
OUTSIDE: dict[Column, dict[str, str]] = {("landlock", "user"): _SHARED, ("landlock", "root"): _SHARED}
"""As `KNOWN`, of the attacks by the command line."""
LISTED = (("cheating", 48), ("beyond", 12), ("outside", 3), ("reach", 34))
"""Tests of the command line that are attacks with controls of their own, and how many there are for one back end."""


def outside_lines(table: Table) -> list[str]:
    """A line for each attack by the command line, with every column."""
    titles = [f"{arm} ({who})".ljust(18) for arm, who in table]
    lines = ["  ".join(["family".ljust(10), "what".ljust(26), *titles]).rstrip()]
    for attack in OUTSIDERS:
        cells = [outcomes[attack.name].status.ljust(18) for outcomes in table.values() if attack.name in outcomes]
        lines += ["  ".join([attack.family.ljust(10), attack.name.ljust(26), *cells]).rstrip()] if cells else []
    return lines


def outside_figures(table: Table) -> list[Figure]:
    """As `containment_figures`, for the attacks by the command line; each control must be live for each user."""
    names = [attack.name for attack in OUTSIDERS]
    found = []
    for column, outcomes in table.items():
        known = OUTSIDE.get(column, {})
        expected = dict.fromkeys(names, "") if column[0] == "control" else known
        wrong = _wrong(outcomes, expected, {}, names)
        count = sum(outcomes[name].status == "held" for name in names if name in outcomes)
        said = f"{count} of {len(names)} held; known not to: {', '.join(known) or 'none'}"
        if column[0] == "control":
            said = f"{sum(item.status == 'BROKEN' for item in outcomes.values())} of {len(names)} live"
        found.append(Figure(f"outsiders, {column[0]} ({column[1]})", said, not wrong, "; ".join(wrong)))
    return found


def listed_figure(column: Column, results: Results) -> Figure:
    """The attacks among the tests of the command line, for a back end and a user."""
    wanted = dict(LISTED)
    passed = dict.fromkeys(wanted, 0)
    wrong = []
    for test, count in results.items():
        # Not every machine has the programs of other languages.
        skipped = count["skipped"] if "of_other_languages" in test else 0
        passed[test.partition("test_")[2].partition(".")[0]] += count["passed"] + skipped
        wrong += [f"{test}: {dict(count)}"] if count["failed"] or count["skipped"] > skipped else []
    wrong += [f"{name}: {passed[name]} of {number}" for name, number in wanted.items() if passed[name] != number]
    said = f"{sum(passed.values())} of {sum(wanted.values())}, with their controls"
    return Figure(f"listed, {column[0]} ({column[1]})", said, not wrong, "; ".join(wrong))


def _wrong(
    outcomes: Mapping[str, Outcome], known: Mapping[str, str], unsteady: Mapping[str, str], names: Sequence[str]
) -> list[str]:
    """The attacks that did not end as they are known to."""
    ends = {name: outcomes[name].status if name in outcomes else "not run" for name in names}
    return [
        f"{name}: {status}, expected {'BROKEN' if name in known else 'held'}"
        for name, status in ends.items()
        if status != ("BROKEN" if name in known else "held") and not (name in unsteady and status != "not run")
    ]


def case_states(table: Table, results: Results) -> dict[str, str]:
    """For each case of the table of cases: held, BROKEN, skipped, or why it is not shown."""
    best = next((table[column] for column in table if column[0] != "control"), {})
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

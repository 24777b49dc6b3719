"""The figures that are counts: paths, races, updates, kills, hostile repositories and addresses, escapes."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codur.ui.sanitise import sanitise
from tests.adversarial import paths, updates
from tests.session import kill_loop as sessions
from tests.workspace import kill_loop as editors

ROOT = Path(__file__).parents[2]
Results = dict[str, Counter[str]]
"""For each `tests/file.py::test`: how many of its cases passed, failed, were skipped."""


@dataclass(frozen=True)
class Figure:
    """One count, what was to be reached, and whether it was."""

    name: str
    reached: str
    ok: bool
    control: str = ""


def path_figures() -> Iterator[Figure]:
    """The ways out of a workspace, and the race."""
    bad = [name for name in paths.CASES if _in_place(lambda place, name=name: paths.gained(name, place))]  # type: ignore[misc]
    count = len(paths.CASES)
    yield Figure("path confinement", f"{count - len(bad)} of {count}", not bad, "; ".join(bad))
    found = _in_place(lambda place: paths.race(place, 1_500))
    plain = _in_place(lambda place: paths.race(place, 5_000, guarded=False, plenty=5_000))
    yield Figure(
        "swap race",
        f"{found.leaks} leaks in {found.reads} reads, {found.outside} files outside in {found.writes} writes",
        not found.leaks and not found.outside and found.reads > 100 and found.writes > 100,
        f"plain: {plain.leaks} leaks, {plain.outside} outside",
    )


def _in_place(function: Callable[[paths.Place], Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as directory:
        return function(paths.make_place(Path(directory)))


def update_figure() -> Figure:
    """Two processes that count in one file."""
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as one, tempfile.TemporaryDirectory() as other:
        lost = updates.lost(Path(one), 300)
        control = updates.lost(Path(other), 300, locked=False)
    return Figure("lost updates", f"{lost} of 600", lost == 0, f"without the lock {control} of 600")


def escape_figure(count: int = 200_000) -> Figure:
    """Random strings of hostile pieces: none stays dangerous, and cleaning twice changes nothing more."""
    dice = random.Random(20)
    pieces = [
        "\x1b[",
        "\x1b]",
        "\x9b",
        "\x07",
        "\x1b\\",
        "\r",
        "\b",
        "\u202e",
        "\u200b",
        "31m",
        "0;x",
        "ü",
        "a",
        "\n",
        "\0",
    ]
    unsafe = 0
    for _ in range(count):
        text = "".join(
            dice.choice(pieces) if dice.random() < 0.8 else chr(dice.randrange(0x110000))
            for _ in range(dice.randrange(12))
        )
        clean = sanitise(text)
        unsafe += sanitise(clean) != clean or any(_acts(char) for char in clean)
    return Figure("fuzzed terminal texts", f"{unsafe} unsafe of {count:,}", unsafe == 0)


def _acts(char: str) -> bool:
    """Whether a terminal acts on a character, or hides it: a rule of its own, not the sanitiser's."""
    if char in "\n\t":
        return False
    return (
        unicodedata.category(char) in ("Cc", "Cs")
        or char in "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )


class Kills:
    """The loops of kill -9, which take minutes: they run in processes of their own meanwhile. Use it as a context."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(max_workers=2, mp_context=multiprocessing.get_context("spawn"))
        self._sessions = [self._pool.submit(_kill_sessions, seed) for seed in (1, 2)]
        self._files = self._pool.submit(_kill_editors)

    def __enter__(self) -> Kills:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def figures(self) -> Iterator[Figure]:
        """Files and sessions after kill -9 at random moments."""
        kills = self._files.result()
        bad = kills.torn + kills.unswept + kills.not_undone + kills.git + kills.journals
        told = f"{kills.torn} torn files in {kills.kills} kills, {kills.unswept} strays, {kills.not_undone} not undone"
        yield Figure("kill -9 while editing", told, bad == 0 and kills.kills >= 200, "; ".join(kills.details[:3]))
        counts = [future.result() for future in self._sessions]
        done, damaged, lost = (sum(getattr(item, name) for item in counts) for name in ("kills", "damaged", "lost"))
        finished, runs = sum(item.finished for item in counts), sum(item.runs for item in counts)
        told = f"{damaged} corrupt in {done} kills, {lost} steps lost, {finished} of {runs} finished rightly"
        yield Figure("kill -9 of sessions", told, not damaged and not lost and finished == runs and done >= 80)


def _kill_sessions(seed: int) -> sessions.Count:
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as directory:
        return sessions.kill_loop(40, Path(directory), seed=seed)


def _kill_editors() -> editors.Kills:
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as directory:
        return editors.kill_loop(Path(directory), 200)


def run_tests(tests: Iterable[str]) -> Results:
    """Run tests with pytest; each is `tests/file.py::function`, and stands for all its cases."""
    wanted = sorted({*tests, *(test for _, test, _ in COUNTED)})
    wanted += ["tests/web"] if (ROOT / "tests" / "web").is_dir() else []
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as directory:
        report = Path(directory) / "report.xml"
        words = ["-q", "-p", "no:cacheprovider", "-n", "2", f"--junitxml={report}"]
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *words, *wanted], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if ran.returncode not in (0, 1):  # not even collected: nothing could be said of any case
            raise SystemExit(f"the tests were not run:\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
        return read_report(report)


def read_report(report: Path) -> Results:
    """What a report in the form of JUnit says of each test."""
    found: Results = defaultdict(Counter)
    for case in ET.parse(report).iter("testcase"):
        place = str(case.get("classname")).replace(".", "/") + ".py"
        name = str(case.get("name")).partition("[")[0]
        kinds = {child.tag for child in case}
        expected_to_fail = any(child.get("type") == "pytest.xfail" for child in case)
        failed = bool(kinds & {"failure", "error"}) or expected_to_fail
        found[f"{place}::{name}"]["failed" if failed else "skipped" if "skipped" in kinds else "passed"] += 1
    return found


COUNTED = (
    ("hostile repositories", "tests/tools/git/test_git_reading.py::test_a_hostile_repository_executes_nothing", 14),
    ("terminal escapes", "tests/ui/test_sanitise.py::test_attacks_become_visible", 26),
)


def counted_figures(results: Results) -> Iterator[Figure]:
    """Figures that are the cases of one test."""
    for name, test, wanted in COUNTED:
        count = results.get(test, Counter())
        total = sum(count.values())
        yield Figure(name, f"{count['passed']} of {total}", count["passed"] == total >= wanted)
    urls = [count for test, count in results.items() if test.startswith("tests/web/") and "hostile" in test]
    passed, total = sum(count["passed"] for count in urls), sum(sum(count.values()) for count in urls)
    yield Figure("hostile addresses", f"{passed} of {total}" if urls else "there is no web tool", passed == total >= 50)

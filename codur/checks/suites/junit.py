"""How many tests passed: by pytest's JUnit XML report, by what a run told, or by the text that runners print."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from codur.checks.describe import cut, plain
from codur.lazy import regex
from codur.python.test_run import TestRun
from codur.structs import Struct, replace

SHOWN_FAILURES = 5
FAILURE_CHARS = 1_600
REPORT_BYTES = 20_000_000


class TestCounts(Struct):
    """What a test run came to.

    Attributes:
        failing: ids of the tests that failed, in order.
        error: the first failures with their messages, bounded.
        ran: different tests that surely ran, without files that could not be collected; None if that is not known.
    """

    __test__ = False  # not a test class

    passed: int
    total: int
    failing: tuple[str, ...] = ()
    error: str = ""
    ran: int | None = None


def read_report(path: Path) -> TestCounts | None:
    """The counts of a report; None if it is absent or broken (the run was killed). Skipped tests do not count."""
    try:
        if not path.is_file() or path.stat().st_size > REPORT_BYTES:  # tests can put a pipe there
            return None
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    cases = list(root.iter("testcase"))
    failures = [(case, problem) for case in cases for problem in _problems(case)]
    failing = tuple(dict.fromkeys(_name(case) for case, _ in failures))
    skipped = sum(case.find("skipped") is not None for case in cases)
    total = len(cases) - skipped
    error = "\n\n".join(_told(failures))
    ran = len({_name(case) for case in cases if case.find("skipped") is None and not _uncollected(case)})
    return TestCounts(passed=max(0, total - len(failing)), total=total, failing=failing, error=error, ran=ran)


def counts_of(run: TestRun) -> TestCounts:
    """The same for a run that wrote no report, because it was ended: what it told of its tests until then."""
    passed, failing = run.ids("passed"), run.ids("failed")
    names = tuple(name.removesuffix(".py").replace(".py::", "::").replace("/", ".") for name in failing)
    error = _errors(run, failing)
    if run.running:
        error = f"{error}\n\n{run.running}\nstill running when the time was up".strip()
    total = len(passed) + len(failing)
    return TestCounts(passed=len(passed), total=total, failing=names, error=error, ran=None)


def less(counts: TestCounts | None, run: TestRun, excused: Sequence[str]) -> TestCounts | None:
    """The counts without some tests that failed and are left out, and without what these said."""
    if counts is None or not excused:
        return counts
    others = [name for name in run.ids("failed") if name not in excused]
    return replace(counts, total=counts.total - len(excused), error=_errors(run, others))


def _errors(run: TestRun, names: Sequence[str]) -> str:
    return "\n\n".join(f"{name}\n{cut(plain(run.ends[name].text), FAILURE_CHARS)}" for name in names[:SHOWN_FAILURES])


def _uncollected(case: ElementTree.Element) -> bool:
    problem = case.find("error")
    return problem is not None and problem.get("message") == "collection failure"


def _told(failures: Sequence[tuple[ElementTree.Element, ElementTree.Element]]) -> list[str]:
    """The first failures in full; those that end with the same words are named once."""
    groups: dict[str, list[tuple[ElementTree.Element, ElementTree.Element]]] = {}
    for case, problem in failures:
        groups.setdefault(_text(problem).rsplit("\n", 1)[-1], []).append((case, problem))
    told = []
    for (case, problem), *others in list(groups.values())[:SHOWN_FAILURES]:
        more = f" (and {len(others)} more in the same way: {_names(others)})" if others else ""
        told.append(f"{_name(case)}{more}\n{_text(problem)}")
    return told


def _names(failures: Sequence[tuple[ElementTree.Element, ElementTree.Element]]) -> str:
    names = [_name(case) for case, _ in failures]
    return ", ".join(names[:SHOWN_FAILURES]) + (", …" if len(names) > SHOWN_FAILURES else "")


def _problems(case: ElementTree.Element) -> Iterator[ElementTree.Element]:
    yield from (child for child in case if child.tag in {"failure", "error"})


def _name(case: ElementTree.Element) -> str:
    group, name = case.get("classname", ""), case.get("name", "")
    return f"{group}::{name}" if group else name


def _text(problem: ElementTree.Element) -> str:
    return cut(plain(problem.text or problem.get("message") or "").strip(), FAILURE_CHARS)


_PASSED = regex(r"\b(\d+) passed\b")
_FAILED = regex(r"\b(\d+) (?:failed|errors?)\b")
_UNITTEST_RAN = regex(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_BAD = regex(r"^FAILED \((.+)\)", re.MULTILINE)
_UNITTEST_COUNT = regex(r"(?:failures|errors)=(\d+)")
_UNITTEST_SKIPPED = regex(r"^(?:OK|FAILED|NO TESTS RAN) \(.*?skipped=(\d+)", re.MULTILINE)
_UNITTEST_UNLOADED = "ImportError: Failed to import test module"
_PYTEST_CLOSING = regex(r"^=* ?((?:\d+ [a-z]+, )*\d+ [a-z]+) in [\d.]+s\b", re.MULTILINE)
_PYTEST_RAN = regex(r"(\d+) (?:passed|failed|xfailed|xpassed)\b")
_PYTEST_EXITED = regex(r"^!+ _pytest\.outcomes\.Exit\b", re.MULTILINE)
_PLAIN_RUNNER = regex(r"(?:\S*python[\d.]*\s+-m\s+)?(?:pytest|unittest)(?:\s[^|&;<>()$`]*)?")
_NODE_COUNT = regex(r"^(?:#|ℹ) (pass|fail|cancelled) (\d+)$", re.MULTILINE)
_NODE_SUMMARY = regex(r"^(?:#|ℹ) (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n?", re.MULTILINE)
_NODE_FAILED = regex(r"^ *(?:not ok \d+ - |✖ (?!failing tests:$))(.+?)(?: \([\d.]+ms\))?$", re.MULTILINE)
_NODE_ERROR = regex(r"^ *(?:error: |(?=\w*Error\b))(.+)$", re.MULTILINE)
_TAIL_CHARS = 4000


def counts_in(output: str) -> TestCounts | None:
    """Counts found in a runner's closing lines (pytest, cargo, jest, unittest, Node's own), or None."""
    tail = output[-_TAIL_CHARS:]
    ran = _UNITTEST_RAN.findall(tail)
    if ran:
        closing = _UNITTEST_BAD.findall(tail)
        failed = sum(int(number) for number in _UNITTEST_COUNT.findall(closing[-1])) if closing else 0
        total = int(ran[-1]) - sum(int(number) for number in _UNITTEST_SKIPPED.findall(tail)[-1:])
        loaded = max(0, total - output.count(_UNITTEST_UNLOADED))
        return TestCounts(passed=max(0, total - failed), total=total, ran=loaded)
    passed = sum(int(number) for number in _PASSED.findall(tail)[-1:])
    failed = sum(int(number) for number in _FAILED.findall(tail)[-2:])
    closing = _PYTEST_CLOSING.findall(tail)
    known = sum(int(number) for number in _PYTEST_RAN.findall(closing[-1])) if closing else None
    if not passed + failed and known is None:
        return _of_node(output)
    return TestCounts(passed=passed, total=passed + failed, ran=known)


def _of_node(output: str) -> TestCounts | None:
    """What Node's runner tells (TAP, or words), with what is wrong in the last line: its own last ones are times."""
    told = {name: int(number) for name, number in _NODE_COUNT.findall(output)}
    if not {"pass", "fail"} <= told.keys():
        return None
    passed, failed = told["pass"], told["fail"] + told.get("cancelled", 0)
    failing = tuple(dict.fromkeys(_NODE_FAILED.findall(output)))
    why = _NODE_ERROR.search(output)
    text = cut(_NODE_SUMMARY.sub("", output).strip(), SHOWN_FAILURES * FAILURE_CHARS)
    error = f"{text}\n\n{why[1]}" if failed and why else text
    return TestCounts(passed=passed, total=passed + failed, failing=failing, error=error if failed else "")


def was_exited(output: str) -> bool:
    """Whether pytest says that something ended it before its end."""
    return bool(_PYTEST_EXITED.search(output))


def is_plain_runner(command: str) -> bool:
    """Whether a command is one Python test runner alone, whose closing line is missing only if it was cut short."""
    return bool(_PLAIN_RUNNER.fullmatch(command.strip()))

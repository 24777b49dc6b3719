"""What test runners print: how many tests passed, which failed, and what each of these said.

A runner is a row of `_RUNNERS`: the lines with its counts, the line above what a failed test said, and the line after.
"""

import re
from collections import Counter
from collections.abc import Iterator

from codur.checks.describe import FAILED_TEST, cut, plain
from codur.checks.suites.junit import FAILURE_CHARS, SHOWN_FAILURES, TestCounts
from codur.lazy import late, regex
from codur.structs import Struct

textwrap = late("textwrap")


class _Runner(Struct):
    """How one runner tells what came of its tests.

    Attributes:
        counts: lines with numbers: `total`, `passed`, and what is no pass: `failed`, `errors`, `skipped`. What is no
            number counts one.
        failed: what stands above the words of a failed test; its last group is the test's name.
        end: the first line after these words; the next failed test ends them, too.
        names: which tests failed, where `failed` stands above the words of all.
        in_sources: tests stand in the files that are edited, so that fewer of them than before are told.
    """

    counts: re.Pattern[str]
    failed: re.Pattern[str]
    end: re.Pattern[str]
    names: re.Pattern[str] | None
    in_sources: bool


def _runner(counts: str, failed: str, end: str = r"(?!)", *, names: str = "", in_sources: bool = False) -> _Runner:
    return _Runner(
        counts=regex(counts, re.MULTILINE),
        failed=regex(failed, re.MULTILINE),
        end=regex(end, re.MULTILINE),
        names=regex(names, re.MULTILINE) if names else None,
        in_sources=in_sources,
    )


_RUNNERS = (
    _runner(  # unittest
        r"^Ran (?P<total>\d+) tests? in |"
        r"^(?:OK|FAILED|NO TESTS RAN) \((?:failures=(?P<failed>\d+))?(?:, )?(?:errors=(?P<errors>\d+))?"
        r"(?:, )?(?:skipped=(?P<skipped>\d+))?",
        r"^(?:FAIL|ERROR): (.+)$",
        r"^={70}$|^-{70}\n+Ran ",
        in_sources=True,
    ),
    _runner(  # cargo
        r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;",
        r"^---- (.+) stdout ----$",
        r"^failures:$|^test result: ",
        in_sources=True,
    ),
    _runner(  # go; without -v nothing is told of the tests that pass
        r"^=== RUN +(?P<total>\S+)|^ *--- (?:(?P<failed>FAIL)|(?P<skipped>SKIP)): ",
        r"^(?:=== (?:RUN|CONT|NAME) +| *--- FAIL: )(\S+).*$",
        r"^ *--- (?:PASS|SKIP): |^=== PAUSE|^(?:FAIL|ok|PASS|exit status)\b",
        names=r"^ *--- FAIL: (\S+)",
    ),
    _runner(  # jest
        r"^Tests: +(?:(?P<failed>\d+) failed, )?(?:\d+ (?:skipped|todo), )*(?:(?P<passed>\d+) passed, )?\d+ total$",
        r"^  ● (.+)$",
        r"^Test Suites: |^PASS |^FAIL |^Summary of all failing tests$",
    ),
    _runner(  # vitest
        r"^ +Tests +(?:(?P<failed>\d+) failed)?(?: \| )?(?:(?P<passed>\d+) passed)?.*\(\d+\)$",
        r"^ FAIL +(\S.*?) *$",
        r"^ +Test Files |^⎯+\[",
    ),
    _runner(  # mocha
        r"^  (?:(?P<passed>\d+) passing|(?P<failed>\d+) failing)\b",
        r"^  \d+\) ((?:.+\n +)*?.+):$",
    ),
    _runner(  # Node's own, and others that print TAP
        r"^(?:#|ℹ) (?:pass +(?P<passed>\d+)|fail +(?P<failed>\d+)|cancelled +(?P<errors>\d+))$",
        r"^ *(?:not ok \d+ (?:- )?|✖ (?!failing tests:$))(.+?)(?: \([\d.]+ms\))?$",
        r"^ *(?:✔|ℹ|▶|# |ok \d|1\.\.\d|✖ failing tests:$|test at )",
    ),
    _runner(  # ava
        r"^  (?:(?P<passed>\d+) tests? passed|(?P<failed>\d+) tests? failed)$",
        r"^  (?:✘ \[fail\]: (.+?)(?: Error thrown in test)?|─\n\n  (?!\d+ tests? )(\S.*))$",
        r"^  (?:─|✔.*)$",
    ),
    _runner(  # rspec
        r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?",
        r"^  \d+\) (.+)$|^An error occurred while loading (\S+)\.$",
        r"^Finished in |^Failed examples:$|^No examples found",
    ),
    _runner(  # minitest
        r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors"
        r"(?:, (?P<skipped>\d+) skips)?",
        r"^ +\d+\) (?:Failure|Error):\n(\S+#[^\s:]+):?(?= |$)",
        r"^\d+ (?:runs|tests), ",
    ),
    _runner(  # PHPUnit
        r"^OK \((?P<passed>\d+) tests?, |^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?"
        r"(?:, Failures: (?P<failed>\d+))?(?:, (?!Skipped)\w+: \d+)*(?:, Skipped: (?P<skipped>\d+))?",
        r"^\d+\) (\w\S*::.+)$",
        r"^(?:--|ERRORS!|FAILURES!)$",
    ),
    _runner(  # JUnit 4
        r"^OK \((?P<passed>\d+) tests?\)$|^Tests run: (?P<total>\d+),  Failures: (?P<failed>\d+)$",
        r"^\d+\) (\w+\(.+\))$",
        r"^FAILURES!!!$",
    ),
    _runner(  # Maven
        r"^\[\w+\] Tests run: (?P<total>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), "
        r"Skipped: (?P<skipped>\d+)$",
        r"^\[ERROR\] (?!Tests run)(\S+?)(?: --)? +Time elapsed: .* <<< (?:FAILURE|ERROR)!$",
        r"^\[\w+\]",
    ),
    _runner(  # Gradle
        r"^(?P<total>\d+) tests? completed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$",
        r"^(\S.* > .+) FAILED$",
        r"^\d+ tests? completed, |^\S.* > .+ (?:PASSED|SKIPPED)$",
    ),
    _runner(  # dotnet
        r"^(?:Failed|Passed)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+),",
        r"^  Failed (\S.*) \[.+\]$",
        r"^(?:Failed|Passed)! |^  (?:Passed|Skipped) ",
    ),
    _runner(  # ctest
        r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)$",
        r"^ *\d+/\d+ Test +#\d+: (\S+) .*\*\*\*.*$",
        r"^ +Start +\d+: |^\d+% tests passed|^ *\d+/\d+ Test ",
    ),
)
_NOISE = regex(
    r"(?:^|(?<=\n))(?:thread '.*' (?:\(\d+\) )?(?=panicked at )|(?:[ \t]*(?:---|\.\.\.|-{70}|error: \|-|"
    r"(?:duration_ms|type|failureType|code): .*|note: run with `RUST_BACKTRACE.*|"
    r"at .*(?:\bnode:|node_modules/|\borg\.junit\.|\bjava\.base/|\bjdk\.internal\.).*)(?:\n|$)))"
)
"""What says nothing of a failure: frames of the runner, times, rules."""
_SUBTESTS = "'subtestsFailed'"  # of a suite of Node's runner: its tests are told by themselves
_UNLOADED = "ImportError: Failed to import test module"
_PASSED = regex(r"\b(\d+) passed\b")
_FAILED = regex(r"\b(\d+) (?:failed|errors?)\b")
_PYTEST_CLOSING = regex(r"^=* ?((?:\d+ [a-z]+, )*\d+ [a-z]+) in [\d.]+s\b", re.MULTILINE)
_PYTEST_RAN = regex(r"(\d+) (?:passed|failed|xfailed|xpassed)\b")
_PYTEST_EXITED = regex(r"^!+ _pytest\.outcomes\.Exit\b", re.MULTILINE)
_PLAIN_RUNNER = regex(r"(?:\S*python[\d.]*\s+-m\s+)?(?:pytest|unittest)(?:\s[^|&;<>()$`]*)?")
_TAIL_CHARS = 4000


def counts_in(output: str) -> TestCounts | None:
    """What an output says of its tests, of all runners that wrote it; None if none of them did."""
    text = plain(output).replace("\r\n", "\n")
    found = [(runner, lines) for runner in _RUNNERS if (lines := list(runner.counts.finditer(text)))]
    if not found:
        return _closing_counts(text[-_TAIL_CHARS:])
    passed = total = 0
    told: dict[str, str] = {}
    for runner, lines in found:
        sums: Counter[str] = Counter()
        for line in lines:
            sums.update({name: int(value) if value.isdigit() else 1 for name, value in line.groupdict("0").items()})
        wrong = sums["failed"] + sums["errors"]
        good = sums["passed"] + max(0, sums["total"] - wrong - sums["skipped"])
        # Failures alone are no count: how many passed was not told.
        passed, total = passed + good, total + (good + wrong if good or "passed" in sums or sums["total"] else 0)
        for name, words in _failures(runner, text):
            before = told.get(name, "")
            told[name] = before if words in before else f"{before}\n{words}".strip("\n")
    ran = max(0, total - text.count(_UNLOADED)) if all(runner.in_sources for runner, _ in found) else None
    return TestCounts(passed=passed, total=total, failing=tuple(told), error=_shown(told), ran=ran)


def _failures(runner: _Runner, text: str) -> Iterator[tuple[str, str]]:
    """The names of the tests that failed, each with what stands below it; a name may come several times."""
    heads = list(runner.failed.finditer(text))
    names = set(runner.names.findall(text)) if runner.names else None
    nexts = [head.start() for head in heads[1:]] + [len(text)]
    for head, following in zip(heads, nexts, strict=False):
        words = text[head.end() : following]
        end = runner.end.search(words, 1) if words else None
        words = words[: end.start()] if end else words
        name = " ".join(head[head.lastindex or 0].split())
        if _SUBTESTS not in words and (names is None or name in names):
            lines = [line.rstrip() for line in _NOISE.sub("", words).split("\n")]
            yield name, textwrap.dedent("\n".join(lines)).strip("\n")


def _shown(told: dict[str, str]) -> str:
    """The first failures, each below its name; the others by their names."""
    shown = [f"{FAILED_TEST}{name}\n{cut(words, FAILURE_CHARS)}".rstrip() for name, words in told.items()]
    if len(shown) > SHOWN_FAILURES:
        shown[SHOWN_FAILURES:] = [f"{len(shown) - SHOWN_FAILURES} more: {', '.join([*told][SHOWN_FAILURES:])}"]
    return "\n\n".join(shown)


def _closing_counts(tail: str) -> TestCounts | None:
    """The numbers of a closing line such as pytest's; None if there is none."""
    passed = sum(int(number) for number in _PASSED.findall(tail)[-1:])
    failed = sum(int(number) for number in _FAILED.findall(tail)[-2:])
    closing = _PYTEST_CLOSING.findall(tail)
    ran = sum(int(number) for number in _PYTEST_RAN.findall(closing[-1])) if closing else None
    return TestCounts(passed=passed, total=passed + failed, ran=ran) if passed + failed or ran is not None else None


def was_exited(output: str) -> bool:
    """Whether pytest says that something ended it before its end."""
    return bool(_PYTEST_EXITED.search(output))


def is_plain_runner(command: str) -> bool:
    """Whether a command is one Python test runner alone, whose closing line is missing only if it was cut short."""
    return bool(_PLAIN_RUNNER.fullmatch(command.strip()))

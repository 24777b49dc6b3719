"""What test runners print: how many tests passed, which failed, and what each of these said.

A runner is a row of `_RUNNERS`: the lines with its counts, the line above what a failed test said, and the line after.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator

from codur.checks.describe import FAILED_TEST, NOT_OK
from codur.checks.suites.junit import FAILURE_CHARS, SHOWN_FAILURES, TestCounts
from codur.lazy import late, regex
from codur.parsing.bounded_text import bounded, plain
from codur.structs import Struct, replace

textwrap = late("textwrap")


class _Runner(Struct):
    """How one runner tells what came of its tests."""

    # lines with numbers: `total`, `passed`, and what is no pass: `failed`, `errors`, `skipped`. What is no number
    # counts one. `none`: it came to its end, whether it ran tests or not.
    counts: re.Pattern[str]
    failed: re.Pattern[str]  # what stands above the words of a failed test; its last group is the test's name
    end: re.Pattern[str]  # the first line after these words; the next failed test ends them, too
    names: re.Pattern[str] | None  # which tests failed, where `failed` stands above the words of all
    passes: re.Pattern[str] | None  # which tests passed, where the runner names them
    hooks: bool = False  # what fails before or after a test counts as one, so that a run that passes may have fewer


def _runner(counts: str, failed: str, end: str = r"(?!)", *, names: str = "", passes: str = "") -> _Runner:
    """A row; `<passed>` in `counts` stands for the group of that name, which is a number."""
    return _Runner(
        counts=regex(re.sub(r"(?<!P)<(\w+)>", r"(?P<\1>\\d+)", counts), re.MULTILINE),
        failed=regex(failed, re.MULTILINE),
        end=regex(end, re.MULTILINE),
        names=regex(names, re.MULTILINE) if names else None,
        passes=regex(passes, re.MULTILINE) if passes else None,
    )


_RUNNERS = (
    # unittest
    _runner(r"^Ran <total> tests? in |^(?:OK|FAILED|NO TESTS RAN) \("
            r"(?:failures=<failed>)?(?:, )?(?:errors=<errors>)?(?:, )?(?:skipped=<skipped>)?",
            r"^(?:FAIL|ERROR): (.+)$", r"^={70}$|^-{70}\n+Ran "),
    # cargo, which names an example in a comment by its line, too, and an edit above moves it
    _runner(r"^test result: \w+\. <passed> passed; <failed> failed;",
            r"^---- (.+?)(?: \(line \d+\))? stdout ----$", r"^failures:$|^test result: ",
            passes=r"^test (.+?)(?: \(line \d+\))?(?: - should panic)? \.\.\. ok$"),
    # go, which tells nothing of tests that pass without -v
    _runner(r"^=== RUN +(?P<total>\S+)|^ *--- (?:(?P<failed>FAIL)|(?P<skipped>SKIP)): \S+ \(",
            r"^(?:=== (?:RUN|CONT|NAME) +| *--- FAIL: )(\S+).*$",
            r"^ *--- (?:PASS|SKIP): |^=== PAUSE|^(?:FAIL|ok|PASS|exit status)\b", names=r"^ *--- FAIL: (\S+) \(",
            passes=r"^ *--- PASS: (\S+)"),
    # jest
    _runner(r"^Tests: +(?:<failed> failed, )?(?:\d+ (?:skipped|todo), )*(?:<passed> passed, )?\d+ total$",
            r"^  ● (?!Console$)(.+)$", r"^Test Suites: |^PASS |^FAIL |^Summary of all failing tests$"),
    # vitest
    _runner(r"^ +Tests +(?:<failed> failed)?(?: \| )?(?:<passed> passed)?.*\(\d+\)$",
            r"^ FAIL +(\S.*?) *$", r"^ +Test Files |^⎯+\["),
    # mocha
    replace(_runner(r"^  (?:<passed> passing|<failed> failing)\b", r"^  \d+\) ((?:.+\n +)*?.+):$"), hooks=True),
    # Node's own, and others that print TAP
    _runner(r"^(?:#|ℹ) (?:pass +<passed>|fail +<failed>|cancelled +<errors>)$",
            rf"^ *(?!.*# TODO\b)(?:{NOT_OK}|✖ (?!failing tests:$))(.+?)(?: \([\d.]+ms\))?$",
            r"^ *(?:✔|ℹ|▶|# |ok \d|1\.\.\d|✖ failing tests:$|test at )",
            passes=r"^ *(?:ok \d+ (?:- )?|✔ )(.+?)(?: \([\d.]+ms\))?(?: # .*)?$"),
    # ava
    replace(_runner(r"^  (?:<passed> tests? passed|<failed> tests? failed)$",
                    r"^  (?:✘ \[fail\]: (.+?)(?: Error thrown in test)?|─\n\n  (?!\d+ tests? )(\S.*))$",
                    r"^  (?:─|✔.*)$"), hooks=True),
    # rspec
    _runner(r"^<total> examples?, <failed> failures?(?:, <skipped> pending)?",
            r"^  \d+\) (.+)$|^An error occurred while loading (\S+)\.$",
            r"^Finished in |^Failed examples:$|^No examples found"),
    # minitest, and test-unit
    _runner(r"^<total> (?:runs|tests), \d+ assertions, <failed> failures, <errors> errors"
            r"(?:, <skipped> (?:skips|pendings))?(?:, <omitted> omissions)?",
            r"^ +\d+\) (?:Failure|Error):\n(\S+#.+?):?(?= \[[^\]\n]*:\d+\]:$|$)|^(?:Failure|Error): (\w+\(\S+\)):?",
            r"^\d+ (?:runs|tests), |^={79}$|^Finished in "),
    # bun, which tells a failure above the test's name
    _runner(r"^ (?:<passed> pass|<failed> fail)$", r"(?!)"),
    # PHPUnit
    _runner(r"^OK \(<passed> tests?, |^Tests: <total>, Assertions: \d+(?:, Errors: <errors>)?(?:, Failures: <failed>)?"
            r"(?:, (?!Skipped)\w+: \d+)*(?:, Skipped: <skipped>)?",
            r"^\d+\) (\w\S*::.+)$", r"^(?:--|ERRORS!|FAILURES!)$"),
    # JUnit 4
    _runner(r"^OK \(<passed> tests?\)$|^Tests run: <total>,  Failures: <failed>$",
            r"^\d+\) (\w+\(.+\))$", r"^FAILURES!!!$"),
    # Maven
    _runner(r"^\[\w+\] Tests run: <total>, Failures: <failed>, Errors: <errors>, Skipped: <skipped>$"
            r"|^\[INFO\] (?P<none>BUILD SUCCESS)$",
            r"^\[ERROR\] (?!Tests run)(\S+?)(?: --)? +Time elapsed: .* <<< (?:FAILURE|ERROR)!$", r"^\[\w+\]"),
    # Gradle
    _runner(r"^<total> tests? completed, <failed> failed(?:, <skipped> skipped)?$",
            r"^(\S.* > .+) FAILED$", r"^\d+ tests? completed, |^\S.* > .+ (?:PASSED|SKIPPED)$"),
    # dotnet
    _runner(r"^(?:Failed|Passed)! +- Failed: +<failed>, Passed: +<passed>,",
            r"^  Failed (\S.*) \[.+\]$", r"^(?:Failed|Passed)! |^  (?:Passed|Skipped) "),
    # prove, whose tests print TAP
    _runner(r"^Files=\d+, Tests=<total>,|^Failed <failed>/\d+ subtests", r"^#   Failed test '(.+)'$", r"^(?!#)"),
    # ctest
    _runner(r"^\d+% tests passed, <failed> tests? failed out of <total>$|^(?P<none>No tests were found!!!)$",
            r"^ *\d+/\d+ Test +#\d+: (\S+) .*\*\*\*.*$", r"^ +Start +\d+: |^\d+% tests passed|^ *\d+/\d+ Test "),
)  # fmt: skip
_NOISE = regex(
    r"(?:^|(?<=\n))(?:thread '.*' (?:\(\d+\) )?(?=panicked at )|(?:[ \t]*(?:---|\.\.\.|-{70}|error: \|-|"
    r"(?:duration_ms|type|failureType|code): .*|note: run with `RUST_BACKTRACE.*|"
    r"at .*(?:\bnode:|node_modules/|\borg\.junit\.|\bjava\.base/|\bjdk\.internal\.).*)(?:\n|$)))"
)
"""What says nothing of a failure: frames of the runner, times, rules."""
_LEFT_OUT = regex(
    r"^Pending: \(Failures listed here (?s:.*?)(?=^Failures:$|^Finished in )"
    r"|^There (?:was|were) \d+ (?:risky|skipped|incomplete) tests?:$(?s:.*?)(?=^(?:--$|OK|[A-Z]+S!))"
    r"|^ +\d+\) Skipped:$(?s:.*?)(?=^ +\d+\) |^\d+ (?:runs|tests), )",
    re.MULTILINE,
)
"""What RSpec, PHPUnit and minitest say of tests that were skipped, in the form of failures."""
_SUITE = "Test suite failed to run"  # Jest's name for a file that could not be loaded, which it counts as no test
_UNCOUNTED = regex(rf"{_SUITE}$|^(?:\|.+?\| )?(.+) \[ \1 \]$")
"""Names of what could not be loaded and counts as no test: Jest's, and vitest's `a.test.ts [ a.test.ts ]`."""
_SUITE_FILE = regex(r"^FAIL +(?:\S+ +)??(\S+\.[cm]?[jt]sx?)\b", re.MULTILINE)
_SUBTESTS = "'subtestsFailed'"  # of a suite of Node's runner: its tests are told by themselves
_TOLD = regex(r"^ *(\w+ \([\w.]+\))(?: [(\[].*?)?(?:\n.*?)?? \.\.\. (ok|FAIL|ERROR)$", re.MULTILINE)
"""A test, or a part of one, its first line of documentation, and its end."""
UNLOADED = "ImportError: Failed to import test module"
_ADDED = regex(r"^ *not ok \d+ (?:plan != count|test exited without ending|\.end\(\) )", re.MULTILINE)
"""What tape counts as failed beside its assertions, and is gone when they pass."""
_PASSED = regex(r"\b(\d+) passed\b")
_FAILED = regex(r"\b(\d+) (?:failed|errors?)\b")
_FAILS = regex(r"\b\d+ failed\b")
_PYTEST_CLOSING = regex(r"^=* ?((?:\d+ [a-z]+, )*\d+ [a-z]+) in [\d.]+s\b", re.MULTILINE)
_PYTEST_RAN = regex(r"(\d+) (?:passed|failed|xfailed|xpassed)\b")
_PYTEST_EXITED = regex(r"^!+ _pytest\.outcomes\.Exit\b", re.MULTILINE)
_PLAIN_RUNNER = regex(
    r"(?:(?:\S*python[\d.]*\s+-m\s+)?(?:pytest|unittest)|(?:cargo|npm|rake) test|go test -v|rspec|phpunit)"
    r"(?:\s[^|&;<>()$`]*)?"
)
_TAIL_CHARS = 4000
_SUBTEST = regex(r"(\w+ \([\w.]+\)) ([\[(].*)")
_OF_SUBTEST = regex(r"^(FAIL|ERROR): (\w+ \([\w.]+\)) [\[(].*$", re.MULTILINE)
"""A test of unittest of which a part failed, with what tells the part."""


def counts_in(output: str) -> TestCounts | None:
    """What an output says of its tests, of all runners that wrote it; None if none of them did."""
    text = plain(output).replace("\r\n", "\n")
    found = [(runner, lines) for runner in _RUNNERS if (lines := list(runner.counts.finditer(text)))]
    if not found:
        return _closing_counts(text[-_TAIL_CHARS:])
    passed = total = 0
    counted = False
    told: dict[str, str] = {}
    passing: list[str] = []
    # Each part of a test that fails counts as one with unittest.
    parts = [test for _, test in _OF_SUBTEST.findall(text)]
    for runner, lines in found:
        passing += runner.passes.findall(text) if runner.passes else ()
        sums: Counter[str] = Counter()
        for line in lines:
            sums.update({name: int(value) if value.isdigit() else 1 for name, value in line.groupdict("0").items()})
        wrong = sums["failed"] + sums["errors"] - (len(parts) - len(set(parts)))
        good = sums["passed"] + max(0, sums["total"] - wrong - sums["skipped"] - sums["omitted"])
        # Failures alone are no count: how many passed was not told.
        if "passed" in sums or any(line.groupdict().get(name) for line in lines for name in ("total", "none")):
            passed, total, counted = passed + good, total + good + wrong, True
        for name, words in _failures(runner, _LEFT_OUT.sub("", text)):
            before = told.get(name, "")
            total += name not in told and _UNCOUNTED.search(name) is not None
            told[name] = before if words in before else f"{before}\n{words}".strip("\n")
    comparable = not any(runner.hooks for runner, _ in found)
    added = text.count(UNLOADED) + len(_ADDED.findall(text))
    ran = None if not counted else max(0, total - added) if comparable else 0
    return TestCounts(
        passed=passed,
        total=total,
        failing=tuple(told),
        error=_shown(told),
        ran=ran,
        passing=tuple(" ".join(name.split()) for name in passing),
        words=tuple(told.values()),
    )


def are_named(counts: TestCounts) -> bool:
    """Whether each test that failed is known by its name."""
    return 0 < len(counts.words) == counts.total - counts.passed


def without(counts: TestCounts, tests: Collection[str]) -> TestCounts:
    """The counts as if these tests, which failed, had not run."""
    told = {name: words for name, words in zip(counts.failing, counts.words, strict=True) if name not in tests}
    gone = len(counts.failing) - len(told)
    return replace(
        counts,
        total=counts.total - gone,
        failing=tuple(told),
        words=tuple(told.values()),
        error=_shown(told),
        ran=None if counts.ran is None else max(0, counts.ran - gone),
    )


def told_so_far(output: str) -> TestCounts | None:
    """What unittest told of each test until it was ended, as it does with -v; None if it told none."""
    ends = _TOLD.findall(plain(output).replace("\r\n", "\n"))
    failing = tuple(name for name, end in ends if end != "ok")
    # What ran till then is no measure for another run.
    return TestCounts(passed=len(ends) - len(failing), total=len(ends), failing=failing, ran=0) if ends else None


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
        if name == _SUITE and (files := _SUITE_FILE.findall(text, 0, head.start())):
            name = f"{files[-1]} › {_SUITE}"
        if _SUBTESTS not in words and (names is None or name in names):
            lines = [line.rstrip() for line in _NOISE.sub("", words).split("\n")]
            said = textwrap.dedent("\n".join(lines)).strip("\n")
            part = _SUBTEST.fullmatch(name)
            yield (part[1], f"{said}\nsubtest: {part[2]}") if part else (name, said)


def _shown(told: dict[str, str]) -> str:
    """The first failures, each below its name; the others by their names."""
    shown = [f"{FAILED_TEST}{name}\n{bounded(words, FAILURE_CHARS)}".rstrip() for name, words in told.items()]
    if len(shown) > SHOWN_FAILURES:
        shown[SHOWN_FAILURES:] = [f"{len(shown) - SHOWN_FAILURES} more: {', '.join([*told][SHOWN_FAILURES:])}"]
    return "\n\n".join(shown)


def _closing_counts(tail: str) -> TestCounts | None:
    """The numbers of a closing line such as pytest's; None if there is none."""
    passes = _PASSED.findall(tail)[-1:]
    passed = sum(int(number) for number in passes)
    failed = sum(int(number) for number in _FAILED.findall(tail)[-2:])
    closing = _PYTEST_CLOSING.findall(tail)
    # "Found 2 errors in 1 file" is said by type checkers, which run no tests.
    if not (passes or closing or _FAILS.search(tail)):
        return None
    ran = sum(int(number) for number in _PYTEST_RAN.findall(closing[-1])) if closing else None
    return TestCounts(passed=passed, total=passed + failed, ran=ran) if passed + failed or ran is not None else None


def was_exited(output: str) -> bool:
    """Whether pytest says that something ended it before its end."""
    return bool(_PYTEST_EXITED.search(output))


def is_plain_runner(command: str) -> bool:
    """Whether a command is one test runner alone, whose closing line is missing only if it was cut short."""
    return bool(_PLAIN_RUNNER.fullmatch(command.strip()))

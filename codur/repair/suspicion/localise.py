"""How suspicious each line is: what the check executed, which tests fail on it, where exceptions passed."""

from collections.abc import Mapping, Sequence
from math import sqrt

from codur.repair.code.source_file import parse_source
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.tracing import Coverage, Line, TestLines
from codur.repair.suspicion.slicing import Slices
from codur.structs import Struct, field
from codur.types import Difference

_NOT_EXECUTED = 0.04
_UNKNOWN = 0.5
_EXECUTED = 0.5
_AT_IMPORT = 0.3
_RUNNING = 0.8
_RAISING = 1.0
_CALLING = 0.7
_NOT_HOT = 0.4
_FLOW = 0.25
_OF_ONE_FILE = 0.9


class Suspicion(Struct):
    """Scores of lines, 0 to 1; above that what is likelier for other reasons than the run."""

    scores: Mapping[Line, float] = field(default_factory=dict)  # by line; lines that are not named have `others`
    others: float = _UNKNOWN
    # lines that were running when the time was up, or ran most often until then; empty if the run ended
    running: frozenset[Line] = frozenset()

    def ran(self, path: str, first: int, last: int) -> bool:
        """Whether one of these lines was executed; True where that is not known."""
        return self.others == _UNKNOWN or any((path, line) in self.scores for line in range(first, last + 1))

    def of(self, path: str, first: int, last: int) -> float:
        """The highest score of the lines from `first` to `last`."""
        return max(self.scores.get((path, line), self.others) for line in range(first, max(first, last) + 1))


def localise(
    coverage: Coverage | None,
    failure: Failure,
    flow: Mapping[Line, float] | None = None,
    likelier: Mapping[Line, float] | None = None,
) -> Suspicion:
    """Scores from an instrumented run (None: there was none) and from the tracebacks of the failure.

    Args:
        flow: lines that had a part in the first wrong output, with their weights; None or empty if that is not known.
        likelier: factors of lines that weigh more for other reasons, if they are executed or that is not known.
    """
    scores = _spectrum(coverage) if coverage and (coverage.lines or coverage.tests) else {}
    others = _NOT_EXECUTED if scores else _UNKNOWN
    if coverage and coverage.hot:
        scores = {line: score if line in coverage.hot else _NOT_HOT * score for line, score in scores.items()}
    if flow:
        scores = {line: score + _FLOW * flow.get(line, 0.0) for line, score in scores.items()}
    for line in (*coverage.stack, *coverage.hot) if coverage else ():
        scores[line] = max(_RUNNING, scores.get(line, 0.0))
    for raised in failure.raised:
        for line in raised.frames[:-1]:
            scores[line] = max(_CALLING, scores.get(line, 0.0))
        for line in raised.frames[-1:]:
            scores[line] = _RAISING
    more = likelier or {}
    weighed = more.keys() if others == _UNKNOWN else scores.keys() & more.keys()
    scores.update({line: more[line] * scores.get(line, others) for line in weighed})
    lines = (*coverage.stack, *coverage.hot) if coverage else ()
    # A frame that is being left has no line.
    running = frozenset(line for line in (*lines, *failure.running()) if line[1])
    return Suspicion(scores=scores, others=others, running=running)


def moved(coverage: Coverage | None, old: Mapping[str, str], new: Mapping[str, str]) -> Coverage | None:
    """The coverage of the old texts with the line numbers of the new ones; lines that were changed keep theirs."""
    shifts = {path: _shift(text, new[path]) for path, text in old.items() if text.count("\n") != new[path].count("\n")}
    if coverage is None or not shifts:
        return coverage

    def move(line: Line) -> Line:
        from_line, by = shifts.get(line[0], (0, 0))
        return (line[0], line[1] + by) if line[1] >= from_line else line

    return Coverage(
        lines=frozenset(map(move, coverage.lines)),
        tests={
            name: TestLines(failed=test.failed, lines=frozenset(map(move, test.lines)))
            for name, test in coverage.tests.items()
        },
        stack=tuple(map(move, coverage.stack)),
        hot=frozenset(map(move, coverage.hot)),
        values={move(line): samples for line, samples in coverage.values.items()},
        printed=tuple((number, move(line)) for number, line in coverage.printed),
    )


def _shift(old: str, new: str) -> tuple[int, int]:
    """From which old line on lines have moved, and by how many."""
    before, after = old.split("\n"), new.split("\n")
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return same + 1, len(after) - len(before)


def _spectrum(coverage: Coverage) -> dict[Line, float]:
    """Ochiai's coefficient per line (Abreu et al. 2007) over the tests; for a program, one value for all.

    Failing files of tests may have faults of their own, or fail for the machine: what is the likeliest for the failing
    tests of one file alone is little less likely than what all failing tests have in common.
    """
    failing = [test.lines for test in coverage.tests.values() if test.failed]
    by_file: dict[str, list[frozenset[Line]]] = {}
    for name, test in coverage.tests.items():
        if test.failed:
            by_file.setdefault(name.partition("::")[0], []).append(test.lines)
    scores = dict.fromkeys(coverage.lines, _AT_IMPORT if failing else _EXECUTED)
    passing = [test.lines for test in coverage.tests.values() if not test.failed]
    for line in frozenset().union(*failing):
        passed = sum(line in lines for lines in passing)

        def ochiai(failing: Sequence[frozenset[Line]], line: Line = line, passed: int = passed) -> float:
            failed = sum(line in lines for lines in failing)
            return failed / sqrt(len(failing) * (failed + passed)) if failed else 0.0

        own = max(map(ochiai, by_file.values()))
        scores[line] = max(ochiai(failing), _OF_ONE_FILE * own, 0.1)
    return scores


def flow_of(coverage: Coverage | None, texts: Mapping[str, str], difference: Difference | None) -> dict[Line, float]:
    """Lines that had a part in the first output line that differs: what printed it, and what flows there."""
    if coverage is None or difference is None or not coverage.printed:
        return {}
    wrong = max((number for number, _ in coverage.printed if number <= difference.line), default=0)
    places = {line for number, line in coverage.printed if number == wrong}
    found: dict[Line, float] = {}
    for path in {path for path, _ in places}:
        source = parse_source(path, texts[path]) if path in texts else None
        if source is not None:
            weights = Slices(source).before(line for each, line in places if each == path)
            found.update({(path, line): weight for line, weight in weights.items()})
    return found

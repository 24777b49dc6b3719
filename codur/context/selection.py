"""What of a workspace a model should see for a task: which functions and files, in the order of their worth."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from posixpath import basename, splitext
from typing import Literal

from codur.checks.entry import subject_of
from codur.context.file_order import TABLES, standing
from codur.context.index import Node, RepositoryIndex, View
from codur.context.places import Place, places_in
from codur.context.ranking import (
    FailureClues,
    TestRun,
    executed,
    identified,
    mentions,
    ranks,
    said_in,
    seeds,
    stems_of,
    users,
)
from codur.lazy import regex
from codur.structs import Struct, replace

MAX_FILES = 16
"""Files that are read for one request at most, beside those that the task names."""
WHOLE_LINES, GUESSED_LINES = 200, 260
"""A file that the task or the failure names, or a model names, is shown whole if it has no more lines."""
_TABLE_LINES, _TABLE_HEAD = 20, 6  # a table of no more lines is shown whole, of a longer one so many
_HEAD_LINES = 40
"""What is shown of a longer one that is no source, such as a changelog: how it is written, where a new line goes."""
_ASKED, _FRAMES, _TESTS, _SUPPORT = 6, 8, 16, 8
_LOOKED = 16  # places that earlier steps found
_NEAR_BLOCKS = 12
_METHODS = 20  # of a class that a task names, which are shown
_NO_ATTRIBUTE = regex(r"'(\w+)'(?: object)? has no attribute '(\w+)'")
_TEST_CLASS = regex(r"^Test|Tests?$|TestCase$")
_TELLING, _SUBJECTS = 4, 6
_TESTED = 4.0
"""How much more is thought of the module that a file of failing tests is called after."""
_USES = 30
_AROUND = 6  # of what belongs to the methods that failing lines are in
_CALLED = 2  # a name that more modules have tells of none
_TESTING = 4  # of tests that use what the task names
_NEAR_FILES = 3
_RANKED_BLOCKS = 60
_SHARE = (1.0, 0.2, 0.05)
"""Of its rank, which a block keeps in a source, in a test or an example, and in what is generated or vendored."""
_UNREACHED = 0.002  # the rank of what was executed and that no mention leads to
_NOT_EXECUTED = 0.03
_SET_UP = frozenset(
    {"setUp", "SetUp", "setUpClass", "asyncSetUp", "setup", "setup_method", "setup_class", "beforeEach", "before_each"}
)
_MAKING = frozenset({"__init__", "__construct", "constructor", "initialize"})


class Want(Struct):
    """A part of a file that should be shown: the one around a line, a range of lines, or all of it."""

    path: str
    line: int = 0  # 1-based; 0 stands for the whole file
    end: int = 0  # the last line of a range; 0 for the part around `line`
    partly: bool = False  # if the whole file does not fit, as much of it as does
    most_lines: int = 0  # a file with more lines is not wanted whole; 0 for any
    about: str = ""  # of a text without definitions the passages that speak of this
    # `asked` for what the step names, which is shown in any case; `needed` before what is `useful`
    need: Literal["asked", "needed", "useful"] = "useful"


class Selection(Struct):
    """What to show, the most useful first."""

    wants: tuple[Want, ...] = ()  # parts and whole files; a part may come again with its whole file
    ranked: tuple[str, ...] = ()  # sources for an outline: those that the task leads to, or all if it leads to none

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that something is wanted of, in the order of their first want."""
        return tuple(dict.fromkeys(want.path for want in self.wants))


class Clues(Struct):
    """What is known of a task that tells which files it is about."""

    task: str  # the request in words
    named: Sequence[str] = ()  # files that it names, or that a plan settled on
    step: str = ""  # what a plan says of the step
    failure: str = ""  # the output of the failed check, and other text whose lines count as those of a failure
    failing: Sequence[str] = ()  # ids of the tests that failed
    likely: Sequence[str] = ()  # files that rules settled on
    runs: Sequence[TestRun] = ()  # what tests executed, those that failed and others; empty if that is not known
    looked_at: str = ""  # outputs of earlier steps: the places that they begin with are needed
    placed: Sequence[Place] = ()  # where earlier tasks were at work that this one may go on with
    guessed: Sequence[str] = ()  # files that a model thinks of, from their names
    also: Sequence[str] = ()  # files that come last


def select(index: RepositoryIndex, files: Sequence[str], clues: Clues) -> Selection:
    """Choose, in this order: what the step names; the files that the task names; the functions that failing lines are
    in; the failing tests with what they are set up by; documents and data that it names; small files of failing lines;
    the functions that these lead to. Then what is useful only: further functions, and files that are near.

    Args:
        files: the workspace's files.
    """
    named, step = clues.named, clues.step
    places = places_in(clues.failure, files)
    view = index.view(files, [*named, *(place.path for place in places)])
    tests = _in_turn(dict.fromkeys(chain(_tests(view, places), _failing(view, clues.failing))))
    failure = FailureClues(places=places, tests=tests, failing=clues.failing)
    rank = ranks(view, seeds(view, task=f"{clues.task}\n{step}", files=named, failure=failure))
    ran = executed(view, clues.runs)
    rank = _weighed(rank, ran, {subject_of(path) for path, _ in tests})
    subjects = _subjects(view, tests)
    called = _called_in_all(view, clues.failing)
    # What is vendored comes last, however much of it the failing test alone was the first to execute.
    order = sorted(rank, key=lambda node: (standing(node[0]) > 1, -rank[node], node))
    tested = {path for path, _ in tests}  # of their tests those that failed are shown, and no others
    best = [node for node in order if node[0] not in tested or not view.facts[node[0]].blocks[node[1]].test]
    if ran:  # what failing tests neither executed nor would call next is not about why they fail, however near by name
        close = {
            *ran,
            *subjects,
            *identified(view, clues.task),
            *((path, number) for path in called for number in range(len(view.facts[path].blocks))),
            *(far for node in best if node in ran for far in mentions(view, node)),
        }
        best = [node for node in best if node in close or node[0] in named]
    frames = [place for place in places if place.line and not standing(place.path)]
    inside = list(filter(None, (view.at(place.path, place.line) for place in frames[:_FRAMES])))
    beside = [path for path in named if standing(path) == 1]
    # Where it is known what failing tests executed, what is only near besides is seldom what is wrong.
    likely = [node for node in best if not ran or node in ran]
    near = [] if ran else [*_imported(view, named, places, rank), *_files_of(best[:_NEAR_BLOCKS])]
    support = list(islice(dict.fromkeys(chain.from_iterable(_support(view, test) for test in tests)), _SUPPORT))
    # Who changes a symbol where nothing fails changes its uses, too.
    told = identified(view, f"{clues.task}\n{step}", named) if not tests and not frames else {}
    # Where something fails what the task writes is shown as well; what is vendored is seldom meant.
    written = [node for node in identified(view, clues.task, named) if (tests or frames) and standing(node[0]) < 2]
    written.sort(key=lambda node: -rank.get(node, 0.0))  # many classes may have a method of that name
    wants = [
        *(Want(path=place.path, line=place.line, need="asked") for place in places_in(step, files) if place.line),
        *_lines(view, list(identified(view, step, named))[:_ASKED], "asked"),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in named if not standing(path)),
        *(Want(path=place.path, line=place.line, need="needed") for place in frames[:_FRAMES]),
        *_lines(view, tests[:_TESTS], "needed"),
        *(Want(path=place.path, line=max(1, place.line), need="needed") for place in _looked_at(clues, files)),
        *_lines(view, written[:_ASKED], "needed"),
        *(Want(path=place.path, line=place.line, need="needed") for place in clues.placed if place.line),
        *_lines(view, support, "needed"),
        *_lines(view, [*chain.from_iterable(_around(view, node) for node in inside)][:_AROUND], "needed"),
        *_lines(view, _lacking(view, clues.failure), "needed"),
        *_lines(view, subjects, "needed"),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in called),
        *_constants(view, tests[:_TESTS]),
        *_lines(view, _of_classes_said(view, named, clues.task), "needed"),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in beside),
        *(Want(path=path, about=clues.task, need="needed") for path in named),
        *(Want(path=path, line=1, end=_HEAD_LINES, need="needed") for path in beside),
        *(Want(path=path, most_lines=GUESSED_LINES, need="needed") for path in clues.guessed[:2]),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in clues.guessed[2:]),
        *(Want(path=path, about=clues.task, need="needed") for path in clues.guessed),
        *(Want(path=path, line=1, end=_HEAD_LINES, need="needed") for path in clues.guessed if standing(path) == 1),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in clues.likely),
        *(Want(path=place.path, most_lines=WHOLE_LINES, need="needed") for place in frames[:_FRAMES]),
        *_lines(view, [*told, *_users(view, told)][:_USES], "needed"),
        *_lines(view, [node for node in best if node[0] in named][:_NEAR_BLOCKS], "needed"),
        *_lines(view, [node for node in best if node[0] in clues.guessed][:_NEAR_BLOCKS], "needed"),
        *_lines(view, best[:_NEAR_BLOCKS], "needed"),
        *(Want(path=path, most_lines=WHOLE_LINES, need="needed") for path in _files_of(likely)[:_NEAR_FILES]),
        *_lines(view, [node for node in likely if node[0] in clues.guessed][:_RANKED_BLOCKS], "useful"),
        *(Want(path=path, partly=True) for path in clues.guessed if path not in tested and not standing(path)),
        *_lines(view, likely[:_RANKED_BLOCKS], "useful"),
        *(Want(path=path, partly=True) for path in (*named, *clues.likely) if path not in tested),
        *(Want(path=place.path, line=place.line) for place in places if place.line),
        *_lines(view, tests[_TESTS:], "useful"),
        *(Want(path=place.path, most_lines=WHOLE_LINES) for place in places),
        *(Want(path=path, most_lines=WHOLE_LINES) for path in near),
        *(Want(path=path, partly=True) for path in (*clues.guessed, *clues.also) if path not in tested),
    ]
    by_rank = _file_ranks(rank)
    # A task that names nothing gets the outline of everything, sources first.
    ranked = sorted(by_rank, key=lambda path: -by_rank[path]) or sorted(view.facts, key=standing)
    return Selection(wants=tuple(_bounded(_short_tables(wants), named)), ranked=tuple(ranked))


def _looked_at(clues: Clues, files: Sequence[str]) -> Sequence[Place]:
    """Where earlier steps looked: what they found in files that the step names first, and in tests last."""
    found = places_in(clues.looked_at, files)
    return sorted(found, key=lambda place: (place.path not in clues.named, standing(place.path)))[:_LOOKED]


def _of_classes_said(view: View, named: Sequence[str], task: str) -> list[Node]:
    """The methods of a class in a named file whose whole name the task says: "the move tests in test_ui.py"."""
    stems, found = stems_of(task), list[Node]()
    for path in named:
        blocks = view.facts[path].blocks if path in view.facts else ()
        owners = {block.owner for block in blocks if said_in(_TEST_CLASS.sub("", block.owner), stems)[1]}
        methods = [(path, number) for number, block in enumerate(blocks) if block.owner in owners]
        found += methods if len(methods) <= _METHODS else []
    return found


def _users(view: View, told: Collection[Node]) -> list[Node]:
    """What mentions these, sources first, and some of the tests: what is near to them has to be shown as well."""
    names = {view.facts[path].blocks[number].name for path, number in told}
    found = users(view, told)
    sources = [node for node in found if not standing(node[0])]

    def called_after(node: Node) -> bool:
        test, subject = view.facts[node[0]].blocks[node[1]].name, subject_of(node[0])
        return any(f"_{name}" in test or (subject and subject in name.lower()) for name in names)

    tests = sorted(found[len(sources) :], key=called_after, reverse=True)
    return [*sources, *tests[:_TESTING]]


def _weighed(rank: Mapping[Node, float], ran: Mapping[Node, float], tested: Collection[str]) -> dict[Node, float]:
    """Ranks with what is known of the files, and of what failing tests executed, if anything is.

    Args:
        tested: names of modules that files of failing tests are called after.
    """
    found: dict[Node, float] = {}
    for node in {*rank, *ran}:
        weight = rank.get(node, 0.0)
        if ran:
            # The root brings ranks, which fall by orders of magnitude, closer together: what was executed tells more
            # than how near a name is.
            weight = math.sqrt(weight + _UNREACHED) * ran.get(node, _NOT_EXECUTED)
        found[node] = weight * _SHARE[standing(node[0])]
        if splitext(basename(node[0]))[0] in tested:
            found[node] *= _TESTED
    return found


def _subjects(view: View, tests: Sequence[Node]) -> list[Node]:
    """What the first of these tests name of the sources, the rarest first; of a class how it is made, too."""
    found: dict[Node, float] = {}
    for test in tests[:_TELLING]:
        for node, share in mentions(view, test).items():
            if not standing(node[0]):
                found[node] = max(share, found.get(node, 0.0))
    named = sorted(found, key=lambda node: (-found[node], node))[:_SUBJECTS]
    return [each for node in named for each in (node, *_made_by(view, node))]


def _called_in_all(view: View, failing: Sequence[str]) -> list[str]:
    """The sources whose name stands in those of all failing tests: what is wrong there may not be executed."""
    said = [stems_of(test.partition("[")[0].partition("::")[2]) for test in failing]
    shared = set.intersection(*said) if said else set[str]()
    found = [path for path in view.facts if not standing(path) and stems_of(splitext(basename(path))[0]) & shared]
    return found if len(found) <= _CALLED else []


def _lacking(view: View, failure: str) -> Iterator[Node]:
    """The class of the workspace that a failure says an attribute is missing of, and what else uses that attribute."""
    for owner, name in dict.fromkeys(_NO_ATTRIBUTE.findall(failure)):
        homes = list(islice(view.defined(owner), _CALLED))
        if not homes:
            continue
        uses = (
            (path, number)
            for path, facts in view.facts.items()
            for number, block in enumerate(facts.blocks)
            if name in block.mentions and not standing(path)
        )
        yield from chain(homes, islice(uses, _AROUND))


def _around(view: View, node: Node) -> Iterator[Node]:
    """Of a method its overrides, which may have the same fault, and what makes the attributes that it uses."""
    path, number = node
    block = view.facts[path].blocks[number]
    head = view.function(path, block.owner, "") if block.owner else None
    if head is None or block.name in _MAKING:
        return
    yield from (made for made in _made_by(view, head) if view.facts[path].blocks[made[1]].delegates & block.delegates)
    for other, place in view.defined(block.name):
        owner = view.facts[other].blocks[place].owner
        if owner and (other, place) != node and head in view.lineage(other, owner):
            yield other, place


def _made_by(view: View, node: Node) -> Iterator[Node]:
    path, number = node
    blocks = view.facts[path].blocks
    name = blocks[number].name
    yield from ((path, n) for n, block in enumerate(blocks) if block.owner == name and block.name in _MAKING)


def _tests(view: View, places: Iterable[Place]) -> Iterator[Node]:
    """The tests among the functions that a failure names."""
    for place in places:
        node = view.at(place.path, place.line) if place.line else view.function(place.path, place.function)
        if node is not None and view.facts[node[0]].blocks[node[1]].test:
            yield node


def _in_turn(tests: Iterable[Node]) -> tuple[Node, ...]:
    """The first test of each file, then the second ones: a file whose tests all fail must not take the room."""
    seen: Counter[str] = Counter()
    placed = []
    for test in tests:
        placed.append((seen[test[0]], test))
        seen[test[0]] += 1
    return tuple(test for _, test in sorted(placed, key=lambda item: item[0]))


def _failing(view: View, ids: Iterable[str]) -> Iterator[Node]:
    """The functions of tests, by ids as pytest writes them; of an inherited one, a function of its name."""
    for path, *owners, name in (test.partition("[")[0].split("::") for test in ids if "::" in test):
        node = view.function(path, name, owners[-1] if owners else "") or next(iter(view.defined(name)), None)
        if node is not None:
            yield node


def _support(view: View, test: Node) -> Iterator[Node]:
    """What a test is set up by: methods of its class, and the fixtures and helpers of test code that it mentions."""
    blocks = view.facts[test[0]].blocks
    owner = blocks[test[1]].owner
    if owner:
        yield from ((test[0], n) for n, block in enumerate(blocks) if block.owner == owner and block.name in _SET_UP)
    for node in mentions(view, test):
        if standing(node[0]) and not view.facts[node[0]].blocks[node[1]].test:
            yield node


def _lines(view: View, nodes: Iterable[Node], need: Literal["asked", "needed", "useful"]) -> Iterator[Want]:
    for path, number in nodes:
        block = view.facts[path].blocks[number]
        if block.name:
            yield Want(path=path, line=block.line, need=need)


def _constants(view: View, tests: Iterable[Node]) -> Iterator[Want]:
    """The constants of modules that failing tests import and name: patterns and tables are wrong at times, too."""
    for path, number in tests:
        imported = [other for other in view.imports(path) if not standing(other)]
        for name in sorted(view.facts[path].blocks[number].mentions):
            for other in imported:
                if lines := view.facts[other].constants.get(name):
                    yield Want(path=other, line=lines.start, end=lines.stop - 1, need="needed")


def _imported(view: View, named: Sequence[str], places: Sequence[Place], rank: Mapping[Node, float]) -> list[str]:
    near = dict.fromkeys((*named, *(place.path for place in places)))
    found = dict.fromkeys(path for source in near for path in view.imports(source))
    by_rank = _file_ranks(rank)
    return sorted(found, key=lambda path: -by_rank.get(path, 0.0))


def _files_of(nodes: Iterable[Node]) -> list[str]:
    return list(dict.fromkeys(path for path, _ in nodes))


def _file_ranks(rank: Mapping[Node, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (path, _), weight in rank.items():
        found[path] = found.get(path, 0.0) + weight
    return found


def _short_tables(wants: Iterable[Want]) -> Iterator[Want]:
    """Of a table its first rows in place of all of it: they tell what its columns hold, and more can be looked at."""
    for want in wants:
        if not want.path.endswith(TABLES) or (want.line and want.end != _HEAD_LINES):
            yield want
        elif not (want.about or want.line):
            yield replace(want, most_lines=_TABLE_LINES, partly=False)
            yield Want(path=want.path, line=1, end=_TABLE_HEAD, need=want.need)


def _bounded(wants: Iterable[Want], named: Sequence[str]) -> Iterator[Want]:
    taken = set(named)
    for want in dict.fromkeys(wants):
        if want.path in taken or len(taken) < MAX_FILES + len(named):
            taken.add(want.path)
            yield want

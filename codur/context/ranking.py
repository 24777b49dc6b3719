"""Which functions of a repository a task is about.

The blocks of all files are a graph: a block points to those that define what it mentions. The rank of a block is its
personalised PageRank (Page et al. 1999, "The PageRank citation ranking"; with a preferred start, Haveliwala 2002,
"Topic-sensitive PageRank"): how often a reader comes by who begins at what the task and the failure name, follows
mentions, and now and then begins anew. It is approximated by pushing (Andersen, Chung and Lang 2006, "Local graph
partitioning using PageRank vectors"), so that the work depends on what is near, and not on the size of the repository.
"""

import math
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from codur.checks.entry import subject_of
from codur.context.file_order import standing
from codur.context.index import Node, View
from codur.context.places import Place
from codur.lazy import regex
from codur.structs import Struct
from codur.tools.code.syntax_trees import family_of

# Chosen, as the weights below are: none was measured by itself.
RESTART = 0.2
"""Share of a block's weight that stays with it; the rest goes to what it mentions."""
SMALLEST = 1e-4
MAX_PUSHES = 4_000
_DELEGATED = 1.5  # the weight of what a method takes from its own object, relative to other mentions
MAX_HOMES = 6
"""A name that more blocks define, none of them imported, tells nothing."""
_OUTWARDS = 0.7  # the weight of a frame of a traceback, relative to the frame that it calls
_IDENTIFIER = regex(
    r"`([^`\n]{2,80})`|\b([A-Z]\w*\.[^\W\d]\w*)\b(?!/)|\b([^\W\d]\w*)(?=\()|\b(\w*[a-z0-9]_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)\b"
    r"|\b[Rr]enam(?:e|ing) (?:the )?(?:(?:function|method|class|constant|variable) )?(\w+)"
)
TestRun = tuple[bool, Collection[tuple[str, int]]]
_WORD = regex(r"[^\W\d_]{3,}")
_PARTS = regex(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")
_ENDING = regex(r"(?<=.{4})(?:ing|ed|er|or|ion|able|ible)$|(?<=.{3})e$")
_PLAIN_WORDS = frozenset(
    """
    add all and any are bug but can code does fail fails fix for from get has have how its make not now off one out
    pass run set should test tests that the then there this use was were what when where which with work wrong you
    """.split()
)
_WHOLE_NAME = 6.0  # the weight of a name all of whose words a task says, relative to one of which it says some
_NAMED_FILE, _IDENTIFIERS, _WORDS, _FAILURE, _TESTS, _WORDS_OF_TESTS = 1.0, 1.5, 0.4, 3.0, 1.0, 1.5


class FailureClues(Struct):
    """What a failed check says."""

    places: Sequence[Place] = ()  # lines that it names, the most telling first
    tests: Sequence[Node] = ()  # those that failed, as far as they are found
    failing: Sequence[str] = ()  # the ids of these and of others, such as are made while tests are collected


def seeds(view: View, *, task: str, files: Sequence[str], failure: FailureClues) -> dict[Node, float]:
    """Where the reader begins: blocks by weight.

    Args:
        task: the request in words.
        files: files that it names.
    """
    found: dict[Node, float] = {}

    def add(nodes: Mapping[Node, float], share: float) -> None:
        total = sum(nodes.values())
        for node, weight in nodes.items():
            found[node] = found.get(node, 0.0) + share * weight / total

    add(_failure(view, failure.places), _FAILURE)
    add(dict.fromkeys(failure.tests, 1.0), _TESTS)
    add(identified(view, task), _IDENTIFIERS)
    add(
        {(path, n): 1.0 for path in files if path in view.facts for n in range(len(view.facts[path].blocks))},
        _NAMED_FILE,
    )
    add(_words(view, task), _WORDS)
    add(_of_tests(view, failure), _WORDS_OF_TESTS)
    return found


def _of_tests(view: View, failure: FailureClues) -> dict[Node, float]:
    """The blocks of sources whose name, or whose file's name, has words of failing tests and of their files' names."""
    blocks = [view.facts[path].blocks[number] for path, number in failure.tests]
    stems = {subject_of(path).lower() for path, _ in failure.tests}
    names = [name.partition("[")[0] for name in failure.failing]
    said = " ".join(_PARTS.findall(" ".join([*stems, *names, *(f"{block.owner} {block.name}" for block in blocks)])))
    found = {node: weight for node, weight in _words(view, said).items() if not standing(node[0])}
    for path, facts in view.facts.items():
        if not standing(path) and subject_of(path).lower().rpartition("_")[2] in stems:
            for number in range(len(facts.blocks)):
                found[path, number] = found.get((path, number), 0.0) + 1 / len(facts.blocks)
    return found


def _failure(view: View, places: Sequence[Place]) -> dict[Node, float]:
    found: dict[Node, float] = {}
    weight = 1.0
    for place in places:
        node = view.at(place.path, place.line) if place.line else view.function(place.path, place.function)
        if node is not None and node not in found:
            found[node] = weight
            # The frame where it failed comes first in `places`; those around it are less and less about the fault.
            weight *= _OUTWARDS
    return found


def identified(view: View, text: str, files: Sequence[str] = ()) -> dict[Node, float]:
    """The blocks that define what a text writes as code, in its order; of `A.b` the method; `files` go first."""
    found: dict[Node, float] = {}
    for match in _IDENTIFIER.finditer(text):
        words = re.findall(r"\w+", next(filter(None, match.groups())))
        named = {name: view.defined(name) for name in words}
        methods = {
            name: [node for node in homes if view.facts[node[0]].blocks[node[1]].owner in words]
            for name, homes in named.items()
        }
        for homes in methods.values() if any(methods.values()) else named.values():
            chosen = [node for node in homes if node[0] in files] or homes
            if 0 < len(chosen) <= MAX_HOMES:
                for node in chosen:
                    found[node] = found.get(node, 0.0) + 1 / len(chosen)
    return found


def users(view: View, nodes: Iterable[Node]) -> list[Node]:
    """The blocks that mention a block's name and can mean it, sources first."""
    found: dict[Node, None] = {}
    for path, number in nodes:
        name = view.facts[path].blocks[number].name
        for other, facts in view.facts.items():
            if name and (other == path or path in view.imports(other) or view.defined(name) == [(path, number)]):
                # What `width` sets is read as `_width` where it is made.
                names = {name, f"_{name}"} if other == path else {name}
                found |= {
                    (other, n): None for n, each in enumerate(facts.blocks) if not names.isdisjoint(each.mentions)
                }
    return sorted((node for node in found if node not in nodes), key=lambda node: standing(node[0]))


def _words(view: View, task: str) -> dict[Node, float]:
    """The blocks whose name, or whose file's name, has words of the task."""
    wanted = stems_of(task)
    hits: dict[str, set[Node]] = {}
    meant = set[Node]()
    for name in view.names():
        said, whole = said_in(name, wanted)
        for word in said:
            hits.setdefault(word, set()).update(view.defined(name))
        if whole:
            meant.update(view.defined(name))
    for path, facts in view.facts.items():
        for word in said_in(path.removesuffix(".py"), wanted)[0]:
            hits.setdefault(word, set()).update((path, number) for number in range(len(facts.blocks)))
    found: dict[Node, float] = {}
    for nodes in hits.values():
        # Titles of tests are sentences that hold every word, which would leave little for what they are about.
        nodes = {node for node in nodes if " " not in view.facts[node[0]].blocks[node[1]].name} or nodes
        for node in nodes:
            found[node] = found.get(node, 0.0) + (_WHOLE_NAME if node in meant else 1.0) / len(nodes)
    return found


def stems_of(text: str) -> set[str]:
    """The words of a text that tell, and of names in it their parts; and what two that follow each other make."""
    words = [word for word in _WORD.findall(text) if word.lower() not in _PLAIN_WORDS]
    # `setDelimiter` is about delimiters, too.
    parts = (part for word in words for part in _PARTS.findall(word))
    return {_stem(word) for word in (*words, *parts, *map("".join, pairwise(words)))}


def said_in(name: str, wanted: set[str]) -> tuple[set[str], bool]:
    """Which of the wanted stems are parts of a name, or two parts that follow each other; whether these are all."""
    parts = _PARTS.findall(name)
    stems = [_stem(part) for part in parts]
    joined = [_stem("".join(pair)) for pair in pairwise(parts)]
    known = [stem in wanted for stem in stems]
    for number, word in enumerate(joined):
        if word in wanted:
            known[number] = known[number + 1] = True
    return {*stems, *joined} & wanted, all(known) and bool(parts)


@cache
def _stem(word: str) -> str:
    """A word without its ending, so that `execute` is found by "executable" and `parse` by "parsers"."""
    stem = _ENDING.sub("", word.lower().removesuffix("s"))
    stem = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
    return f"{stem[:-1]}i" if stem.endswith("y") else stem


def ranks(view: View, start: Mapping[Node, float]) -> dict[Node, float]:
    """Blocks by personalised PageRank; those that no weight reached are left out."""
    total = sum(start.values())
    rank: dict[Node, float] = {}
    if not total:
        return rank
    waiting = {node: weight / total for node, weight in sorted(start.items())}
    # In a fixed order: the walk is cut off by a bound, and the same request must show the same code each time.
    queue = deque(sorted(waiting, key=lambda node: (-waiting[node], node)))
    pushes = 0
    while queue and pushes < MAX_PUSHES:
        node = queue.popleft()
        weight = waiting.pop(node, 0.0)
        if weight < SMALLEST:
            continue
        pushes += 1
        rank[node] = rank.get(node, 0.0) + RESTART * weight
        for target, share in mentions(view, node).items():
            before = waiting.get(target, 0.0)
            waiting[target] = before + (1 - RESTART) * weight * share
            # Only when it passes the bound: what waits already must not stand in the queue twice.
            if before < SMALLEST <= waiting[target]:
                queue.append(target)
    return rank


def executed(view: View, runs: Sequence[TestRun]) -> dict[Node, float]:
    """The blocks that failing tests executed: by how much their lines tell (as Ochiai's coefficient, Abreu et al. 2007:
    of a line that few others execute, much), and by how many lines of them were executed.

    Args:
        runs: of each test whether it failed, and the lines (path, 1-based number) that it executed.
    """
    failing = [lines for failed, lines in runs if failed]
    counts = Counter(line for _, lines in runs for line in lines)
    failures = Counter(line for lines in failing for line in lines)
    best: dict[Node, float] = {}
    sizes: Counter[Node] = Counter()
    for line, number in failures.items():
        node = view.at(*line)
        if node is not None:
            alone = (1 + math.sqrt(number / len(failing))) / 2  # tests may fail for reasons that are not the same
            best[node] = max(best.get(node, 0.0), alone * math.sqrt(number / counts[line]))
            sizes[node] += 1
    return {node: score * (1 + math.log2(sizes[node])) for node, score in best.items()}


def _owner(view: View, node: Node) -> Node | None:
    """The class that a method is in."""
    path, number = node
    owner = view.facts[path].blocks[number].owner
    return view.function(path, owner, "") if owner else None


def mentions(view: View, node: Node) -> dict[Node, float]:
    """The blocks that define what a block mentions, with shares that add up to 1."""
    path, number = node
    facts = view.facts[path]
    block = facts.blocks[number]
    imported = frozenset(view.imports(path))
    found: dict[Node, float] = {}
    family = family_of(path)
    lineage = view.lineage(path, block.owner) if block.delegates else frozenset()
    # A set's order changes with each process, and sums of floats with their order.
    for name in sorted(block.mentions):
        homes = [home for home in view.defined(name) if home != node and family_of(home[0]) == family]
        own = [home for home in homes if name in block.delegates and _owner(view, home) in lineage]
        for home in own:
            found[home] = found.get(home, 0.0) + view.rarity(name) * _DELEGATED / len(own)
        if own:
            continue
        # Names are all that is known here; an import tells which of several definitions is meant.
        near = [home for home in homes if home[0] == path] or [home for home in homes if home[0] in imported]
        usable = near or (homes if len(homes) <= MAX_HOMES else [])
        if not usable:
            continue
        share = view.rarity(name) / len(usable) * (1.0 if near else 0.3)
        for home in usable:
            found[home] = found.get(home, 0.0) + share
    if block.name and not block.owner:  # a class points to its methods
        for other, inner in enumerate(facts.blocks):
            if inner.owner == block.name:
                found[path, other] = found.get((path, other), 0.0) + 0.1
    total = sum(found.values())
    return {home: weight / total for home, weight in sorted(found.items())}

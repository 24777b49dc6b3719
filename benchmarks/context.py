"""How often the function to be edited is in the first request, how many tokens that takes, and how long choosing takes.

Repositories are made by this script: packages of modules whose functions call one another across files, with names
that come up again and again, and a test for each package. Each function on the way from a test to a fault calls two
more that have nothing to do with it, and in every third package what is called comes in as an argument. A fault is
planted one to five calls away from a test; the task is "make the failing test pass" and the failure is the test's
assertion, so that nothing names the file.

    python benchmarks/context.py            # all, under a minute
    python benchmarks/context.py --tokens 1600 --tasks 10   # a request of 6,000 tokens leaves about 1,600
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codur.agents.brief import FILE_FRAME_CHARS
from codur.agents.source import Excerpt, fit
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.tools.repository.index import RepositoryIndex
from codur.tools.repository.selection import Want, select
from codur.workspace.workspace import Workspace

TASK = "make the failing test pass"
VERBS = "load store check merge split describe parse render apply collect count update".split()
NOUNS = "order item price stock batch parcel zone rate table entry record label".split()
PER_PACKAGE = 10
MAX_DEPTH = 5
"""Calls between the test and the fault: 1 to this many, in turn."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A planted fault.

    Attributes:
        path, function: what has to be edited.
        depth: calls between the test and that function.
        failure: what the check says.
    """

    path: str
    function: str
    depth: int
    failure: str


def function(rng: random.Random, name: str, calls: str) -> str:
    body = f"    result = {calls}\n" if calls else "    result = value\n"
    steps = "".join(
        f"    if result > {rng.randint(10, 99)}:\n        result -= {rng.randint(1, 9)}\n"
        for _ in range(rng.randint(1, 5))
    )
    return (
        f'def {name}(value):\n    """Give the {name.replace("_", " ")} of a value."""\n{body}{steps}    return result\n'
    )


def make(root: Path, size: int, rng: random.Random) -> list[list[tuple[str, str]]]:
    """Write a repository of about `size` files; give, for each test, the chain of (path, function) that it leads to."""
    chains = []
    (root / "tests").mkdir(parents=True)
    for number in range(max(1, size // PER_PACKAGE)):
        package = f"part{number}"
        folder = root / "src" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        order = rng.sample([f"{noun}s" for noun in NOUNS], PER_PACKAGE - 2)
        names = {module: [f"{verb}_{rng.choice(NOUNS)}" for verb in rng.sample(VERBS, 6)] for module in order}
        linked = {module: rng.randrange(6) for module in order}
        for place, module in enumerate(order):
            others = [order[place + 1]] if place + 1 < len(order) else []
            others += rng.sample([other for other in order if other not in (module, *others)], 2)
            calls = [f"{other}.{names[other][linked[other]]}(value)" for other in others[:1]]
            calls += [f"{other}.{rng.choice(names[other])}(value)" for other in others[1:]]
            if number % 3 == 2:  # what is called comes in as an argument, and no import tells where it is from
                calls[0] = "given." + calls[0].partition(".")[2]
            rng.shuffle(calls)
            imports = f"from {package} import {', '.join(sorted(others))}\n\n\n"
            (folder / f"{module}.py").write_text(imports + module_text(rng, names[module], linked[module], calls))
        chain = [(f"src/{package}/{module}.py", names[module][linked[module]]) for module in order]
        start = chain[0][1]
        (root / "tests" / f"test_{package}.py").write_text(
            f"from {package}.{order[0]} import {start}\n\n\ndef test_{package}():\n    assert {start}(40) == 17\n"
        )
        chains.append(chain)
    return chains


def module_text(rng: random.Random, names: list[str], linked: int, calls: list[str]) -> str:
    """A module; the function at place `linked` makes the calls, each of the others may call a neighbour."""
    texts = []
    for index, name in enumerate(names):
        near = f"{names[index - 1]}(value)" if index and rng.random() < 0.4 else ""
        texts.append(function(rng, name, " + ".join(calls) if index == linked else near))
    return "\n\n".join(texts)


def faults(chains: list[list[tuple[str, str]]], count: int, rng: random.Random) -> list[Fault]:
    found = []
    for index in range(count):
        number = rng.randrange(len(chains))
        depth = min(index % MAX_DEPTH + 1, len(chains[number]) - 1)
        path, name = chains[number][depth]
        start = chains[number][0][1]
        failure = (
            f"tests.test_part{number}::test_part{number}\ntests/test_part{number}.py:5: in test_part{number}\n"
            f"    assert {start}(40) == 17\nE   assert 21 == 17\nE    +  where 21 = {start}(40)"
        )
        found.append(Fault(path=path, function=name, depth=depth, failure=failure))
    return found


Choose = Callable[[Workspace, RepositoryIndex, Fault, int], list[Excerpt]]


def named_only(workspace: Workspace, _index: RepositoryIndex, fault: Fault, room: int) -> list[Excerpt]:
    """The files that the task or the failure's last place names: here, the test."""
    path = fault.failure.splitlines()[1].partition(":")[0]
    return fit({path: workspace.peek_text(path)}, budget_chars=room, frame=FILE_FRAME_CHARS)


def in_order(workspace: Workspace, _index: RepositoryIndex, _fault: Fault, room: int) -> list[Excerpt]:
    """All files as they are listed until there is no more room."""
    texts: dict[str, str] = {}
    left = room
    for path in workspace.list_files():
        if left <= 0:
            break
        texts[path] = workspace.peek_text(path)
        left -= len(texts[path])
    return fit(texts, budget_chars=room, frame=FILE_FRAME_CHARS)


def chosen(workspace: Workspace, index: RepositoryIndex, fault: Fault, room: int) -> list[Excerpt]:
    """What Codur chooses."""
    selection = select(index, workspace.list_files(), task=TASK, named=(), failure=fault.failure)
    texts = {path: workspace.peek_text(path) for path in selection.paths}
    wants: list[Want] = list(selection.wants)
    return fit(texts, budget_chars=room, wants=wants, frame=FILE_FRAME_CHARS)


WAYS: dict[str, Choose] = {"named files only": named_only, "all files in order": in_order, "Codur": chosen}


def holds(excerpts: list[Excerpt], fault: Fault) -> bool:
    """Whether the function that has to be edited is shown whole."""
    return any(
        item.path == fault.path
        and f"def {fault.function}(value):" in item.text
        and "    return result" in item.text.partition(f"def {fault.function}(value):")[2]
        for item in excerpts
    )


def measure(size: int, tokens: int, tasks: int) -> None:
    rng = random.Random(size)
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        chains = make(root, size, rng)
        workspace = Workspace.open(root)
        files = len(workspace.list_files())
        planted = faults(chains, tasks, rng)
        for name, way in WAYS.items():
            index = RepositoryIndex(workspace, max_files=3000)
            results = [way(workspace, index, fault, int(tokens * BYTES_PER_TOKEN)) for fault in planted]
            hits = sum(holds(excerpts, fault) for excerpts, fault in zip(results, planted, strict=True))
            used = sum(len(item.text) + FILE_FRAME_CHARS for excerpts in results for item in excerpts)
            mean = used / BYTES_PER_TOKEN / len(results)
            print(f"{files:>6}  {name:<20} {hits:>3} of {len(planted)}  {mean:>8.0f} tokens a request")


def speed(size: int) -> None:
    rng = random.Random(size)
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        chains = make(root, size, rng)
        workspace = Workspace.open(root)
        files = workspace.list_files()
        fault = faults(chains, 1, rng)[0]
        start = time.perf_counter()
        read = sum(len(workspace.peek_text(path)) for path in files)
        reading = time.perf_counter() - start
        index = RepositoryIndex(workspace, max_files=3000)
        times = []
        for _ in range(2):
            start = time.perf_counter()
            chosen(workspace, index, fault, 10_000)
            times.append(time.perf_counter() - start)
        print(
            f"{len(files):>6} files, {read / 1e6:.1f} MB: reading them once {reading:.2f} s; choosing {times[0]:.2f} s "
            f"({times[0] / reading:.1f} times that), again {times[1]:.2f} s ({times[1] / reading:.1f} times)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=int, nargs="*", default=[1600, 8000], help="room for files in a request")
    parser.add_argument("--tasks", type=int, default=30, help="faults for each size")
    given = parser.parse_args()
    for tokens in given.tokens:
        print(f"function to be edited in the first request, room for {tokens} tokens of files")
        for size in (10, 100, 1000):
            measure(size, tokens, given.tasks)
        print()
    print("seconds to choose")
    for size in (1000, 10_000):
        speed(size)


if __name__ == "__main__":
    sys.exit(main())

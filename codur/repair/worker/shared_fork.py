"""A process in which candidates are judged one after the other.

A fork copies each page that it touches, and with a test framework loaded that takes longer than most tests. So pure
programs share a process: those that import nothing that has a state. Their own modules are loaded anew for each
candidate. What passes is judged again in a process of its own before it is told, as all that passes is.
"""

from __future__ import annotations

import ast
import json
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .effect_guard import tell
from .fork import Fork, Frames, Work, data_bytes
from .memory_sources import Sources

TURNS = 24
"""Candidates that one process judges."""
_GROWN = 67_108_864
_DONE = b'{"done": true}\n'
_PURE = frozenset(
    "__future__ _pytest abc array ast base64 binascii bisect cmath collections contextlib copy csv dataclasses datetime"
    " decimal difflib enum fnmatch fractions functools graphlib hashlib heapq html inspect io ipaddress itertools json"
    " keyword math numbers operator os pathlib pprint pytest random re reprlib shlex statistics string struct sys"
    " textwrap time traceback types typing typing_extensions unicodedata warnings zlib zoneinfo".split()
)
"""Modules that have no state which a program changes by using them, or one that `States` puts back."""
_OF_OS = {"path", "sep", "linesep", "curdir", "pardir", "getcwd", "fspath", "PathLike"}
_NOT_OF_SYS = {"addaudithook", "modules", "setprofile", "setswitchinterval", "settrace"}
_DIRECT = {"__import__", "__builtins__", "__loader__", "__spec__", "exec", "eval", "setattr", "delattr"}


class States:
    """States of the interpreter and of modules as they are now."""

    def __init__(self) -> None:
        self.modules, self.finders, self.depth = set(sys.modules), list(sys.meta_path), sys.getrecursionlimit()
        self.random = sys.modules["random"].getstate() if "random" in sys.modules else None
        self.decimal = sys.modules["decimal"].getcontext().copy() if "decimal" in sys.modules else None

    def put_back(self, root: str) -> None:
        """Make them what they were, and forget the modules below a directory."""
        sys.meta_path[:] = self.finders
        sys.setrecursionlimit(self.depth)
        if self.random is not None:
            sys.modules["random"].setstate(self.random)
        if self.decimal is not None:
            sys.modules["decimal"].setcontext(self.decimal.copy())
        for name in [name for name in sys.modules if name not in self.modules and _is_below(sys.modules[name], root)]:
            del sys.modules[name]


class Room:
    """The process, from outside of it. There is none before the first candidate, and after `leave`."""

    def __init__(self, frames: Frames, sources: Sources) -> None:
        self.frames, self.sources = frames, sources
        self.fork: Fork | None = None
        self.turns = 0

    def judge(self, request: dict[str, Any], work: Work) -> dict[str, Any]:
        """What became of a candidate; as `Fork.run`, which it would have been given to."""
        fork = self.fork or Fork(self.frames, TURNS)
        fork.begin(request, "light")
        if self.fork is None:
            self.fork, self.turns = fork, TURNS
            fork.start(lambda report: self.serve(report, work))
        order = json.dumps(request["files"]).encode("ascii")
        fork.hand(struct.pack(">I", len(order)) + order)
        if not fork.watch(lambda: fork.kept["report"].head.endswith(_DONE)):
            self.fork = None
            return fork.finish()
        answer = fork.told(None)
        told = answer["told"]
        answer["status"] = told.pop("status", None)
        self.turns -= 1
        if not self.turns or told.pop("grown", True) or told.get("again") or told.get("hung"):
            self.leave()
        return answer

    def leave(self) -> None:
        """End the process, if there is one."""
        if self.fork is not None:
            self.fork.finish()
            self.fork = None

    # --- inside of it -------------------------------------------------------------------------------------------------

    def serve(self, report: int, work: Work) -> int:
        """Run candidates until no more come."""
        states, most = States(), data_bytes() + _GROWN
        for files in self.orders():
            self.sources.change({path: text.encode("latin-1") for path, text in files.items()})
            status = work(report)
            states.put_back(self.sources.root)
            tell(report, {"status": status, "grown": data_bytes() > most})
            tell(report, {"done": True})
        return 0

    def orders(self) -> Iterator[dict[str, str]]:
        """The files of each candidate. They come on standard input, which is moved out of the candidates' reach."""
        null = os.open(os.devnull, os.O_RDWR)
        with os.fdopen(os.dup(0), "rb") as file:
            for number in range(3):
                os.dup2(null, number)
            os.close(null)
            while head := file.read(4):
                yield json.loads(file.read(struct.unpack(">I", head)[0]))


def _is_below(module: Any, root: str) -> bool:
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", ())]
    return any(place.startswith(f"{root}/") for place in places)


def is_pure(sources: Mapping[str, bytes], names: set[str]) -> bool:
    """Whether programs cannot leave anything behind but in their own modules.

    Args:
        sources: the texts of their modules.
        names: what the workspace's own modules and packages are called.
    """
    try:
        return all(_is_pure(ast.parse(data), names) for data in sources.values())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def import_lines(data: bytes) -> set[bytes]:
    """The lines of a source that may import something."""
    return {line for line in data.splitlines() if b"import" in line}


def _is_pure(tree: ast.AST, names: set[str]) -> bool:
    taken: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = {f"{each.name}.*" if each.asname else each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {f"{node.module}.{each.name}" for each in node.names} if not node.level else set()
        else:
            continue
        found = {each for each in found if each.partition(".")[0] not in names}
        if not all(_is_harmless(each) for each in found):
            return False
        if found:
            taken.update(each.asname or each.name.partition(".")[0] for each in node.names)
    return not any(_may_change(node, taken) for node in ast.walk(tree))


def _is_harmless(name: str) -> bool:
    """Whether a module, or a part of one, may be imported."""
    first, _, part = name.partition(".")
    part = part.partition(".")[0]
    if first == "sys":
        return part not in {"*", *_NOT_OF_SYS}
    return first in _PURE and (first != "os" or not part or part in _OF_OS)


def _may_change(node: ast.AST, taken: set[str]) -> bool:
    """Whether a node may change something that was imported: by an assignment to a part of it, or in a hidden way."""
    if isinstance(node, ast.Name):
        return node.id in _DIRECT
    if not isinstance(node, (ast.Attribute, ast.Subscript)):
        return False
    if not isinstance(node.ctx, ast.Load):
        owner: ast.expr = node
        while isinstance(owner, (ast.Attribute, ast.Subscript)):
            owner = owner.value
        return isinstance(owner, ast.Name) and owner.id in taken
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return False
    return (node.value.id == "os" and node.attr not in _OF_OS) or (node.value.id == "sys" and node.attr in _NOT_OF_SYS)

"""A variant of the workspace's Python files, and the candidates that lead to the next ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from types import CodeType
from typing import Literal

from codur.repair.context import Context
from codur.repair.edits import apply_edits
from codur.repair.equivalence import Equivalence
from codur.repair.explain import sentence
from codur.repair.failure import Failure
from codur.repair.localise import Suspicion
from codur.repair.loops import Endless
from codur.repair.observed import Observed
from codur.repair.operators import Offer, offers
from codur.repair.source import Source, compiled, parse_source
from codur.repair.syntax import mend

_MENDED = 10.0
"""Priority of a file that compiles again: nothing else can pass before."""
_PER_EDIT = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One repair that was made: by which operator, where, and the sentence that explains it."""

    operator: str
    path: str
    line: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Texts of the Python files in question after some changes; none for the program as it was found."""

    texts: Mapping[str, str]
    changes: tuple[Change, ...] = ()
    priority: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A program with one change more, not yet made.

    Attributes:
        priority: how early it is judged; higher is earlier.
        offer: the change; None where a file is mended that did not compile (`text` is its new text then).
    """

    base: Program
    path: str
    line: int
    priority: float
    offer: Offer | None = None
    source: Source | None = field(default=None, compare=False)
    text: str = ""
    says: str = ""

    def program(self) -> Program:
        """The program with the change made."""
        return Program(
            texts={**self.base.texts, self.path: self._new_text()},
            changes=(*self.base.changes, self._change()),
            priority=self.priority,
        )

    def _new_text(self) -> str:
        if self.offer is None:
            return self.text
        return apply_edits(self.base.texts[self.path], self.offer.proposal.edits)

    def _change(self) -> Change:
        if self.offer is None or self.source is None:
            says = f"Line {self.line} of {self.path} {self.says}."
            return Change(operator="syntax mended", path=self.path, line=self.line, says=says)
        says = sentence(self.source, self.offer)
        return Change(operator=self.offer.operator, path=self.path, line=self.line, says=says)


Which = Literal["executed", "not executed", "all"]
"""Which statements are changed: what was not executed cannot have made the check fail, unless it runs unseen."""


def candidates(
    program: Program,
    failure: Failure,
    suspicion: Suspicion,
    which: Which = "all",
    observed: Mapping[str, Observed] | None = None,
    expected: str = "",
) -> Iterator[Candidate]:
    """Every change of some statements of a program, in the order of its text.

    Args:
        observed: by path, what the variables held in the traced run.
        expected: the expected output, as far as it is known.
    """
    seen = observed or {}
    for path, text in program.texts.items():
        source = parse_source(path, text)
        if source is None:
            yield from _mended(program, path, text)
            continue
        context = Context.of(source, failure, seen.get(path), expected)
        same = Equivalence(context=context)
        endless = Endless(source, [line for where, line in suspicion.running if where == path])
        for offer in offers(context, _selector(source, suspicion, which)):
            yield Candidate(
                base=program,
                path=path,
                line=offer.line,
                priority=_priority(offer, suspicion.of(path, *head(offer.node)))
                * same.factor(offer)
                * endless.factor(offer),
                offer=offer,
                source=source,
            )


def _selector(source: Source, suspicion: Suspicion, which: Which) -> Callable[[ast.expr | ast.stmt], bool]:
    def wanted(node: ast.expr | ast.stmt) -> bool:
        statement = source.statement(node)
        ran = statement is None or suspicion.ran(source.path, *head(statement))
        return ran == (which == "executed")

    return (lambda _: True) if which == "all" else wanted


def _mended(program: Program, path: str, text: str) -> Iterator[Candidate]:
    for rank, mended in enumerate(mend(text, path)):
        yield Candidate(
            base=program,
            path=path,
            line=mended.line,
            priority=_MENDED * 0.95**rank,
            text=mended.text,
            says=mended.says,
        )


def _priority(offer: Offer, suspicion: float) -> float:
    size = len(offer.proposal.edits)
    return suspicion * offer.prior * offer.proposal.weight * _PER_EDIT ** (size - 1)


def head(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """First and last line of a node; of a compound statement only its head, of a function all of it."""
    last = node.end_lineno or node.lineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.body[0].lineno, last
    body = getattr(node, "body", None)
    if isinstance(node, ast.stmt) and isinstance(body, list) and body:
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, last


def fingerprint(program: Program, original: Program) -> tuple[str, ...] | None:
    """What makes two programs equal: the code of the changed files; None if one of them does not compile."""
    found: list[str] = []
    for path, text in program.texts.items():
        if text == original.texts[path]:
            found.append("")
            continue
        mark = _mark(path, text)
        if mark is None:
            return None
        found.append("" if mark == _mark(path, original.texts[path]) else mark)
    return tuple(found)


@lru_cache(maxsize=256)
def _mark(path: str, text: str) -> str | None:
    """A digest of what a text compiles to, whatever the lines and columns; None if it does not."""
    code = compiled(text, path)
    return sha256(repr(_shape(code)).encode(errors="surrogatepass")).hexdigest() if code else None


def _shape(code: CodeType) -> tuple[object, ...]:
    """What a code object does."""
    constants = tuple(_shape(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_name)
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return (code.co_code, constants, names, arguments, getattr(code, "co_exceptiontable", b""))

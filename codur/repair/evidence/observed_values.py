"""What the variables of a file held in the traced run: kinds of values."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from codur.repair.evidence.tracing import Coverage
from codur.structs import Struct, field

_TYPES = {
    "number": "int float complex",
    "bool": "bool",
    "text": "str bytes",
    "list": "list tuple deque",
    "dict": "dict defaultdict Counter OrderedDict",
    "set": "set frozenset",
}
_KINDS = {name: kind for kind, names in _TYPES.items() for name in names.split()}


class Observed(Struct):
    """Samples of one file by line: what each variable held just before the line ran."""

    samples: Mapping[int, tuple[Mapping[str, str], ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, coverage: Coverage | None, path: str) -> Observed:
        if coverage is None:
            return cls()
        return cls(samples={line: found for (file, line), found in coverage.values.items() if file == path})

    def kinds(self, name: str, first: int, last: int) -> frozenset[str]:
        """Kinds of the values that a variable held on these lines, None left out; others under their type's name."""
        found = {
            _type_of(each[name])
            for line in range(first, last + 1)
            for each in self.samples.get(line, ())
            if name in each
            # A default, or a value that is not there yet: it says nothing of what the variable is for.
        } - {"NoneType"}
        return frozenset(_KINDS.get(each, each) for each in found)

    def none(self, name: str, first: int, last: int) -> bool:
        """Whether a variable was None on one of these lines."""
        return any(each.get(name) == "None" for line in range(first, last + 1) for each in self.samples.get(line, ()))


@lru_cache(maxsize=8192)
def _type_of(text: str) -> str:
    return text[1:-1] if text.startswith("<") else type(literal(text)).__name__


@lru_cache(maxsize=8192)
def literal(text: str) -> Any:
    """The value that a recorded text stands for."""
    # The one plain value whose `repr` is no literal.
    return set() if text == "set()" else ast.literal_eval(text)

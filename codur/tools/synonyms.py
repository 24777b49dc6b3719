"""Other names for tools' arguments, as models know them from other programs' tools."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from codur.lazy import regex

SYNONYMS: Final[Mapping[str, str]] = dict(
    line.split(": ") for line in Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines()
)
"""By the argument, or by the tool and the argument where that of other tools has not the same ones."""
_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")


def meant(tool: str, members: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names.

    A synonym stands for an argument that is not given itself; what stands for none, or for one that is given with
    another value, is left as it is.

    Args:
        members: the tool's arguments.
    """
    table = synonyms_of(tool, tuple(members))
    bound: dict[str, Any] = {}
    for name, value in given.items():
        own = name if name in members else table.get(_plain(str(name)), name)
        other = given.get(own, bound.get(own, value)) if own != name else value
        bound[own if other == value else name] = value
    return bound


@cache
def synonyms_of(tool: str, members: tuple[str, ...]) -> Mapping[str, str]:
    """The argument that each synonym stands for."""
    words = {own: f"{own} {SYNONYMS.get(own, '')} {SYNONYMS.get(f'{tool}.{own}', '')}".split() for own in members}
    return {word: own for own, listed in words.items() for word in listed}


def _plain(name: str) -> str:
    """`file_path` for `filePath` and `file-path`."""
    return _CAPITAL.sub("_", name).replace("-", "_").lower()

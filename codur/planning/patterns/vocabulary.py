"""The words and phrases of `phrases.txt`: what a prompt may say, as data."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


def phrases(name: str) -> Sequence[str]:
    """The lines of a section, such as the phrases of a rule."""
    return _sections()[name]


@cache
def words(name: str) -> frozenset[str]:
    """The words of a section."""
    return frozenset(" ".join(phrases(name)).split())


@cache
def courtesies(name: str) -> frozenset[tuple[str, ...]]:
    """The phrases of a section that are divided by bars."""
    return frozenset(tuple(phrase.split()) for phrase in "|".join(phrases(name)).split("|"))


@cache
def parts() -> Mapping[str, str]:
    """What phrases share, by its name."""
    return {name: part for name, _, part in (line.partition(" = ") for line in phrases("parts"))}


@cache
def _sections() -> Mapping[str, Sequence[str]]:
    text = Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8").replace("\n  ", " ")
    sections: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("== "):
            section = sections[line[3:]] = []
        elif line and not line.startswith("#"):
            section.append(line)
    return sections

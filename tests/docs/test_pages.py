"""The documentation: no link leads nowhere, every page is in the site, and what stands in it can be typed."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import pytest
import yaml

from codur.cli.app import NAMES, program
from codur.cli.default_command import with_command
from tests.cli.kit import ROOT
from tests.support.reference import pages

WRITTEN = {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.glob("*.md")}
WRITTEN |= {path.relative_to(ROOT).as_posix(): path.read_text() for path in ROOT.glob("docs/*.md")}
_FENCE = re.compile(r"^(`{3,}|~{3,})([\w-]*)[^\n]*\n(.*?)^\1", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_PLACEHOLDERS = {"RUN": "20260101-0000-abc"}


@cache
def everything() -> dict[str, str]:
    """All pages by path: those that are written and those that are made."""
    return WRITTEN | {f"docs/{path}": text for path, text in pages().items()}


def slug(heading: str) -> str:
    """The anchor of a heading, as the pages and hosts of repositories make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def anchors(text: str) -> set[str]:
    return {slug(heading) for heading in _HEADING.findall(_FENCE.sub("", text))}


def dead_links(name: str, text: str) -> Iterator[str]:
    for link in _LINK.findall(_FENCE.sub("", text)):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = _joined(PurePosixPath(name).parent, path) if path else name
        if target not in everything() and not (ROOT / target).exists():
            yield f"{name}: {link}"
        elif anchor and anchor not in anchors(everything()[target]):
            yield f"{name}: {link}: no such heading"


def _joined(folder: PurePosixPath, path: str) -> str:
    parts: list[str] = []
    for part in (folder / path).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def test_no_link_leads_nowhere() -> None:
    read = {name: text for name, text in everything().items() if name.endswith(".md")}
    assert [link for name, text in read.items() for link in dead_links(name, text)] == []


def test_a_dead_link_is_found() -> None:
    text = "[a](docs/absent.md) [b](docs/MODELS.md#nothing) [c](docs/MODELS.md#rate-limits) [d](docs/codur.1)\n"
    assert list(dead_links("README.md", text)) == [
        "README.md: docs/absent.md",
        "README.md: docs/MODELS.md#nothing: no such heading",
    ]


def test_every_page_is_in_the_site_and_nothing_else_is() -> None:
    nav = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    below = {name.removeprefix("docs/") for name in everything() if name.startswith("docs/") and name.endswith(".md")}
    assert len(nav) == len(set(nav))
    assert set(nav) == below


def commands() -> Iterator[tuple[str, str]]:
    for name, text in WRITTEN.items():
        for _, kind, body in _FENCE.findall(text):
            for line in re.sub(r"\\\n *", "", body).splitlines() if kind in ("sh", "console") else ():
                for part in re.split(r"\s[;|]+\s|; ", line.removeprefix("$ ")):
                    if part.startswith("codur "):
                        yield name, part


def test_there_are_examples_to_look_at() -> None:
    assert len(list(commands())) > 50


@pytest.mark.parametrize(("name", "line"), sorted(set(commands())))
def test_an_example_can_be_typed(name: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = [word for word in words[: words.index(">")] if word] if ">" in words else words
    if not words or words[0] in ("--continue", "--help", "--version", "--install-completion"):
        return
    typed = with_command(words, commands=NAMES, app_options=())
    group = program([typed[0]])
    command, context = group.commands[typed[0]], group.make_context("codur", [typed[0]])
    arguments = typed[1:]
    while hasattr(command, "commands") and arguments:
        context = command.make_context(arguments[0], [arguments[0]], parent=context)
        command, arguments = command.commands[arguments[0]], arguments[1:]
    command.make_context(typed[0], [_PLACEHOLDERS.get(word, word) for word in arguments], parent=context)


@pytest.mark.parametrize("name", WRITTEN)
def test_examples_of_files_can_be_read(name: str) -> None:
    for _, kind, body in _FENCE.findall(WRITTEN[name]):
        if kind in ("yaml", "json"):
            assert yaml.safe_load(body) is not None, body  # JSON is YAML, too


def test_the_reference_names_what_there_is() -> None:
    made = everything()
    assert set(re.findall(r"^## codur (\w+)$", made["docs/reference/commands.md"], re.MULTILINE)) == set(NAMES)
    assert "## run_started" in made["docs/reference/events.md"]
    assert "`read_file(" in made["docs/reference/tools.md"]
    assert "<svg" in made["docs/reference/graph.svg"]

"""Options of pytest's plugins: which of them a command can use, and what makes a run the same each time."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from codur.lazy import regex
from codur.python.project_files import read_toml
from codur.structs import Struct, convert

SEARCH_VARIABLES = {"PYTHONHASHSEED": "0"}
"""Environment variables of a run of tests in a search."""
_UNRECOGNIZED = regex(r"unrecognized arguments: (.*)")
_UNKNOWN_SETTING = "Unknown config option"


class _Plugin(Struct):
    """What a plugin adds to pytest's command line."""

    options: tuple[str, ...]  # patterns of its options, without `=` and what follows
    valued: tuple[str, ...] = ()  # patterns of those that take the next word as their value, if it is none of theirs
    # options for a search; the plugin is there, but neither measures nor shuffles nor repeats nor distributes
    calm: tuple[str, ...] = ()
    dropped: bool = False  # whether a search must also do without its options in the settings


@cache
def _plugins() -> dict[str, _Plugin]:
    """The rows of `pytest_plugins.toml`; `pytest` is its own cache, which checks run without."""
    return convert(read_toml(Path(__file__).with_name("pytest_plugins.toml")), dict[str, _Plugin])


def search_options(plugins: Collection[str]) -> list[str]:
    """Options that make a run of tests the same each time, without what measures, shuffles, repeats or distributes.

    Args:
        plugins: the distributions with plugins that are installed, see `installed.installed_plugins`.
    """
    return [word for name, plugin in _plugins().items() if name in plugins for word in plugin.calm]


def usable_options(
    words: Sequence[str], plugins: Collection[str], *, unknown: Collection[str] = (), search: bool = False
) -> list[str]:
    """A pytest command's words without the options that nothing that is installed understands.

    Args:
        words: the words after `pytest`, or those of `addopts`.
        plugins: the distributions with plugins that are installed.
        unknown: options that pytest did not know, see `unrecognized`.
        search: leave out also what `search_options` stands against.
    """
    unusable = [plugin for name, plugin in _plugins().items() if name not in plugins or (search and plugin.dropped)]
    return list(_without(words, unusable, unknown))


def _without(words: Sequence[str], plugins: Sequence[_Plugin], unknown: Collection[str]) -> Iterator[str]:
    options = re.compile("|".join(option for plugin in plugins for option in plugin.options))
    valued = re.compile("|".join(option for plugin in plugins for option in plugin.valued))
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        name = word.partition("=")[0]
        if not word.startswith("-") or not (options.fullmatch(name) or word in unknown):
            yield word
        elif valued.fullmatch(word) and place < len(words) and not words[place].startswith("-"):
            place += 1


def unrecognized(error: str) -> list[str]:
    """The options that pytest's error text says it does not know; empty if it has no such error."""
    match = _UNRECOGNIZED.search(error)
    return [*(match[1].split() if match else ()), *(["--strict-config"] if _UNKNOWN_SETTING in error else ())]


def forgiving_options(error: str) -> list[str]:
    """Options with which settings of a plugin that is not there do not end the run that said this error."""
    return ["-W", f"ignore:{_UNKNOWN_SETTING}"] if _UNKNOWN_SETTING in error else []


def names_settings(words: Iterable[str]) -> bool:
    """Whether a command says itself which settings file or root directory pytest takes."""
    return any(re.match(r"-c(?!o)|--(?:config-file|rootdir|inifile)\b", word) for word in words)


def path_arguments(words: Sequence[str], root: Path) -> list[Path]:
    """The files and directories inside a workspace that a pytest command names."""
    paths = (root / word.partition("::")[0] for word in words if word and not word.startswith("-"))
    return [path for path in paths if path.is_relative_to(root) and path.exists()]

"""Options of pytest's plugins: which of them a command can use, and what makes a run the same each time."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from codur.lazy import regex
from codur.structs import Struct

SEARCH_VARIABLES = {"PYTHONHASHSEED": "0"}
"""Environment variables of a run of tests in a search."""
_UNRECOGNIZED = regex(r"unrecognized arguments: (.*)")
_UNKNOWN_SETTING = "Unknown config option"


class _Plugin(Struct):
    """What a plugin adds to pytest's command line.

    Attributes:
        options: a pattern of its options, without `=` and what follows.
        valued: those that take the next word as their value, if it is none of theirs; a pattern.
        calm: options for a search; the plugin is there, but neither measures nor shuffles nor repeats nor distributes.
        dropped: whether a search must also do without its options in the settings.
    """

    options: str
    valued: str = r"(?!)"
    calm: tuple[str, ...] = ()
    dropped: bool = False


_PLUGINS = {
    "pytest-cov": _Plugin(
        options=r"--(no-)?cov(-.*)?", valued=r"--cov(-(report|config|fail-under|context|precision))?",
        calm=("--no-cov",), dropped=True,
    ),
    "pytest-xdist": _Plugin(
        options=r"-n.*|-d|-f|--numprocesses|--maxprocesses|--dist|--tx|--px|--looponfail|--max-worker-restart|"
        r"--maxschedchunk|--testrunuid|--rsyncdir|--rsyncignore|--(no-)?loadscope-reorder",
        valued=r"-n|--numprocesses|--maxprocesses|--dist|--tx|--px|--max-worker-restart|--maxschedchunk|"
        r"--testrunuid|--rsyncdir|--rsyncignore",
        calm=("-n0",), dropped=True,
    ),
    "pytest-randomly": _Plugin(
        options=r"--randomly-.*", valued=r"--randomly-seed", calm=("-p", "no:randomly"), dropped=True
    ),
    "pytest-random-order": _Plugin(
        options=r"--random-order(-.*)?", valued=r"--random-order-(bucket|seed)", calm=("-p", "no:random_order"),
        dropped=True,
    ),
    "pytest-timeout": _Plugin(
        options=r"--(session-)?timeout(-.*)?", valued=r"--(session-)?timeout|--timeout-method", calm=("--timeout=0",),
        dropped=True,
    ),
    "pytest-benchmark": _Plugin(
        options=r"--benchmark-.*",
        valued=r"--benchmark-(sort|group-by|columns|min-time|max-time|min-rounds|timer|save|compare-fail|json|storage|"
        r"name|cprofile)",
        calm=("--benchmark-disable",), dropped=True,
    ),
    "hypothesis": _Plugin(
        options=r"--hypothesis-.*", valued=r"--hypothesis-(profile|verbosity|seed)", calm=("--hypothesis-seed=0",)
    ),
    "pytest-rerunfailures": _Plugin(
        options=r"--reruns(-delay)?|--only-rerun|--rerun-except|--fail-on-flaky",
        valued=r"--reruns(-delay)?|--only-rerun|--rerun-except", calm=("--reruns=0",), dropped=True,
    ),
    "pytest-asyncio": _Plugin(options=r"--asyncio-(mode|debug)", valued=r"--asyncio-mode"),
    "pytest-django": _Plugin(
        options=r"--(ds|dc|reuse-db|create-db|(no-?)?migrations|fail-on-template-vars|django-debug-mode)",
        valued=r"--(ds|dc|django-debug-mode)",
    ),
    "pytest-html": _Plugin(options=r"--(html|self-contained-html|css)", valued=r"--(html|css)"),
    "pytest-socket": _Plugin(options=r"--(disable-socket|allow-hosts|allow-unix-socket)", valued=r"--allow-hosts"),
    "pytest-doctestplus": _Plugin(options=r"--(doctest-(plus|rst|ufunc)|doctest-plus-.*)"),
    "typeguard": _Plugin(options=r"--typeguard-.*", valued=r"--typeguard-packages"),
    **{f"pytest-{name}": _Plugin(options=rf"--{name}(-.*)?") for name in (
        "flake8", "mypy", "black", "isort", "ruff", "pylint", "pycodestyle", "pydocstyle", "instafail", "mpl",
    )},
}  # fmt: skip
_CACHE = _Plugin(
    options=r"--(lf|last-failed|ff|failed-first|nf|new-first|cache-clear|sw|stepwise|(sw|stepwise)-(skip|reset)|lfnf|"
    r"last-failed-no-failures)",
    valued=r"--(lfnf|last-failed-no-failures)",
)
"""Options of pytest's own cache, which checks run without: it would be written below the workspace."""


def search_options(plugins: Collection[str]) -> list[str]:
    """Options that make a run of tests the same each time, without what measures, shuffles, repeats or distributes.

    Args:
        plugins: the distributions with plugins that are installed, see `installed.installed_plugins`.
    """
    return [word for name, plugin in _PLUGINS.items() if name in plugins for word in plugin.calm]


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
    unusable = [_CACHE, *(plugin for name, plugin in _PLUGINS.items() if name not in plugins)]
    if search:
        unusable += [plugin for name, plugin in _PLUGINS.items() if name in plugins and plugin.dropped]
    return list(_without(words, unusable, unknown))


def _without(words: Sequence[str], plugins: Iterable[_Plugin], unknown: Collection[str]) -> Iterator[str]:
    options = re.compile("|".join(plugin.options for plugin in plugins))
    valued = re.compile("|".join(plugin.valued for plugin in plugins))
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

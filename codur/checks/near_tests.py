"""Fewer tests where all of them take longer than they may: those that fail, or are about the sources of the task."""

from collections.abc import Iterable, Mapping, Sequence
from posixpath import basename, dirname

from codur.checks.entry import text_of
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON
from codur.python.test_run import TestEnd
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace

_LONG = 0.5
"""The share of its time that the tests of a suite took which is long; else one of them hangs."""
_MOST_FILES = 8
_MOST_READ = 2_000
_TEST_WORDS = regex(r"^tests?_|_tests?$")
_WORDS = regex(r"[a-z0-9]+")
_TOPS = ("src/", "lib/")


def is_long(ends: Mapping[str, TestEnd], verdict_s: float) -> bool:
    """Whether tests were cut off after so many seconds because there are many, and not because one hangs."""
    return sum(end.seconds for end in ends.values()) > _LONG * verdict_s


def fewer_tests(check: Check, verdict: Verdict, sources: Iterable[str], workspace: Workspace) -> Check | None:
    """A check of fewer tests, for a suite that was found and is long.

    Args:
        verdict: on all tests, which did not end in time.
        sources: files that the task is about.

    Returns:
        None if none of the tests seen fails, and none has to do with the sources.
    """
    failing = [test.partition("::")[0] for test in verdict.failing]
    near = list(dict.fromkeys([*failing, *_about(list(sources), check.protected, workspace)]))
    files = [path for path in near if workspace.is_file(path)][:_MOST_FILES]
    if not files:
        return None
    options = [word for word in check.argv[3:] if word.startswith("-")]
    source = f"{check.source}; all of them take longer than {verdict.duration_s:.0f} s: {listed(files, 2)}"
    return replace(check, argv=(PYTHON, "-m", "pytest", *options, *files), source=source, whole=False)


def _about(sources: Sequence[str], protected: Sequence[str], workspace: Workspace) -> list[str]:
    """Test files by how much they have to do with the sources, the most first."""
    tests = [path for path in protected if path.endswith(".py") and _is_named_so(path)]
    named = [path for path in sources if path in tests]
    modules = [path for path in sources if path.endswith(".py") and path not in tests]
    scores: dict[str, int] = {}
    for path in tests[:_MOST_READ] if modules else ():
        text = text_of(workspace, path)
        score = max(_score(path, text, module) for module in modules)
        if score:
            scores[path] = score
    return [*named, *sorted(scores, key=lambda path: (-scores[path], path))]


def _score(test: str, text: str, module: str) -> int:
    """3: the test is called as the module; 2: it names it with its package; 1: its name has the module's; 0: none."""
    stem = _stem(module)
    subject = _TEST_WORDS.sub("", _stem(test))
    if subject == stem:
        return 3
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for top in _TOPS:
        name = name.removeprefix(top.replace("/", "."))
    package, _, last = name.rpartition(".")
    if name in text or (package and f"from {package} import {last}" in text):
        return 2
    return int(stem in _WORDS.findall(subject.lower()))


def _stem(path: str) -> str:
    name = basename(path).removesuffix(".py")
    return basename(dirname(path)) if name == "__init__" else name


def _is_named_so(path: str) -> bool:
    name = basename(path).removesuffix(".py")
    return bool(_TEST_WORDS.search(name)) or name in {"test", "tests"}

"""Fewer tests where all of them take longer than they may: those that fail, or are about the sources of the task."""

import re
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname

from codur.checks.entry import TESTS_OF_DIRECTORY, is_pytest_file, subject_of, text_of
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.structs import replace
from codur.types import Check
from codur.workspace.workspace import Workspace

_MOST_FILES = 8
_MOST_READ = 2_000
_WORDS = regex(r"[A-Za-z]\w{3,}")
_DEFINED = regex(r"^(?:class|(?:async )?def) ([A-Za-z]\w{3,})", re.MULTILINE)
_TOPS = ("src.", "lib.")


def fewer_tests(check: Check, tests: Iterable[str], workspace: Workspace) -> Check | None:
    """A check of the files of these tests in place of all, for a suite that was found; None if there are none.

    Args:
        tests: ids, or files.
    """
    near = dict.fromkeys(test.partition("::")[0] for test in tests)
    files = [path for path in near if workspace.is_file(path)][:_MOST_FILES]
    if not files:
        return None
    command, options, words = check.argv[:3], [word for word in check.argv[2:] if word.startswith("-")], files
    if command[2:] != ("pytest",):
        # unittest takes names of modules, and Django's script those below its own directory.
        command, top = (command, "") if command[1:] == ("-m", "unittest") else (command[:2], dirname(command[1]))
        words = [path.removeprefix(f"{top}/").removesuffix(".py").replace("/", ".") for path in files]
    source = f"{check.source}; of these {listed(files, 2)}"
    return replace(check, argv=(*command, *options, *words), source=source, whole=False)


def near_tests(sources: Iterable[str], protected: Sequence[str], workspace: Workspace) -> list[str]:
    """The files of tests among a task's sources, and those that have most to do with the other sources."""
    sources = list(sources)
    tests = [path for path in protected if is_pytest_file(path) or basename(path) in TESTS_OF_DIRECTORY]
    named = [path for path in sources if path in tests]
    modules = [path for path in sources if path.endswith(".py") and path not in tests]
    defined = {path: set(_DEFINED.findall(text_of(workspace, path))) for path in modules}
    scores: dict[str, tuple[int, int]] = {}
    for test in tests[:_MOST_READ] if modules else ():
        text = text_of(workspace, test)
        words = set(_WORDS.findall(text))
        score = max((_nearness(test, text, module), len(words & defined[module])) for module in modules)
        if score > (0, 0):
            scores[test] = score
    # Not all that name a thing or two, as each costs time that the attempts need.
    level, shared = max(scores.values(), default=(0, 0))
    best = [path for path, score in scores.items() if score[0] == level and 2 * score[1] >= shared]
    return [*named, *sorted(best, key=lambda path: (-scores[path][1], path))]


def _nearness(test: str, text: str, module: str) -> int:
    """3: the test is called as the module; 2: it names it with its package; 1: its name has the module's; 0: none."""
    stem = _stem(module)
    subject = subject_of(test)
    if subject == stem:
        return 3
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for top in _TOPS:
        name = name.removeprefix(top)
    package, _, last = name.rpartition(".")
    if name in text or (package and f"from {package} import {last}" in text):
        return 2
    return int(stem in subject.split("_"))


def _stem(path: str) -> str:
    name = basename(path).removesuffix(".py")
    return basename(dirname(path)) if name == "__init__" else name

"""Fewer tests where all of them take longer than they may: those that fail, or are about the sources of the task.

And how one gets from these to the whole suite, and to single tests of it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from posixpath import basename, dirname, splitext

from codur.checks.entry import is_python_suite, is_test_code, subject_of, text_of
from codur.checks.suites.find_suites import ALL_PACKAGES
from codur.lazy import late, regex
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON
from codur.structs import replace
from codur.types import Check
from codur.workspace.workspace import Workspace

difflib = late("difflib")

_MOST_FILES = 8
_MOST_READ = 2_000
_WORDS = regex(r"[A-Za-z]\w{3,}")
_DEFINED = regex(r"^(?:class|(?:async )?def) ([A-Za-z]\w{3,})", re.MULTILINE)
_DEFINED_ELSEWHERE = regex(
    r"\b(?:class|module|def|func(?: \([^)\n]*\))?|fn|function|struct|enum|trait|interface|const|type)"
    r" +(?:self\.)?([A-Za-z]\w{3,})"
)
_SCRIPT, _HEADED = regex(r"^\.[cm]?[jt]sx?$"), regex(r"^\.[ch](?:c|h|pp|xx)?$")
_NAMED = regex(r"([\w./-]{1,240}\.py)::(\w[\w:]*(?:\[[^\]\s]*\])?)")
_DOTTED = regex(r"[\w./-]+(?:::[\w:]+)?")
_PROMPT_CHARS = 20_000
_TOLD = regex(r"(\w[\w.]*) \(([\w.]+)\)")
_TOPS = ("src.", "lib.")
_FIXTURES = frozenset({"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})


def fewer_tests(check: Check, tests: Iterable[str], workspace: Workspace) -> Check | None:
    """A check of the files of these tests (ids, or files) in place of all, for a suite that was found; or None."""
    near = dict.fromkeys(test.partition("::")[0] for test in tests)
    python = check.argv[0] == PYTHON
    files = [path for path in near if path.endswith(".py") == python and workspace.is_file(path)][:_MOST_FILES]
    if not files:
        return None
    source = f"{check.source}; of these {listed(files, 2)}"
    if not python:
        return replace(check, argv=of_files(check.argv, files), source=source)
    words = files
    if not _is_pytest(check):
        # unittest takes names of modules, and Django's script those below its own directory.
        top = "" if check.argv[1] == "-m" else dirname(check.argv[1])
        words = [path.removeprefix(f"{top}/").removesuffix(".py").replace("/", ".") for path in files]
    return replace(check, argv=(*_without_tests(check), *words), source=source)


def of_files(argv: tuple[str, ...], files: Sequence[str]) -> tuple[str, ...]:
    """The command of another language's runner for these files of tests alone."""
    if argv[0] == "go":
        packages = dict.fromkeys(f"./{dirname(path)}" for path in files)
        return (*(word for word in argv if word != ALL_PACKAGES), *packages)
    if argv[0] == "npm":
        return (*argv, "--", *files)
    return (*argv, *(files[:1] if argv[-1].endswith("phpunit") else files))


def all_tests(check: Check, most_s: float) -> Check:
    """A check of the whole suite, each test told as it ends, for one that runs a part; seconds that it may take."""
    check = replace(check, argv=check.suite, timeout_s=min(check.timeout_s, most_s))
    if _is_pytest(check):
        return check
    place, option = (3, "-v") if check.argv[1] == "-m" else (2, "--verbosity=2")
    return replace(check, argv=(*check.argv[:place], option, *check.argv[place:]))


def only(check: Check, tests: Iterable[str]) -> Check:
    """A check of these tests: ids of pytest, or what its runner takes."""
    if _is_pytest(check):
        return replace(check, tests=tuple(tests))
    return replace(check, argv=(*_without_tests(check), *tests))


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """What unittest takes for the tests that it told as `test_a (module.Case.test_a)`, before 3.11 `(module.Case)`."""
    return tuple(dict.fromkeys(_label(*told.groups()) for name in names if (told := _TOLD.match(name))))


def _label(test: str, place: str) -> str:
    if place.startswith("unittest.loader._FailedTest"):
        return test
    return place if place.endswith(f".{test}") or test in _FIXTURES else f"{place}.{test}"


def named_tests(prompt: str, protected: Iterable[str]) -> list[str]:
    """The files of tests that a prompt names: by path, or as a runner does, by module, class and test."""
    words = {word.strip(".").partition("::")[0] for word in _DOTTED.findall(prompt[:_PROMPT_CHARS])}
    names = set[str]()
    for word in words:
        parts = word.removesuffix(".py").replace("/", ".").split(".")
        names |= {".".join(parts[:end]) for end in range(max(1, len(parts) - 2), len(parts) + 1)}
    names = {name for name in names if "test" in name} - {"test", "tests"}
    found = []
    for path in filter(_is_test, protected):
        parts = splitext(path)[0].split("/")
        if any(".".join(parts[begin:]) in names for begin in range(len(parts))):
            found.append(path)
    return found


def absent_tests(prompt: str, ran: Collection[str]) -> Iterator[str]:
    """What is said of each test that a prompt names, where those of its file ran (pytest's ids) without it."""
    for path, name in dict.fromkeys(_NAMED.findall(prompt[:_PROMPT_CHARS])):
        ids = [test.partition("::") for test in ran]
        there = [test for file, _, test in ids if f"/{file}".endswith(f"/{path.removeprefix('./')}")]
        found = any(test == name or test.startswith((f"{name}[", f"{name}::")) for test in there)
        if there and all(there) and not found:  # of a file that could not be loaded no test is known
            known = {test.partition("[")[0].rpartition("::")[2]: test.partition("[")[0] for test in there}
            near = difflib.get_close_matches(name.rpartition("::")[2], list(known), n=3)
            hint = f"; nearest: {', '.join(known[test] for test in near)}" if near else ""
            yield f"there is no test {name} among those of {path} that run{hint}"


def _is_pytest(check: Check) -> bool:
    return check.argv[1:3] == ("-m", "pytest")


def _without_tests(check: Check) -> tuple[str, ...]:
    """The command and its options."""
    place = 3 if check.argv[1] == "-m" else 2
    return (*check.argv[:place], *(word for word in check.argv[place:] if word.startswith("-")))


def near_tests(sources: Iterable[str], protected: Sequence[str], workspace: Workspace) -> list[str]:
    """The files of tests among a task's sources, and those that have most to do with the other sources."""
    sources = list(sources)
    tests = [path for path in protected if _is_test(path)]
    named = [path for path in sources if path in tests]
    kinds = {_kind(path) for path in tests}
    modules = [path for path in sources if _kind(path) in kinds and path not in tests]
    patterns = ((path, _DEFINED if path.endswith(".py") else _DEFINED_ELSEWHERE) for path in modules)
    defined = {path: set(pattern.findall(text_of(workspace, path))) for path, pattern in patterns}
    scores: dict[str, tuple[int, int]] = {}
    for test in tests[:_MOST_READ] if modules else ():
        text = text_of(workspace, test)
        words = set(_WORDS.findall(text))
        alike = [module for module in modules if _kind(module) == _kind(test)]
        score = max(((_nearness(test, text, module), len(words & defined[module])) for module in alike), default=(0, 0))
        if score > (0, 0):
            scores[test] = score
    # Not all that name a thing or two, as each costs time that the attempts need.
    level, shared = max(scores.values(), default=(0, 0))
    best = [path for path, score in scores.items() if score[0] == level and 2 * score[1] >= shared]
    return [*named, *sorted(best, key=lambda path: (-scores[path][1], path))]


def _is_test(path: str) -> bool:
    return is_python_suite(path) if path.endswith(".py") else is_test_code(path)


def _kind(path: str) -> str:
    """What files of one language have in common, those of JavaScript and TypeScript too, and those of C and C++."""
    return _HEADED.sub(".c", _SCRIPT.sub(".js", splitext(path)[1]))


def _nearness(test: str, text: str, module: str) -> int:
    """3: the test is called as the module; 2: it names it with its package; 1: its name has the module's; 0: none."""
    stem = splitext(basename(module))[0]
    stem = basename(dirname(module)) if stem == "__init__" else stem
    subject = subject_of(test)
    if subject.casefold() == stem.casefold():
        return 3
    if not module.endswith(".py"):
        return 2 * (dirname(test) == dirname(module)) or int(stem.casefold() in subject.casefold())
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for top in _TOPS:
        name = name.removeprefix(top)
    package, _, last = name.rpartition(".")
    if name in text or (package and f"from {package} import {last}" in text):
        return 2
    return int(stem in subject.split("_"))

"""A test that was made for a task, among those that a runner other than pytest finds: all of them run together.

Such a runner says in words what came of its tests, and often not which of a file failed. So the made test counts as red
only if what passed without it still passes, more tests run with it, and what failed is not a slip of the test itself.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, count
from posixpath import basename, dirname, join, splitext

from codur.checks.describe import FAILED_TEST, compiler_error, headline
from codur.checks.entry import TEST_FORM, is_test_code
from codur.checks.suites.made_check import PASSES_NOW, hangs_by_task, is_told
from codur.checks.suites.near_tests import of_files
from codur.lazy import regex
from codur.python.test_command import PYTHON
from codur.structs import replace
from codur.types import Check, Verdict

_RUST_TITLE = regex(r"#\[test\][^{}]*?\bfn +(\w+)")
_TITLE = regex(
    r"\b(?:test|it|specify|describe|context)\b\s*\(?\s*(?P<mark>['\"`])(?P<said>.+?)(?P=mark)"
    r"|\b(?:func|fn|def|function) +(?P<is_test>[Tt]est_?)?(?P<name>\w+)"
)
_CLASS = regex(r"^[ \t]*(?:(?:public|final|abstract|open|internal) +)*class +(\w+)", re.MULTILINE)
_CLASS_OF_TESTS = regex(r"Tests?\Z|Spec\Z|\ATest")
_NAMED_BY_CLASS = frozenset({".java", ".kt", ".cs", ".php"})
_WORD = regex(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NAME_CHARS = 40
_SAID_CHARS = 500
_MISSING = regex(
    r"undefined: (?:\w+\.)*(\w+)|has no field or method (\w+)|unknown field '?(\w+)"  # Go
    r"|provides package (?:[\w.-]+/)*(\w+)|package (?:[\w.-]+/)*(\w+) is not in"
    r"|cannot find (?:\w+,? ){0,6}[`'](\w+)|no (?:\w+ ){1,6}?(?:named )?`(\w+)` (?:found|in|on)"  # Rust
    r"|unresolved import `(?:\w+::)*(\w+)|has no field named `(\w+)"
    r"|\b(\w{1,80}) is not (?:a function|defined|a constructor)|does not provide an export named '(\w+)'"  # JavaScript
    r"|Cannot find module '(?:[\w.@-]*/)*([\w-]+)(?:\.\w+)?'|cannot load such file -- (?:[\w.-]*/)*(\w+)"
    r"|has no exported member (?:named )?['\"](\w+)|Property '(\w+)' does not exist|Cannot find name '(\w+)'"
    r"|[Uu]ndefined (?:local variable or )?method [`'](\w+[?!]?)|uninitialized constant (?:\w+::)*(\w+)"  # Ruby
    r"|unknown keywords?: :(\w+)"
    r"|undefined (?:function|method) (?:[\w\\]+(?:::|->))?(\w+)\(|Class \"(?:\w+\\)*(\w+)\" not found"  # PHP
    r"|Unknown named parameter \$(\w+)|Undefined constant (?:[\w\\]+::)?(\w+)"
    r"|symbol: +(?:method|class|variable) (\w+)"  # Java
)
_IMPORT = regex(r"^[ \t]*import\b[^{}\n]{0,80}\{([^{}]{0,500})\}\s*from\s*['\"]\.", re.MULTILINE)
_RENAMED = regex(r"\bas\s+\w+")
_SLIP = regex(
    r"\b(?:Reference|Type|Range|Syntax|Name|NoMethod|Argument|Load|Parse|ArgumentCount)Error\b"
    r"|\b(?:NullPointer|ClassCast|NoSuchFile|FileNotFound)Exception\b|\bENOENT\b|[Nn]o such file or directory"
    r"|\bCannot find (?:module|package)\b|^Error: (?:Call to undefined|Class)",
    re.MULTILINE,
)
_ENDLESS = regex(
    r"Timeout of [\d.]+ ?ms exceeded|Exceeded timeout of|[Tt]est timed out|exited without ending"
    r"|Promise resolution is still pending"
)
"""What runners say of a test that does not end."""
_HOLDS = regex(
    r"\b(?:test|it|its|specify|scenario|example|property|should|it_behaves_like)\b[\w.]*\s*[({'\"`:]"
    r"|#\[(?:\w+::)*\w*test|\bfunc +(?:Test|Example|Fuzz)|\b(?:def|func|function|fun|void) +[Tt]est|@\w*[Tt]est\b"
    r"|\[(?:Fact|Theory|Property|\w*Test\w*)\b|\b\w*TEST\w*\("
)
_SNAPSHOT = regex(r"[Ss]napshot\w*\s*\(")
_NAME_LINE = regex(rf"^{FAILED_TEST}.*$", re.MULTILINE)
_ASSERTED = regex(
    r"\bAssert\w*|\bExpectationFailed|Failed asserting|panicked at (?!\S+\s+called `Result::)|\bExpected\b"
    r"|\bexpected\b.*\b(?:to|but|got)\b|^ *operator: ",
    re.MULTILINE,
)
_HELPER = regex(r"helper|fixture|support|fuzz|bench|mock|setup|\bcommon\b|testdata", re.IGNORECASE)
_CRATE, _NEW = "Cargo.toml", "tests/new.rs"
_RUNNERS_OWN = regex(r"(?:jest|vitest|vite)\.config\.[cm]?[jt]s")
_SETTINGS = {
    ".rs": regex(r"Cargo\.toml"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx"), _RUNNERS_OWN),
}


def is_found(project: Check | None, before: Verdict | None, near: str) -> bool:
    """Whether a test beside `near` is one that the project's runner finds, and tells that it ran."""
    ran = before is not None and (before.passed or bool(before.failing)) and bool(before.tests_passed)
    return ran and is_other(project) and near != "" and not near.endswith(".py")


def is_other(project: Check | None) -> bool:
    """Whether a project's tests are mostly those of another language than Python, told by their runner's own words."""
    if project is None or project.kind != "tests" or "pytest" in project.argv or project.argv[0] == PYTHON:
        return False
    python = sum(path.endswith(".py") for path in project.protected)
    # Those of Rust are mostly in its sources.
    return project.argv[0] == "cargo" or sum(map(is_example, project.protected)) > python


def is_example(path: str) -> bool:
    """Whether a file is a test of such a project, and none of the files that its tests rest on."""
    # Of Rust's tests those in `src` use what others cannot.
    own = path.endswith(".rs") and (basename(dirname(path)) != "tests" or "/src/" in f"/{path}")
    return is_test_code(path) and not (path.endswith(".py") or own or _HELPER.search(path))


def place_of(example: str, sources: Sequence[str], files: Sequence[str]) -> str:
    """Beside what a test lies: an example, or where Rust finds a first one without being told; empty if nowhere."""
    crate = settings_of([path for path in sources if path.endswith(".rs")], files)
    return example or (join(dirname(crate), _NEW) if crate else "")


def settings_of(sources: Sequence[str], files: Sequence[str]) -> str:
    """The file that says how a test names what the first of these sources defines; empty if there is none.

    That is the one of its crate in Rust, of Jest or Vitest in JavaScript, in its directory or one above it.
    """
    for source in sources:
        if (known := _SETTINGS.get(splitext(source)[1])) is not None:
            inside = (
                path
                for path in files
                if known.fullmatch(basename(path)) and source.startswith(path.removesuffix(basename(path)))
            )
            return max(inside, key=len, default="")
    return ""


def among(text: str, project: Check, ran: int, near: str, files: Sequence[str]) -> Check:
    """The check of a test that was made: its file alone and then the project's, or the project's in which it runs, too.

    Args:
        project: it may leave out tests that failed before.
        ran: how many of the others pass without it.
        near: the test beside which it goes, and after whose name it is called; it need not exist.
        files: the workspace's files.
    """
    path = path_of(text, near, files)
    made = replace(
        project,
        entry=path,
        protected=(path, *project.protected),
        source="a test that was made for the task",
        text=text,
        beside=project,
        ran_without=ran,
    )
    if project.suite and project.argv[0] != "go":  # of Go a package is the least that can be asked for
        return replace(made, argv=of_files(project.suite, [path]), suite=())
    return made


def text_problem(text: str) -> str:
    """What is wrong with a test before it is run; empty if nothing is."""
    if _HOLDS.search(text) is None:
        return "it holds no test that a runner finds"
    # One that is not there yet is made of what the program does now, and stays.
    return "it compares with a snapshot" if _SNAPSHOT.search(text) else ""


def why_not_red(
    check: Check, verdict: Verdict, prompt: str, frames: Sequence[str], *, known: Callable[[str], bool]
) -> str:
    """Why what the runner says with the test in place is not the failure that the task tells of; empty if it is.

    Args:
        check: with the test; those that ran without it all passed.
        frames: the workspace's files that the failure names, as they come.
        known: whether something of that name is defined in the workspace.
    """
    total, said = verdict.tests_total or 0, _NAME_LINE.sub("", verdict.error)
    ran = check.ran_without if check.is_among else 0
    if verdict.passed:
        return PASSES_NOW
    if verdict.status != "failed" or verdict.unfit:
        return f"it cannot be run: {verdict.unfit or verdict.note or verdict.status}"
    # Node's runner calls what could not be loaded by its path, and does not say why.
    unloaded = f"{FAILED_TEST}{check.entry}\n" in verdict.error
    if any(is_told(name, prompt) and not known(name) for name in _missing(check, verdict.error, unloaded=unloaded)):
        return ""  # what the task asks for is not there yet
    if verdict.timed_out or _ENDLESS.search(said):
        return hangs_by_task(prompt)
    source = any(not is_test_code(path) for path in frames)
    # Some runners end with what a test raises, so that nothing is told of the others.
    aborted = source and check.entry in frames and compiler_error(verdict.error) < 0
    if unloaded or (total <= ran and not aborted):
        return f"it cannot be run: {headline(verdict.error)[:_SAID_CHARS] or 'the runner told nothing of its tests'}"
    if check.is_among and check.left_out and not verdict.failing:
        return "its failure cannot be told from those before; give it a name of its own"
    if (verdict.tests_passed or 0) < ran and not aborted:
        return f"with it only {verdict.tests_passed or 0} tests pass, and {ran} do without it"
    # An error in the test is a mistake of who wrote it; one that comes out of the project is what the task tells of.
    slip = _SLIP.search(said) if not _ASSERTED.search(said) else None
    own = f"{slip[0]} is raised by the test itself and not by the project's code" if slip else ""
    return "" if source else own


def _missing(check: Check, error: str, *, unloaded: bool) -> Iterator[str]:
    """The names that an error says are not there; of a file that could not be loaded, those that it imports."""
    for match in _MISSING.finditer(error):
        name = next(filter(None, match.groups()), "")
        # `errors.New` and `fs.read` are those of a library that the test forgot to import.
        of_library = "undefined: " in match[0] or " not defined" in match[0]
        if not (of_library and re.search(rf"\b{re.escape(name)}\.\w", check.text)):
            yield name
    for line in _IMPORT.findall(check.text) if unloaded else ():
        yield from re.findall(r"\w+", _RENAMED.sub("", line))


def path_of(text: str, near: str, files: Collection[str]) -> str:
    """A path for the test: beside the one that is near, called as that one but for what its own first words say."""
    directory, name = dirname(near), basename(near)
    form = TEST_FORM.fullmatch(name)
    before, after = (form["before"] or "", form["after"]) if form else ("", splitext(name)[1])
    called = _CLASS.findall(text) if splitext(near)[1] in _NAMED_BY_CLASS else []
    if called:
        return join(directory, next(filter(_CLASS_OF_TESTS.search, called), called[0]) + splitext(near)[1])
    mark = "-" if "-" in name else "_"
    if near.endswith(".go"):  # what follows an underscore may stand for a system
        mark = before = ""
    # A helper above the first test says nothing of what is tested.
    found = sorted(_TITLE.finditer(text), key=lambda match: (not match["said"], not match["is_test"]))
    title = next(chain(_RUST_TITLE.findall(text), (match["said"] or match["name"] for match in found)), "")
    said = [word.lower() for word in _WORD.findall(title)]
    ends = [end for end in range(1, len(said) + 1) if len(mark.join(said[:end])) <= _NAME_CHARS]
    words = mark.join(said[: max(ends, default=1)])[:_NAME_CHARS] or "made"
    words = f"a{mark}{words}" if words[0].isdigit() else words
    names = chain([words], (f"{words}{mark}{number}" for number in count(2)))
    paths = (join(directory, f"{before}{each}{after}") for each in names)
    return next(path for path in paths if path not in files)

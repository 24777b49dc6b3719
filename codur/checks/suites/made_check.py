"""A test that was made for a task: where it goes, and whether it is red for the reason that the task tells.

The rules are read from pytest's reports and from the test's syntax tree. A red test that says nothing of the task is
worse than none: the change that makes it pass would be called done. So what is not plainly the reported failure is not
taken, and the sentence that says why goes to who wrote the test.
"""

import ast
import builtins
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from posixpath import basename, dirname

from codur.checks.entry import TEST_FORM, is_pytest_file, is_python_suite, is_test_code
from codur.lazy import regex
from codur.python.project_files import called_name
from codur.python.test_run import TestEnd, narrowed
from codur.types import Check, Verdict

MOST_CHARS = 8_000  # it is shown in later requests
PASSES_NOW = "it passes as the program is now, so it does not show what the task is about"
_FRAME = regex(r"^(?P<path>[^\s:][^:\n]*\.py):\d+: in ", re.MULTILINE)
_ERROR = regex(r"^E\s+(?P<type>[A-Za-z_][\w.]*)(?::[ ]*(?P<words>.*))?$", re.MULTILINE)
_ASSERT = regex(r"\A[^\n]*\n(?:(?!E)[^\n]*\n)*E\s+assert\b")
"""What a report begins with after its last frame if an `assert` failed."""
_ASSERTED = regex(r"^ +(?:assert\b|self\.assert)", re.MULTILINE)
_NOT_TOLD = "NoneType"
_EXCEPTION = regex(r"\b[A-Za-z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)\b")
_MISSING = regex(
    r"""cannot import name '(\w+)'|No module named '(?:\w+\.)*(\w+)'|name '(\w+)' is not defined"""
    r"""|has no attribute '(\w+)'|unexpected keyword argument '(?P<argument>\w+)'"""
)
_OWNER = regex(r"'(\w+)' object has no attribute")
_HANGS = regex(
    r"\b(?:hang\w*|hung|forever|endless\w*|infinite\w*|never (?:end|return|finish|stop)\w*|freez\w*|slow\w*|loops?"
    r"|deadlock\w*|time ?out|does(?:n't| not) (?:end|return|finish|stop))\b",
    re.IGNORECASE,
)
_LACKING = regex(r"\[Errno (?:12|23|24|28)\]")  # memory, open files, room on the disk: what the machine lacks
_ELSEWHERE = regex(r"(?:^|/)(?:site-packages|dist-packages|\.venv|venv|\.tox|\.nox)/|^(?:\.\.)?/")
# pytest's own, which give nothing of the project
_PLAIN_FIXTURES = frozenset("self cls request tmp_path tmpdir capsys capfd caplog monkeypatch recwarn".split())
_FILE_NAME_CHARS = 60


def text_problem(text: str, prompt: str, files: Sequence[str]) -> str:
    """What is wrong with a test before it is run; empty if nothing is. Modules that the prompt names may be new."""
    try:
        tree = _parsed(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"it is no Python: {error}"
    tests = _tests(tree)
    if not tests:
        return "it holds no function whose name begins with test_"
    # The simplest way to be red, and one that a model takes.
    if any(_fails_always(test) for test in tests):
        return "it fails whatever the program does, so nothing can make it pass"
    if not _reaches(tree, tests, prompt, files):
        return "it uses nothing of the project: it must import or run the project's own code"
    return ""


def made_check(text: str, project: Check | None, files: Sequence[str], *, near: str = "", timeout_s: float) -> Check:
    """The check of a test that was made, beside the project's own.

    Args:
        project: the project's check, which passes but for what it leaves out; None if there is none to speak of.
        files: the workspace's files; the test gets a path of its own beside the other tests.
        near: the test that is most like it, beside which it goes; empty if none is known.
    """
    path = _path_of(text, files, near)
    by_pytest = project is not None and project.kind == "tests" and "pytest" in project.argv
    words: Sequence[str] = project.argv if by_pytest and project is not None else ("{python}", "-m", "pytest")
    place = list(words).index("pytest") + 1
    return Check(
        kind="tests",
        # With the project's own options and settings: fixtures and plugins must be those of its tests.
        argv=(*words[:place], *narrowed(words[place:], [path])),
        entry=path,
        protected=(path, *(project.protected if project is not None else ())),
        env=project.env if by_pytest and project is not None else (),
        timeout_s=min(timeout_s, project.timeout_s) if project is not None else timeout_s,
        source="a test that was made for the task",
        text=text,
        beside=project,
    )


def why_not_red(
    check: Check,
    verdict: Verdict,
    ends: Mapping[str, TestEnd],
    prompt: str,
    *,
    earlier: str = "",
    known: Callable[[str], bool],
) -> str:
    """Why a test's failure is not the one that the task tells of; empty if it is.

    Args:
        earlier: what the task may go on with.
        known: whether a name is defined.
    """
    if verdict.passed:
        return PASSES_NOW
    if verdict.status != "failed":
        return f"it cannot be run: {verdict.note or verdict.status}"
    failed = [end for end in ends.values() if end.outcome == "failed"]
    if not failed and verdict.timed_out:
        return hangs_by_task(prompt)
    if not failed:
        return f"it cannot be run: {verdict.error[-500:] or 'pytest told nothing of its tests'}"
    wrong = (_wrong_failure(end, check, prompt, f"{prompt}\n{earlier}", known) for end in failed)
    return next(filter(None, wrong), "")


def _wrong_failure(end: TestEnd, check: Check, prompt: str, told: str, known: Callable[[str], bool]) -> str:
    raised, words = _raised(end)
    missed = next(_MISSING.finditer(words), None)
    missing = next(filter(None, missed.groups()), "") if missed else ""
    # A parameter is one function's own, and an attribute that of the class that the task names, whatever else has it.
    owner = _OWNER.search(words)
    own = bool(missed and missed["argument"]) or (owner is not None and is_told(owner[1], prompt))
    new = own or not known(missing)
    asked = set(_EXCEPTION.findall(prompt))
    if end.when == "setup":
        return f"it did not begin: {words or end.text[-300:]}"
    # Something new is asked for by name: that it is missing is the right reason.
    if missing and is_told(missing, told) and (new or raised in asked):
        return ""  # what the task asks for is not there yet
    if end.when != "call":
        return f"it cannot be loaded: {raised}: {words}" if raised else f"it cannot be loaded: {end.text[-300:]}"
    if end.blocked or (raised == "OSError" and _LACKING.search(words)):
        return f"it cannot run here: {end.blocked or words}"
    if raised == "Failed" and "it did not end within" in end.text:
        return hangs_by_task(prompt)
    # The test's own comparison failed, which is what it is there for; or could not be made with the result None.
    if raised in {"AssertionError", "Failed"} or ("'NoneType' object" in words and _ASSERTED.search(end.text)):
        return ""
    frames = [found for found in _FRAME.findall(end.text) if found != check.entry and not _ELSEWHERE.search(found)]
    # An error in the test is a mistake of who wrote it; one that comes out of the project is what the task tells of.
    if all(is_test_code(found) for found in frames):
        return f"{raised}: {words} is raised by the test itself and not by the project's code"
    expected = any(re.search(rf"raises\([^)]*\b{name}\b", check.text) for name in asked)
    if asked and not expected and not any(_is_kind(raised, name) for name in asked):
        return f"it fails with {raised}: {words}, and the task is about {', '.join(sorted(asked))}"
    return ""


def _raised(end: TestEnd) -> tuple[str, str]:
    """The name of what was raised, and its words. Of test cases pytest tells it in the report alone."""
    frames = list(_FRAME.finditer(end.text))
    told = end.text[frames[-1].end() :] if frames else end.text
    known = end.raised if end.raised != _NOT_TOLD else ""
    if not known and _ASSERT.search(told):
        known = "AssertionError"
    errors = list(_ERROR.finditer(told))
    if not errors:
        return known, told[-300:]
    named = next((found for found in errors if found["type"].rpartition(".")[2] == known), errors[0])
    return known or named["type"].rpartition(".")[2], (named["words"] or "")[:300]


def _is_kind(raised: str, name: str) -> bool:
    """Whether one exception is another, or a kind of it as far as Python's own go."""
    one, other = getattr(builtins, raised, None), getattr(builtins, name, None)
    return raised == name or (isinstance(one, type) and isinstance(other, type) and issubclass(one, other))


def hangs_by_task(prompt: str) -> str:
    """Why a test that does not end is not what a task tells of; empty if it speaks of such a thing."""
    return "" if _HANGS.search(prompt) else "it does not end, and the task speaks of no such thing"


def is_told(name: str, prompt: str) -> bool:
    """Whether a name stands in a task."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", prompt) is not None


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings(action="ignore"):
        return ast.parse(text)


def _tests(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node for node in found if node.name.startswith("test")]


def _fails_always(test: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a statement fails that is reached whatever the program does, as long as it raises nothing."""
    return any(
        (isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and not node.test.value)
        or isinstance(node, ast.Raise)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and called_name(node.value) == "fail")
        for node in test.body
    )


def _reaches(
    tree: ast.Module, tests: Iterable[ast.FunctionDef | ast.AsyncFunctionDef], prompt: str, files: Sequence[str]
) -> bool:
    """Whether the project's code takes part: it is imported, run by the name of its file, or given by a fixture."""
    own = {part.removesuffix(".py") for path in files if path.endswith(".py") for part in path.split("/")}
    imported, texts = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0] if not node.level else "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(basename(node.value))
    new = {name for name in imported if name and is_told(name, prompt)}  # modules that are still to be written
    if "" in imported or imported & own or new - sys.stdlib_module_names - {"pytest"}:
        return True
    if any(name in texts for name in (*map(basename, files), *re.findall(r"[\w-]+\.py\b", prompt))):
        return True
    arguments = {arg.arg for test in tests for arg in (*test.args.args, *test.args.kwonlyargs)}
    return not arguments <= _PLAIN_FIXTURES


def _path_of(text: str, files: Sequence[str], near: str) -> str:
    """A path for the test: named after its first function, beside the one that is near, else most of them.

    It is called as the near one is: `test_words.py`, or `words_tests.py`.
    """
    directories = [dirname(path) for path in files if is_pytest_file(path)]
    directory = dirname(near) if near else max(dict.fromkeys(directories), key=directories.count, default="")
    name = _tests(_parsed(text))[0].name.lower()[:_FILE_NAME_CHARS].strip("_")
    form = TEST_FORM.fullmatch(basename(near)) if near and is_python_suite(near) and not is_pytest_file(near) else None
    name = name if name.startswith("test_") else f"test_{name}"
    if form and form["after"] != ".py":
        name = f"{name.removeprefix('test_')}{form['after'].removesuffix('.py')}"
    taken = {basename(path).removesuffix(".py").lower() for path in files}
    free = next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in taken)
    return f"{directory}/{free}.py" if directory else f"{free}.py"

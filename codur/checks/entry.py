"""Which program of a workspace is run: by what the prompt names and by a light look at the files."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.python.project_files import parsed, toml_of
from codur.structs import Struct

if TYPE_CHECKING:
    from codur.workspace.workspace import Workspace

USUAL_NAMES = ("main.py", "app.py", "__main__.py")
# they do something when they are run, and are run by tools
_NO_PROGRAMS = frozenset({"setup.py", "noxfile.py", "__init__.py", "conftest.py"})
_TEST_DIRECTORIES = frozenset({"tests", "test", "__tests__"})
_TEST_NAME = regex(
    r"test_.*\.(?:py|rb|c|cc|cpp|cxx)|(?:.*_)?tests?\.rs|.*_test\.(?:py|go|rb|c|cc|cpp|cxx|exs|dart)|.*_tests\.py|.*_spec\.rb|spec_helper\.rb|conftest\.py"
    r"|.*\.t|.*\.(?:test|spec)\.[cm]?[jt]sx?|(?:Test[A-Z]\w*|\w*Tests?)\.(?:java|kt|cs|php|swift)"
)
TEST_FORM = regex(
    r"(?P<before>(?:test|spec)[._-]|Test(?=[A-Z]))?(?P<subject>.+?)(?P<after>(?:[._-](?:tests?|spec)|Tests?|Spec)?\.\w+)"
)
"""The name of a file of tests: what it is about, and what stands around it."""
_PYTEST_NAME = regex(r"(?:test_.*|.*_test)\.py")
_SUITE_NAME = regex(r".+_tests\.py")  # as suites of unittest are called
_CODE_NAME = regex(r".*\.(?:py|go|rs|[cm]?[jt]sx?|sh|rb|java|kt|cs|php|swift|dart|exs?|p[lm]|t|[ch](?:c|h|pp|xx)?)")
_OF_UNITTEST = regex(r"(\w+) \([\w.]+\)")
TEST_SUPPORT = frozenset({"conftest.py", "pytest.ini"})
TESTS_OF_DIRECTORY = ("tests.py", "test.py")
DOCUMENTS = frozenset({".md", ".rst", ".adoc"})
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
MAX_PARSED = 50
_MAX_CHARS = 200_000  # generated code; its lines are looked at instead
_SETUP_MODULES = frozenset(
    {"sys", "logging", "logger", "log", "warnings", "random", "os", "locale", "signal", "atexit"}
)
"""Calls on these at the top of a module prepare it; alone they do not make it a program."""
_GUARD = regex(r"^if\s+__name__\s*==\s*['\"]__main__['\"]", re.MULTILINE)
_TOP_CALL = regex(r"^(?!def\b|class\b|import\b|from\b)(?:(?:for|while)\b.*:|[A-Za-z_]\w*\()", re.MULTILINE)
_FENCED = regex(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_PYTHON_NAME = regex(r"(?<![\w./~\\-])[\w./-]*\w\.py\b(?![\w/])")
_CREATES = regex(
    r"\b(?:write|create|implement|add|build|make|generate|develop|code|save|put|called|named)\b[^.;!?]*$", re.IGNORECASE
)
_MODEL_OF = r"(?i)\b(?:like|similar to|based on|modelled on|as in)\s+(?:the one in\s+)?[`\"']?(?:\./)?{}\b"


class Module(Struct):
    """What a look at a Python file shows."""

    guarded: bool = False  # it has `if __name__ == "__main__"`
    script: bool = False  # it does something when it is run
    # workspace-relative paths that its imports may stand for; many of them do not exist
    imports: frozenset[str] = frozenset()


def text_of(workspace: Workspace, path: str) -> str:
    """A file's text; empty if there is no such file, or it is no text."""
    try:
        return workspace.peek_text(path)
    except WorkspaceError:
        return ""


def is_test_file(path: str) -> bool:
    """Whether a file is a test or belongs to tests, by its name and directories."""
    *directories, name = path.split("/")
    # Also by the directory: data and helpers there belong to the tests, whatever they are called.
    own = directories[:1] == ["spec"] and name.endswith(".rb")  # elsewhere a directory of that name may be a program's
    return bool(_TEST_NAME.fullmatch(name)) or own or not _TEST_DIRECTORIES.isdisjoint(directories)


def is_document(path: str) -> bool:
    """Whether a file is written for people, and no data of tests."""
    return posixpath.splitext(path)[1] in DOCUMENTS and not is_test_file(path)


def is_code(path: str) -> bool:
    """Whether a file is program text of a language that is known."""
    return bool(_CODE_NAME.fullmatch(posixpath.basename(path)))


def is_pytest_file(path: str) -> bool:
    """Whether pytest collects the file by its default rules."""
    return bool(_PYTEST_NAME.fullmatch(posixpath.basename(path)))


def is_python_suite(path: str) -> bool:
    """Whether a Python file is called as one of tests is, by pytest's rules or as unittest's suites are."""
    name = posixpath.basename(path)
    return is_pytest_file(path) or name in TESTS_OF_DIRECTORY or bool(_SUITE_NAME.fullmatch(name))


def subject_of(test_file: str) -> str:
    """The module, or the directory, that a file of tests is named after."""
    directory, name = posixpath.split(test_file)
    if name in TESTS_OF_DIRECTORY:
        return posixpath.basename(directory)
    form = TEST_FORM.fullmatch(name)
    return form["subject"] if form else name


def bare_name(test: str) -> str:
    """A test's own name, without its file, class and parameters: of an id of pytest's, or as unittest tells it."""
    told = _OF_UNITTEST.match(test)
    return told[1] if told else test.rpartition("::")[2].partition("[")[0]


def is_test_code(path: str) -> bool:
    """Whether a file is a test, or code or settings that tests rest on; not data."""
    name = posixpath.basename(path)
    return name in TEST_SUPPORT or (is_test_file(path) and is_code(name))


def find_entry(workspace: Workspace, files: Sequence[str]) -> str | None:
    """The program that is run; None if it is not clear.

    In this order: a program among `files`, which the prompt names, most relevant first; the workspace's only program;
    `main.py`, `app.py` or `__main__.py` at its top; the one that `pyproject.toml` declares. A program that another one
    imports is taken only if there is nothing better. At most 50 files are looked into.
    """
    named = [path for path in files if may_be_program(path) and workspace.is_file(path)]
    others = [path for path in workspace.list_files(pattern="*.py") if may_be_program(path) and path not in named]
    complete = len(named) + len(others) <= MAX_PARSED
    near = sorted(others, key=lambda path: path.count("/"))  # a program lies at the top more often than deep down
    modules = {path: look(workspace, path) for path in [*named, *near][:MAX_PARSED]}
    imported = {path for by, module in modules.items() for path in module.imports if path != by}
    named_scripts = [path for path in named[:MAX_PARSED] if modules[path].script]
    scripts = [path for path, module in modules.items() if module.script and path not in imported]
    free = [path for path in named_scripts if path not in imported]
    return (
        # The first that no other program imports; one with a main guard goes before one without.
        next((path for path in free if modules[path].guarded), next(iter(free), None))
        or (scripts[0] if complete and len(scripts) == 1 else None)  # of many files one more may be a program
        or next((name for name in USUAL_NAMES if workspace.is_file(name)), None)
        or _declared(workspace)
        or next(iter(named_scripts), None)
    )


def look(workspace: Workspace, path: str) -> Module:
    """What the file shows; of one that does not parse, what its lines show; nothing if it cannot be read."""
    text = text_of(workspace, path)
    guarded = bool(_GUARD.search(text))
    tree = parsed(text) if len(text) <= _MAX_CHARS else None
    if tree is None:
        return Module(guarded=guarded, script=guarded or bool(_TOP_CALL.search(text)))
    script = guarded or any(_acts(statement) for statement in tree.body)
    return Module(guarded=guarded, script=script, imports=frozenset(_imports(tree, posixpath.dirname(path))))


def find_new_program(workspace: Workspace, prompt: str, files: Sequence[str], found: str | None) -> str | None:
    """The program that the prompt asks to write and that is run instead of `found`, what `find_entry` gave.

    A new file beside a program that the prompt names, or that imports it already, is a part of that program. If there
    is no program, the first absent Python file that the prompt names is meant.
    """
    if found in files and not re.search(_MODEL_OF.format(re.escape(posixpath.basename(found or ""))), prompt):
        return None
    parts = look(workspace, found).imports if found else frozenset()
    text = _FENCED.sub("", prompt)  # a traceback or a listing names files that nobody asks for
    for match in _PYTHON_NAME.finditer(text):
        path = _inside(workspace, match[0])
        if path is None or not may_be_program(path) or workspace.exists(path) or path in parts:
            continue
        # Only after a verb of making: a file that is merely named may be missing by a slip.
        if found is None or _CREATES.search(text[max(0, match.start() - 120) : match.start()]):
            return path
    return None


def _inside(workspace: Workspace, name: str) -> str | None:
    try:
        return workspace.relative(name)
    except WorkspaceError:
        return None


def may_be_program(path: str) -> bool:
    """Whether a Python file may be run by itself, by its name: no test, nothing hidden, and nothing that tools run."""
    if path.startswith(".") or "/." in path:
        return False
    return path.endswith(".py") and not is_test_file(path) and posixpath.basename(path) not in _NO_PROGRAMS


# --- what a module does -----------------------------------------------------------------------------------------------


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement at the top of a module does more than define and prepare."""
    match statement:
        case ast.Expr(value=ast.Call(func=function)):
            return not _prepares(function)
        case ast.For(body=body) | ast.While(body=body) | ast.With(body=body) | ast.If(body=body) | ast.Try(body=body):
            return any(_acts(inner) for inner in body)
    return False


def _prepares(function: ast.expr) -> bool:
    # `sys.exit(main())` and `sys.stdout.write(…)` are what a program does.
    if not isinstance(function, ast.Attribute) or function.attr in {"exit", "write"}:
        return False
    root: ast.expr = function
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in _SETUP_MODULES


def _imports(tree: ast.Module, directory: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(alias.name, ("", "src", directory))
        elif isinstance(node, ast.ImportFrom):
            # `from package import module` may name a module or something in one: both paths are told, and those that do
            # not exist do no harm.
            bases = _bases(node.level, directory)
            yield from _files(node.module or "", bases)
            for alias in node.names:
                yield from _files(f"{node.module or ''}.{alias.name}".strip("."), bases)


def _bases(level: int, directory: str) -> tuple[str, ...]:
    """Directories in which an import with that many dots looks."""
    if level == 0:
        return ("", "src", directory)
    for _ in range(level - 1):
        directory = posixpath.dirname(directory)
    return (directory,)


def _files(module: str, bases: Iterable[str], ending: str = ".py") -> Iterator[str]:
    if module:
        for base in bases:
            yield posixpath.join(base, *module.split(".")) + ending


# --- pyproject.toml ---------------------------------------------------------------------------------------------------


def _declared(workspace: Workspace) -> str | None:
    """The file of the one module that `[project.scripts]` names."""
    project = (toml_of(text_of(workspace, "pyproject.toml")) or {}).get("project")
    scripts = project.get("scripts") if isinstance(project, dict) else None
    if not isinstance(scripts, dict):
        return None
    modules = {str(target).partition(":")[0].strip() for target in scripts.values()}
    endings = (".py", "/__main__.py")
    paths = {path for module in modules for ending in endings for path in _files(module, ("", "src"), ending)}
    found = [path for path in paths if workspace.is_file(path)]
    return found[0] if len(found) == 1 else None

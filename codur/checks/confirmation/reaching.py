"""What in a program's text reaches out of the program: into the test framework, the interpreter, or who compares."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from codur.checks.canned import canned_syntax
from codur.checks.entry import is_code
from codur.lazy import regex

FRAMEWORKS = frozenset({"pytest", "_pytest", "pluggy", "unittest", "doctest"})
_MODULES = frozenset({"gc", "ctypes", "inspect", "builtins", "atexit", "faulthandler"})
# called by these names; who renames them has to import first
_NAMES = frozenset({"exit", "quit", "exec", "eval", "setattr", "delattr", "__import__"})
_MEMBERS = frozenset(
    "_exit _getframe _current_frames modules settrace setprofile abort execv execve kill __code__ __globals__"
    " __subclasses__ f_back f_locals f_globals".split()
)
_OWNED = {"sys": frozenset({"exit", "path", "meta_path", "stdout", "stderr"}), "os": frozenset({"dup2", "close"})}
_COMPARES = frozenset({"__eq__", "__ne__"})
_DECLARING = ("setup.py", "noxfile.py")  # they name what a project needs, and are no part of its program
_RUNNER_NAMES = regex(r"_?py\.?test(?:\.\w+)*|PYTEST_\w+", re.IGNORECASE)
_ELSEWHERE = regex(
    r"\bPHPUnit\\|\bRSpec\b|\bMinitest\b|\borg\.junit\b|\bnode:test\b|\bvitest\b|@jest/|[\"']mocha[\"']"
    r"|^\s*(?:import\s+)?\"testing\"\s*$"
    r"|macro_rules!\s*(?:debug_)?assert\w*|\b(?:assert|expect)\b['\")\]]*(?:\.\w+)+\s*=(?![=>])",
    re.MULTILINE,
)
"""The test frameworks of other languages, and new meanings for what asserts, in the text of a program."""


_BEYOND = regex(
    r"exit|halt\b|abort|shutdown|\bkill|\bdie\b|constructor\b|\bprocess\b|\bglobal|prototype|\bdefine|undef\b|eval\b"
    r"|const_get|prepend|ObjectSpace|\bObject\.|\bassert|\bexpect|==\(|equals|operator *==|\bmain\b|passed|passing"
    r"|failures",
    re.IGNORECASE,
)
"""Words in a program of another language by which it may reach beyond what its tests ask for; most are harmless."""


def may_go_beyond(before: Mapping[str, bytes | None], after: Mapping[str, bytes]) -> bool:
    """Whether a change has such words that were not there, or is to files that are no program."""
    texts = ((before.get(path) or b"", text) for path, text in after.items())
    words = ([set(_BEYOND.findall(each.decode("utf-8", "replace"))) for each in pair] for pair in texts)
    return any(not is_code(path) for path in before) or any(new - old for old, new in words)


def new_reaches(before: bytes | None, after: bytes | None) -> list[str]:
    """What the text reaches now and did not before, as a person would write it."""
    old, new = (dict.fromkeys(_reaches(canned_syntax.parse(text))) if text else {} for text in (before, after))
    return [found for found in new if found not in old]


def disarms(before: Mapping[str, bytes | None], after: Mapping[str, bytes], tests: Iterable[str]) -> str:
    """What of a change, without its tests, has no place in a program whatever they say, as a sentence; or empty."""
    for path, text in after.items():
        if not path.endswith(".py"):
            old = set(_ELSEWHERE.findall((before.get(path) or b"").decode("utf-8", "replace")))
            new = [each for each in _ELSEWHERE.findall(text.decode("utf-8", "replace")) if each not in old]
            if new:
                return f"{path} now reaches into the test framework ({new[0]})"
            continue
        for found in new_reaches(before.get(path), text):
            # A program has no use for a test framework, whatever the tests say.
            if found.partition(" ")[0] == "import" and found.rpartition(" ")[2].partition(".")[0] in FRAMEWORKS:
                return f"{path} now reaches into the test framework ({found})"
            if found.endswith("whatever it is compared with"):
                return f"{path} now has an {found}"
        named = _texts(text) - _texts(before.get(path) or b"")
        if not path.endswith(_DECLARING) and any(_RUNNER_NAMES.fullmatch(each) for each in named):
            return f"{path} now names pytest, which runs the check"
        for test in tests:
            if any(test.rpartition("/")[2] in each for each in named):
                return f"{path} now names {test}, which belongs to the check"
    return ""


def _reaches(tree: ast.Module | None) -> Iterator[str]:
    nodes = [] if tree is None else list(ast.walk(tree))
    imported = set(_imported(nodes))
    for node in nodes:
        yield from _modules(node)
        yield from _used(node, imported)
        if name := _alike(node):
            yield f"{name} that is the same whatever it is compared with"


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"import {each.name}" for each in node.names if _is_watched(each.name))
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        watched = _MEMBERS | _OWNED.get(node.module, frozenset())
        yield from [f"import {node.module}"] if _is_watched(node.module) else []
        yield from (f"{node.module}.{each.name}" for each in node.names if each.name in watched)


def _used(node: ast.AST, imported: Set[str]) -> Iterator[str]:
    match node:
        case ast.Attribute(value=owner, attr=attr, ctx=ast.Store()) if _root(owner) in imported:
            yield f"{ast.unparse(owner)}.{attr} = …"
        case ast.Attribute(value=owner, attr=attr):
            name = owner.id if isinstance(owner, ast.Name) else ""
            if attr in _OWNED.get(name, ()) or (attr in _MEMBERS and name not in {"self", "cls"}):
                yield f"{ast.unparse(owner)}.{attr}"
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield f"{name}()"
        case ast.Call(func=ast.Call(func=ast.Name(id="getattr"))):
            yield "getattr()()"
        case ast.Raise(exc=ast.Name(id="SystemExit") | ast.Call(func=ast.Name(id="SystemExit"))):
            yield "SystemExit"


def _alike(node: ast.AST) -> str:
    """The name of a comparison, defined or given by a lambda, that does not look at what it compares with."""
    match node:
        case ast.FunctionDef(name=name, args=arguments, body=body) if name in _COMPARES:
            return "" if _compares(arguments, body) else name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments, body=result)):
            return name if name in _COMPARES and not _compares(arguments, [ast.Expr(result)]) else ""
    return ""


def _texts(source: bytes) -> set[str]:
    """The texts that a program uses, without its docstrings."""
    tree = canned_syntax.parse(source)
    nodes = [] if tree is None else list(ast.walk(tree))
    # A docstring may name a test: it does nothing.
    documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in documents)
    return {value for value in found if isinstance(value, str)}


def _is_watched(module: str) -> bool:
    return module.partition(".")[0] in FRAMEWORKS | _MODULES


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _compares(arguments: ast.arguments, body: Sequence[ast.stmt]) -> bool:
    """Whether a comparison looks at what it compares with, or leaves it to others."""
    given = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][1:2]
    names = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    # Python then asks the other side
    leaves = any(isinstance(statement, ast.Raise) for statement in body) or "NotImplemented" in names
    return leaves or bool(names & {*given, *([arguments.vararg.arg] if arguments.vararg else [])})

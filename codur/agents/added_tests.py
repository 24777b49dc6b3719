"""Whether a change of a file of tests only adds to it: what stood there stands as it was, and runs as it did."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher

from codur.lazy import regex
from codur.tools.code.definitions import definitions_in
from codur.tools.code.syntax_trees import grammar_of
from codur.tools.tool import ToolError

_AROUND_OTHERS = regex(r"(?:set_?up|tear_?down)\w*|pytest\w*|load_tests|__\w+__", re.IGNORECASE)
"""Names that runners take for something that is done around other tests."""
_IMPORTS = regex(r"\s*(?:import\b|use\b|#include\b|\}\s*from\b|.*=\s*require\()")


def only_adds(path: str, before: bytes, after: bytes, *, gone: Set[str] = frozenset()) -> bool:
    """Whether all that a file of tests held is there as it was, and nothing new takes its place or its effect.

    In Python by its statements; in other languages by lines, of which none may be put into a function that was there.

    Args:
        gone: names of which statements of Python that use them may go.
    """
    old, new = (data.decode("utf-8", "replace") for data in (before, after))
    if not path.endswith(".py"):
        return _lines_add(path, old, new)
    try:
        trees = ast.parse(old), ast.parse(new)
        if gone and not (_imports(trees[1]) <= _imports(trees[0]) and _leaves_out(*trees, gone)):
            return False
        left, now = (_without(tree, gone) for tree in trees) if gone else trees
        return _body_adds(left.body, now.body)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _leaves_out(old: ast.Module, new: ast.Module, gone: Set[str]) -> bool:
    """Whether no statement that is new uses what is to go."""
    known = {ast.dump(node) for node in _statements(old)}
    return not any(_uses(node, gone) for node in _statements(new) if ast.dump(node) not in known)


def _statements(tree: ast.Module | ast.ClassDef) -> Iterator[ast.stmt]:
    for node in tree.body:
        yield from _statements(node) if isinstance(node, ast.ClassDef) else [node]


def _imports(tree: ast.Module) -> set[tuple[str, str, str | None]]:
    nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {(getattr(node, "module", "") or "", item.name, item.asname) for node in nodes for item in node.names}


def _without(tree: ast.Module, gone: Set[str]) -> ast.Module:
    """The module without its imports and the statements that use a name; of classes the rest stays."""
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            node.body = [each for each in node.body if not _uses(each, gone)]
    return tree


def _uses(node: ast.stmt, gone: Set[str]) -> bool:
    if isinstance(node, ast.ClassDef) and not all(_uses(each, gone) for each in node.body):
        return False
    names = {getattr(each, field, None) for each in ast.walk(node) for field in ("id", "attr", "name")}
    return not gone.isdisjoint(names)


def _body_adds(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> bool:
    """Whether these statements hold those in their order, of classes more, and beside them new definitions alone."""
    known = {name for node in old for name in _bound(node)}
    waiting = list(old)
    for node in new:
        if waiting and _stands(waiting[0], node):
            waiting.pop(0)
        elif not _is_harmless(node, known):
            return False
    return not waiting


def _stands(old: ast.stmt, new: ast.stmt) -> bool:
    """Whether a statement is the old one, a class with more in it, or an import of more from the same place."""
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        heads = [ast.dump(ast.ClassDef(**{**dict(ast.iter_fields(node)), "body": []})) for node in (old, new)]
        return heads[0] == heads[1] and _body_adds(old.body, new.body)
    if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
        names = [Counter((item.name, item.asname) for item in node.names) for node in (old, new)]
        return (old.module, old.level) == (new.module, new.level) and names[0] <= names[1]
    return ast.dump(old) == ast.dump(new)


def _is_harmless(node: ast.stmt, known: set[str]) -> bool:
    """Whether a new statement only defines something under a name that nothing had, and does nothing to others."""
    simple = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)
    constant = isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets)
    names = list(_bound(node))
    if not (simple or constant) or not known.isdisjoint(names) or any(map(_AROUND_OTHERS.fullmatch, names)):
        return False
    return "autouse" not in ast.dump(node) and "*" not in names


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds where it stands."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (item.asname or item.name.partition(".")[0] for item in node.names)
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _lines_add(path: str, old: str, new: str) -> bool:
    if grammar_of(path) is None:
        return False
    try:
        inside = [range(item.start, item.end) for item in definitions_in(path, old) if item.kind == "function"]
    except ToolError:
        return False
    before, after = old.splitlines(), new.splitlines()
    for kind, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "insert" and any(start in lines for lines in inside):
            return False
        if kind == "delete" or (kind == "replace" and not _imports_more(before[start:end], after[first:last])):
            return False
    return True


def _imports_more(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether lines that import are there with all that they named."""
    names = [Counter(re.findall(r"\w+", " ".join(lines))) for lines in (before, after)]
    return all(map(_IMPORTS.match, (*before, *after))) and names[0] <= names[1]

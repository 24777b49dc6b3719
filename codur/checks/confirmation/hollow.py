"""The same program with functions that do nothing but fail, to see whether a check can fail at all.

Of other languages than Python it is a test that is made to ask for something else. Which of its literals matter nobody
can tell who does not know the framework; where none of all does, and it failed before, nothing looks at what it asks.

A function that is called while the module that calls it is being imported still does what it did: what a module does to
the test run when it is loaded happens here as well, so a check that was disarmed there passes, and is found out.
"""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping

from codur.checks.canned import canned_syntax
from codur.lazy import regex
from codur.python.project_files import called_name

_GUARD = "_hollow_function"
_HELPER = """\
def %s():
    import sys
    frame = sys._getframe(1)
    while frame is not None:
        back, code = frame.f_back, frame.f_code
        if code.co_name == "<module>" and back is not None and back.f_code.co_name in (
            # The frames by which Python's import system runs a module's code.
            "_call_with_frames_removed", "exec_module",
        ):
            if not code.co_filename.endswith(%r):
                return
            break
        frame = back
    raise AssertionError("a hollow function was called")
"""
_LITERAL = regex(
    r"(?P<number>\b\d+\b)|(?P<truth>\b(?:true|false)\b)|(?P<quote>[\"'`])(?P<text>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)"
)
_LOADS = regex(
    r"^\s*(?:#\s*include|import|export|use|using|package|namespace|mod|return)\b|\b(?:from|mock|exit)\b|\b(?:require|load)"
    r"|^\s*[\w.]*\s*\"[^\"]*\"\s*$"
)
"""Lines that load others, or tell how a program ended."""
_COMPARES = regex(r"equal|same|\bto_?be\(|\beq\b|_eq\b|[=!]=|\bis\(", re.IGNORECASE)
_RIGHT_FOR_OTHERS = regex(r"throw|raise|panic|reject|snapshot|golden|approv|propert|random|fuzz", re.IGNORECASE)
"""What may be right for other literals, too; where it stands, only those in lines that compare matter."""
_FEWEST_COMPARED, _FEWEST = 2, 3
_MOST_CHARS = 1_000_000  # generated code; it is left as it is


def hollowed(text: str, tests: Iterable[str], only: Container[str] | None = None) -> str:
    """The text with a body that raises for each function; empty if it has no function or is no Python.

    Args:
        tests: the check's files: what these call while they are imported is called for the check.
        only: the names of the functions that are meant; None for all.
    """
    tree = canned_syntax.parse(text) if "def " in text and len(text) <= _MOST_CHARS else None
    if tree is None:
        return ""
    lines = text.encode().splitlines(keepends=True)  # in bytes, as `ast` counts columns
    functions = [node for node in ast.walk(tree) if isinstance(node, canned_syntax.Function)]
    functions = [node for node in functions if only is None or node.name in only]
    # from the end, so that earlier lines stay where they are
    for function in sorted(functions, key=lambda node: -node.body[0].lineno):
        # After the docstring, which would otherwise be none.
        first = function.body[canned_syntax.is_text(function.body[0]) and len(function.body) > 1]
        row = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))]) - 1
        line, column = lines[row], first.col_offset
        if line[:column].strip():  # on the line of `def`, or after another statement
            lines[row] = line[:column] + f"{_GUARD}(); ".encode() + line[column:]
        else:
            lines[row] = line[:column] + f"{_GUARD}()\n".encode() + line
    heads = [node for node in tree.body[:1] if canned_syntax.is_text(node)]
    heads += [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    # imports of `__future__` must stay first
    place = max((node.end_lineno or node.lineno for node in heads), default=0)
    helper = _HELPER % (_GUARD, tuple(f"/{path}" for path in tests))
    return b"".join([*lines[:place], helper.encode(), *lines[place:]]).decode() if functions else ""


def asking_otherwise(test: str) -> str:
    """A test's text with other literals, but for those by which it loads others; empty if too few matter."""
    changed = compared = 0

    def other(found: re.Match[str]) -> str:
        nonlocal changed
        if found["quote"] == "'" and len(found["text"].lstrip("\\")) < 2:  # a character, which no text can stand for
            return found[0]
        changed += 1
        if found["number"]:  # by more each time, so that what is added up comes out otherwise
            return str(int(found[0][:18]) + changed)
        if found["truth"]:
            return "false" if found[0] == "true" else "true"
        return f"{found['quote']}{found['text']}{changed}{found['quote']}"

    lines = []
    for line in test.splitlines(keepends=True):
        before = changed
        lines.append(line if _LOADS.search(line) else _LITERAL.sub(other, line))
        compared += (changed - before) * bool(_COMPARES.search(line))
    few = compared < _FEWEST_COMPARED if _RIGHT_FOR_OTHERS.search(test) else changed < _FEWEST
    return "" if few else "".join(lines)


def outside(text: bytes | None) -> list[str]:
    """What a module holds outside of its functions, statement by statement."""
    tree = canned_syntax.parse(text) if text is not None else None
    return [ast.dump(node) for node in _outer(tree.body)] if tree is not None else []


def _outer(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, canned_syntax.Function):
            yield from node.decorator_list
            yield node.args
        elif isinstance(node, ast.ClassDef):
            yield from (*node.bases, *node.keywords, *node.decorator_list)
            yield from _outer(node.body)
        elif not canned_syntax.is_text(node):
            yield node


def calls_own(texts: Mapping[str, str]) -> bool:
    """Whether a module calls, while it is imported, a function that one of these texts defines."""
    trees = [tree for tree in map(canned_syntax.parse, texts.values()) if tree is not None]
    own = {name for tree in trees for name in canned_syntax.functions(tree)}
    loaded = [part for tree in trees for node in _outer(tree.body) for part in ast.walk(node)]
    names = {called_name(part) for part in loaded if isinstance(part, ast.Call)}
    names |= {part.id for part in loaded if isinstance(part, ast.Name)}
    return not own.isdisjoint(names)

"""Replacing and adding one definition of a source that is not Python's, by what its grammar says of the lines.

The file is read again with the new lines in it: if the grammar understands less of it than before, or the lines do not
define what they should, nothing is written.
"""

from collections.abc import Callable, Sequence

from codur.lazy import regex
from codur.tools.code import targets
from codur.tools.code.code_layout import insert, leading
from codur.tools.code.definitions import dotted
from codur.tools.code.grammars import Grammar
from codur.tools.code.new_code import GivenCode, without_fence
from codur.tools.code.syntax_trees import Syntax, SyntaxDefinition
from codur.tools.flow.outputs import Edit, edited, unchanged
from codur.tools.tool import ToolContext, ToolError
from codur.types import ToolResult

_ABOVE = regex(r"//|/\*|@|#\[|# |\[.*\]$")
"""What begins a line that belongs to the definition below it."""
_EXPORT = regex(r"export (?:default )?|(?!export|def)\w+ (?=def )")
"""What stands before a definition on its line: `export`, or Ruby's `private`."""

_MADE_BY = regex(r"= (?!(?:async|function)\b)[\w.$]+\(")

Find = Callable[[Sequence[SyntaxDefinition]], Sequence[SyntaxDefinition]]


def replaced(context: ToolContext, given_path: str, grammar: Grammar, code: str, find: Find) -> ToolResult:
    """Exchange the lines of one definition; comments and annotations above it stay if the code has none.

    Args:
        find: the definitions of the file that are meant; the code's first line tells which of several.

    Raises:
        ToolError: `not_found` and `invalid` as `find`; `many_matches`; `syntax_error`.
    """
    path = context.workspace.relative(given_path)
    text = context.workspace.read_text(path).text
    syntax = Syntax(grammar, text)
    given = without_fence(code).strip("\n").split("\n")
    target = _one(path, find(syntax.definitions), given)
    # A definition that shares a line with code around or beside it cannot be exchanged by lines
    for other in syntax.definitions:
        apart = other.end < target.line or other.start > target.end
        around = other.line < target.line and other.end > target.end
        if other is not target and not apart and not around and not _is_in(other, target):
            raise ToolError(
                "invalid", f"{target.qualname} shares a line with {other.qualname} in {path}; use replace_in_file"
            )
    if _MADE_BY.search(target.signature) and "=" not in given[0]:
        told = f"{target.qualname} is what another function makes of one; give all of it: {target.signature:.60} …"
        raise ToolError("invalid", told)
    lines = text.split("\n")
    start = target.start if _ABOVE.match(given[0].strip()) else target.line
    new = _indented(given, leading(lines[target.line - 1]))
    new[0] = _exported(lines[start - 1], new[0]) if start == target.line else new[0]
    # A member of an object literal ends with a comma that belongs to the list and not to the function.
    if lines[target.end - 1].rstrip().endswith(",") and not new[-1].endswith(","):
        new[-1] += ","
    result = "\n".join([*lines[: start - 1], *new, *lines[target.end :]])
    if result == text:
        return unchanged(path, "this code")
    _require_understood(path, syntax, Syntax(grammar, result), target.qualname, range(start, start + len(new)))
    context.write(path, result)
    done = Edit(path=path, action="changed", start_line=start, end_line=target.end)
    return edited(f"replaced {target.kind} {target.qualname} in {path} (lines {start}-{target.end})", done)


def added(context: ToolContext, given_path: str, grammar: Grammar, code: GivenCode, after: str) -> ToolResult:
    """Add a function, or a method of a class, after another definition or at the end.

    Args:
        code: of a name that is empty, what it defines first counts.

    Raises:
        ToolError: `not_found`: no such class or definition; `invalid`: it is there already; `syntax_error`.
    """
    path = context.workspace.relative(given_path)
    exists = context.workspace.exists(path)
    text = context.workspace.read_text(path).text if exists else ""
    syntax = Syntax(grammar, text)
    found = syntax.definitions
    given = without_fence(code.text).strip("\n").split("\n")
    # Where methods may stand outside, the code says by its form whether it does.
    alone = Syntax(grammar, "\n".join(given)).definitions if grammar.methods_outside else ()
    outside = any(item.kind == "method" for item in alone)
    owner = None if outside or not code.class_name else _owner(path, found, code.class_name)
    near = found if owner is None else [item for item in found if _is_in(item, owner)]
    anchor = next((item for item in reversed(near) if after in {item.name, item.qualname}), None)
    if after and anchor is None:
        raise ToolError("not_found", f"nothing named {after} in {path} to put it after")
    lines = text.split("\n") if text else []
    if owner is not None and anchor is None:
        inner = [line for line in lines[owner.line : owner.end - 1] if line.strip() not in {"", "{"}]
        indent = leading(inner[-1]) if inner else leading(lines[owner.line - 1]) + "    "
        new, place = _indented(given, indent), owner.end - 1
        space = [""] if inner and lines[place - 1].strip() else []
        after_it = [*lines[:place], *space, *new, *lines[place:]]
    else:
        place = anchor.end if anchor is not None else len(lines)
        new = _indented(given, leading(lines[anchor.line - 1]) if anchor is not None else "")
        after_it = insert(lines, place, new, blank=1)
    result = "\n".join(after_it)
    new_lines = range(place + 1, place + len(new) + 3)
    after_all = Syntax(grammar, result)
    own = [item.qualname for item in after_all.definitions if item.line in new_lines and item.kind != "class"]
    asked = dotted(code.label) if code.name else ""
    label = next((name for name in own if not asked or f".{name}".endswith(f".{asked}")), asked or "a function")
    if any(item.qualname == label for item in found):
        raise ToolError("invalid", f"{path} defines {label} already; replace it")
    _require_understood(path, syntax, after_all, label, new_lines)
    context.write(path, result)
    return edited(f"added {label} in {path}", Edit(path=path, action="changed" if exists else "made"))


def _one(path: str, candidates: Sequence[SyntaxDefinition], given: Sequence[str]) -> SyntaxDefinition:
    if len(candidates) == 1:
        return candidates[0]
    code = " ".join(line.strip() for line in given)
    same = [item for item in candidates if item.signature in code]
    if len(same) == 1:
        return same[0]
    places = ", ".join(f"line {item.line}" for item in candidates[:8])
    raise ToolError(
        "many_matches",
        f"{path} defines {candidates[0].qualname} {len(candidates)} times ({places}); use replace_in_file",
    )


def _is_in(item: SyntaxDefinition, outer: SyntaxDefinition) -> bool:
    return outer.line <= item.line and item.end <= outer.end and item.qualname.startswith(f"{outer.qualname}.")


def _owner(path: str, found: Sequence[SyntaxDefinition], name: str) -> SyntaxDefinition:
    """The class; of several declarations of it, the one with most in it."""
    return max(targets.classes(path, found, name), key=lambda item: sum(_is_in(other, item) for other in found))


def _indented(given: Sequence[str], indent: str) -> list[str]:
    """The code at an indentation; code of which only the first line was not indented keeps its other lines."""
    margin = leading(given[0])
    if margin == indent:
        return list(given)
    if not margin and leading(given[-1]) == indent:
        return [indent + given[0], *given[1:]]
    return [indent + line.removeprefix(margin) if line.strip() else line for line in given]


def _exported(before: str, line: str) -> str:
    """The first line with `export`, where it was exported and the code only left that out; so with Ruby's `private`."""
    word = _EXPORT.match(before.lstrip())
    if word is None or line.lstrip().startswith((word[0], "export", "exports.", "module.")):
        return line
    return leading(line) + word[0] + line.lstrip()


def _require_understood(path: str, before: Syntax, after: Syntax, qualname: str, lines: range) -> None:
    # More than before, and not none: a grammar does not know all of its language's newest forms, and the file may have
    # been broken before.
    if len(after.mistakes) > len(before.mistakes):
        wrong = next((line for line in after.mistakes if line in lines), None)
        place = f"line {wrong} of {path}" if wrong else path
        raise ToolError("syntax_error", f"the edit was refused, since {place} would be no valid code")
    if not any(item.qualname == qualname and item.line in lines for item in after.definitions):
        raise ToolError("invalid", f"the code given does not define {qualname} in its place; give it whole")

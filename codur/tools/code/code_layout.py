"""Moving a piece of Python code to another indentation without changing what it means."""

import ast
import io
import tokenize

from codur.tools.code.definitions import DefinitionNode

_TAB_WIDTH = 8
_WRAPPER = "if True:\n"
_NOT_CODE = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def leading(line: str) -> str:
    """The white space in front of a line."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def moved(lines: list[str], docstrings: set[int], indent: str, unit: str) -> list[str]:
    """The lines of one definition at the indentation `indent`, with `unit` for each level inside.

    Text in strings of several lines stays as it is, except that of docstrings, which moves with its code.

    Args:
        docstrings: indexes of the lines after the first of each docstring.
    """
    margin = _width(leading(next(line for line in lines if not line.lstrip().startswith("#"))))
    stacks, fixed = _read(lines, margin)
    result = []
    for number, line in enumerate(lines):
        if number in fixed and number not in docstrings:
            result.append(line)
        elif not line.strip():
            result.append("")
        else:
            depth = max(_width(leading(line)) - margin, 0)
            stack = _stack_for(number, line, depth, stacks)
            level = max(index for index, width in enumerate(stack) if width <= depth)
            result.append(indent + unit * level + " " * (depth - stack[level]) + line[len(leading(line)) :])
    return result


def _stack_for(number: int, line: str, depth: int, stacks: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """Widths of the open blocks around a line; a comment belongs to the code after it if that is as deep."""
    before = max((start for start in stacks if start <= number), default=None)
    if line.lstrip().startswith("#"):
        after = min((start for start in stacks if start >= number), default=None)
        if after is not None and stacks[after][-1] == depth:
            return stacks[after]
    return stacks[before] if before is not None else (0,)


def _read(lines: list[str], margin: int) -> tuple[dict[int, tuple[int, ...]], set[int]]:
    """What the tokenizer says of the lines, by their indexes.

    Returns:
        The widths of the open blocks, relative to `margin`, for each line that begins a statement; and the lines that
        begin inside a string.
    """
    source = (_WRAPPER if margin else "") + "\n".join(lines) + "\n"
    shift = 2 if margin else 1
    stack = [0]
    stacks: dict[int, tuple[int, ...]] = {}
    inside: set[int] = set()
    opened: list[int] = []
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.INDENT:
            stack.append(_width(token.string) - margin)
        elif token.type == tokenize.DEDENT:
            stack.pop()
        elif fresh and token.type not in _NOT_CODE:
            stacks[token.start[0] - shift] = tuple(stack[1:] if margin else stack) or (0,)
        fresh = token.type == tokenize.NEWLINE or (fresh and token.type in _NOT_CODE)
        first = _string_start(token, opened)
        if first:
            inside.update(range(first + 1 - shift, token.end[0] + 1 - shift))
    stacks.pop(-1, None)
    return stacks, inside


def _string_start(token: tokenize.TokenInfo, opened: list[int]) -> int:
    """The first line of the string that ends with this token, or 0; template strings come in several tokens."""
    name = tokenize.tok_name[token.type]
    if name.endswith("STRING_START"):
        opened.append(token.start[0])
    if name.endswith("STRING_END"):
        return opened.pop()
    return token.start[0] if name == "STRING" else 0


def docstring_lines(node: DefinitionNode, first: int) -> set[int]:
    """Indexes of the lines after the first of each docstring in a definition; line `first` of the tree has index 0."""
    found: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, DefinitionNode) and is_docstring(inner.body[0]):
            text = inner.body[0]
            found.update(range(text.lineno - first + 1, (text.end_lineno or text.lineno) - first + 1))
    return found


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text and nothing else."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TAB_WIDTH))

"""Code in model text."""

import ast
import warnings

from codur.parsing.fences import fenced_blocks, strip_thinking
from codur.parsing.json_text import parse_json_object

_NOT_CODE = frozenset(
    {"json", "text", "txt", "diff", "patch", "console", "output", "bash", "sh", "shell", "markdown", "md"}
)
FILE_KEYS = frozenset({"code", "path", "language", "thought", "explanation", "reasoning"})
"""What an object may hold that gives a file whole; one with anything else is data that has some code in it."""
_PYTHON = frozenset({"python", "py", "python3"})


def code_from_text(text: str) -> str | None:
    """The one program that `text` holds: a fenced block, `code` of a JSON object, or the text itself if it is Python.

    Blocks marked as Python go first, then a JSON object, then blocks with another or no mark; of several the longest
    counts, the later one if two are equally long.

    Returns:
        The code with one newline at its end, or None if there is none or it was cut off.
    """
    text = strip_thinking(text)
    blocks = fenced_blocks(text)
    python = [block.text for block in blocks if block.language in _PYTHON]
    if not python and (text.startswith("{") or any(block.language == "json" for block in blocks)):
        value = parse_json_object(text) or {}
        return _ended(value["code"]) if isinstance(value.get("code"), str) and value.keys() <= FILE_KEYS else None
    if any(not block.closed for block in blocks):
        return None
    candidates = python or [block.text for block in blocks if block.language not in _NOT_CODE]
    if candidates:
        return _ended(max(reversed(candidates), key=len))
    return _ended(text) if not blocks and _is_python(text) else None


def _ended(code: str) -> str | None:
    return code.rstrip() + "\n" if code.strip() else None


def _is_python(text: str) -> bool:
    """Whether `text` parses and does more than name or compute a value, as a word of prose would."""
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape in a model's string is no warning for the user
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(statement, ast.Expr) or isinstance(statement.value, ast.Call) for statement in body)

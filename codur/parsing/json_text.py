"""JSON in model text: in fences, among prose, with trailing commas or written as a Python literal.

Reading is tolerant, completing is not: a value whose brackets or quotes do not close was cut off, and then nothing is
returned, because what is missing cannot be known.
"""

import ast
import json
import warnings
from typing import Any

from codur.lazy import regex
from codur.parsing.fences import fenced_blocks, strip_thinking
from codur.structs import Struct

_STARTS_VALUE = regex(r"""[{\[]\s*(?:["'{\[\]}]|-?\d|true|false|null|\Z)""")
_CLOSING = {"{": "}", "[": "]"}
_CONSTANTS = {"true": True, "false": False, "null": None}
_BEFORE_CLOSING = regex(r"\s*[}\]]")
_JSON_FENCES = frozenset({"", "json", "jsonc", "json5", "jsonl", "tool_call", "tool_calls"})
_UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
_MOST_STARTS = 500  # brackets that are looked at in one text; bounds the work on hostile input


class FoundJson(Struct):
    """The objects and lists of a text in order, none inside another."""

    values: tuple[Any, ...] = ()
    cut: bool = False  # one of them does not end
    # one of them is not JSON by the letter, line ends in strings aside, and was read all the same
    repaired: bool = False


def parse_json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` holds.

    Fenced blocks go before the rest; of several objects the first that is not empty counts.

    Returns:
        None if there is none, or if a value in the text is cut off.
    """
    found = find_json(text)
    objects = [value for value in found.values if isinstance(value, dict)]
    if found.cut or not objects:
        return None
    return next((value for value in objects if value), objects[0])


def find_json(text: str) -> FoundJson:
    """All JSON objects and lists of `text`; those in fenced blocks alone if there are any."""
    text = strip_thinking(text)
    blocks = [block for block in fenced_blocks(text) if block.language in _JSON_FENCES]
    found = [_scan(block.text) for block in blocks]
    values = tuple(value for part in found for value in part.values)
    if values and not any(part.cut for part in found):
        return FoundJson(values=values, repaired=any(part.repaired for part in found))
    return _scan(text)


def load_strict(text: str) -> Any:
    """`text` as JSON by the letter (RFC 8259). Raises ValueError: it is not JSON; `NaN` and `Infinity` are not."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _scan(text: str) -> FoundJson:
    values: list[Any] = []
    position, repaired = 0, False
    for _ in range(_MOST_STARTS):
        starts = [index for index in (text.find("{", position), text.find("[", position)) if index >= 0]
        if not starts:
            break
        start = min(starts)
        end, value, exact = _read_at(text, start)
        if end < 0:
            if _STARTS_VALUE.match(text, start):
                return FoundJson(values=tuple(values), cut=True, repaired=repaired)
            position = start + 1
            continue
        if value is not None:
            values.append(value)
            repaired = repaired or not exact
        position = end
    return FoundJson(values=tuple(values), repaired=repaired)


def _read_at(text: str, start: int) -> tuple[int, Any, bool]:
    """The end of the bracketed part at `start` (-1 if it does not end), its value (None if it is not JSON), and whether
    it is JSON by the letter.
    """
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except _UNREADABLE:
        end = bracket_end(text, start)
        return end, None if end < 0 else _loosely(text[start:end]), False
    return end, value, True


def bracket_end(text: str, start: int) -> int:
    """The position after the bracket that closes the one at `start`, quoted text left out; -1 if there is none."""
    expected: list[str] = []
    position = start
    while position < len(text):
        char = text[position]
        if char in _CLOSING:
            expected.append(_CLOSING[char])
        elif char in "}]":
            if char != expected.pop():
                return -1
            if not expected:
                return position + 1
        elif char == '"' or (char == "'" and _opens_quote(text, position)):
            position = _quote_end(text, position)
        position += 1
    return -1


def _opens_quote(text: str, position: int) -> bool:
    """Whether a single quote opens a string; after a letter or digit it is an apostrophe."""
    position -= 1
    while position > 0 and text[position].isspace():
        position -= 1
    return text[position] in "{[,:("


def _quote_end(text: str, position: int) -> int:
    quote = text[position]
    position += 1
    while position < len(text) and text[position] != quote:
        position += 2 if text[position] == "\\" else 1
    return position


def _loosely(text: str) -> Any:
    """A bracketed text that is not JSON by the letter: with trailing commas, or a Python literal."""
    try:
        return json.loads(_without_trailing_commas(text), strict=False)
    except _UNREADABLE:
        return _python_literal(text)


def _without_trailing_commas(text: str) -> str:
    kept: list[str] = []
    position = 0
    while position < len(text):
        end = min(_quote_end(text, position) + 1, len(text)) if text[position] == '"' else position + 1
        piece = text[position:end]
        if piece != "," or not _BEFORE_CLOSING.match(text, end):
            kept.append(piece)
        position = end
    return "".join(kept)


def _python_literal(text: str) -> Any:
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape in a model's string is no warning for the user
            tree = ast.parse(text, mode="eval")
        return plain(ast.literal_eval(_JsonConstants().visit(tree)))
    except _UNREADABLE:
        return None


class _JsonConstants(ast.NodeTransformer):
    """Reads `true`, `false` and `null` in a Python literal."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(_CONSTANTS[node.id]) if node.id in _CONSTANTS else node


def plain(value: Any) -> Any:
    """`value` in JSON's types. Raises ValueError: it holds something that JSON does not have."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is not a string")
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{type(value).__name__} is not a JSON type")

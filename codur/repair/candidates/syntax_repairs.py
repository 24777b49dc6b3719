"""Repairs of a file that Python does not compile: missing colons and brackets, open strings, indentation.

They need only the text and the compiler's first error. Up to three errors are mended one after the other.
"""

import re
from collections.abc import Iterator

from codur.lazy import regex
from codur.repair.code.source_file import compiles, syntax_fault
from codur.structs import Struct

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_EQUALS = regex(r"(?<![=!<>+\-*/%&|^:])=(?!=)")
_MAX_FAULTS = 3
_MAX_STEPS = 60  # each compiles the whole file, once or twice


class Mended(Struct):
    """A text that compiles, what was done, and at which line the first fault was."""

    text: str
    says: str
    line: int


def mend(text: str, path: str) -> tuple[Mended, ...]:
    """Texts that compile, made from one that does not; the likely ones first."""
    found: dict[str, Mended] = {}
    queue: list[tuple[str, int, str, int]] = [(text, 0, "", 0)]
    steps = 0
    while queue and steps < _MAX_STEPS:
        present, depth, says, line = queue.pop(0)
        fault = syntax_fault(present, path)
        # The compiler stops at the first fault, so that how many there are shows only by mending one after the other.
        if fault is None or depth == _MAX_FAULTS:
            continue
        for new, what in _proposals(present, fault):
            steps += 1
            first = line or fault.lineno or 1
            words = f"{says}; {what}" if says else what
            if compiles(new, path):
                found.setdefault(new, Mended(text=new, says=words, line=first))
            # A change that moves the first fault down the file has mended something; one that moves it up has broken
            # more.
            elif _later(new, path, fault):
                queue.append((new, depth + 1, words, first))
    return tuple(found.values())


def _later(text: str, path: str, fault: SyntaxError) -> bool:
    """Whether the text's first fault lies behind the one before."""
    now = syntax_fault(text, path)
    return now is not None and (now.lineno or 0) > (fault.lineno or 0)


def _proposals(text: str, fault: SyntaxError) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    at = min(max((fault.lineno or 1) - 1, 0), len(lines) - 1)
    column = max((fault.offset or 1) - 1, 0)
    message = fault.msg or ""
    for line, says in (*_in_line(lines[at], column, message), *_any_line(lines[at])):
        yield "\n".join([*lines[:at], line, *lines[at + 1 :]]), says
    yield from _indentation(lines, at, message)


def _in_line(line: str, column: int, message: str) -> Iterator[tuple[str, str]]:
    """The line with a change at the place that the compiler names."""
    code, tail = _split_comment(line)
    if column < len(line):
        yield from _at_column(line, column, message)
    if "Maybe you meant '=='" in message or "invalid syntax" in message:
        for found in _EQUALS.finditer(code):
            # A plain `invalid syntax` names no reason, so that each `=` of the line is tried.
            yield f"{code[: found.start()]}=={code[found.end() :]}{tail}", "compares with `=`"
    if "Missing parentheses in call to 'print'" in message:
        call = re.match(r"(\s*)print\s+(.*)$", code)
        if call:
            yield f"{call[1]}print({call[2]}){tail}", "lacks the brackets of `print`"
    if "forgot a comma" in message:
        yield from ((f"{code[:place]},{code[place:]}{tail}", "lacks a comma") for place in _gaps(code))


def _at_column(line: str, column: int, message: str) -> Iterator[tuple[str, str]]:
    """Brackets and quotes: the message names one, and the column is its place."""
    code, tail = _split_comment(line)
    if "was never closed" in message:
        # The compiler names where the bracket opens, not where it should close: the end of that line is the usual
        # place.
        closer = _CLOSERS.get(line[column], "")
        if code.endswith(":"):
            yield f"{code[:-1]}{closer}:{tail}", f"lacks a `{closer}`"
        yield f"{code}{closer}{tail}", f"lacks a `{closer}`"
    elif found := re.search(r"does not match opening parenthesis '(.)'", message):
        closer = _CLOSERS.get(found[1], "")
        yield line[:column] + closer + line[column:], f"lacks a `{closer}`"
    elif message.startswith("unmatched"):
        yield line[:column] + line[column + 1 :], f"has a `{line[column]}` too many"
    elif "unterminated string" in message:
        inner = line.rstrip()
        closing = re.search(r"[)\]}:,]*$", inner)
        for at in dict.fromkeys((closing.start() if closing else len(inner), len(inner))):
            yield f"{inner[:at]}{line[column]}{inner[at:]}", "has a string without an end"


def _any_line(line: str) -> Iterator[tuple[str, str]]:
    code, tail = _split_comment(line)
    opens = re.match(r"\s*(if|elif|else|for|while|def|class|try|except|finally|with|async)\b", code)
    if opens and not code.endswith(":"):
        yield f"{code}:{tail}", "lacks a colon"
    for opener, closer in _CLOSERS.items():
        if code.count(opener) > code.count(closer):
            end = code.removesuffix(":")
            yield f"{end}{closer}{code[len(end) :]}{tail}", f"lacks a `{closer}`"
            yield f"{end}{closer}:{tail}", f"lacks a `{closer}`"
        elif code.count(opener) < code.count(closer):
            place = code.rindex(closer)
            yield f"{code[:place]}{code[place + 1 :]}{tail}", f"has a `{closer}` too many"


def _indentation(lines: list[str], at: int, message: str) -> Iterator[tuple[str, str]]:
    previous = next((line for line in reversed(lines[:at]) if line.strip()), "")
    indent, width = _indent(lines[at]), _indent(previous)
    if "expected an indented block" in message:
        inner = width + ("\t" if "\t" in width else "    ")
        last = at
        while last + 1 < len(lines) and lines[last + 1].strip() and _indent(lines[last + 1]) == indent:
            last += 1
        for end in dict.fromkeys((at, last)):
            moved = [inner + line[len(indent) :] for line in lines[at : end + 1]]
            yield "\n".join([*lines[:at], *moved, *lines[end + 1 :]]), "is not indented"
    elif "unexpected indent" in message or "unindent" in message:
        depths = dict.fromkeys([width, *(_indent(line) for line in reversed(lines[:at]) if line.strip())])
        # The line before it first, then the blocks around, from the inside out.
        for depth in [each for each in depths if each != indent][:4]:
            yield "\n".join([*lines[:at], depth + lines[at].lstrip(), *lines[at + 1 :]]), "is indented wrongly"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _split_comment(line: str) -> tuple[str, str]:
    """The code of a line, and its trailing white space and comment (a `#` inside a string is taken for code)."""
    found = re.match(r"""(?P<code>(?:[^#'"]|'[^']*'|"[^"]*")*?)(?P<tail>\s*(?:\#.*)?)$""", line)
    return (found["code"], found["tail"]) if found else (line.rstrip(), "")


def _gaps(code: str) -> list[int]:
    """Places between two values that stand side by side."""
    return [found.end(1) for found in re.finditer(r"([\w)\]}\"'])\s+(?=[\w(\[{\"'])", code)]

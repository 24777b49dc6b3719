"""Other inputs for a program, to see whether what it prints depends on them."""

from collections.abc import Iterator, Mapping
from posixpath import basename

from codur.lazy import regex
from codur.workspace.workspace import Workspace

_READS = regex(rb"\binput\s*\(|\bstdin\b|\bfileinput\b|/dev/stdin|\bopen\s*\(\s*0\b")
_NUMBER = regex(rb"\d+")
_WORD = regex(rb"[A-Za-z]+")


def is_read(stdin_file: str, before: Mapping[str, bytes | None], workspace: Workspace) -> bool:
    """Whether the program reads, or read before its change, the file that is its standard input."""
    name = basename(stdin_file).encode()
    present = [workspace.read_bytes(path) for path in before if workspace.is_file(path)]
    texts = [text for text in (*before.values(), *present) if text]
    return any(_READS.search(text) or name in text for text in texts)


def others(data: bytes) -> Iterator[bytes]:
    """Inputs that differ from this one: with other numbers and words, with half of its lines, with none."""
    lines = data.splitlines(keepends=True)
    # Numbers first: a program that counts or computes answers otherwise, one that reads names may not notice other
    # words.
    changed = _NUMBER.sub(lambda found: str(int(found[0][:18]) + 1).encode(), data)
    yield changed if changed != data else _WORD.sub(lambda found: found[0][::-1] + b"q", data)
    yield b"".join(lines[: len(lines) // 2])
    yield b""

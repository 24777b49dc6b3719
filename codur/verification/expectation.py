"""What a prompt says about the check: the output it demands."""

from __future__ import annotations

import re
from collections.abc import Sequence


def stated_output(prompt: str) -> str | None:
    """The whole output that the prompt demands; None unless it says so clearly."""
    return None


_PROGRAM = re.compile(r"(?<![\w./~\\-])[\w./-]*\w\.py\b(?![\w/])")


def programs_named(prompt: str) -> tuple[str, ...]:
    """Paths of Python files that the prompt names outside fenced blocks, in its order, each once."""
    return tuple(dict.fromkeys(match[0].removeprefix("./") for match in _PROGRAM.finditer(without_fences(prompt))))


def without_fences(prompt: str) -> str:
    return re.sub(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", "", prompt, flags=re.DOTALL | re.MULTILINE)


def files_to_edit(prompt: str, paths: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Those of `paths` that the prompt asks to change."""
    return ()

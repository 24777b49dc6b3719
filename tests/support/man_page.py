"""Makes the man page from the help texts: python -m tests.support.man_page >docs/codur.1"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from codur.cli.app import HELP, program
from codur.config.reading.environment_variables import RESERVED

EXITS = {
    0: "Done: the check passes, or there was nothing to check.",
    1: "Not achieved.",
    2: "Wrong usage or settings.",
    3: "A model was needed, and none could be asked.",
    4: "A limit was reached: calls, tokens, money, time, attempts.",
    5: "Refused by policy or by you.",
    130: "Interrupted (143: told to end).",
}
_FILES = {
    "~/.config/codur/config.yaml": "Your settings; \\fBcodur config schema\\fR describes them.",
    "codur.yaml": "A project's settings, which can only narrow yours; \\fBcodur init\\fR writes one.",
    "~/.local/state/codur": "What runs keep, so that they can be shown, undone and gone on with.",
}


def man_page() -> str:
    """The page, in roff."""
    group: Any = program()
    top = group.make_context("codur", [], resilient_parsing=True)
    lines = ['.TH CODUR 1 "" "codur" "User Commands"', ".SH NAME", "codur \\- a coding agent whose fixes are checked"]
    lines += [".SH SYNOPSIS", ".B codur", "[\\fITASK\\fR | \\fICOMMAND\\fR] [\\fIOPTIONS\\fR]"]
    lines += [".SH DESCRIPTION", *_paragraphs(HELP), ".SH OPTIONS", *_options(group, top), ".SH COMMANDS"]
    for name, command in group.commands.items():
        lines += _command(f"codur {name}", command, top)
    lines += [".SH EXIT STATUS", *_listed({str(code): text for code, text in EXITS.items()})]
    lines += [".SH ENVIRONMENT", *_listed({name: f"{_escaped(text)}." for name, text in RESERVED.items()})]
    lines += _listed({"CODUR_SECTION__KEY": "A setting, such as CODUR_RUNTIME__MAX_LLM_CALLS."})
    return "\n".join([*lines, ".SH FILES", *_listed(_FILES)]) + "\n"


def _command(name: str, command: Any, parent: Any) -> Iterator[str]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    words = " ".join(part for part in command.collect_usage_pieces(context) if part != "COMMAND [ARGS]...")
    yield f".SS {_escaped(name)} {_escaped(words)}"
    yield from _paragraphs(command.help or "")
    yield from _options(command, context)
    for inner, below in getattr(command, "commands", {}).items():
        yield from _command(f"{name} {inner}", below, context)


def _options(command: Any, context: Any) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            yield from _listed({record[0]: _escaped(record[1])})


def _listed(texts: dict[str, str]) -> list[str]:
    return [line for name, text in texts.items() for line in (".TP", f"\\fB{_escaped(name)}\\fR", text or "\\&")]


def _paragraphs(text: str) -> Iterator[str]:
    for part in text.strip().split("\n\n"):
        yield from (".PP", _escaped(" ".join(part.split())))


def _escaped(text: str) -> str:
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    ascii_only = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in plain)
    return re.sub(r"^([.'])", r"\\&\1", ascii_only)


if __name__ == "__main__":
    sys.stdout.write(man_page())

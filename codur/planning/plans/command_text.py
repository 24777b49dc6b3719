"""References in the command line of a shell: where one may stand, so that what it names stays one word.

What a reference names is put in quoted (`shlex.quote`), which holds where the shell reads plain words. Within quotes of
the command, in a comment, a here-document, backquotes or arithmetic it does not: there it could end what it is in, and
begin a command of its own. (The places follow POSIX.1-2024, Shell Command Language, 2.2 Quoting and 2.6 Word
Expansions.)
"""

from __future__ import annotations

import re

from codur.planning.plans.step_references import REFERENCE

_ELSEWHERE = re.compile(r"`|<<|\(\(|\$\[")
"""What makes quotes mean something else after it, or around it."""
_TOKEN = re.compile(rf"(?P<reference>{REFERENCE.pattern})|\\.|\$'|(?:^|(?<=[\s;&|()]))#[^\n]*|'[^']*'?|.", re.DOTALL)
_IN_DOUBLE = re.compile(r'"(?:\\.|[^"\\])*"?', re.DOTALL)


def unprotected(command: str) -> str:
    """The first reference that stands where its value cannot be quoted; empty if there is none.

    A command that is one reference and nothing else is the named text itself, and is not looked at.
    """
    found = [match[0] for match in REFERENCE.finditer(command) if not match["escape"]]
    if not found or REFERENCE.fullmatch(command):
        return ""
    if _ELSEWHERE.search(command):
        return found[0]
    at, plain = 0, list[str]()
    while at < len(command):
        match = (_IN_DOUBLE if command[at] == '"' else _TOKEN).match(command, at)
        if match is None or match[0] == "$'":  # what ends such a string differs between shells
            break
        if match.re is _TOKEN and match["reference"] and not match["escape"]:
            plain.append(match[0])
        at = match.end()
    return next((name for name in dict.fromkeys(found) if found.count(name) > plain.count(name)), "")

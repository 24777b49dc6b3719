"""Random hostile texts, as many as wanted: the sanitiser lets nothing through, and does not care about chunks."""

from __future__ import annotations

import random
import re

from codur.ui.sanitise import sanitise

PIECES = (
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x1bP",
    "\x1b_",
    "\x1b^",
    "\x1bX",
    "\x1b\\",
    "\x9b",
    "\x9d",
    "\x90",
    "\x9c",
    "\x07",
    "\x08",
    "\r",
    "\n",
    "\t",
    "\x00",
    "\x7f",
    "0;title",
    "52;c;QQ==",
    "8;;http://a.b",
    "1337;File=:",
    "?1049h",
    "?1000h",
    "201~",
    "2J",
    "31m",
    "6n",
    ";",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u2028",
    "\u00ad",
    "\ud800",
    "\udc9b",
    "\udfff",
    "\U000e0041",
    "\U000e0100",
    "text",
    "世界",
    "😀",
    "\\x1b",
    "<U+202E>",
)
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def fuzz(count: int, *, seed: int) -> list[str]:
    """Sanitise `count` random texts.

    Returns:
        What went wrong, as texts that show it; empty if nothing did.
    """
    randomly = random.Random(seed)
    problems = []
    for _ in range(count):
        text = _text(randomly)
        shown = sanitise(text)
        if UNSAFE.search(shown) or sanitise(shown) != shown:
            problems.append(ascii(text))
    return problems


def _text(randomly: random.Random) -> str:
    pieces = randomly.choices(PIECES, k=randomly.randrange(1, 12))
    if randomly.random() < 0.3:
        pieces.append(chr(randomly.randrange(0x110000)))
    randomly.shuffle(pieces)
    return "".join(pieces)

"""The one sanitiser: foreign text made safe and honest for a terminal.

Escape sequences act through control characters, hidden or reordered text through format characters. Both are replaced
by visible text, each character on its own, whatever stands around it. So the result does not depend on where a text is
cut into chunks, a sanitised text stays as it is, and the time is linear. Ranges: Unicode categories Cc, Cf, Cs, Zl and
Zp and the property Default_Ignorable_Code_Point (Unicode 16, DerivedCoreProperties), without the Arabic, Syriac, Kaithi
and Egyptian signs that have a visible form, and without U+FE0E and U+FE0F, which only choose between text and emoji.
"""

import re
from typing import NewType

from codur.lazy import regex

Shown = NewType("Shown", str)
"""Text that may be written to a terminal: sanitised, or made of sanitised parts."""

_RANGES = (
    (0x00, 0x08),  # C0 without tab and line feed
    (0x0B, 0x1F),
    (0x7F, 0x9F),  # DEL and C1
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),  # combining grapheme joiner
    (0x61C, 0x61C),  # Arabic letter mark (BiDi)
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),  # zero width, BiDi marks
    (0x2028, 0x202E),  # line and paragraph separators, BiDi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, BiDi isolates
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),  # lone surrogates, among them undecodable bytes
    (0xFE00, 0xFE0D),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),  # tags and further variation selectors
)


def _character_class(ranges: tuple[tuple[int, int], ...]) -> re.Pattern[str]:
    return regex("[" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges) + "]")


_UNSAFE = _character_class(_RANGES)
_UNSAFE_IN_LINE = _character_class((*_RANGES, (0x0A, 0x0A)))
_FIRST_BYTE_SURROGATE, _LAST_BYTE_SURROGATE = 0xDC80, 0xDCFF


def _visible(char: str) -> str:
    code = ord(char)
    if char in "\r\n":
        return "\\r" if char == "\r" else "\\n"
    if code <= 0x9F:
        return f"\\x{code:02x}"
    if _FIRST_BYTE_SURROGATE <= code <= _LAST_BYTE_SURROGATE:
        return f"\\x{code - 0xDC00:02x}"
    return f"<U+{code:04X}>"


def sanitise(text: str, *, keep_newlines: bool = True) -> Shown:
    """Give `text` with every character that a terminal acts on, hides or reorders by replaced by visible text.

    Tabs stay. Line feeds stay unless `keep_newlines` is off, then they read `\\n`.
    """
    unsafe = _UNSAFE if keep_newlines else _UNSAFE_IN_LINE
    found = set(unsafe.findall(text))
    if not found:
        return Shown(text)
    return Shown(text.translate({ord(char): _visible(char) for char in found}))

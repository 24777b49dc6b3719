"""Foreign texts made fit for the files that they go to."""

from codur.lazy import regex

_SURROGATE = regex("[\ud800-\udfff]")
_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = regex(r"\s+")
# Controls, BiDi and zero-width characters: they act on a reader's eye instead of being seen.
UNSEEN = regex("[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_MARKDOWN = regex(r"([\\`*_{}\[\]|~$#!])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

REPLACEMENT = "\ufffd"


def encodable(text: str) -> str:
    """The text with lone surrogates, which no file can hold as UTF-8, replaced."""
    return _SURROGATE.sub(REPLACEMENT, text)


def visible(text: str) -> str:
    """The encodable text with the characters named that act on a reader's eye instead of being seen."""
    return UNSEEN.sub(lambda found: f"(U+{ord(found.group()):04X})", encodable(text))


def xml_text(text: str) -> str:
    """The text with every character replaced that XML 1.0 does not allow, not even escaped."""
    return _NOT_XML.sub(REPLACEMENT, text)


def markdown_cell(text: str, limit: int = 200) -> str:
    """The text as one cell of a Markdown table: one line, nothing in it is markup, at most `limit` characters of it."""
    line = _SPACE.sub(" ", visible(text)).strip()
    line = line if len(line) <= limit else f"{line[: limit - 1]}…"
    for char, entity in _ENTITIES.items():
        line = line.replace(char, entity)
    return _MARKDOWN.sub(r"\\\1", line)

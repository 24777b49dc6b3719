"""The sanitiser: known attacks, properties over all of Unicode, and fuzz."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codur.ui.sanitise import sanitise

ATTACKS = {
    "OSC 0 title": ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    "OSC 2 title, ended by ST": ("\x1b]2;owned\x1b\\", "\\x1b]2;owned\\x1b\\"),
    "OSC 8 link": ("\x1b]8;;http://a.b\x1b\\x\x1b]8;;\x1b\\", "\\x1b]8;;http://a.b\\x1b\\x\\x1b]8;;\\x1b\\"),
    "OSC 52 clipboard": ("\x1b]52;c;cm0=\x07", "\\x1b]52;c;cm0=\\x07"),
    "OSC 1337 file": ("\x1b]1337;File=inline=1:AA==\x07", "\\x1b]1337;File=inline=1:AA==\\x07"),
    "sixel": ("\x1bPq#0;2;0;0;0~-\x1b\\", "\\x1bPq#0;2;0;0;0~-\\x1b\\"),
    "kitty graphics (APC)": ("\x1b_Gf=24;AAAA\x1b\\", "\\x1b_Gf=24;AAAA\\x1b\\"),
    "DCS request": ("\x1bP$qm\x1b\\", "\\x1bP$qm\\x1b\\"),
    "PM and SOS": ("\x1b^pm\x1b\\\x1bXsos\x1b\\", "\\x1b^pm\\x1b\\\\x1bXsos\\x1b\\"),
    "colour": ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    "cursor and erase": ("\x1b[2A\x1b[2K\x1b[H", "\\x1b[2A\\x1b[2K\\x1b[H"),
    "device report": ("\x1b[6n\x1b[c", "\\x1b[6n\\x1b[c"),
    "alternate screen": ("\x1b[?1049h", "\\x1b[?1049h"),
    "mouse": ("\x1b[?1000h\x1b[?1006h", "\\x1b[?1000h\\x1b[?1006h"),
    "bracketed paste": ("\x1b[201~rm -rf\n", "\\x1b[201~rm -rf\n"),
    "full reset": ("\x1bc", "\\x1bc"),
    "carriage return overwrite": ("bad\rgood\r\n", "bad\\rgood\\r\n"),
    "backspace": ("bad\b\b\bgood", "bad\\x08\\x08\\x08good"),
    "bell, vertical tab, form feed": ("\x07\x0b\x0c", "\\x07\\x0b\\x0c"),
    "NUL, shift out, DEL": ("a\0b\x0ec\x7f", "a\\x00b\\x0ec\\x7f"),
    "8-bit C1": ("\x9b31m\x9d0;t\x9c\x90q\x85", "\\x9b31m\\x9d0;t\\x9c\\x90q\\x85"),
    "undecodable bytes": (b"\x9b31m\xff".decode("utf-8", "surrogateescape"), "\\x9b31m\\xff"),
    "unterminated": ("\x1b]0;never", "\\x1b]0;never"),
    "nested": ("\x1b]0;\x1b[31m\x1b]8;;\x07", "\\x1b]0;\\x1b[31m\\x1b]8;;\\x07"),
    "rebuilt by removal": ("\x1b\x1b[[31m31m", "\\x1b\\x1b[[31m31m"),
    "BiDi override": ("a\u202egpj.exe\u202c\u2066x\u2069\u200f", "a<U+202E>gpj.exe<U+202C><U+2066>x<U+2069><U+200F>"),
    "zero width": ("rm\u200b\u200c\u200d\u2060\ufeff", "rm<U+200B><U+200C><U+200D><U+2060><U+FEFF>"),
    "invisible letters": ("a\u3164\uffa0\u115f\u00ad\u034f", "a<U+3164><U+FFA0><U+115F><U+00AD><U+034F>"),
    "tags": ("\U000e0001\U000e0041\U000e007f", "<U+E0001><U+E0041><U+E007F>"),
    "variation selectors as data": ("x\ufe00\U000e0100", "x<U+FE00><U+E0100>"),
    "line and paragraph separators": ("a\u2028b\u2029c", "a<U+2028>b<U+2029>c"),
    "lone surrogates": ("\ud83d \ude00", "<U+D83D> <U+DE00>"),
}

HARMLESS = (
    "",
    "plain text\n\twith a tab\n",
    "`code` **bold** [red]markup[/red] :smile:",
    "Grüße, 世界, עברית, العربية, हिन्दी, ✔️ 😀",
    "already shown: \\x1b[31m <U+202E>",
)

VISIBLE_FORMAT_CHARS = {"\ufe0e", "\ufe0f"}
SIGNS_WITH_A_FORM = {chr(c) for c in range(0x600, 0x606)} | set("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
EGYPTIAN = {chr(code) for code in range(0x13430, 0x13440)}

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x9d\x90\x07\x08\r\n\t[];0m\\\u202e\u200b\ufeff\U000e0041\ud800\udcff"),
        st.characters(codec=None),
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_become_visible(name: str) -> None:
    text, shown = ATTACKS[name]
    assert sanitise(text) == shown


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert sanitise(text) == text


def test_line_feeds_can_be_shown_too() -> None:
    assert sanitise("a\r\nb\tc\n", keep_newlines=False) == "a\\r\\nb\tc\\n"


def test_no_character_of_unicode_slips_through() -> None:
    let_through = set()
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sanitise(char) == char:
            let_through.add(char)
    assert let_through <= SIGNS_WITH_A_FORM | EGYPTIAN | {"\n", "\t"}


def test_only_the_emoji_selectors_of_the_variation_selectors_stay() -> None:
    selectors = [chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))]
    assert {char for char in selectors if sanitise(char) == char} == VISIBLE_FORMAT_CHARS


@settings(deadline=None, database=None, max_examples=500)
@given(HOSTILE)
@example("\x1b[31m\udc9b\u202e\r\n")
def test_output_is_safe_and_stays_as_it_is(text: str) -> None:
    shown = sanitise(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert not any(0x7F <= ord(char) <= 0x9F or 0xD800 <= ord(char) <= 0xDFFF for char in shown)
    assert not any(unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF") for char in shown)
    assert sanitise(shown) == shown
    assert "\n" not in sanitise(text, keep_newlines=False)
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("unit", "shown"), [("\x1b", "\\x1b"), ("\r\u202e", "\\r<U+202E>"), ("ab\x1b]", "ab\\x1b]"), ("plain", "plain")]
)
def test_a_megabyte_of_the_worst_kind(unit: str, shown: str) -> None:
    assert sanitise(unit * (1_000_000 // len(unit))) == shown * (1_000_000 // len(unit))

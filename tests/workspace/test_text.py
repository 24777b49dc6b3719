"""Text keeps its bytes: encodings, byte order marks, line ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codur.workspace.problems import FileError
from codur.workspace.text import TextFile, decode, encode

DECODED = [
    ("a.txt", b"", TextFile(text="")),
    ("a.txt", b"a\nb\n", TextFile(text="a\nb\n")),
    ("a.txt", b"a\r\nb", TextFile(text="a\nb", newline="\r\n")),
    ("a.txt", b"a\rb\r", TextFile(text="a\nb\n", newline="\r")),
    ("a.txt", b"a\r\nb\nc\r\n", TextFile(text="a\nb\nc\n", newline="\r\n")),
    ("a.txt", b"\xef\xbb\xbfa\n", TextFile(text="a\n", bom=True)),
    ("a.txt", "é\n".encode(), TextFile(text="é\n")),
    ("a.txt", b"\xe9\n", TextFile(text="é\n", encoding="latin-1")),
    ("a.py", b"# coding: cp1252\nx = '\x80'\n", TextFile(text="# coding: cp1252\nx = '€'\n", encoding="cp1252")),
    (
        "a.py",
        b"#!x\n# -*- coding: koi8-r -*-\n\xc1\n",
        TextFile(text="#!x\n# -*- coding: koi8-r -*-\nа\n", encoding="koi8-r"),
    ),
    ("a.py", b"x = 1\n# coding: cp1252\n\xe9", TextFile(text="x = 1\n# coding: cp1252\né", encoding="latin-1")),
    ("a.py", b"# coding: no-such\n\xe9", TextFile(text="# coding: no-such\né", encoding="latin-1")),
    ("a.py", b"# coding: rot13\nx\n", TextFile(text="# coding: rot13\nx\n")),
]


@pytest.mark.parametrize(("path", "data", "expected"), DECODED)
def test_decode(path: str, data: bytes, expected: TextFile) -> None:
    assert decode(path, data) == expected
    assert encode(path, expected.text, data) == data


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfea\0", b"\x89PNG\r\n\x1a\n\xff", b"\xef\xbb\xbf\xff"])
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(FileError) as caught:
        decode("a.bin", data)
    assert (caught.value.code, caught.value.message) == ("binary", "a.bin is not a text file (or not in UTF-8)")


EDITED = [
    (b"a\r\nb\nc\r\n", "a\nB\nc\n", b"a\r\nB\nc\r\n"),
    (b"a\r\nb\nc\rd", "a\nb\nc\nd\ne", b"a\r\nb\nc\rd\re"),
    (b"a\nb\r\n", "b\n", b"b\r\n"),
    (b"a\r\nb\r\n", "a\nx\ny\nb\n", b"a\r\nx\r\ny\r\nb\r\n"),
    (b"a\r\n", "a\r\nb\r\n", b"a\r\nb\r\n"),
    (b"a\r\r\nb\n", "a\n\nb\nc\n", b"a\r\r\nb\nc\n"),
    (b"one", "one\ntwo\n", b"one\ntwo\n"),
    (b"\xef\xbb\xbfa\r\n", "é\n", b"\xef\xbb\xbf\xc3\xa9\r\n"),
    (b"\xe9\n", "éé\n", b"\xe9\xe9\n"),
]


@pytest.mark.parametrize(("before", "text", "after"), EDITED)
def test_encode_keeps_the_form(before: bytes, text: str, after: bytes) -> None:
    assert encode("a.txt", text, before) == after


def test_encode_follows_a_changed_cookie() -> None:
    before = b"# coding: latin-1\nx = '\xe9'\n"
    assert encode("a.py", "# coding: utf-8\nx = 'é'\n", before) == "# coding: utf-8\nx = 'é'\n".encode()
    assert encode("a.py", "x = 'é'\n", before) == "x = 'é'\n".encode()


@pytest.mark.parametrize(
    ("path", "before", "text", "message"),
    [
        ("a.txt", b"\xe9\n", "é\n→", "a.txt is encoded in latin-1, which has no '→' (line 2)"),
        ("a.txt", None, "\ud800", "a.txt is encoded in utf-8, which has no '\\ud800' (line 1)"),
        ("a.py", None, "# coding: rot13\n", "a.py declares the unknown encoding rot-13"),
    ],
)
def test_text_that_does_not_fit(path: str, before: bytes | None, text: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        encode(path, text, before)
    assert (caught.value.code, caught.value.message) == ("invalid", message)


LINE = st.tuples(st.sampled_from(["a", "b", "", "xy"]), st.sampled_from(["\n", "\r\n", "\r"]))


@settings(max_examples=150, deadline=None)
@given(st.lists(LINE, max_size=8), st.lists(st.sampled_from(["new", "x", ""]), max_size=3), st.integers(0, 8))
def test_untouched_lines_keep_their_bytes(lines: list[tuple[str, str]], new: list[str], at: int) -> None:
    """Lines put in anywhere leave those before and after as they were."""
    before = "".join(body + end for body, end in lines).encode()
    text = decode("a.txt", before).text
    assert encode("a.txt", text, before) == before
    parts = text.split("\n")
    at = min(at, len(parts) - 1)
    after = encode("a.txt", "\n".join([*parts[:at], *[f"+{item}" for item in new], *parts[at:]]), before)
    assert decode("a.txt", after).text.split("\n") == [*parts[:at], *[f"+{item}" for item in new], *parts[at:]]
    split = before.replace(b"\r\n", b"\x01").replace(b"\r", b"\x02").replace(b"\n", b"\x03")
    kept = after.replace(b"\r\n", b"\x01").replace(b"\r", b"\x02").replace(b"\n", b"\x03")
    ends = [bytes([byte]) for byte in split if byte in b"\x01\x02\x03"]
    kept_ends = [bytes([byte]) for byte in kept if byte in b"\x01\x02\x03"]
    assert kept_ends[:at] == ends[:at]
    assert kept_ends[len(kept_ends) - (len(ends) - at) :] == ends[at:]

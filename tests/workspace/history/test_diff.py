"""Diffs of file contents."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from codur.workspace.history.diff import FileChange, line_counts, merged


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (b"a\nb\n", b"a\nc\n", (1, 1)),
        (None, b"a\nb\n", (2, 0)),
        (b"a\nb\n", None, (0, 2)),
        (b"-- x\n", b"++ y\n", (1, 1)),
        (b"a\n", b"a\n", (0, 0)),
    ],
)
def test_line_counts(before: bytes | None, after: bytes | None, counts: tuple[int, int]) -> None:
    assert line_counts(before, after) == counts


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"caf\xe9\r\n", b"th\xe9\r\n"),
        (None, b"\0\xff"),
        (b"\0\xff", None),
        (b"", b"\xe9" * 53),
        (b"\0", b""),
        (Random(1).randbytes(5_000), Random(2).randbytes(5_001)),
        (bytes(range(256)) * 9, bytes(reversed(range(256)))),
    ],
)
@pytest.mark.parametrize("path", ["data.bin", "d/ä b.txt"])
def test_git_applies_a_binary_diff_to_the_byte_and_takes_it_back(
    before: bytes | None, after: bytes | None, path: str, tmp_path: Path
) -> None:
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    if before is not None:
        file.write_bytes(before)
    change = FileChange(path=path, before=before, after=after, mode_before=0o644, mode_after=0o755)
    patch = change.binary_diff()
    for words, wanted in (((), after), (("-R",), before)):
        subprocess.run(["git", "apply", *words], cwd=tmp_path, input=patch.encode(), check=True)
        assert (file.read_bytes() if file.exists() else None) == wanted
    assert patch.replace(path, "").isascii()


@pytest.mark.parametrize(
    ("now", "by_run", "original"),
    [
        # a newline at the end that the run put there, and a line of the user's behind it
        (b"def a():\n    return 1\nprint(a())\n", b"def a():\n    return 1\n", b"def a():\n    return 1"),
        # a function that the run put at the end, and the user goes on with it; likewise at the beginning
        (b"a = 1\ndef b(x):\n    y = x\n    return y\n", b"a = 1\ndef b(x):\n    y = x\n", b"a = 1\n"),
        (b"import os\n@cache\ndef a(): ...\n", b"@cache\ndef a(): ...\n", b"def a(): ...\n"),
        # lines of which so many are equal that a comparison takes minutes
        (b"x\nz\n" * 1000, b"x\ny\n" * 1000, b"w\n" + b"x\ny\n" * 1000),
    ],
)
def test_what_was_changed_beside_a_change_is_in_its_way(now: bytes, by_run: bytes, original: bytes) -> None:
    assert merged(now, by_run, original) is None


def test_what_was_changed_elsewhere_stays() -> None:
    assert merged(b"import os\na\nb\nC\nd\n", b"a\nb\nC\nd\n", b"a\nb\nc\nd\n") == b"import os\na\nb\nc\nd\n"

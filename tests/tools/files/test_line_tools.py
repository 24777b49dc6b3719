"""Tools that work on lines by their numbers, several files at once, and directories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox

START = b"one\r\ntwo\r\nthree"


@pytest.mark.parametrize(
    ("name", "arguments", "after"),
    [
        ("replace_lines", {"start_line": 2, "end_line": 2, "content": "2"}, b"one\r\n2\r\nthree"),
        ("replace_lines", {"start_line": 2, "end_line": 3, "content": "2\n3\n4\n"}, b"one\r\n2\r\n3\r\n4\r\n"),
        ("replace_lines", {"start_line": 1, "end_line": 2, "content": ""}, b"three"),
        ("replace_lines", {"start_line": 3, "end_line": 3, "content": ""}, b"one\r\ntwo\r\n"),
        ("inject_lines", {"after_line": 0, "content": "zero"}, b"zero\r\none\r\ntwo\r\nthree"),
        ("inject_lines", {"after_line": 1, "content": "a\r\nb\r\n"}, b"one\r\na\r\nb\r\ntwo\r\nthree"),
        ("inject_lines", {"after_line": 3, "content": "four\n"}, b"one\r\ntwo\r\nthree\r\nfour"),
    ],
)
def test_only_these_lines_change(
    tmp_path: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], after: bytes
) -> None:
    (tmp_path / "a.txt").write_bytes(START)
    result = toolbox.call(name, {"path": "a.txt", **arguments})
    assert (result.code, result.changed_files) == ("ok", ("a.txt",))
    assert (tmp_path / "a.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        (
            "replace_lines",
            {"path": "a.txt", "start_line": 3, "end_line": 4, "content": "x"},
            "invalid",
            "a.txt has lines 1 to 3; give start_line and end_line among them",
        ),
        (
            "replace_lines",
            {"path": "a.txt", "start_line": 2, "end_line": 1, "content": "x"},
            "invalid",
            "a.txt has lines 1 to 3; give start_line and end_line among them",
        ),
        (
            "replace_lines",
            {"path": "x", "start_line": 1, "end_line": 1, "content": ""},
            "not_found",
            "there is no file x",
        ),
        (
            "inject_lines",
            {"path": "a.txt", "after_line": 4, "content": "x"},
            "invalid",
            "a.txt has lines 1 to 3; give after_line among them, or 0",
        ),
        (
            "inject_lines",
            {"path": "a.txt", "after_line": 1, "content": ""},
            "invalid",
            "content is empty; give the new lines",
        ),
        (
            "inject_lines",
            {"path": "b.bin", "after_line": 0, "content": "x"},
            "binary",
            "b.bin is not a text file (or not in UTF-8)",
        ),
        ("read_files", {"paths": []}, "invalid", "give 1 to 50 files"),
        ("read_files", {"paths": ["x", "b.bin"]}, "not_found", "there is no file x"),
        (
            "read_files",
            {"paths": ["../x"]},
            "refused",
            "'../x' is outside the workspace; name a file inside the workspace directory",
        ),
        ("list_dirs", {"depth": 0}, "invalid", "depth must be 1 or more"),
        ("list_dirs", {"path": "a.txt"}, "not_found", "there is no directory a.txt"),
    ],
)
def test_bad_input(
    tmp_path: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], code: str, text: str
) -> None:
    (tmp_path / "a.txt").write_bytes(START)
    (tmp_path / "b.bin").write_bytes(b"\0")
    result = toolbox.call(name, arguments)
    assert (result.code, result.text) == (code, text)
    assert (tmp_path / "a.txt").read_bytes() == START


def test_the_same_lines_are_no_change(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "a.txt").write_bytes(START)
    result = toolbox.call("replace_lines", {"path": "a.txt", "start_line": 2, "end_line": 2, "content": "two\n"})
    assert (result.text, result.changed_files) == ("a.txt has these lines already", ())


def test_read_files(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "a.txt").write_bytes(START)
    (tmp_path / "b.bin").write_bytes(b"\0")
    (tmp_path / "l.txt").write_bytes("grün\n".encode("latin-1"))
    result = toolbox.call("read_files", {"paths": ["a.txt", "b.bin", "l.txt", "./a.txt"]})
    assert result.text == (
        "=== a.txt ===\none\ntwo\nthree\n\n=== b.bin ===\n(b.bin is not a text file (or not in UTF-8))\n\n"
        "=== l.txt ===\ngrün\n"
    )
    assert result.data["failed"] == {"b.bin": "binary"}
    assert [item["total_lines"] for item in result.data["files"]] == [3, 1]


def test_directories(tmp_path: Path, toolbox: Toolbox) -> None:
    for path in ("src/app/deep", "empty", "node_modules/x", "gone/x", ".git/objects"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("gone/\n")
    assert toolbox.call("list_dirs", {}).text.split("\n") == ["empty", "src", "src/app", "src/app/deep"]
    assert toolbox.call("list_dirs", {"depth": 1}).data == {"directories": ["empty", "src"], "complete": True}
    assert toolbox.call("list_dirs", {"path": "src", "depth": 1}).text == "src/app"
    assert toolbox.call("list_dirs", {"path": "empty"}).text == "no directories in empty"

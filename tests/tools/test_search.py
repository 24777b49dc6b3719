"""Listing and searching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.tools.files.grep import _surely_fast
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.tools.conftest import toolbox_on

APP = ["src/", "src/app/", "src/app/main.py", "src/app/util.py"]
TREE = ["a.py", "docs/Guide.md", "src/app/main.py", "src/app/util.py"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in TREE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"# {path}\ndef f():\n    return 'a.b'\n")
    (tmp_path / "docs" / "Guide.md").write_bytes(b"The END\r\naxb\r\n")
    (tmp_path / "data.bin").write_bytes(b"\0def f")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.py").write_text("def f(): pass\n")
    return tmp_path


def found(*matches: tuple[str, int, str]) -> ToolResult:
    return ToolResult(
        text="\n".join(f"{path}:{line}: {text}" for path, line, text in matches),
        data={
            "matches": [{"path": path, "line": line, "text": text} for path, line, text in matches],
            "complete": True,
        },
    )


def files(*paths: str, text: str | None = None) -> ToolResult:
    return ToolResult(text="\n".join(paths) if text is None else text, data={"files": list(paths), "complete": True})


CALLS: list[tuple[str, dict[str, Any], ToolResult]] = [
    ("list_files", {}, files("a.py", "data.bin", *TREE[1:])),
    ("list_files", {"path": "src", "pattern": "*.py"}, files("src/app/main.py", "src/app/util.py")),
    ("list_files", {"pattern": "*.rs"}, files(text="no files match *.rs in .")),
    ("list_files", {"path": "no"}, ToolResult(code="not_found", text="there is no directory no")),
    ("search_files", {"query": "GUIDE"}, files("docs/Guide.md")),
    ("search_files", {"query": "main*"}, files("src/app/main.py")),
    ("search_files", {"query": "app/u"}, files("src/app/util.py")),
    ("search_files", {"query": "zzz"}, files(text="no file's name matches zzz")),
    ("search_files", {"query": " "}, ToolResult(code="invalid", text="query is empty; give a part of the name")),
    (
        "file_tree",
        {},
        ToolResult(
            text="./\n  a.py\n  data.bin\n  docs/\n    Guide.md\n  src/\n    app/\n      main.py\n      util.py",
            data={
                "path": "",
                "entries": [*["a.py", "data.bin", "docs/", "docs/Guide.md"], *APP],
                "complete": True,
            },
        ),
    ),
    (
        "file_tree",
        {"path": "src", "depth": 1},
        ToolResult(text="src/\n  app/", data={"path": "src", "entries": ["app/"], "complete": True}),
    ),
    ("file_tree", {"depth": 0}, ToolResult(code="invalid", text="depth must be 1 or more")),
    (
        "grep_files",
        {"pattern": "a.b", "path": "src"},
        found(("src/app/main.py", 3, "    return 'a.b'"), ("src/app/util.py", 3, "    return 'a.b'")),
    ),
    ("grep_files", {"pattern": "the end", "ignore_case": True}, found(("docs/Guide.md", 1, "The END"))),
    ("grep_files", {"pattern": "^a.b$", "regex": True}, found(("docs/Guide.md", 2, "axb"))),
    ("grep_files", {"pattern": "A.B$", "regex": True, "ignore_case": True}, found(("docs/Guide.md", 2, "axb"))),
    ("grep_files", {"pattern": "def", "glob": "a.*"}, found(("a.py", 2, "def f():"))),
    ("grep_files", {"pattern": "def", "path": "a.py"}, found(("a.py", 2, "def f():"))),
    (
        "grep_files",
        {"pattern": "def", "limit": 1},
        ToolResult(
            text="a.py:2: def f():\n… more than 1 matches; narrow the pattern or the path",
            data={"matches": [{"path": "a.py", "line": 2, "text": "def f():"}], "complete": False},
        ),
    ),
    (
        "grep_files",
        {"pattern": "zzz"},
        ToolResult(text="no line matches zzz", data={"matches": [], "complete": True}),
    ),
    (
        "grep_files",
        {"pattern": "a", "path": "data.bin"},
        ToolResult(code="binary", text="data.bin is not a text file (or not in UTF-8)"),
    ),
    (
        "grep_files",
        {"pattern": ""},
        ToolResult(code="invalid", text="what is looked for must be one line of text that is not empty"),
    ),
    (
        "grep_files",
        {"pattern": "(", "regex": True},
        ToolResult(
            code="invalid",
            text="the pattern is no regular expression: missing ), unterminated subpattern at position 0",
        ),
    ),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_call(root: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], expected: ToolResult) -> None:
    assert toolbox.call(name, arguments) == expected


def test_a_pattern_that_takes_for_ever_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 60 + "\n")
    result = toolbox_on(tmp_path, timeout_s=0.3).call("grep_files", {"pattern": "(a+)+b", "regex": True})
    assert result == ToolResult(
        code="timeout", text="the search took too long; use a simpler pattern or a narrower path"
    )


def test_more_files_than_are_shown(tmp_path: Path, toolbox: Toolbox) -> None:
    for number in range(2005):
        (tmp_path / f"{number:04}.txt").touch()
    result = toolbox.call("list_files", {})
    assert result.text.endswith("1999.txt\n… more than 2000 files; give a narrower path or pattern")
    assert (len(result.data["files"]), result.data["complete"]) == (2000, False)


def test_a_file_too_large_to_read_is_told_only_if_it_can_hold_a_match(tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("needle\n")
    (tmp_path / "plain.log").write_bytes(b"nothing\n" * 200_000)
    (tmp_path / "full.log").write_bytes(b"nothing\n" * 200_000 + b"NEEDLE\n")
    toolbox = toolbox_on(tmp_path)
    exact = toolbox.call("grep_files", {"pattern": "needle"})
    either = toolbox.call("grep_files", {"pattern": "needle", "ignore_case": True})
    unclear = toolbox.call("grep_files", {"pattern": "need|x", "regex": True})
    assert exact == found(("small.txt", 1, "needle"))
    assert either.text.endswith("not searched (too large, not readable, or may hold secrets): full.log")
    assert unclear.text.endswith("not searched (too large, not readable, or may hold secrets): full.log, plain.log")


@pytest.mark.parametrize("pattern", ["need+le", "n.*e", "[el]{2}", "(ne)+d", r"\w+$", "^#? x", "e|x", "(.)o\\1"])
def test_expressions_give_the_same_in_this_process_and_in_another(tmp_path: Path, pattern: str) -> None:
    text = "needle\nneedddle x\n# x\nnothing\nfoo\n"
    (tmp_path / "short.txt").write_text(text)
    (tmp_path / "long.txt").write_text(f"{text}{'-' * 50_000}\n")
    toolbox = toolbox_on(tmp_path)
    short, long = (
        toolbox.call("grep_files", {"pattern": pattern, "regex": True, "path": f"{name}.txt"})
        for name in ("short", "long")
    )
    lines = [row.partition(":")[2] for row in short.text.split("\n")]
    assert lines
    assert lines == [row.partition(":")[2] for row in long.text.split("\n")]


@pytest.mark.parametrize(
    ("pattern", "width", "fast"),
    [
        ("def f", 100, True),
        ("a+b", 100, True),
        ("a+b+", 100, False),
        ("(a|b)c", 100, False),
        (r"(a)\1", 100, False),
        ("(?=a)", 100, False),
        ("a+b", 100_000, False),
    ],
)
def test_only_searches_that_must_end_soon_run_in_this_process(pattern: str, width: int, fast: bool) -> None:
    assert _surely_fast(pattern, [("a.txt", "a" * width)]) is fast

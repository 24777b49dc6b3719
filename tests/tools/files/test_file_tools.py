"""Tools on single files: whole results, and what is on disk after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox
from codur.types import ToolResult


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\nthree")
    (tmp_path / "b.txt").write_text("x = 1\ny = 2\nx = 1\n")
    (tmp_path / "dir").mkdir()
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    (tmp_path / "empty.txt").write_text("")
    return tmp_path


def test_of_a_file_that_is_too_large_the_first_lines_can_be_read(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "orders.csv").write_text("id,amount\n" + "12345,678.90\n" * 100_000)
    result = toolbox.call("read_file", {"path": "orders.csv", "start_line": 1, "end_line": 2})
    assert result.text.startswith("id,amount\n12345,678.90\n… orders.csv has 1269 KiB, of which these ")
    assert isinstance(result.data, dict)
    assert 5_000 < result.data["total_lines"] < 6_000
    assert toolbox.call("replace_in_file", {"path": "orders.csv", "old": "id", "new": "no"}).code == "too_large"
    (tmp_path / "one.json").write_text("[" * 2_000_000)
    assert toolbox.call("read_file", {"path": "one.json"}).code == "too_large"


@pytest.mark.parametrize(
    ("source", "target", "naming"),
    [
        ("docs/guide.md", "docs/handbook.md", "README.md:1, docs/index.md:2, mkdocs.yml:1"),
        ("docs/README.md", "docs/start.md", "docs/index.md:3"),
        ("app/main.py", "app/cli.py", "app/run.py:1, app/run.py:2, pyproject.toml:1"),
        ("app/json.py", "app/codec.py", "app/own.py:1, app/sub/own.py:1, bin/own.py:1"),
        ("app/.py", "app/x.py", ""),
        ("lib/index.js", "lib/slug.js", "bin/cli.js:1"),
        ("mkdocs.yml", "site.yml", ""),
    ],
)
def test_what_still_names_a_moved_file_is_told(
    source: str, target: str, naming: str, tmp_path: Path, toolbox: Toolbox
) -> None:
    files = {
        "README.md": "[a](docs/guide.md#x)\nthe myguide.md, README.md and guide.mdx\n",
        "mkdocs.yml": "nav: [guide.md]\n",
        "docs/guide.md": "guide.md\n",
        "docs/index.md": "guide\n[b](./guide.md)\n[c](README.md)\n",
        "docs/README.md": "x\n",
        "app/main.py": "domain = 1\n",
        "app/run.py": "from app import main\nfrom .main import domain\nfrom other import main\nmain = 1\n",
        "app/json.py": "",
        "app/.py": "",
        "app/own.py": "from . import json\nfrom .. import json\nfrom .lib import json\n",
        "app/sub/own.py": "from ..json import a\nfrom .json import a\nfrom . import json\nimport json\n",
        "bin/own.py": "import app.json\nfrom json import a\nimport json\nfrom .json import a\n",
        "pyproject.toml": 'run = "app.main:go"\n',
        "lib/index.js": "",
        "bin/cli.js": "require('../lib/index.js')\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(text)
    result = toolbox.call("move_file", {"source": source, "target": target})
    told = f"; {source} is still named in {naming}" if naming else ""
    assert result.text == f"moved {source} to {target}{told}"


def view(start: int, end: int, total: int = 3) -> dict[str, Any]:
    return {"path": "a.txt", "start_line": start, "end_line": end, "total_lines": total}


def edit(path: str, action: str, count: int = 1, line: int | None = None) -> dict[str, Any]:
    return {"path": path, "action": action, "start_line": line, "end_line": None, "count": count}


CALLS: list[tuple[str, dict[str, Any], ToolResult, dict[str, bytes | None]]] = [
    ("read_file", {"path": "a.txt"}, ToolResult(text="one\ntwo\nthree", data=view(1, 3)), {}),
    (
        "read_file",
        {"path": "./a.txt", "start_line": 2, "end_line": 9},
        ToolResult(text="two\nthree", data=view(2, 3)),
        {},
    ),
    ("read_file", {"path": "a.txt", "end_line": 1}, ToolResult(text="one\n", data=view(1, 1)), {}),
    (
        "read_file",
        {"path": "empty.txt"},
        ToolResult(data={"path": "empty.txt", "start_line": 1, "end_line": 0, "total_lines": 0}),
        {},
    ),
    (
        "read_file",
        {"path": "a.txt", "start_line": 4},
        ToolResult(code="invalid", text="a.txt has lines 1 to 3; give start_line and end_line among them"),
        {},
    ),
    ("read_file", {"path": "no.txt"}, ToolResult(code="not_found", text="there is no file no.txt"), {}),
    ("read_file", {"path": "dir"}, ToolResult(code="not_a_file", text="dir is a directory, not a file"), {}),
    (
        "read_file",
        {"path": "data.bin"},
        ToolResult(code="binary", text="data.bin is not a text file (or not in UTF-8)"),
        {},
    ),
    (
        "write_file",
        {"path": "new/c.txt", "content": "1\n2\n"},
        ToolResult(text="wrote new/c.txt (2 lines)", data=edit("new/c.txt", "made"), changed_files=("new/c.txt",)),
        {"new/c.txt": b"1\n2\n"},
    ),
    (
        "write_file",
        {"path": "a.txt", "content": "one\n2\n"},
        ToolResult(text="wrote a.txt (2 lines)", data=edit("a.txt", "changed"), changed_files=("a.txt",)),
        {"a.txt": b"one\r\n2\r\n"},
    ),
    (
        "write_file",
        {"path": "a.txt", "content": "one\ntwo\nthree"},
        ToolResult(text="a.txt has this text already", data=edit("a.txt", "none", 0)),
        {},
    ),
    (
        "write_file",
        {"path": ".git/config", "content": ""},
        ToolResult(
            code="refused",
            text=".git/config is protected and is not edited; edit it yourself if it must change",
        ),
        {},
    ),
    (
        "append_file",
        {"path": "a.txt", "content": "four\n"},
        ToolResult(text="added to a.txt (4 lines)", data=edit("a.txt", "changed"), changed_files=("a.txt",)),
        {"a.txt": b"one\r\ntwo\r\nthree\r\nfour\r\n"},
    ),
    (
        "append_file",
        {"path": "c.txt", "content": "x"},
        ToolResult(text="added to c.txt (1 lines)", data=edit("c.txt", "made"), changed_files=("c.txt",)),
        {"c.txt": b"x"},
    ),
    (
        "delete_file",
        {"path": "b.txt"},
        ToolResult(text="deleted b.txt", data=edit("b.txt", "deleted"), changed_files=("b.txt",)),
        {"b.txt": None},
    ),
    ("delete_file", {"path": "dir"}, ToolResult(code="not_a_file", text="dir is a directory, not a file"), {}),
    (
        "copy_file",
        {"source": "data.bin", "target": "dir"},
        ToolResult(
            text="copied data.bin to dir/data.bin", data=edit("dir/data.bin", "made"), changed_files=("dir/data.bin",)
        ),
        {"dir/data.bin": b"\0\1"},
    ),
    (
        "copy_file",
        {"source": "a.txt", "target": "b.txt"},
        ToolResult(code="refused", text="b.txt exists already; delete it first, or name another file"),
        {},
    ),
    (
        "move_file",
        {"source": "data.bin", "target": "sub/x.bin"},
        ToolResult(
            text="moved data.bin to sub/x.bin",
            data={"edits": [edit("data.bin", "deleted"), edit("sub/x.bin", "made")]},
            changed_files=("data.bin", "sub/x.bin"),
        ),
        {"data.bin": None, "sub/x.bin": b"\0\1"},
    ),
    (
        "replace_in_file",
        {"path": "a.txt", "old": "one\r\ntwo", "new": "1\n2\n2b"},
        ToolResult(
            text="replaced 1 place in a.txt",
            data=edit("a.txt", "changed", 1, 1),
            changed_files=("a.txt",),
        ),
        {"a.txt": b"1\r\n2\r\n2b\r\nthree"},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "x = 1", "new": "x = 3"},
        ToolResult(
            code="many_matches",
            text="b.txt has this text 2 times (lines 1, 3); give more around it, or all",
        ),
        {},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "x = 1", "new": "x = 3", "all": True},
        ToolResult(
            text="replaced 2 places in b.txt",
            data=edit("b.txt", "changed", 2, 1),
            changed_files=("b.txt",),
        ),
        {"b.txt": b"x = 3\ny = 2\nx = 3\n"},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "  y == 2", "new": ""},
        ToolResult(code="no_match", text="b.txt has no such text; the nearest is line 2: y = 2"),
        {},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "nothing like it", "new": ""},
        ToolResult(code="no_match", text="b.txt has no such text; read the file and copy from it"),
        {},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "", "new": "x"},
        ToolResult(code="invalid", text="old is empty; give the text to replace"),
        {},
    ),
    (
        "replace_in_file",
        {"path": "b.txt", "old": "y", "new": "y"},
        ToolResult(text="b.txt has this text already", data=edit("b.txt", "none", 0)),
        {},
    ),
]


@pytest.mark.parametrize(("name", "arguments", "expected", "changed"), CALLS)
def test_call(
    root: Path,
    toolbox: Toolbox,
    name: str,
    arguments: dict[str, Any],
    expected: ToolResult,
    changed: dict[str, bytes | None],
) -> None:
    before = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert toolbox.call(name, arguments) == expected
    after = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    wanted = {path: data for path, data in {**before, **changed}.items() if data is not None}
    assert after == wanted


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "keys.py", "content": 'KEY = "[redacted]"\nEND = 2\n'}),
        ("replace_in_file", {"path": "keys.py", "old": "END = 1", "new": "END = '[redacted]'"}),
        ("replace_file_content", {"path": "keys.py", "content": 'KEY = "[redacted]"\nEND = 2\n'}),
    ],
)
def test_the_mark_of_a_secret_does_not_replace_the_secret(
    name: str, arguments: dict[str, Any], root: Path, toolbox: Toolbox
) -> None:
    (root / "keys.py").write_text('KEY = "something secret"\nEND = 1\n')
    result = toolbox.call(name, arguments)
    told = "keys.py: [redacted] stands for a secret that is not shown; leave that part as it is"
    assert (result.code, result.text) == ("refused", told)
    assert (root / "keys.py").read_text() == 'KEY = "something secret"\nEND = 1\n'


def test_a_file_that_has_the_mark_itself_can_be_edited(root: Path, toolbox: Toolbox) -> None:
    (root / "marks.py").write_text('MARK = "[redacted]"\nEND = 1\n')
    assert toolbox.call("replace_in_file", {"path": "marks.py", "old": "END = 1", "new": "END = 2"}).code == "ok"
    assert (root / "marks.py").read_text() == 'MARK = "[redacted]"\nEND = 2\n'


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("if a:\n    b()", "if a:\n    c()\n    d()", "def f():\n    if a:\n        c()\n        d()\n    b()\n"),
        ("if a:\n        b()", "if a:\n        c()", "def f():\n    if a:\n        c()\n    b()\n"),
        ("        if a:\n            b()", "        c()", "def f():\n    c()\n    b()\n"),
        ("if a:\n    b()\n", "", "def f():\n    b()\n"),
        ("if a:\nb()", "if a:\nc()", "def f():\n    if a:\n        c()\n    b()\n"),
        ("def f():\nif a:\nb()", "c()", None),  # the lines are not off by the same
        ("  b()", "  c()", None),  # in two places
    ],
)
def test_a_piece_that_lacks_its_indentation_is_found(
    old: str, new: str, after: str | None, tmp_path: Path, toolbox: Toolbox
) -> None:
    text = "def f():\n    if a:\n        b()\n    b()\n"
    (tmp_path / "a.py").write_text(text)
    result = toolbox.call("replace_in_file", {"path": "a.py", "old": old, "new": new})
    assert (result.ok, (tmp_path / "a.py").read_text()) == (after is not None, text if after is None else after)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("all:\n\tgcc -o x\n\tstrip x\n", "    gcc -o x", "    gcc -O2 -o x"),  # tabs are not so many blanks
        ("def f():\n    x()\n", "        x()", "  y()"),  # less than what is too much
        ("xx = 1\nx = 2\n", "  x = 3", "  x = 4"),
    ],
)
def test_what_cannot_be_indented_as_it_is_there_is_no_edit(
    text: str, old: str, new: str, tmp_path: Path, toolbox: Toolbox
) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert toolbox.call("replace_in_file", {"path": "a.txt", "old": old, "new": new}).code == "no_match"
    assert (tmp_path / "a.txt").read_text() == text


def test_whole_lines_are_meant(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "a.txt").write_text("xx = 1\n\nx = 1\nx = 10\n")
    assert toolbox.call("replace_in_file", {"path": "a.txt", "old": "  x = 1", "new": "  x = 2\n  y = 3"}).ok
    assert (tmp_path / "a.txt").read_text() == "xx = 1\n\nx = 2\ny = 3\nx = 10\n"


def test_so_is_one_that_is_indented_by_tabs(tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "a.go").write_text("func f() {\n\tif a {\n\t\tb()\n\t}\n}\n")
    edit = {"path": "a.go", "old": "if a {\n\tb()\n}", "new": "if a {\n\tc()\n}"}
    assert toolbox.call("replace_in_file", edit).ok
    assert (tmp_path / "a.go").read_text() == "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n"


@pytest.mark.parametrize(
    "comment",
    [
        "# ... rest of the file unchanged ...",
        "// ... existing code ...",
        "# the rest remains the same",
        "/* … other */",
    ],
)
def test_a_comment_in_place_of_what_was_there_is_no_edit(comment: str, tmp_path: Path, toolbox: Toolbox) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    result = toolbox.call("write_file", {"path": "a.py", "content": f"x = 3\n{comment}\n"})
    assert (result.code, (tmp_path / "a.py").read_text()) == ("invalid", "x = 1\ny = 2\n")
    for fine in (
        "# the rest of the numbers\n",
        "print('...')  # other\n",
        "# others stay ...\n",
        "# existing users keep their plan...\n",
        "// other fields stay as they are\n",
        "# ... and the same for y\n",
        "# the previous value stays the same until reset\n",
    ):
        assert toolbox.call("write_file", {"path": "a.py", "content": fine}).ok

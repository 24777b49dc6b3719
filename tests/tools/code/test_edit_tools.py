"""Edits of definitions: the new file as a whole, and refusals that leave the file as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import ToolSettings
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.tools.conftest import toolbox_on

SHOP = '''"""Doc."""
import os

# about add
def add(a, b):   # odd   spacing
    return a-b  # wrong



@cache
@other(1)
async def load(x):
    return x
class Shop:
    """A shop."""
    rate = 1

    # about total
    def total(self): return 1

    @property
    def value(self):
        return self._v

    @value.setter
    def value(self, new):
        self._v = new

    class Inner:
        def total(self):
            return 2
def outer():
    def inner():
        return 1
    return inner
x = """
def add(a, b): in a text
"""

if __name__ == "__main__":
    print(add(1, 2))'''


def put(root: Path, text: str = SHOP) -> Path:
    path = root / "m.py"
    path.write_bytes(text.encode())
    return path


REPLACED: list[tuple[str, dict[str, str], str, str]] = [
    (
        "replace_function",
        {"name": "add", "code": "def add(a, b):\n    return a + b\n"},
        "def add(a, b):   # odd   spacing\n    return a-b  # wrong\n",
        "def add(a, b):\n    return a + b\n",
    ),
    (
        "replace_function",
        {"name": "add", "code": "```python\n# about add\ndef add(a, b):\n    return a + b\n```\n"},
        "def add(a, b):   # odd   spacing\n    return a-b  # wrong\n",
        "def add(a, b):\n    return a + b\n",
    ),
    (
        "replace_function",
        {"name": "load", "code": "async def load(x):\n    return await x"},
        "async def load(x):\n    return x\n",
        "async def load(x):\n    return await x\n",
    ),
    (
        "replace_function",
        {"name": "load", "code": "@cache\ndef load(x):\n    return x + 1"},
        "@cache\n@other(1)\nasync def load(x):\n    return x\n",
        "@cache\ndef load(x):\n    return x + 1\n",
    ),
    (
        "replace_function",
        {"name": "inner", "code": "def inner():\n  if True:\n    # why\n    return 2"},
        "    def inner():\n        return 1\n",
        "    def inner():\n        if True:\n            # why\n            return 2\n",
    ),
    (
        "replace_function",
        {"name": "outer.inner", "code": "\tdef inner():\n\t\treturn 3"},
        "    def inner():\n        return 1\n",
        "    def inner():\n        return 3\n",
    ),
    (
        "replace_function",
        {"name": "add", "code": "import math\nimport os\nfrom x import y\n\n\ndef add(a, b):\n    return math.e"},
        "import os\n\n# about add\ndef add(a, b):   # odd   spacing\n    return a-b  # wrong\n",
        "import os\nimport math\nfrom x import y\n\n# about add\ndef add(a, b):\n    return math.e\n",
    ),
    (
        "replace_function",
        {
            "name": "load",
            "code": "LIMIT = 3\n\n\n# why\ndef few(x):\n    return x < LIMIT\n\n\n"
            "async def load(x):\n    return few(x)\n\n\ndef most(x):\n    return x",
        },
        "@cache\n@other(1)\nasync def load(x):\n    return x\n",
        "LIMIT = 3\n\n\n# why\ndef few(x):\n    return x < LIMIT\n\n\n"
        "@cache\n@other(1)\nasync def load(x):\n    return few(x)\n\n\ndef most(x):\n    return x\n\n\n",
    ),
    (
        "replace_method",
        {
            "class_name": "Shop",
            "method_name": "total",
            "code": "def one():\n    return 1\n\ndef more(self):\n    return 2\n\ndef total(self):\n    return one()",
        },
        SHOP[SHOP.index("class Shop") : SHOP.index("    @property")],
        "\n\ndef one():\n    return 1\n\n\n"
        + SHOP[SHOP.index("class Shop") : SHOP.index("    # about total")]
        + "    def more(self):\n        return 2\n\n    # about total\n    def total(self):\n        return one()\n\n",
    ),
    (
        "replace_method",
        {
            "class_name": "Shop",
            "method_name": "total",
            "code": 'def total(self):\n    """Sum.\n\n    All.\n    """\n    text = """\nraw\n    """\n    return text',
        },
        "    def total(self): return 1\n",
        '    def total(self):\n        """Sum.\n\n        All.\n        """\n        text = """\nraw\n    """\n'
        "        return text\n",
    ),
    (
        "replace_method",
        {
            "class_name": "Inner",
            "method_name": "total",
            "code": "class Inner:\n    'Doc'\n    def total(self):\n        return 9",
        },
        "            return 2\n",
        "            return 9\n",
    ),
    (
        "replace_method",
        {
            "class_name": "Shop",
            "method_name": "value",
            "code": "@value.setter\ndef value(self, new):\n    self._v = int(new)",
        },
        "        self._v = new\n",
        "        self._v = int(new)\n",
    ),
    (
        "replace_method",
        {
            "class_name": "Shop",
            "method_name": "value",
            "code": "    @property\n    def value(self):\n        return 7\n",
        },
        "        return self._v\n",
        "        return 7\n",
    ),
    (
        "replace_class",
        {"name": "Inner", "code": "class Inner(Base):\n    pass"},
        "    class Inner:\n        def total(self):\n            return 2\n",
        "    class Inner(Base):\n        pass\n",
    ),
    (
        "inject_function",
        {"name": "sub", "code": "def sub(a, b):\n    return a - b"},
        '"""\n\nif __name__',
        '"""\n\n\ndef sub(a, b):\n    return a - b\n\n\nif __name__',
    ),
    (
        "inject_function",
        {"name": "sub", "code": "import re\ndef sub(a, b):\n    return a - b", "after": "add"},
        "import os\n\n# about add\ndef add(a, b):   # odd   spacing\n    return a-b  # wrong\n",
        "import os\nimport re\n\n# about add\ndef add(a, b):   # odd   spacing\n    return a-b  # wrong\n\n\n"
        "def sub(a, b):\n    return a - b\n",
    ),
    (
        "inject_function",
        {"name": "price", "code": "def price(self):\n    return 1", "class_name": "Shop"},
        "            return 2\n",
        "            return 2\n\n    def price(self):\n        return 1\n\n",
    ),
    (
        "inject_function",
        {"name": "price", "code": "def price(self):\n    return 1", "class_name": "Shop", "after": "total"},
        "    def total(self): return 1\n",
        "    def total(self): return 1\n\n    def price(self):\n        return 1\n",
    ),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("name", "arguments", "old", "new"), REPLACED)
def test_edit(
    tmp_path: Path, toolbox: Toolbox, name: str, arguments: dict[str, str], old: str, new: str, newline: str
) -> None:
    assert SHOP.count(old) == 1
    path = put(tmp_path, SHOP.replace("\n", newline))
    result = toolbox.call(name, {"path": "m.py", **arguments})
    assert (result.code, result.changed_files) == ("ok", ("m.py",)), result.text
    assert path.read_bytes() == SHOP.replace(old, new).replace("\n", newline).encode()


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "replace_function",
        {"name": "total_of", "code": "def total_of(): pass"},
        "not_found",
        "no function named total_of in m.py; it has: add, load, outer, outer.inner",
    ),
    (
        "replace_function",
        {"name": "total", "code": "def total(self): pass"},
        "not_found",
        "total is a method of Shop in m.py; use replace_method",
    ),
    (
        "replace_class",
        {"name": "Stop", "code": "class Stop: pass"},
        "not_found",
        "no class named Stop in m.py; it has: Shop, Shop.Inner",
    ),
    (
        "replace_method",
        {"class_name": "Shop", "method_name": "sum", "code": "def sum(self): pass"},
        "not_found",
        "no method named Shop.sum in m.py; it has: Shop.total, Shop.value",
    ),
    (
        "replace_method",
        {"class_name": "Shop", "method_name": "value", "code": "def value(self): pass"},
        "many_matches",
        "m.py defines method Shop.value 2 times (line 22 @property, line 26 @value.setter); "
        "give the decorators of the one that is meant, or use replace_in_file",
    ),
    (
        "replace_function",
        {"name": "add", "code": "def plus(a, b): pass"},
        "invalid",
        "the code must define add once, and nothing beside it but new helpers; it has plus",
    ),
    (
        "replace_function",
        {"name": "add", "code": "def add(a, b): pass\nadd(1, 2)"},
        "invalid",
        "the code must define add once, and nothing beside it but new helpers; it has add, a statement (add(1, 2))",
    ),
    (
        "replace_function",
        {"name": "add", "code": "def add(a, b): pass\ndef outer(): pass"},
        "invalid",
        "m.py has outer already: give each definition that changes an edit of its own",
    ),
    (
        "replace_function",
        {"name": "add", "code": "class add: pass"},
        "invalid",
        "the code must define add once, and nothing beside it but new helpers; it has add",
    ),
    (
        "replace_function",
        {"name": "add", "code": "return a + b"},
        "invalid",
        "the code must define add once, and nothing beside it but new helpers; it has a statement (return a + b)",
    ),
    (
        "replace_function",
        {"name": "add", "code": "# nothing"},
        "invalid",
        "the code is empty; give the whole definition",
    ),
    (
        "replace_function",
        {"name": "add", "code": "def add(a, b:\n    pass"},
        "syntax_error",
        "the code given line 1: '(' was never closed: def add(a, b:",
    ),
    (
        "replace_function",
        {"name": "add", "code": "    def add(a, b):\n        return )"},
        "syntax_error",
        "the code given line 2: unmatched ')': return )",
    ),
    (
        "replace_function",
        {"name": "add", "code": "```\nx\n```\n```\ny\n```"},
        "invalid",
        "give the code alone, or in exactly one fenced block",
    ),
    (
        "inject_function",
        {"name": "add", "code": "def add(a, b): pass"},
        "invalid",
        "m.py defines add already; use replace_function",
    ),
    (
        "inject_function",
        {"name": "f", "code": "def f(): pass", "after": "zzz"},
        "not_found",
        "nothing named zzz in m.py to put it after; it has: add, load, Shop, "
        "Shop.total, Shop.value, Shop.Inner, Shop.Inner.total, outer, outer.inner",
    ),
    (
        "replace_function",
        {"path": "no.py", "name": "f", "code": "def f(): pass"},
        "not_found",
        "there is no file no.py",
    ),
    (
        "replace_function",
        {"path": "m.txt", "name": "f", "code": "def f(): pass"},
        "invalid",
        "m.txt is not a Python file; use replace_in_file or replace_file_content",
    ),
    (
        "replace_function",
        {"path": "broken.py", "name": "f", "code": "def f(): pass"},
        "syntax_error",
        "broken.py line 1: invalid syntax: def f(:; "
        "the file does not parse, so use replace_file_content or replace_in_file",
    ),
    (
        "replace_function",
        {"path": "broken2.py", "name": "f", "code": "def f(): pass"},
        "syntax_error",
        "broken2.py line 2: expected an indented block after function definition on line 1: pass; "
        "the file does not parse, so use replace_file_content or replace_in_file",
    ),
    (
        "replace_file_content",
        {"path": "m.py", "content": "def f(:\n"},
        "syntax_error",
        "the edit was refused, since m.py line 1: invalid syntax: def f(:",
    ),
    (
        "replace_file_content",
        {"path": "long.txt", "content": "x"},
        "too_large",
        "long.txt has 201 lines, more than 200; change single definitions, or use replace_in_file",
    ),
    (
        "replace_file_content",
        {"path": "new.txt", "content": ""},
        "invalid",
        "new_code is empty; give the whole new text",
    ),
    (
        "inject_function",
        {"name": "m", "code": "def m(self): pass", "class_name": "One", "path": "one.py"},
        "invalid",
        "class One in one.py has its body on its first line; use replace_class",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "code", "text"), REFUSED)
def test_refused_edits_change_nothing(
    tmp_path: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], code: str, text: str
) -> None:
    put(tmp_path)
    (tmp_path / "m.txt").write_text("x\n")
    (tmp_path / "broken.py").write_text("def f(:\n    pass\n")
    (tmp_path / "broken2.py").write_text("def f():\npass\n")
    (tmp_path / "one.py").write_text("class One(\n    object): pass\n")
    (tmp_path / "long.txt").write_text("x\n" * 201)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = toolbox.call(name, {"path": "m.py", **arguments})
    assert result == ToolResult(code=result.code, text=text)
    assert result.code == code
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


OVERLOADS = """from typing import overload

@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x

if cond:
    def g(): return 1
else:
    def g(): return 2
"""


def test_overloads_and_variants(tmp_path: Path, toolbox: Toolbox) -> None:
    path = put(tmp_path, OVERLOADS)
    code = "def f(x):\n    return x * 2"
    assert toolbox.call("replace_function", {"path": "m.py", "name": "f", "code": code}).ok
    assert path.read_text() == OVERLOADS.replace("    return x\n", "    return x * 2\n")
    code = "@overload\ndef f(x: bytes) -> bytes: ..."
    result = toolbox.call("replace_function", {"path": "m.py", "name": "f", "code": code})
    assert (result.code, result.text.partition(";")[0]) == (
        "many_matches",
        "m.py defines function f 3 times (line 4 @overload, line 6 @overload, line 7)",
    )
    result = toolbox.call("replace_function", {"path": "m.py", "name": "g", "code": "def g(): return 3"})
    assert (result.code, result.text.partition(";")[0]) == (
        "many_matches",
        "m.py defines function g 2 times (line 11, line 13)",
    )


def test_tabs_stay_tabs(tmp_path: Path, toolbox: Toolbox) -> None:
    path = put(tmp_path, "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n\n\tdef g(self): pass\n")
    code = "def f(self):\n    if y:\n        # why\n        return call(1,\n                    2)\n    return 3"
    assert toolbox.call("replace_method", {"path": "m.py", "class_name": "A", "method_name": "f", "code": code}).ok
    assert path.read_text() == (
        "class A:\n\tdef f(self):\n\t\tif y:\n\t\t\t# why\n\t\t\treturn call(1,\n\t\t\t            2)\n\t\treturn 3\n\n"
        "\tdef g(self): pass\n"
    )


def test_encoding_and_mark_stay(tmp_path: Path, toolbox: Toolbox) -> None:
    latin = "# coding: latin-1\ndef f():\n    return 'é'\n".encode("latin-1")
    (tmp_path / "latin.py").write_bytes(latin)
    (tmp_path / "mark.py").write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n")
    for name in ("latin.py", "mark.py"):
        assert toolbox.call("replace_function", {"path": name, "name": "f", "code": "def f():\n    return 'è'"}).ok
    assert (tmp_path / "latin.py").read_bytes() == latin.replace(b"\xe9", b"\xe8")
    assert (tmp_path / "mark.py").read_bytes() == b"\xef\xbb\xbf" + "def f():\r\n    return 'è'\r\n".encode()
    result = toolbox.call("replace_function", {"path": "latin.py", "name": "f", "code": "def f(): return '→'"})
    assert (result.code, result.text) == ("invalid", "latin.py is encoded in iso8859-1, which has no '→' (line 2)")


def test_new_files(tmp_path: Path, toolbox: Toolbox) -> None:
    code = "import re\ndef f():\n    return re"
    assert toolbox.call("inject_function", {"path": "pkg/new.py", "name": "f", "code": code}) == ToolResult(
        text="added function f in pkg/new.py",
        data={"path": "pkg/new.py", "action": "made", "start_line": None, "end_line": None, "count": 1},
        changed_files=("pkg/new.py",),
    )
    assert (tmp_path / "pkg" / "new.py").read_text() == "import re\n\n\ndef f():\n    return re\n"
    content = "```python\nprint(1)\n```"
    assert toolbox.call("replace_file_content", {"path": "x.py", "content": content}).text == "wrote 1 lines in x.py"
    assert (tmp_path / "x.py").read_text() == "print(1)\n"
    assert toolbox.call("replace_file_content", {"path": "x.py", "content": "print(1)"}) == ToolResult(
        text="x.py has this code already",
        data={"path": "x.py", "action": "none", "start_line": None, "end_line": None, "count": 0},
    )


def test_the_whole_file_limit_is_a_setting(tmp_path: Path) -> None:
    path = put(tmp_path)
    arguments = {"path": "m.py", "content": "x = 1\n"}
    assert (
        toolbox_on(tmp_path, ToolSettings(whole_file_lines=10)).call("replace_file_content", arguments).code
        == "too_large"
    )
    assert path.read_text() == SHOP
    assert toolbox_on(tmp_path, ToolSettings(whole_file_lines=41)).call("replace_file_content", arguments).ok
    assert path.read_text() == "x = 1\n"


def test_a_file_that_is_empty_by_custom_is_made(tmp_path: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("replace_file_content", {"path": "pkg/py.typed", "new_code": ""}).ok
    assert (tmp_path / "pkg/py.typed").read_bytes() == b""

"""JSON, YAML, INI and TOML: the values in them, and what is told of files that hold none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox

JSON = '{\n    "name": "x",\n    "list": [1, 2,   3],\n    "deep": {"a": {"b": null}},\n    "last": 1.50\n}\n'
YAML = """\
# the service
name:   "web"   # quoted
80: port
tags:
    - a   # first
    - &b b
base: &base {x: 1,  y: 'two'}
nested:
    <<: *base
    on: yes
    off: [010, 12:30, 1e3, 0x1F, 2024-01-02, ~, "1", *b, .5]
    own: !Ref {a: !Sub text}
text: |
    one
    two
empty:
"""
INI = "; top\n[a]\nkey = 1  \n# about other\nother: two\n  three\nflag\n\n[b.c]\nx=\n"
TOML = 'title = "x"\n[tool.a]\nwhen = 2024-01-02T03:04:05Z\nlist = [1, 2]\n'
FILES = {"d.json": JSON, "d.yaml": YAML, "d.ini": INI, "d.toml": TOML}
OTHERS = ["010", "12:30", 1000.0, 31, "2024-01-02", None, "1", "b", 0.5]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("d.json", "", json.loads(JSON)),
        ("d.json", "list[-1]", 3),
        ("d.json", "/deep/a/b", None),
        ("d.json", "/list/0", 1),
        ("d.yaml", "base", {"x": 1, "y": "two"}),
        ("d.yaml", "nested", {"x": 1, "y": "two", "on": "yes", "off": OTHERS, "own": {"a": "text"}}),
        ("d.yaml", "tags[1]", "b"),
        ("d.yaml", "80", "port"),
        ("d.yaml", "['text']", "one\ntwo\n"),
        ("d.yaml", "empty", None),
        ("d.ini", "", {"a": {"key": "1", "other": "two\nthree", "flag": None}, "b.c": {"x": ""}}),
        ("d.ini", "a.other", "two\nthree"),
        ("d.ini", '["b.c"].x', ""),
        ("d.toml", "tool.a", {"when": "2024-01-02 03:04:05+00:00", "list": [1, 2]}),
    ],
)
def test_read(root: Path, toolbox: Toolbox, path: str, key: str, value: Any) -> None:
    result = toolbox.call("read_data", {"path": path, "key": key})
    assert result.ok, result.text
    assert result.data["value"] == value
    assert json.loads(result.text) == value


def test_an_earlier_name_is_the_same_tool(root: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("read_yaml", {"path": "d.yaml", "key": "tags[0]"}).data["value"] == "a"
    assert toolbox.call("read_ini", {"path": "d.ini", "section": "b.c"}).code == "not_found"
    assert toolbox.spec("read_toml").name == "read_data"


def test_a_tool_that_is_gone_names_what_does_its_work(toolbox: Toolbox) -> None:
    told = toolbox.call("set_yaml_value", {"path": "d.yaml", "key": "a", "value": 1})
    assert (told.code, told.text) == ("invalid", "there is no tool set_yaml_value; use replace_in_file.")


BAD: list[tuple[str, str, str | None, str, str]] = [
    ("x.json", "", '{"a": 1,\n "b" 2}', "syntax_error", "x.json line 2 column 6: Expecting ':' delimiter"),
    ("x.json", "", "NaN", "syntax_error", "x.json: NaN is not JSON"),
    ("x", "", "[" * 100_000, "syntax_error", "x: nested too deeply"),
    ("x.json", "a.b", '{"a": {"c": 1}}', "not_found", "x.json has no a.b; at b there is c"),
    ("x.json", "a[7]", '{"a": [1]}', "not_found", "x.json has no a[7]: there is a list of 1 at 7"),
    ("x.json", "a.z", '{"a": [1]}', "not_found", "x.json has no a.z: there is a list of 1 at z"),
    ("x.json", "a[[0]", "{}", "invalid", "'a[[0]' is no key; write it like a.b[0], a[\"x.y\"] or /a/b/0"),
    ("x.yaml", "", "a: [1\nb: 2\n", "syntax_error", "x.yaml line 2 column 2: expected ',' or ']', but got ':'"),
    (
        "x.yaml",
        "",
        "\x1f",
        "syntax_error",
        'x.yaml: unacceptable character #x001f: special characters are not allowed in "<unicode string>", position 0',
    ),
    ("x.yaml", "", "a: 'x\n", "syntax_error", "x.yaml line 2 column 1: found unexpected end of stream"),
    ("x.yaml", "", "a: &a [*a]\n", "invalid", "x.yaml has an alias that stands for what it is in"),
    ("x.yml", "", "a: 1\n---\nb: 2\n", "syntax_error", "x.yml line 2 column 1: but found another document"),
    ("x.yaml", "", "? [1, 2]\n: b\n", "syntax_error", "x.yaml line 1 column 3: found unhashable key"),
    ("x.yaml", "", "[" * 200 + "]" * 200, "too_large", "x.yaml is nested more than 100 levels deep"),
    ("x.ini", "", "k = v\n", "syntax_error", "x.ini line 1 column 1: there is no section before it"),
    ("x.cfg", "", "[a]\nk=1\n k\n[a]\n", "syntax_error", "x.cfg line 4 column 1: section 'a' already exists"),
    ("x.ini", "b", "[a]\n", "not_found", "x.ini has no b; at b there is a"),
    ("x.toml", "", "a = 1\nb = = 2\n", "syntax_error", "x.toml line 2 column 5: Invalid value"),
    ("x.toml", "", 'a = "', "syntax_error", "x.toml line 1 column 6: Unterminated string"),
    ("x.toml", "", "\0", "binary", "x.toml is not a text file (or not in UTF-8)"),
    ("x.yaml", "", None, "not_found", "there is no file x.yaml"),
]


@pytest.mark.parametrize(("path", "key", "text", "code", "told"), BAD)
def test_bad_input(
    tmp_path: Path, toolbox: Toolbox, path: str, key: str, text: str | None, code: str, told: str
) -> None:
    if text is not None:
        (tmp_path / path).write_text(text)
    result = toolbox.call("read_data", {"path": path, "key": key})
    assert (result.code, result.text) == (code, told)


def test_an_alias_bomb_is_too_large(tmp_path: Path, toolbox: Toolbox) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9)]
    (tmp_path / "x.yaml").write_text("\n".join(["l0: &l0 [a]", *levels]))
    result = toolbox.call("read_data", {"path": "x.yaml"})
    assert (result.code, result.text) == ("too_large", "x.yaml stands for more than 200000 values")


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("d.json", '"x",', '"x"', "d.json line 3 column 5: Expecting ',' delimiter"),
        ("d.yaml", "tags:", "tags: [", "d.yaml line 5 column 5: expected the node content, but found '-'"),
        ("d.toml", "list = [1", "list = [1 x", "d.toml line 4 column 11: Unclosed array"),
        ("d.ini", "[a]", "a", "d.ini line 2 column 1: there is no section before it"),
    ],
)
def test_an_edit_leaves_no_file_that_cannot_be_read(
    root: Path, toolbox: Toolbox, path: str, old: str, new: str, told: str
) -> None:
    text = (root / path).read_text()
    line = text[: text.index(old)].count("\n") + 1
    after = text.split("\n")[line - 1].replace(old, new, 1)
    calls: dict[str, dict[str, Any]] = {
        "replace_in_file": {"old": old, "new": new},
        "replace_lines": {"start_line": line, "end_line": line, "content": after},
        "write_file": {"content": text.replace(old, new, 1)},
    }
    for name, arguments in calls.items():
        result = toolbox.call(name, {"path": path, **arguments})
        assert result.code == "syntax_error", name
        assert result.text.startswith("with this edit "), result.text
        assert told in result.text
        assert (root / path).read_text() == text


def test_what_could_not_be_read_before_may_be_edited(root: Path, toolbox: Toolbox) -> None:
    (root / "tsconfig.json").write_text('{\n  // strict\n  "a": 1\n}\n')
    assert toolbox.call("replace_in_file", {"path": "tsconfig.json", "old": "1", "new": "2"}).ok
    assert toolbox.call("write_file", {"path": "new.json", "content": "{"}).ok

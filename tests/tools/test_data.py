"""JSON, YAML, INI and TOML: values in and out, and everything else in the file as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codur.tools.data.json_splice import splice
from codur.tools.data.keys import parse_key, with_value
from codur.tools.tool import ToolError
from codur.tools.toolbox import Toolbox

JSON = '{\n    "name": "x",\n    "list": [1, 2,   3],\n    "deep": {"a": {"b": null}},\n    "last": 1.50\n}\n'
YAML = """\
# the service
name:   "web"   # quoted
port: 80
plain: text
tags:
    - a   # first
    - b

nested:
    deep: {x: 1,  y: 'two'}
    on: yes
text: |
    one
    two
"""
INI = "; top\n[a]\nkey = 1  \n# about other\nother: two\n  three\nflag\n\n[b.c]\nx=\n"
TOML = 'title = "x"\n[tool.a]\nwhen = 2024-01-02T03:04:05Z\nlist = [1, 2]\n'
FILES = {"d.json": JSON, "d.yaml": YAML, "d.ini": INI, "d.toml": TOML, "dir/x": "", "bad.bin": "\0"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("read_json", {"path": "d.json"}, json.loads(JSON)),
        ("read_json", {"path": "d.json", "key": "list[-1]"}, 3),
        ("read_json", {"path": "d.json", "key": "/deep/a/b"}, None),
        ("read_yaml", {"path": "d.yaml", "key": "nested"}, {"deep": {"x": 1, "y": "two"}, "on": "yes"}),
        ("read_yaml", {"path": "d.yaml", "key": "tags[1]"}, "b"),
        ("read_yaml", {"path": "d.yaml", "key": "['text']"}, "one\ntwo\n"),
        (
            "read_ini",
            {"path": "d.ini"},
            {"a": {"key": "1", "other": "two\nthree", "flag": None}, "b.c": {"x": ""}},
        ),
        ("read_ini", {"path": "d.ini", "section": "a", "key": "Other"}, "two\nthree"),
        ("read_toml", {"path": "d.toml", "key": "tool.a"}, {"when": "2024-01-02 03:04:05+00:00", "list": [1, 2]}),
    ],
)
def test_read(root: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], value: Any) -> None:
    result = toolbox.call(name, arguments)
    assert result.ok, result.text
    assert result.data["value"] == value
    assert json.loads(result.text) == value


@pytest.mark.parametrize(
    ("name", "arguments", "old", "new"),
    [
        ("set_json_value", {"key": "name", "value": 'y "z"'}, '"x"', '"y \\"z\\""'),
        ("set_json_value", {"key": "list[1]", "value": {"a": 1}}, "2,", '{\n        "a": 1\n    },'),
        ("set_json_value", {"key": "list[3]", "value": 4}, "3]", "3, 4]"),
        ("set_json_value", {"key": "deep.a.c.d", "value": True}, "null}", 'null, "c": {\n        "d": true\n    }}'),
        ("set_json_value", {"key": "new", "value": None}, "1.50", '1.50,\n    "new": null'),
        ("set_yaml_value", {"key": "name", "value": "api"}, '"web"', '"api"'),
        ("set_yaml_value", {"key": "port", "value": 8080}, "80", "8080"),
        ("set_yaml_value", {"key": "plain", "value": "yes: no"}, "plain: text", "plain: 'yes: no'"),
        ("set_yaml_value", {"key": "plain", "value": "80"}, "plain: text", "plain: '80'"),
        ("set_yaml_value", {"key": "nested.deep.y", "value": "three"}, "'two'", "'three'"),
        ("set_yaml_value", {"key": "nested.deep.x", "value": False}, "x: 1", "x: false"),
        ("set_yaml_value", {"key": "tags[0]", "value": "c"}, "- a ", "- c "),
        ("set_yaml_value", {"key": "tags[2]", "value": "c"}, "- b\n", "- b\n    - c\n"),
        ("set_yaml_value", {"key": "nested.more", "value": "x"}, "on: yes\n", "on: yes\n    more: x\n"),
        (
            "set_yaml_value",
            {"key": "extra", "value": {"a": [1]}},
            "    two\n",
            "    two\nextra:\n    a:\n        - 1\n",
        ),
        ("set_ini_value", {"section": "a", "key": "key", "value": "2"}, "key = 1  ", "key = 2"),
        ("set_ini_value", {"section": "a", "key": "other", "value": "x"}, "other: two\n  three", "other: x"),
        ("set_ini_value", {"section": "a", "key": "flag", "value": "on"}, "flag\n", "flag = on\n"),
        ("set_ini_value", {"section": "a", "key": "new", "value": "n\nm"}, "flag\n", "flag\nnew = n\n    m\n"),
        ("set_ini_value", {"section": "b.c", "key": "x", "value": "1"}, "x=", "x= 1"),
        ("set_ini_value", {"section": "z", "key": "k", "value": "v"}, "x=\n", "x=\n\n[z]\nk = v\n"),
    ],
)
def test_set(root: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], old: str, new: str) -> None:
    path = f"d.{name.split('_')[1]}"
    result = toolbox.call(name, {"path": path, **arguments})
    assert (result.code, result.changed_files) == ("ok", (path,)), result.text
    assert (root / path).read_text() == FILES[path].replace(old, new, 1)
    again = toolbox.call(name, {"path": path, **arguments})
    assert (again.text, again.changed_files) == (f"{path} has this content already", ())


def test_windows_line_ends_stay(root: Path, toolbox: Toolbox) -> None:
    for name, arguments in (
        ("set_yaml_value", {"path": "d.yaml", "key": "port", "value": 1}),
        ("set_json_value", {"path": "d.json", "key": "last", "value": 1}),
        ("set_ini_value", {"path": "d.ini", "section": "a", "key": "key", "value": "2"}),
    ):
        path = root / str(arguments["path"])
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert toolbox.call(name, arguments).ok
        data = path.read_bytes()
        assert data.count(b"\r\n") == data.count(b"\n") > 5


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("write_json", {"path": "n.json", "value": {"ä": [1, None]}}, '{\n  "ä": [\n    1,\n    null\n  ]\n}\n'),
        ("write_json", {"path": "d.json", "value": {"a": 1}}, '{\n    "a": 1\n}\n'),
        ("write_yaml", {"path": "n.yaml", "value": {"a": ["no", 1, "x: y"]}}, "a:\n- no\n- 1\n- 'x: y'\n"),
        (
            "write_ini",
            {"path": "n.ini", "sections": {"a": {"k": 1, "on": True}, "b": {}}},
            "[a]\nk = 1\non = true\n\n[b]\n",
        ),
    ],
)
def test_write(root: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], text: str) -> None:
    result = toolbox.call(name, arguments)
    assert result.ok, result.text
    assert (root / arguments["path"]).read_text() == text


BAD: list[tuple[str, dict[str, Any], str | None, str, str]] = [
    ("read_json", {}, '{"a": 1,\n "b" 2}', "syntax_error", "x line 2 column 6: Expecting ':' delimiter"),
    ("read_json", {}, "NaN", "syntax_error", "the file holds NaN, which is no JSON"),
    ("read_json", {}, "[" * 100_000, "failed", "read_json failed: the file or the arguments are nested too deeply"),
    ("read_json", {"key": "a.b"}, '{"a": {"c": 1}}', "not_found", "x has no a.b; at b there is c"),
    ("read_json", {"key": "a[7]"}, '{"a": [1]}', "not_found", "x has no a[7]: there is a list of 1 at 7"),
    ("read_json", {"key": "a[[0]"}, "{}", "invalid", "'a[[0]' is no key; write it like a.b[0], a[\"x.y\"] or /a/b/0"),
    (
        "set_json_value",
        {"key": "a", "value": 1},
        "{",
        "syntax_error",
        "x line 1 column 2: Expecting property name enclosed in double quotes",
    ),
    ("set_json_value", {"key": "a.b", "value": 1}, '{"a": 3}', "not_found", "x has no object where b is asked for"),
    (
        "set_json_value",
        {"key": "a", "value": 1},
        '{"a": 3, "a": 4, "b": {"a": 1',
        "syntax_error",
        "x line 1 column 30: Expecting ',' delimiter",
    ),
    (
        "set_json_value",
        {"key": "a[5]", "value": 1},
        '{"a": [3]}',
        "not_found",
        "x has a list of 1 where 5 is asked for",
    ),
    ("read_yaml", {}, "a: [1\nb: 2\n", "syntax_error", "x line 2 column 2: expected ',' or ']', but got ':'"),
    ("read_yaml", {}, "a: &a [*a]\n", "invalid", "x has an alias that stands for what it is in"),
    ("read_yaml", {}, "a: 1\n---\nb: 2\n", "syntax_error", "x line 2 column 1: but found another document"),
    (
        "read_yaml",
        {},
        "a: 1\na: 2\n",
        "syntax_error",
        'x line 2 column 1: found duplicate key "a" with value "2" (original value: "1")',
    ),
    (
        "set_yaml_value",
        {"key": "a", "value": 1},
        "a: 'x\n",
        "syntax_error",
        "x line 2 column 1: found unexpected end of stream",
    ),
    ("read_ini", {}, "k = v\n", "syntax_error", "x line 1 column 1: there is no section before it"),
    ("read_ini", {}, "[a]\nk=1\n k\n[a]\n", "syntax_error", "x line 4 column 1: section 'a' already exists"),
    ("read_ini", {"key": "k"}, "[a]\n", "invalid", "give the section of the key, too"),
    ("read_ini", {"section": "b"}, "[a]\n", "not_found", "x has no b; there is a"),
    ("set_ini_value", {"section": "a]", "key": "k", "value": ""}, "[a]\n", "invalid", "'a]' is no name of a section"),
    ("set_ini_value", {"section": "a", "key": "k=", "value": ""}, "[a]\n", "invalid", "'k=' is no name of an option"),
    (
        "set_ini_value",
        {"section": "a", "key": "k", "value": "1\n\n[b]"},
        "[a]\n",
        "invalid",
        "a value of several lines must have neither empty ones nor comments",
    ),
    ("write_ini", {"sections": {"a": 1}}, None, "invalid", "section 'a' must be an object of options and their texts"),
    ("read_toml", {}, "a = 1\nb = = 2\n", "syntax_error", "x line 2 column 5: Invalid value"),
    ("read_toml", {}, 'a = "', "syntax_error", "x line 1 column 6: Unterminated string"),
    ("read_toml", {}, "\0", "binary", "x is not a text file (or not in UTF-8)"),
    ("read_yaml", {}, None, "not_found", "there is no file x"),
]


@pytest.mark.parametrize(("name", "arguments", "text", "code", "told"), BAD)
def test_bad_input(
    tmp_path: Path, toolbox: Toolbox, name: str, arguments: dict[str, Any], text: str | None, code: str, told: str
) -> None:
    if text is not None:
        (tmp_path / "x").write_text(text)
    result = toolbox.call(name, {"path": "x", **arguments})
    assert (result.code, result.text) == (code, told)
    assert (tmp_path / "x").exists() is (text is not None)
    assert text is None or (tmp_path / "x").read_text() == text


def test_an_alias_bomb_is_too_large(tmp_path: Path, toolbox: Toolbox) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9)]
    (tmp_path / "x").write_text("\n".join(["l0: &l0 [a]", *levels]))
    result = toolbox.call("read_yaml", {"path": "x"})
    assert (result.code, result.text) == ("too_large", "x stands for more than 200000 values")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.lists(st.sampled_from(["a", "b", "c", "[0]", "[-1]"]), max_size=3).map(
    lambda parts: ".".join(parts).replace(".[", "[")
)


@settings(max_examples=150, deadline=None)
@given(VALUES, KEYS, VALUES, st.sampled_from([None, 2, "\t"]))
def test_a_spliced_json_value_is_the_only_change(document: Any, key: str, value: Any, indent: int | str | None) -> None:
    text = json.dumps(document, indent=indent)
    try:
        wanted = with_value("x", document, parse_key(key), value)
    except ToolError:
        return
    after = splice(text, document, parse_key(key), value)
    assert json.loads(after) == wanted
    same = json.loads(splice(after, wanted, parse_key(key), value)) if "[-1]" not in key else wanted
    assert same == wanted


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(KEYS, VALUES)
def test_a_yaml_value_is_set_or_refused(tmp_path: Path, toolbox: Toolbox, key: str, value: Any) -> None:
    path = tmp_path / "x.yaml"
    text = "# top\na:\n  b: 'x'  # why\n  c: [1, 2]\n\nb: &anchor {a: 1}\n# end\nc: *anchor\n"
    path.write_text(text)
    result = toolbox.call("set_yaml_value", {"path": "x.yaml", "key": key, "value": value})
    if result.ok:
        before = {"a": {"b": "x", "c": [1, 2]}, "b": {"a": 1}, "c": {"a": 1}}
        wanted = with_value("x", before, parse_key(key), value)
        assert toolbox.call("read_yaml", {"path": "x.yaml"}).data["value"] == wanted
        return
    assert result.code in ("not_found", "invalid")
    assert path.read_text() == text

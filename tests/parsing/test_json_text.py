"""JSON in model text: what is read, and what is left alone because it was cut off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codur.parsing.json_text import find_json, load_strict, parse_json_object

FENCED = '```json\n{"a": 1}\n```'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  {"a": {"b": [1, 2]}}\n', {"a": {"b": [1, 2]}}),
        (FENCED, {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('~~~json\n{"a": 1}\n~~~', {"a": 1}),
        ('Here it is:\n```json\n{"a": 1}\n```\nGood luck with {"b": 2}!', {"a": 1}),
        ('The set {x} is small, so {"a": 1} it is.', {"a": 1}),
        ('Given {} the answer is {"a": 1}.', {"a": 1}),
        ("{}", {}),
        ('<think>maybe {"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": 0} is wrong</think>{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}),
        ('{"a": ",]", "b": "x,}",}', {"a": ",]", "b": "x,}"}),
        ("{'a': None, 'b': True, 'c': 'it is \"so\"'}", {"a": None, "b": True, "c": 'it is "so"'}),
        ("{'a': true, 'b': null, 'c': false}", {"a": True, "b": None, "c": False}),
        ("{'a': \"don't\", 'b': (1, 2)}", {"a": "don't", "b": [1, 2]}),
        ("{'path': '\\d+'}", {"path": "\\d+"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"code": "```python\\nx = {1\\n```"}', {"code": "```python\nx = {1\n```"}),
        ('```json\n{"code": "\n```python\nx = {\n```\n"}\n```', {"code": "\n```python\nx = {\n```\n"}),
        ('Use { to open a block. {"a": 1}', {"a": 1}),
        ('if (x) { return; } {"a": 1}', {"a": 1}),
        ('[1] says so: {"a": 1}', {"a": 1}),
        ('[{"a": 1}]', None),
        ("no JSON at all", None),
        ("", None),
        ("{x}", None),
        ("{{name}}", None),
        ("{1: 2}", None),
        ("{'a': {1, 2}}", None),
        ("{'a': __import__('os')}", None),
    ],
)
def test_an_object_is_read_from_text(text: str, value: dict[str, Any] | None) -> None:
    assert parse_json_object(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a": "x',
        '{"a": [1, 2}',
        '{"steps": [{"id": "one"}, {"id": "tw',
        '```json\n{"a": {"b": 1}\n```',
        '```json\n{"a": {"b": 1},',
        "{'a': 'b'",
        '{"a": 1} and then {"b": ',
        "The answer is {",
        "<think>I would say",
        "[" * 50_000,
        "{" * 50_000,
        '{"a":' * 20_000,
    ],
)
def test_nothing_is_read_from_text_that_was_cut_off(text: str) -> None:
    assert parse_json_object(text) is None


def test_all_values_are_found_in_order_and_a_cut_is_told() -> None:
    found = find_json('{"a": 1} [2, 3] {"b": 4}')
    assert (found.values, found.cut) == (({"a": 1}, [2, 3], {"b": 4}), False)
    assert find_json('{"a": 1} {"b": ').cut


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1,}', "{'a': 1}", "", '{"a": Infinity}', "[" * 100_000])
def test_strict_reading_repairs_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_strict(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1), json_values, min_size=1, max_size=3))
def test_every_object_is_read_back_from_prose(value: dict[str, Any]) -> None:
    assume("</think" not in json.dumps(value))  # what stands before the end of a thought is no answer
    assert parse_json_object(f"Here:\n{json.dumps(value)}\nDone.") == value


@given(st.dictionaries(st.text(min_size=1), json_values, min_size=1, max_size=3), st.data())
def test_no_prefix_of_an_object_is_read(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(0, len(text) - 1))
    assert parse_json_object(text[:end]) is None


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    found = find_json(text)
    assert all(isinstance(value, dict | list) for value in found.values)

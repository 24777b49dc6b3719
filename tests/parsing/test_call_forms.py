"""Tool calls in text: every form is read, nothing is invented, and what was mended says so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codur.parsing.tool_calls import tool_calls_from_text

TOOLS = ("read_file", "write_file", "list_files", "run_command")
READ = ("read_file", {"path": "a.py"})
WRITE = ("write_file", {"path": "a.md", "content": "use `x` and\n```python\ny = {1}\n```\n"})


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in tool_calls_from_text(text, TOOLS)]


def as_openai(name: str, arguments: dict[str, Any]) -> str:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return json.dumps({"tool_calls": [call]})


def as_python(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def as_parameters(name: str, arguments: dict[str, Any]) -> str:
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


def as_invoked(name: str, arguments: dict[str, Any]) -> str:
    inner = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in arguments.items())
    return f'<function_calls>\n<invoke name="{name}">\n{inner}</invoke>\n</function_calls>'


FORMS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "openai": as_openai,
    "tool and args": lambda name, given: json.dumps({"tool": name, "args": given}),
    "indented": lambda name, given: json.dumps({"name": name, "arguments": given}, indent=2),
    "a list": lambda name, given: json.dumps([{"name": name, "parameters": given}]),
    "fenced": lambda name, given: f"```json\n{json.dumps({'name': name, 'arguments': given})}\n```",
    "fenced as a call": lambda name, given: f"```tool_call\n{json.dumps({'name': name, 'arguments': given})}\n```",
    "tagged": lambda name, given: f"<tool_call>{json.dumps({'name': name, 'arguments': given})}</tool_call>",
    "function tag": lambda name, given: f"<function={name}>{json.dumps(given)}</function>",
    "mistral": lambda name, given: f"[TOOL_CALLS] {json.dumps([{'name': name, 'arguments': given}])}",
    "mistral, new": lambda name, given: f"[TOOL_CALLS]{name}[ARGS]{json.dumps(given)}",
    "llama": lambda name, given: f"<|python_tag|>{json.dumps({'name': name, 'parameters': given})}",
    "python": as_python,
    "fenced python": lambda name, given: f"```tool_code\n{as_python(name, given)}\n```",
}
TAGGED_FORMS = {"parameters": as_parameters, "invoked": as_invoked}


@pytest.mark.parametrize("form", [*FORMS.values(), *TAGGED_FORMS.values()], ids=[*FORMS, *TAGGED_FORMS])
@pytest.mark.parametrize("call", [READ, WRITE], ids=["read", "write"])
def test_every_form_is_read_to_the_letter(form: Any, call: tuple[str, dict[str, Any]]) -> None:
    for text in (form(*call), f"I will use `{call[0]}` now:\n\n{form(*call)}\n"):
        assert calls(text) == [call]
        mentioned = form is as_python and text != form(*call)
        assert [found.repaired for found in tool_calls_from_text(text, TOOLS)] == [mentioned]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[TOOL_CALLS]read_file[ARGS]{"path": "a.py"}[TOOL_CALLS]list_files[ARGS]{}', [READ, ("list_files", {})]),
        (f"{as_parameters(*READ)}\n{as_parameters('list_files', {})}", [READ, ("list_files", {})]),
        ('read_file(path="a.py")\nlist_files()', [READ, ("list_files", {})]),
        ("`read_file(path='a.py')`", []),
        ('`{"name": "read_file", "arguments": {"path": "a.py"}}`', [READ]),
    ],
)
def test_several_calls(text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    assert calls(text) == expected


def test_a_fence_with_the_same_text_takes_nothing_out_of_a_call() -> None:
    (call,) = tool_calls_from_text('write_file(path="app.py", content="x = 1")\n```\n1\n```\n', TOOLS)
    assert dict(call.arguments) == {"path": "app.py", "content": "x = 1"}


@pytest.mark.parametrize(
    "text",
    [
        "{'tool': 'read_file', 'args': {'path': 'a.py'}}",
        '{"tool": "read_file", "args": {"path": "a.py",},}',
        '{"tool_calls": [{"name": "read_file", "arguments": "{\'path\': \'a.py\'}"}]}',
        "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a.py'}}</tool_call>",
        "<function=read_file>{'path': 'a.py'}</function>",
    ],
)
def test_near_misses_are_read_and_marked(text: str) -> None:
    (call,) = tool_calls_from_text(text)
    assert (call.name, dict(call.arguments), call.repaired) == (*READ, True)


DELETE = 'delete_file(path="a.py")'


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (DELETE, [False]),
        (f"  {DELETE};\n\n{DELETE}\n", [False, False]),
        (f"I will remove it.\n```tool_code\n{DELETE}\n```\nThat is all.", [False]),
        (f"To remove it you could call\n\n{DELETE}\n\nbut I did not.", [True]),
        (f"The README says:\n{DELETE}", [True]),
        (f"{DELETE}\n```python\nx = 1\n```", [True]),
        (f"{DELETE}\n`x`", [True]),
        (f"```tool_code\n{DELETE}\n```\nor, as the README says:\n{DELETE}", [True, True]),
    ],
)
def test_a_line_in_python_form_is_meant_only_if_nothing_else_is_said(text: str, mended: list[bool]) -> None:
    found = tool_calls_from_text(text, ("delete_file",))
    assert [(call.name, call.repaired) for call in found] == [("delete_file", each) for each in mended]


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{"path": "a.py"}', False),
        (' {"path": "a\nb"}\n', False),
        ('oops {"path": "a.py"} trailing', True),
        ('{"path": "a.py"} trailing', True),
    ],
)
def test_arguments_that_were_searched_out_of_a_text_are_mended(text: str, mended: bool) -> None:
    (call,) = tool_calls_from_text(json.dumps({"name": "read_file", "arguments": text}), TOOLS)
    assert call.repaired is mended


def test_one_mended_call_marks_all_of_the_answer() -> None:
    found = tool_calls_from_text('{"tool": "list_files", "args": {}}\n{"tool": "write_file", "args": {"path": "a",}}')
    assert [call.repaired for call in found] == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        'You could call {"name"} or `{"name": "read_file", "arguments": {}}` to look at it.',
        '```python\npayload = {"name": "read_file", "arguments": {"path": "a.py"}}\n```',
        '```python\nread_file(path="a.py")\n```',
        '```js\nsend({"tool": "run_command", "args": {"command": "rm -rf /"}});\n```',
        '~~~py\ncall = {"tool": "read_file", "args": {}}\n~~~',
        'Here is the code:\n```python\nx = {"tool": "read_file", "args": {}}',
        'I would use read_file(path="a.py") here.',
        "read_file(path)",
        'read_file("a.py")',
        "read_file(path=open('x').read())",
        "read_file(**arguments)",
        "print(value=1)",
        "def read_file(path): ...",
        'read_file(path="a.py").lines',
        "x = read_file(path='a.py')",
        '{"name": "codur", "version": "1.0", "dependencies": {"a": "1"}}',
        "<function=read_file><parameter=path>a.py</function>",
        "<function=read_file><parameter=path>a.py</parameter>",
        "<function=read_file><parameter=path>a</parameter><parameter=path>b</parameter></function>",
        '<invoke name="read_file"><parameter name="path">a.py',
        '[TOOL_CALLS]read_file[ARGS]{"path": "a',
    ],
)
def test_no_call_is_invented(text: str) -> None:
    assert calls(text) == []


def test_hostile_text_takes_a_moment() -> None:
    for piece in ("{", "[", "`", "```\n", "<function=a>", "<invoke name='a'>", "[TOOL_CALLS]a{", "a(", '{"a": "', "'{"):
        tool_calls_from_text(piece * 3000, TOOLS)


# --- any text ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", "`", "```", "```json\n", "```python\n", "\n", " ", ":", ",", "(", ")", "="),
        *("name", "tool", "args", "arguments", "read_file", "write_file", "path", '"a.py"', "tool_calls", "function"),
        *("<tool_call>", "</tool_call>", "<function=", ">", "</function>", "<parameter=path>", "</parameter>"),
        *("<invoke name=", "</invoke>", "[TOOL_CALLS]", "[ARGS]", "<|message|>", "to=functions.", "<think>", "\\", "1"),
        *('{"tool": "read_file", "args": {"path": "a.py"}}', 'read_file(path="a.py")', "\x00", "\ud800", "é"),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for call in tool_calls_from_text(text, TOOLS):
        assert re.fullmatch(r"[A-Za-z_][\w.-]*", call.name)
        json.dumps(dict(call.arguments))


WORDS = st.sampled_from(
    "the file a.py read_file write_file(path) calls `list_files` with arguments name: tool, and (see below) then"
    " returns 'text' run_command() [1] x={} don't \"args\" it's <b> fine. \n- \n1. \n# \n> \n\n".split(" ")
)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=40))
def test_prose_holds_no_call(words: list[str]) -> None:
    """Each line begins with a word that no call begins with."""
    text = "\n".join(f"Then {line}" for line in " ".join(words).split("\n"))
    assert calls(text) == []


@settings(max_examples=100, deadline=None)
@given(
    st.lists(PIECES.filter(lambda piece: "`" not in piece and "think" not in piece), max_size=20),
    st.sampled_from(["python", "py", "js", "bash", "diff", "text", "yaml", "c++"]),
)
def test_programs_in_fences_hold_no_call(pieces: list[str], language: str) -> None:
    assert calls(f"This is what I changed:\n\n```{language}\n{''.join(pieces)}\n```\n\nThat is all.") == []


PLAIN = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["`x`", "```python\nx = {}\n```", "{'a': [1}", "it's", '"', "\\", "[TOOL_CALLS]", "read_file(path='b')\n"]
)
VALUES = PLAIN | st.integers(-1000, 1000) | st.booleans() | st.none() | st.lists(PLAIN, max_size=3)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(TOOLS),
    st.dictionaries(st.sampled_from(["path", "content", "command", "line"]), VALUES, max_size=3),
    st.sampled_from(["openai", "tool and args", "indented", "a list", "fenced", "python"]),
)
def test_what_was_written_is_what_is_read(name: str, arguments: dict[str, Any], form: str) -> None:
    (call,) = tool_calls_from_text(FORMS[form](name, arguments), TOOLS)
    assert (call.name, dict(call.arguments), call.repaired) == (name, arguments, False)


WORD_TOOLS = (
    *("read_file", "write_file", "append_file", "replace_in_file", "move_file", "copy_file", "delete_file"),
    "list_files",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read a.py", [READ]),
        ("Read the file `a.py`.", [READ]),
        ("read @a.py\nread b/c.txt\n", [READ, ("read_file", {"path": "b/c.txt"})]),
        ("write 'x = 1' to a.py", [("write_file", {"content": "x = 1", "path": "a.py"})]),
        ("append `last` to docs/a.md", [("append_file", {"content": "last", "path": "docs/a.md"})]),
        ("move a.py to b.py", [("move_file", {"source": "a.py", "target": "b.py"})]),
        ("rename a.py to b.py", [("move_file", {"source": "a.py", "target": "b.py"})]),
        ('copy "my file.txt" to b.txt', [("copy_file", {"source": "my file.txt", "target": "b.txt"})]),
        ("delete file.py", [("delete_file", {"path": "file.py"})]),
        (
            "replace foo(1) with foo(2) in a.py",
            [("replace_in_file", {"old": "foo(1)", "new": "foo(2)", "path": "a.py"})],
        ),
        ("I will read a.py", []),
        ("read a.py\nThen I will know more.", []),
        ("read the code", []),
        ("fix @a.py", []),
        ("do not delete a.py", []),
        ("read a.py and delete it", []),
        ("```\ndelete a.py\n```", []),
        ("", []),
        ("\n".join(["read a.py"] * 9), []),
    ],
)
def test_an_answer_of_plain_commands_is_a_guess_at_calls(text: str, expected: list[tuple[str, dict[str, Any]]]) -> None:
    found = tool_calls_from_text(text, WORD_TOOLS)
    assert [(call.name, dict(call.arguments)) for call in found] == expected
    assert all(call.repaired for call in found)
    assert tool_calls_from_text(text) == ()
    assert tool_calls_from_text(text, ("list_files",)) == ()


def test_long_lines_of_words_are_looked_at_and_left() -> None:
    for text in ("write " + "to " * 600, "replace " + "a with " * 280, "read " + "a/" * 900):
        assert tool_calls_from_text(text, WORD_TOOLS) == ()

"""Tool calls written as text."""

from __future__ import annotations

from typing import Any

import pytest

from codur.parsing.tool_calls import tool_calls_from_text

READ = ("read_file", {"path": "a.py"})
LIST: tuple[str, dict[str, Any]] = ("list_files", {})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"thought": "look", "tool_calls": [{"tool": "read_file", "args": {"path": "a.py"}}]}', [READ]),
        (
            '{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.py"}}, {"name": "list_files"}]}',
            [READ, LIST],
        ),
        ('[{"name": "read_file", "arguments": {"path": "a.py"}}, {"tool": "list_files", "args": {}}]', [READ, LIST]),
        ('{"name": "read_file", "arguments": {"path": "a.py"}}', [READ]),
        ('{"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}', [READ]),
        ('{"name": "read_file", "parameters": {"path": "a.py"}}', [READ]),
        ('{"function": "read_file", "input": {"path": "a.py"}}', [READ]),
        ('{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}}', [READ]),
        ('{"name": "list_files", "arguments": ""}', [LIST]),
        ('{"name": "list_files", "arguments": null}', [LIST]),
        ('{"name": "functions.read_file", "arguments": {"path": "a.py"}}', [READ]),
        ('{"name": "read_file<|channel|>commentary", "arguments": {"path": "a.py"}}', [READ]),
        (
            'First:\n```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```\nthen\n'
            '```json\n{"name": "list_files", "arguments": {}}\n```\n',
            [READ, LIST],
        ),
        ("{'tool': 'read_file', 'args': {'path': 'a.py'}}", [READ]),
        ('{"tool_calls": [{"tool": "read_file", "args": {"path": "a.py",},},]}', [READ]),
        ('<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>', [READ]),
        (
            '<tool_call>{"name": "read_file", "arguments": {"path": "a.py"}}</tool_call>\n'
            '<tool_call>{"name": "list_files", "arguments": {}}</tool_call>',
            [READ, LIST],
        ),
        ('<think>{"name": "delete", "arguments": {}}</think>{"name": "list_files", "arguments": {}}', [LIST]),
        ('<function=read_file>{"path": "a.py"}</function>', [READ]),
        ('<function=read_file>{"path": "a.py"}</function><function=list_files>{}</function>', [READ, LIST]),
        ('read_file{"path": "a.py"}</function>', [READ]),
        ('<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "a.py"}<|call|>', [READ]),
        ('assistant to=read_file<|message|>{"path": "a.py"}', [READ]),
        ('{"code": "x = 1\\n", "path": "a.py"}', [("replace_file_content", {"path": "a.py", "new_code": "x = 1\n"})]),
        ('{"code": "x = 1\\n"}', [("replace_file_content", {"new_code": "x = 1\n"})]),
        ('{"code": "x = 1\\n", "path": ""}', [("replace_file_content", {"new_code": "x = 1\n"})]),
        ('{"code": ""}', []),
        ('{"code": 3}', []),
        ('{"name": "Ada", "age": 36}', []),
        ('{"tool_calls": []}', []),
        ("There is nothing to call.", []),
        ("", []),
    ],
)
def test_calls_are_read_from_text(text: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    found = tool_calls_from_text(text)
    assert [(call.name, dict(call.arguments)) for call in found] == calls
    assert [call.id for call in found] == [f"call_{number}" for number in range(1, len(calls) + 1)]


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{"code": "x = 1", "path": "a.py"}', False),
        ('{"thought": "Set it.", "path": "a.py", "code": "x = 1"}', False),
        ('```json\n{"code": "x = 1", "path": "a.py", "language": "python"}\n```', False),
        ('Here it is:\n{"code": "x = 1\\n", "path": "a.py", "explanation": "", "reasoning": ""}', False),
        ('Here it is: {"code": "x = 1", "path": "a.py"}', True),
        ('[{"code": "x = 1", "path": "a.py"}]', True),
        ('{"code": "x = 1", "path": "a.py"} {"found": 1}', True),
    ],
)
def test_a_file_given_whole_is_exact_if_it_has_lines_or_is_all_there_is(text: str, mended: bool) -> None:
    (call,) = tool_calls_from_text(text)
    assert (call.name, call.arguments["path"], call.repaired) == ("replace_file_content", "a.py", mended)


@pytest.mark.parametrize(
    "text",
    [
        'Ruff says: {"code": "F401", "path": "app.py", "line": 3}',
        '{"code": "F401", "path": "app.py", "message": "unused\\n"}',
        '[{"code": "E1\\n", "path": "a.py", "line": 1}, {"code": "E2\\n", "path": "b.py", "line": 2}]',
    ],
)
def test_data_with_a_code_and_a_path_is_no_file(text: str) -> None:
    assert tool_calls_from_text(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.py"}}, {"name": "write_fi',
        '[{"name": "read_file", "arguments": {"path": "a.py"}}',
        '{"name": "write_file", "arguments": {"path": "a.py", "content": "x = 1',
        '{"name": "write_file", "arguments": "{\\"path\\": \\"a.py\\""}',
        '{"name": "write_file", "arguments": ["a.py"]}',
        '{"tool_calls": [{"name": "read_file", "arguments": {}}, {"arguments": {}}]}',
        '{"tool_calls": ["read_file"]}',
        '{"tool_calls": [{"name": "rm -rf /", "arguments": {}}]}',
        '<tool_call>{"name": "read_file", "arguments": {"path": "a.py"}}</tool_call><tool_call>{"name": "x"',
        '<tool_call>{"name": "read_file", "arguments": {"path": "a.py"}}',
        "<tool_call>read_file a.py</tool_call>",
        '<function=read_file>{"path": "a.py"}',
        '<function=read_file>{"path": "a.py</function>',
        'to=functions.read_file<|message|>{"path": "a.p<|call|>',
    ],
)
def test_nothing_is_called_when_a_part_cannot_be_read(text: str) -> None:
    assert tool_calls_from_text(text) == ()


def test_long_text_with_many_braces_is_read_in_a_moment() -> None:
    text = "int f() { return g{1}; }\n" * 4000
    assert tool_calls_from_text(text) == ()
    assert tool_calls_from_text(text + "</function>") == ()

"""Code in model text, and the fences round it."""

from __future__ import annotations

import pytest

from codur.parsing.code import code_from_text
from codur.parsing.fences import fenced_blocks, strip_thinking


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Fixed:\n\n```py\nx = 1\n\n\n```\nThat is all.", "x = 1\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("~~~python\nx = '```'\n~~~", "x = '```'\n"),
        ("```python\nx = 1\n```\n```python\ndef f():\n    return 2\n```", "def f():\n    return 2\n"),
        ("```python\na = 1\n```\n```python\nb = 2\n```", "b = 2\n"),
        ("```sh\npython main.py --with-many-options\n```\n```python\nx = 1\n```", "x = 1\n"),
        ("```javascript\nlet x = 1;\n```", "let x = 1;\n"),
        ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''\n"),
        ('{"code": "x = 1", "path": "a.py"}', "x = 1\n"),
        ('```json\n{"code": "x = 1"}\n```', "x = 1\n"),
        ('{"code": "F401", "path": "a.py", "line": 3}', None),
        ("<think>```python\nx = 0\n```</think>x = 1\nprint(x)", "x = 1\nprint(x)\n"),
        ("def f():\n    return {'code': 'no'}", "def f():\n    return {'code': 'no'}\n"),
        ('```python\nd = {"code": "no"}\n```', 'd = {"code": "no"}\n'),
        ("print('hello')", "print('hello')\n"),
        ("Done.", None),
        ("done", None),
        ("The file is fine as it is", None),
        ("```python\nx = 1\n", None),
        ("```python\nx = 1\n```\n```python\ny =", None),
        ("```sh\nls\n```", None),
        ("```python\n\n```", None),
        ('{"code": "x = 1', None),
        ("", None),
    ],
)
def test_the_one_program_is_found(text: str, code: str | None) -> None:
    assert code_from_text(text) == code


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking>a</thinking>\n\nb", "b"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<think>never finished", ""),
        ("a</think>b", "b"),
        ("a < b", "a < b"),
        ("", ""),
    ],
)
def test_thoughts_are_left_out(text: str, rest: str) -> None:
    assert strip_thinking(text) == rest


def test_blocks_say_their_language_and_whether_they_end() -> None:
    text = "```Python title=x\na\n```\n\n  ```\n  b\n  ```\n~~~c\n```\nd"
    blocks = fenced_blocks(text)
    assert [(block.language, block.text, block.closed) for block in blocks] == [
        ("python", "a", True),
        ("", "  b", True),
        ("c", "```\nd", False),
    ]
    assert [text[block.start : block.end] for block in blocks] == [
        "```Python title=x\na\n```",
        "  ```\n  b\n  ```",
        "~~~c\n```\nd",
    ]

"""Whatever a model writes as a tool's arguments, the call gives a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codur.config.settings import ToolSettings
from codur.tools.catalogue import all_tools
from codur.tools.tool import Arg, Tool, ToolContext
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.tools.conftest import toolbox_on
from tests.tools.test_toolbox import NAMES

NUMBER = st.one_of(st.integers(), st.floats(), st.sampled_from([10**30, -1, 0, 10**4000]))
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.sampled_from(
        [
            *(
                "a.py",
                "d.json",
                "d.yaml",
                "d.ini",
                "a.b[0]",
                "/a/0",
                "s",
                "k",
                "sub",
                "sub/b.txt",
                "new.py",
                "link",
                "..",
                "/",
                "/etc/passwd",
                ".git/config",
                "a.py/x",
                "~",
                "",
            ),
            *(
                "x" * 300,
                "ä" * 200,
                "d/" * 3000,
                "a\0b",
                "\ud800",
                "\udcff.py",
                "9" * 5000,
                "--5",
                "٣",
                "-x",
                "*" * 301,
            ),
            *("[", "[[a]", "(" * 300, "a{9999999999}", "(?P<", "**/**", "f", "K.m", "K", "HEAD", "HEAD@{1}", "a::b"),
            *(
                "def f():\n    return 2\n",
                "class K:\n    pass",
                "```\ndef f(): pass\n```",
                "(" * 2000,
                "def f(): \ud800",
            ),
            *("-" * 5000 + "1", "# coding: utf-16\nx = 1\n", "# coding: idna\nx = 'ä'\n", "\r\n", "x" * 5000),
        ]
    ),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=8,
)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "integer": NUMBER,
    "boolean": st.booleans(),
    "array": st.lists(TEXT, max_size=3),
    "object": st.dictionaries(TEXT, JSON, max_size=3),
    "anything": JSON,
}


def arguments_of(toolbox: Toolbox, name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly arguments of the right names and types, now and then anything."""
    parameters = toolbox.spec(name).parameters
    values: dict[str, st.SearchStrategy[Any]] = {}
    for key, member in parameters["properties"].items():
        declared = member.get("type", "anything")
        kind = declared if isinstance(declared, str) else declared[0]
        values[key] = st.integers(0, 9).flatmap(lambda n, kind=kind: BY_TYPE[kind] if n else JSON)  # type: ignore[misc]
    fitting = st.fixed_dictionaries(
        {key: value for key, value in values.items() if key in parameters["required"]},
        optional={key: value for key, value in values.items() if key not in parameters["required"]},
    )
    return st.integers(0, 9).flatmap(lambda n: fitting if n else st.dictionaries(TEXT, JSON, max_size=3))


def furnish(root: Path) -> None:
    """Put the workspace's files there, as they are at the start."""
    (root / "sub").mkdir(exist_ok=True)
    (root / "a.py").write_text(
        "import os\n\ndef f(x):\n    return x\n\nclass K:\n    def m(self):\n        return f(1)\n"
    )
    (root / "sub" / "b.txt").write_text("one\ntwo\n")
    (root / "d.json").write_text('{"a": {"b": [1]}}')
    (root / "d.yaml").write_text("a:\n  b: [1]\n")
    (root / "d.ini").write_text("[s]\nk = 1\n")
    if not (root / "link").is_symlink():
        (root / "link").symlink_to("/etc")


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_a_call_never_raises(tmp_path: Path, name: str, data: st.DataObject) -> None:
    furnish(tmp_path)
    toolbox = toolbox_on(tmp_path, ToolSettings(allow_run=False))
    result = toolbox.call(name, data.draw(arguments_of(toolbox, name)))
    assert result.text.encode("utf-8") or result.ok
    assert result.ok or len(result.text) <= 1000
    assert not Path(tmp_path.parent / "new.py").exists()


def failing(error: Exception) -> Callable[..., ToolResult]:
    def run(_context: ToolContext, path: Annotated[str, Arg("Any.")]) -> ToolResult:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (OSError(24, "Too many open files"), "failed", "read_file failed: Too many open files"),
        (OSError("odd"), "failed", "read_file failed: odd"),
        (ValueError("embedded null byte"), "invalid", "read_file cannot use these arguments: embedded null byte"),
        (
            UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
            "invalid",
            "read_file cannot use these arguments: 'utf-8' codec can't encode character '\\ud800' in position 0: "
            "surrogates not allowed",
        ),
        (RecursionError("deep"), "failed", "read_file failed: the file or the arguments are nested too deeply"),
        (MemoryError(), "failed", "read_file failed: it would need too much memory"),
    ],
)
def test_what_a_tool_did_not_expect_is_a_result(
    toolbox: Toolbox, tmp_path: Path, error: Exception, code: str, text: str
) -> None:
    row = next(tool for tool in all_tools() if tool.name == "read_file")
    odd = Tool(
        name=row.name,
        description=row.description,
        function=failing(error),
        side_effect=row.side_effect,
        task_types=row.task_types,
    )
    own = Toolbox(toolbox_on(tmp_path)._context, {odd.name: odd})
    assert own.call("read_file", {"path": "a"}) == ToolResult(code=code, text=text)  # type: ignore[arg-type]


def test_replacing_cannot_blow_a_text_up(toolbox: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 500_000)
    given_ = {"path": "a.txt", "old": "a", "new": "b" * 500_000, "all": True}
    result = toolbox.call("replace_in_file", given_)
    assert (result.code, result.text) == ("too_large", "a.txt would be larger than 1024 KiB")

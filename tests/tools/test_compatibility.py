"""Which tool can follow which: scores from declarations, from values, and for foreign tools."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from codur.mcp.offered_tools import Definition
from codur.tools.catalogue import all_tools
from codur.tools.compatibility import CompatibilityGraph, Edge, ends_of
from codur.tools.server_tools import _server_tool
from codur.tools.tool import Tool
from codur.types import TaskType

GRAPH = CompatibilityGraph(all_tools())


def edge(graph: CompatibilityGraph, first: str, second: str, **given: object) -> Edge | None:
    return next((item for item in graph.after(first, **given) if item.tool == second), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [
        ("find_definition", "find_usages", 1.0),  # path and name
        ("find_definition", "rename_symbol", 0.833),  # and a new name, to be written
        ("grep_files", "read_file", 1.0),
        ("list_files", "run_python_file", 0.75),  # only the paths tell whether they are of Python files
        ("read_file", "replace_in_file", 0.667),
        ("git_log", "git_show", 1.0),
        ("read_file", "run_check", 0.5),  # it requires nothing and is given nothing
        ("read_file", "run_command", 0.25),  # all is to be written
        ("read_file", "read_file", 0.5),  # once more
    ],
)
def test_scores_from_declarations(first: str, second: str, score: float) -> None:
    found = edge(GRAPH, first, second)
    assert (found.score if found else 0.0) == score


def test_every_score_is_a_share_and_the_order_is_settled() -> None:
    for name in GRAPH.names():
        edges = GRAPH.after(name)
        assert all(0 < item.score <= 1 for item in edges)
        assert edges == CompatibilityGraph(tuple(reversed(all_tools()))).after(name)


def test_values_tell_what_declarations_cannot() -> None:
    data = {"files": ["notes.txt", "data.json"], "complete": True}
    assert edge(GRAPH, "list_files", "run_python_file", data=data) is None
    found = edge(GRAPH, "list_files", "read_data", data=data)
    assert found is not None
    assert (found.score, found.arguments) == (1.0, {"path": "data.json"})
    several = edge(GRAPH, "list_files", "read_file", data=data)
    assert several is not None
    assert (several.score, several.arguments) == (1.0, None)
    whole = edge(GRAPH, "list_files", "read_files", data=data)
    assert whole is not None
    assert whole.arguments == {"paths": ["notes.txt", "data.json"]}
    assert edge(GRAPH, "list_files", "read_file", data={"files": [], "complete": True}) is None


def test_what_is_known_supplies_what_the_output_does_not() -> None:
    assert edge(GRAPH, "git_log", "read_file") is None
    found = edge(GRAPH, "git_log", "read_file", known={"path": ("a.py",)})
    assert found is not None
    assert (found.score, found.arguments) == (1.0, {"path": "a.py"})


@pytest.mark.parametrize(("task_type", "score"), [("code_fix", 0.667), ("search", 0.333)])
def test_a_tool_that_does_not_serve_the_kind_of_task_scores_half(task_type: TaskType, score: float) -> None:
    found = edge(GRAPH, "read_file", "replace_in_file", task_type=task_type)
    assert found is not None
    assert found.score == score


def test_sorts_of_tools_take_turns() -> None:
    near = GRAPH.nearest(GRAPH.after("read_file", task_type="code_fix"), max_candidates=6)
    sorts = [tool.side_effect for name in near for tool in all_tools() if tool.name == name.tool]
    assert sorted(sorts) == ["read", "read", "run", "run", "write", "write"]


def test_only_one_tool_that_reads_is_forced() -> None:
    rows = {tool.name: tool for tool in all_tools()}
    data = {"files": ["a.py"], "complete": True}
    for name, forced in (("read_file", True), ("delete_file", False), ("run_python_file", False)):
        graph = CompatibilityGraph([rows["list_files"], rows[name]])
        near = graph.nearest(graph.after("list_files", data=data))
        assert [item.tool for item in near] == [name]
        assert (graph.forced(near) is not None) is forced
    two = CompatibilityGraph([rows["list_files"], rows["read_file"], rows["delete_file"]])
    assert two.forced(two.nearest(two.after("list_files", data=data))) is None


def test_a_foreign_tool_by_the_names_of_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}},
        "required": ["path"],
    }
    foreign = looking(schema)
    graph = CompatibilityGraph([*all_tools(), foreign])
    found = edge(graph, "read_file", "mcp__files__look")
    assert found is not None
    assert (found.score, ends_of(foreign).summary) == (1.0, "path, depth?")
    assert all(not item.supplied for item in graph.after(foreign.name))


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 1}, "required": "a"}])
def test_a_foreign_schema_of_another_form_takes_nothing(schema: dict[str, object]) -> None:
    assert (ends_of(looking(schema)).takes, ends_of(looking(schema)).required) == ({}, ())


def looking(schema: Mapping[str, object]) -> Tool:
    """A foreign tool with a schema as a server gives it."""
    return _server_tool(
        Definition(server="files", tool="look", name="mcp__files__look", description="Look.", schema=schema, digest="")
    )


def test_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(KeyError):
        GRAPH.after("no_such_tool")

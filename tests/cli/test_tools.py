"""`codur tools`: the tools and which can follow which."""

from __future__ import annotations

import json
from pathlib import Path

from codur.tools.catalogue import ALL
from tests.cli.kit import codur


def test_all_tools(project: Path, home: Path) -> None:
    ran = codur("tools", cwd=project, home=home)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == len(ALL)
    assert "read_file(path, start_line?, end_line?) → FileContent [read]: Read a text file" in ran.out


def test_tools_for_a_kind_of_task_as_json(project: Path, home: Path) -> None:
    ran = codur("tools", "--for", "git", "--json", cwd=project, home=home)
    shown = json.loads(ran.out)
    names = [item["name"] for item in shown["tools"]]
    assert names == sorted(tool.name for tool in ALL if "git" in tool.task_types)
    assert "git_log" in names
    assert "replace_function" not in names


def test_what_can_follow_a_tool(project: Path, home: Path) -> None:
    ran = codur("tools", "--after", "find_definition", cwd=project, home=home)
    lines = ran.out.splitlines()
    assert lines[0] == "after find_definition: guided, 10 offered (*)"
    assert lines[1] == "* 1.00 find_usages: takes path (python_path), name (symbol), line (line)"
    assert "* 0.83 rename_symbol: takes path (python_path), name (symbol), line (line); still needed: new_name" in lines
    assert sum(line.startswith("*") for line in lines) == 10


def test_what_can_follow_a_tool_for_a_kind_of_task_as_json(project: Path, home: Path) -> None:
    shown = json.loads(codur("tools", "--after", "read_file", "--for", "search", "--json", cwd=project, home=home).out)
    assert (shown["after"], shown["for"], shown["tier"]) == ("read_file", "search", "guided")
    changed = next(item for item in shown["successors"] if item["tool"] == "replace_in_file")
    assert changed["candidate"] is False


def test_unknown_names(project: Path, home: Path) -> None:
    for words, said in (
        (("--after", "read_fil"), "Did you mean read_file?"),
        (("--for", "cooking"), "Give one of code_fix, "),
    ):
        ran = codur("tools", *words, cwd=project, home=home)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err

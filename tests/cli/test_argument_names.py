"""Edits and looks under the names that models know for their arguments, in whole runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.tools.arguments import SYNONYMS
from codur.tools.catalogue import all_tools
from tests.cli.kit import Ran, codur_here, the_object
from tests.runs.kit import EDIT, KEY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.runs.test_plans import classified, plan, tool
from tests.support.groq_server import GroqServer, calls, error, text

PRICE = "def price(self):\n    return 12\n"
SHOP = f"class Shop:\n    {PRICE.replace('    return', '        return')}"
NO_SHOP = {"main.py": f"{SHOP.replace('12', '11')}\n\nprint(Shop().price())\n", "expected.txt": "12\n"}
HALF = "def half(number):\n    return number / 2\n"
CALLS_HALF = 'def main():\n    print(half(3))\n\n\nif __name__ == "__main__":\n    main()\n'
NO_HALF = {"main.py": CALLS_HALF, "expected.txt": "1.5\n"}
WHOLE = NEEDS_MODEL["main.py"][: NEEDS_MODEL["main.py"].index("def ")] + MEDIAN_RIGHT + "\n\nprint(median([3, 1, 2]))\n"
WHOLE += "print(median([4, 1, 3, 2]))\n"
FAILS = "    raise NotImplementedError\n"
WORKS = MEDIAN_RIGHT.partition('two."""\n')[2] or MEDIAN_RIGHT.partition('middle."""\n')[2]
FUNCTION, CLASS, METHOD = "replace_function", "replace_class", "replace_method"
FILE, ADD, PIECE = "replace_file_content", "inject_function", "replace_in_file"

SPELLINGS: list[tuple[str, Mapping[str, str], Mapping[str, Any]]] = [
    (FUNCTION, NEEDS_MODEL, {"path": "main.py", "function_name": "median", "new_code": MEDIAN_RIGHT}),
    (FUNCTION, NEEDS_MODEL, {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}),
    (FUNCTION, NEEDS_MODEL, {"filePath": "main.py", "functionName": "median", "newCode": MEDIAN_RIGHT}),
    (FUNCTION, NEEDS_MODEL, {"file_path": "main.py", "symbol": "median", "content": MEDIAN_RIGHT}),
    (CLASS, NO_SHOP, {"path": "main.py", "class_name": "Shop", "new_code": SHOP}),
    (CLASS, NO_SHOP, {"path": "main.py", "name": "Shop", "code": SHOP}),
    (METHOD, NO_SHOP, {"path": "main.py", "class_name": "Shop", "method_name": "price", "new_code": PRICE}),
    (METHOD, NO_SHOP, {"file": "main.py", "class": "Shop", "name": "price", "code": PRICE}),
    (FILE, NEEDS_MODEL, {"path": "main.py", "new_code": WHOLE}),
    (FILE, NEEDS_MODEL, {"path": "main.py", "content": WHOLE}),
    (FILE, NEEDS_MODEL, {"filename": "main.py", "code": WHOLE}),
    (ADD, NO_HALF, {"path": "main.py", "new_code": HALF}),
    (ADD, NO_HALF, {"path": "main.py", "new_code": HALF, "function_name": "half"}),
    (ADD, NO_HALF, {"path": "main.py", "code": HALF, "name": "half"}),
    (PIECE, NEEDS_MODEL, {"path": "main.py", "old": FAILS, "new": WORKS}),
    (PIECE, NEEDS_MODEL, {"file_path": "main.py", "old_str": FAILS, "new_str": WORKS}),
    (PIECE, NEEDS_MODEL, {"filePath": "main.py", "oldString": FAILS, "newString": WORKS, "replaceAll": False}),
]


def run(project: Path, home: Path, server: GroqServer, prompt: str, *words: str, **variables: str) -> Ran:
    settings = f"providers:\n  groq:\n    api: groq\n    base_url: {server.url}\n"
    fill(home, {".config/codur/config.yaml": f"{settings}verification:\n  make_check: never\nrepair:\n  mode: 'off'\n"})
    return codur_here("run", prompt, *words, "--json", cwd=project, home=home, GROQ_API_KEY=KEY, **variables)


def solved(ran: Ran) -> None:
    """The first edit was made and passed."""
    result = the_object(ran.out)
    assert ran.code == 0, ran.out
    assert result["outcome"] == "done"
    assert result["attempts"] == []
    assert result["changed_files"] == ["main.py"]


@pytest.mark.parametrize(("tool", "files", "given"), SPELLINGS)
def test_an_edit_is_made_at_once(
    tool: str, files: Mapping[str, str], given: Mapping[str, Any], project: Path, home: Path
) -> None:
    fill(project, files)
    with GroqServer([EDIT, calls((tool, given))]) as server:
        solved(run(project, home, server, "main.py is wrong"))
        assert len(server.requests) == 2


def test_the_schemas_have_the_names_of_the_field(project: Path, home: Path) -> None:
    fill(project, {**NEEDS_MODEL, "main.py": f"class Empty:\n    pass\n\n\n{NEEDS_MODEL['main.py']}"})
    with GroqServer([EDIT, calls((SPELLINGS[0][0], SPELLINGS[0][2]))]) as server:
        run(project, home, server, "main.py is wrong")
        offered = {item["function"]["name"]: item["function"] for item in server.requests[-1].body["tools"]}
    declared = {name: list(offered[name]["parameters"]["properties"]) for name in (FUNCTION, CLASS, METHOD, FILE, ADD)}
    assert declared == {
        FUNCTION: ["path", "function_name", "new_code"],
        CLASS: ["path", "class_name", "new_code"],
        METHOD: ["path", "class_name", "method_name", "new_code"],
        FILE: ["path", "new_code"],
        ADD: ["path", "new_code", "function_name", "class_name", "after"],
    }
    assert offered[ADD]["parameters"]["required"] == ["path", "new_code"]


def test_a_call_that_the_service_takes_for_wrong_is_made(project: Path, home: Path) -> None:
    """A service that checks calls against their schemas sends back one with a synonym, as text."""
    fill(project, NEEDS_MODEL)
    given = {"file_path": "main.py", "name": "median", "code": MEDIAN_RIGHT}
    generated = json.dumps([{"name": FUNCTION, "parameters": given}])
    refused = error(400, "tool call validation failed", code="tool_use_failed", failed_generation=generated)
    with GroqServer([EDIT, refused]) as server:
        solved(run(project, home, server, "main.py is wrong"))
        assert len(server.requests) == 2


def test_two_names_of_one_argument_that_differ_are_no_call(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    wrong = {"path": "main.py", "file_path": "other.py", "function_name": "median", "new_code": MEDIAN_RIGHT}
    with GroqServer([EDIT, calls((FUNCTION, wrong)), calls((SPELLINGS[0][0], SPELLINGS[0][2]))]) as server:
        ran = run(project, home, server, "main.py is wrong")
        assert "replace_function has no argument file_path" in json.dumps(server.requests[2].body["messages"])
    assert the_object(ran.out)["outcome"] == "done"


@pytest.mark.parametrize("name", ["command", "cmd", "shellCommand"])
def test_a_planned_command_is_judged_by_what_it_does(name: str, project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    steps = plan(tool("run_command", **{name: "rm expected.txt"}))
    with GroqServer([classified(), steps, steps]) as server:
        ran = run(project, home, server, "main.py is wrong")
        assert (
            "'s0' deletes files, which the task does not ask for" in server.requests[2].body["messages"][-1]["content"]
        )
    assert (ran.code, contents(project)) == (1, NEEDS_MODEL)


def test_planned_values_take_the_types_of_the_arguments_that_are_meant(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    asked = classified(task_type="explanation", confidence=0.5)
    look = plan(tool("read_files", files='["main.py", "expected.txt"]'), tool("read_file", file="main.py", start="4"))
    with GroqServer([asked, look, text("It prints medians.")]) as server:
        ran = run(project, home, server, "what is this for?")
        found = server.requests[2].body["messages"][-1]["content"]
    assert (ran.code, the_object(ran.out)["outcome"]) == (0, "done"), ran.out
    assert "NotImplementedError" in found
    assert "2.5" in found


def test_an_agent_looks_under_other_names(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    asked = classified(task_type="explanation", suggested_action="explain")
    looks = calls(("read_file", {"filePath": "main.py", "endLine": "4"}), ("grep_files", {"query": "median("}))
    with GroqServer([asked, looks, text("It prints medians.")]) as server:
        ran = run(project, home, server, "what is this for?")
        found = [item["content"] for item in server.requests[2].body["messages"] if item["role"] == "tool"]
    assert ran.code == 0, ran.out
    assert "def median(values):" in found[0]
    assert "main.py:9" in found[1]


def test_no_synonym_means_two_arguments() -> None:
    for item in all_tools():
        members = tuple(item.arguments)
        given = [f"{SYNONYMS.get(own, '')} {SYNONYMS.get(f'{item.name}.{own}', '')}".split() for own in members]
        words = [word for words in given for word in words]
        twice = sorted({word for word in words if words.count(word) > 1 or word in members})
        assert twice == [], item.name

"""`codur tools`: the tools and which can follow which."""

from __future__ import annotations

import json
from pathlib import Path

from codur.cli.actions.tools import learned
from codur.tools.catalogue import all_tools
from tests.cli.kit import codur
from tests.support.groq_server import GroqServer, json_reply


def test_all_tools(project: Path, home: Path) -> None:
    ran = codur("tools", cwd=project, home=home)
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.out.splitlines()) == len(all_tools())
    assert "read_file(path, start_line?, end_line?) → FileContent [read]: Read a text file" in ran.out


def test_tools_for_a_kind_of_task_as_json(project: Path, home: Path) -> None:
    ran = codur("tools", "--for", "git", "--json", cwd=project, home=home)
    shown = json.loads(ran.out)
    names = [item["name"] for item in shown["tools"]]
    assert names == sorted(tool.name for tool in all_tools() if "git" in tool.task_types)
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


OPEN_PLAN = """\
codur_plan: 1
task: where is one used?
steps:
  - id: find
    action: tool
    capability: find_definition
    arguments: {name: one}
  - id: next
    action: tool
    decide: guided
    objective: Read on.
    max_candidates: 4
"""


def test_a_choice_that_was_the_same_three_times_is_offered_and_then_made_without_a_model(
    project: Path, home: Path
) -> None:
    (project / "plan.yaml").write_text(OPEN_PLAN)
    (project / "main.py").write_text("def one():\n    return 1\n\n\nprint(one())\n")
    words = ("run", "--plan-file", "plan.yaml")
    reply = json_reply({"tool": "find_usages", "arguments": []})
    with GroqServer([reply] * 3) as server:
        for number in range(3):
            assert "nothing yet" in codur("tools", "--learned", cwd=project, home=home).out, number
            ran = codur(
                *words, cwd=project, home=home, GROQ_API_KEY="gsk_canary", CODUR_PROVIDERS__GROQ__BASE_URL=server.url
            )
            assert (ran.code, "main.py:5" in ran.out) == (0, True), ran
        assert (len(server.requests), server.unexpected) == (3, 0)
    offered = codur("tools", "--learned", cwd=project, home=home)
    assert offered.out == (
        "find_definition > find_usages: 3 times\n"
        "tools.promote: [find_definition > find_usages] makes them without a model\n"
    )
    shown = json.loads(codur("tools", "--learned", "--json", cwd=project, home=home).out)
    assert [(item["promote"], item["times"]) for item in shown["learned"]] == [("find_definition > find_usages", 3)]
    ran = codur(*words, "--json", cwd=project, home=home, CODUR_TOOLS__PROMOTE="[find_definition > find_usages]")
    result = json.loads(ran.out)
    assert (ran.code, result["model_calls"], "main.py:5" in result["answer"]) == (0, 0, True)
    refused = codur(*words, cwd=project, home=home, CODUR_TOOLS__PROMOTE="[find_usages]")
    assert refused.code == 2
    assert "must be two tools, the second of which follows the first" in refused.err


def test_what_is_learned_is_the_last_streak_of_choices_that_code_could_have_made() -> None:
    def chose(choice: str, settled: bool = True, by: str = "model") -> dict[str, object]:
        return {"event": "tool_chosen", "after": "a", "choice": choice, "settled": settled, "by": by}

    same = [chose("b")] * 3
    assert [item["times"] for item in learned(same)] == [3]
    assert learned(same[:2]) == []
    assert learned([*same, chose("c")]) == []
    assert learned([*same, chose("b", settled=False)]) == []
    assert [item["times"] for item in learned([chose("c"), *same, chose("c", by="code"), chose("b")])] == [4]
    assert learned([{**item, "after": ""} for item in same]) == []

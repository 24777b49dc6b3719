"""The commands, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codur import __version__
from tests.cli.kit import ROOT, codur_anew, codur_here, environment, the_object
from tests.runs.kit import NEEDS_MODEL, REPAIRABLE, contents, fill


def test_version(project: Path, home: Path) -> None:
    for option in ("--version", "-V"):
        ran = codur_anew(option, cwd=project, home=home)
        assert (ran.code, ran.out, ran.err) == (0, f"codur {__version__}\n", "")


def test_help_names_every_command(project: Path, home: Path) -> None:
    ran = codur_anew("--help", cwd=project, home=home)
    assert ran.code == 0
    for command in ("run", "route", "solve", "graph", "tools", "agents", "config"):
        assert f"  {command} " in ran.out
    # Prepared, and made on the spot. To renew: python -c "from codur.cli.main import run; run(['-h'])" >codur/help.txt
    # Without a task nothing was done: a script may have lost it.
    alone = codur_anew(cwd=project, home=home)
    assert (alone.out, alone.code) == (ran.out, 2)
    assert max(map(len, codur_anew("-h", cwd=project, home=home, COLUMNS="50").out.splitlines())) <= 50


def test_a_task_without_a_command_loads_neither_langgraph_nor_groq_for_a_repair(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    script = (
        "import sys\nfrom codur.__main__ import main\n"
        "sys.argv = ['codur', 'fix main.py']\n"
        "code = main()\n"
        "print('code', code, 'loaded', sorted({'langgraph', 'groq', 'asyncio'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, env=environment(home), capture_output=True, text=True, check=True
    )
    assert "range(start, end + 1)" in (project / "main.py").read_text()
    assert "+    for number in range(start, end + 1):" in done.stdout
    assert "· 0 calls ·" in done.stderr
    assert done.stdout.splitlines()[-1] == "code 0 loaded []"


def test_the_json_object_of_a_task_with_an_expected_output_by_option(project: Path, home: Path) -> None:
    fill(project, {"main.py": REPAIRABLE["main.py"], "wanted.txt": REPAIRABLE["expected.txt"]})
    ran = codur_anew("--json", "fix main.py", "--expect", "wanted.txt", "-C", str(project), cwd=home, home=home)
    value = the_object(ran.out)
    assert (ran.code, value["exit_code"], value["model_calls"], value["solved_by"]) == (0, 0, 0, "repair")
    assert ran.err == ""


def test_a_check_command_decides_and_json_stream_ends_with_the_result(project: Path, home: Path) -> None:
    fill(project, {"main.py": REPAIRABLE["main.py"]})
    check = "test \"$(python main.py | tail -n 1)\" = '100 5050'"
    ran = codur_anew("--json-stream", "fix main.py", "--check", check, cwd=project, home=home)
    kinds = [json.loads(line)["event"] for line in ran.out.splitlines()]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_finished"
    assert kinds.count("run_finished") == 1
    assert "check_ran" in kinds
    assert ran.code == 0, ran.err
    assert "end + 1" in (project / "main.py").read_text()


def test_raw_prints_the_diff_alone(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_anew("--raw", "fix main.py", cwd=project, home=home)
    assert ran.code == 0
    assert ran.out.startswith("diff --git a/main.py b/main.py\n--- a/main.py\n+++ b/main.py\n")
    assert ran.err == ""


def test_a_task_from_a_file_and_from_standard_input(project: Path, home: Path) -> None:
    fill(project, {"task.txt": "show me notes.txt\n", "notes.txt": "milk\n"})
    for words, stdin in ((("--file", "task.txt"), b""), (("-",), b"show me notes.txt\n")):
        ran = codur_anew(*words, "--raw", cwd=project, home=home, stdin=stdin)
        assert (ran.code, ran.out.strip()) == (0, "milk")


def test_no_key_is_exit_3_and_two_lines_say_what_to_do(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    ran = codur_anew("fix main.py", cwd=project, home=home, CODUR_REPAIR__MODE="off")
    assert ran.code == 3
    assert "GROQ_API_KEY" in ran.err
    assert "ollama serve" in ran.err
    assert "codur/" not in ran.err  # no traceback of ours; that of the program is shown as what fails
    assert contents(project) == NEEDS_MODEL


def test_route_executes_nothing(project: Path, home: Path) -> None:
    fill(project, {"main.py": "open('ran', 'w')\nprint(2)\n", "expected.txt": "1\n"})
    ran = codur_anew("route", "fix main.py", "--json", cwd=project, home=home)
    value = json.loads(ran.out)
    assert ran.code == 0
    assert (value["type"], value["settled"], value["files"], value["tier"]) == ("code_fix", False, ["main.py"], "open")
    assert value["check"]["expected_file"] == "expected.txt"
    assert not (project / "ran").exists()
    settled = json.loads(codur_here("route", "read main.py", "--json", cwd=project, home=home).out)
    assert settled["settled"] is True
    assert settled["tool_calls"] == [{"tool": "read_file", "arguments": {"path": "main.py"}}]
    assert codur_here("route", "fix main.py", cwd=project, home=home).out.splitlines() == [
        "would search for a fix if the check fails, then ask a model",
        "check: python main.py (expected.txt beside main.py)",
        "files: main.py",
        "program: main.py",
        "why: code fix: 'fix'",
    ]
    first = codur_here("route", "read main.py", cwd=project, home=home).out.splitlines()[0]
    assert first == "would call read_file(path='main.py')"
    assert codur_here("route", "hello", cwd=project, home=home).out.startswith("would answer: ")
    assert codur_here("route", "add a login page", cwd=project, home=home).out.startswith("would ask a model\n")


def test_graph_shows_the_nodes(project: Path, home: Path) -> None:
    text = codur_anew("graph", cwd=project, home=home).out
    assert "review → accept, end, llm_plan, llm_pre_plan, policy, repair" in text
    assert "pattern_plan" in codur_here("graph", "--mermaid", cwd=project, home=home).out
    ran = codur_here("graph", "--svg", "graph.svg", cwd=project, home=home)
    assert ran.code == 0, ran.err
    drawn = ElementTree.parse(project / "graph.svg").getroot()
    assert {"start", "pattern_plan", "end"} <= {item.text for item in drawn.iter("{http://www.w3.org/2000/svg}text")}


def test_agents_lists_them_and_says_what_is_missing(project: Path, home: Path) -> None:
    ran = codur_anew("agents", cwd=project, home=home)
    assert ran.code == 0
    assert "codur-coding" in ran.out
    rows = json.loads(codur_here("agents", "--json", cwd=project, home=home).out)
    ready = {row["name"]: row["ready"] for row in rows}
    assert (ready["codur-coding"], ready["codur-explaining"]) == (False, False)


def test_config_commands(project: Path, home: Path) -> None:
    shown = codur_anew("config", "show", cwd=project, home=home, CODUR_RUNTIME__MAX_LLM_CALLS="7")
    assert "max_llm_calls: 7" in shown.out
    assert codur_here("config", "check", cwd=project, home=home).code == 0
    assert str(home) in codur_here("config", "path", cwd=project, home=home).out
    schema = json.loads(codur_here("config", "schema", cwd=project, home=home).out)
    assert schema == json.loads((ROOT / "config" / "codur.schema.json").read_text())


def test_solve_shows_a_table_and_leaves_the_originals(project: Path, home: Path) -> None:
    fill(project / "one", {**REPAIRABLE, "prompt.txt": "fix main.py\n"})
    fill(project / "deep" / "two", {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    ran = codur_anew("solve", str(project), "--offline", cwd=project, home=home, CODUR_REPAIR__OFFLINE_BUDGET_S="5")
    assert ran.code == 1, ran.err
    assert "one" in ran.out
    assert "deep/two" in ran.out
    assert contents(project / "one") == {**REPAIRABLE, "prompt.txt": "fix main.py\n"}
    off = {"CODUR_REPAIR__MODE": "off"}
    told = json.loads(
        codur_here("solve", str(project / "one"), "--offline", "--json", cwd=project, home=home, **off).out
    )
    assert [(row["name"], row["status"]) for row in told["results"]] == [("one", "failed")]
    assert "1 of 2 solved" in ran.out


@pytest.mark.parametrize(
    "words", [("--version",), ("--help",), ("hello",), ("route", "fix main.py"), ("show me notes.txt",)]
)
def test_what_needs_no_model_loads_neither_langgraph_nor_groq(
    words: tuple[str, ...], project: Path, home: Path
) -> None:
    fill(project, {"notes.txt": "milk\n"})
    script = (
        "import sys\nfrom codur.__main__ import main\n"
        f"sys.argv = ['codur', *{words!r}]\n"
        "code = main()\n"
        "heavy = {'langgraph', 'groq', 'pydantic', 'httpx', 'git', 'asyncio'} & set(sys.modules)\n"
        "print('code', code, 'loaded', sorted(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, env=environment(home), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "code 0 loaded []"


def test_config_alone_shows_its_help(project: Path, home: Path) -> None:
    ran = codur_anew("config", cwd=project, home=home)
    assert ran.code == 0
    assert "\n  schema " in ran.out


def test_closed_streams_are_no_fault(project: Path, home: Path) -> None:
    fill(project, {"notes.txt": "milk\n"})
    line = f'exec "{sys.executable}" -m codur "show me notes.txt"'
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{line} {closing}"], cwd=project, env=environment(home), capture_output=True, check=False
        )
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr

"""Whole decisions: plans, discovery, purity, long prompts, and what the phase imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codur.config.settings import Settings
from codur.errors import UsageError
from codur.planning.patterns.decide import RULES, PatternDecision, decide
from codur.tools.catalogue import all_tools
from codur.types import CODE_TASKS, Discovery, Plan, Step, Task, TaskType
from codur.workspace.workspace import Workspace
from tests.planning.data.pattern_workspace import FILES, make_workspace

MEGABYTES = 10_000_000


def ask(prompt: str, root: Path, files: dict[str, str] = FILES, **given: Any) -> PatternDecision:
    return decided(prompt, make_workspace(root, files), **given)


def decided(prompt: str, workspace: Workspace, **given: Any) -> PatternDecision:
    return decide(Task(prompt=prompt, workspace=str(workspace.root), **given), workspace, settings=Settings())


# --- plans ------------------------------------------------------------------------------------------------------------


def tool_plan(tool: str, objective: str, rule: str, **arguments: object) -> Plan:
    step = Step(id=tool, action="tool", capability=tool, objective=objective, arguments=arguments)
    return Plan(steps=(step,), origin="pattern", reason=f"rule: {rule}")


def words(text: str, rule: str) -> Plan:
    step = Step(id="answer", action="respond", objective="Answer.", arguments={"text": text})
    return Plan(steps=(step,), origin="pattern", reason=f"rule: {rule}")


PLANS = [
    (
        "read app.py lines 10-20",
        tool_plan(
            "read_file",
            "Show app.py, lines 10 to 20.",
            "show lines of a file",
            path="app.py",
            start_line=10,
            end_line=20,
        ),
    ),
    ("git status", tool_plan("git_status", "Show the branch and the changed files.", "git status")),
    ("show the last 3 commits", tool_plan("git_log", "Show the latest commits.", "git log", limit=3)),
    (
        "where is total defined?",
        tool_plan("find_definition", "Find where total is defined.", "find a definition", name="total"),
    ),
    (
        "search for `a b` in app.py",
        tool_plan("grep_files", "Search for a b in app.py.", "search for a text", pattern="a b", path="app.py"),
    ),
    (
        "run main.py with args a b",
        tool_plan(
            "run_python_file", "Run main.py a b.", "run a program with arguments", path="main.py", args=("a", "b")
        ),
    ),
    ("run the tests", tool_plan("run_pytest", "Run the tests.", "run the tests")),
    ("delete tmp.txt", tool_plan("delete_file", "Delete tmp.txt.", "delete a file", path="tmp.txt")),
    (
        "rename tmp.txt to old.txt",
        tool_plan("move_file", "Move tmp.txt to old.txt.", "move a file", source="tmp.txt", target="old.txt"),
    ),
    ("outline of app.py", tool_plan("python_ast_outline", "Outline app.py.", "outline of a file", path="app.py")),
    ("Thanks!", words("You are welcome.", "a greeting")),
]


@pytest.mark.parametrize(("prompt", "plan"), PLANS, ids=[prompt for prompt, _ in PLANS])
def test_settled_plan(prompt: str, plan: Plan, tmp_path: Path) -> None:
    assert ask(prompt, tmp_path).plan == plan


def test_a_missing_file_is_said_with_the_nearest_names(tmp_path: Path) -> None:
    decision = ask("show mian.py", tmp_path, {"main.py": "", "man.py": "", "other.txt": ""})
    text = "There is no file mian.py in this workspace. Nearest: man.py, main.py."
    step = Step(id="answer", action="respond", objective="Answer.", arguments={"text": text})
    assert decision == PatternDecision(
        plan=Plan(steps=(step,), origin="pattern", reason=text, outcome="not_achieved"),
        discovery=Discovery(
            task_type="file_operation", confidence=1.0, missing_files=("mian.py",), reason="rule: show a file"
        ),
    )


def test_settled_plans_name_tools_and_arguments_that_exist(tmp_path: Path) -> None:
    tools = {tool.name: {*tool.arguments} for tool in all_tools()}
    for _, plan in PLANS:
        for step in plan.steps:
            assert step.action == "respond" or set(step.arguments) <= tools[step.capability]


@pytest.mark.parametrize(
    ("prompt", "file"),
    [
        ("explain app.py", "app.py"),
        ("Could you please explain the file src/parser.py to me?", "src/parser.py"),
        ("what does parser.py do?", "src/parser.py"),
        ("how does app.py work", "app.py"),
        ("walk me through main.py", "main.py"),
        ("erkläre mir app.py", "app.py"),
        ("explain app.py and fix it", ""),
        ("explain why the tests fail and fix app.py", ""),
        ("explain the bug in app.py", ""),
        ("explain app.py:3", ""),
        ("explain app.py and utils.py", ""),
        ("explain how app.py could be faster", ""),
        ("what does app.py do wrong?", ""),
        ("what does the fix in app.py do?", ""),
        ("what is package.json for?", ""),
        ("explain recursion", ""),
    ],
)
def test_an_explanation_of_a_file_is_known_and_left_to_a_model(prompt: str, file: str, tmp_path: Path) -> None:
    decision = ask(prompt, tmp_path)
    assert (decision.plan, decision.discovery.explain) == (None, file)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("something is off with the date parsing", "code_fix"),
        ("the sums in app.py are off by one", "code_fix"),
        ("parsing of dates regressed", "code_fix"),
        ("turn off the logging in app.py", "refactor"),
        ("since which commit does test_total fail", "explanation"),
        ("for which input does it fail", "explanation"),
        ("tests are red", "code_fix"),
        ("app.py is far too slow", "refactor"),
        ("why is app.py slow?", "explanation"),
        ("npm test is red", "code_fix"),
        ("pytest never comes back, it just hangs. pls fix", "code_fix"),
        ("the tests keep hanging", "code_fix"),
        ("tests never call the network, say so in README.md", "unknown"),
        ("pytest fails", "code_fix"),
        ("test the red button", "run"),
        ("make the build fail on warnings", "refactor"),
        ("test that parse fails on bad input", "run"),
        ("the tests still fail", "code_fix"),
    ],
)
def test_complaints(prompt: str, kind: str, tmp_path: Path) -> None:
    assert ask(prompt, tmp_path).discovery.task_type == kind


def test_only_rm_has_to_be_approved_of(tmp_path: Path) -> None:
    prompts = ("rm tmp.txt", "mv tmp.txt old.txt", "cp tmp.txt old.txt", "delete tmp.txt")
    plans = [plan for prompt in prompts if (plan := ask(prompt, tmp_path).plan)]
    assert [plan.asks for plan in plans] == [True, False, False, False]


# --- what depends on the workspace ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "files", "settled"),
    [
        ("where is foo defined", {"a.py": ""}, True),
        ("where is foo defined", {"a.py": "", "b.js": ""}, False),
        ("where is foo defined", {"a.py": "def foo():\n    pass\n", "b.js": ""}, True),
        ("where is foo defined", {"a.txt": ""}, False),
        ("run the tests", {"a.py": ""}, False),
        ("run the tests", {"deep/down/test_a.py": ""}, True),
        ("run the tests", {"go.mod": "module example.org/a\n"}, True),
        ("which tests fail?", {"test_a.py": "def test_a(): pass\n"}, True),
        ("which of the tests fail, and why?", {"test_a.py": "def test_a(): pass\n"}, False),
        ("is k8s/a.yaml valid?", {"k8s/a.yaml": "a: 1\n", "test_a.py": "def test_a(): pass\n"}, True),
        ("validate a.json", {"a.json": "{"}, True),
        ("validate a.json against b.json", {"a.json": "{", "b.json": ""}, False),
        ("check a.md", {"a.md": ""}, False),
        ("check a.py", {"a.py": ""}, False),
        ("npm test", {"package.json": '{"scripts": {"test": "node --test"}}'}, True),
        ("npm run deploy", {"package.json": '{"scripts": {"test": "node --test", "deploy": "x"}}'}, False),
        ("run make lint", {"Makefile": "lint:\n\truff check .\n"}, True),
        ("make release", {"Makefile": "release:\n\ttwine upload\n"}, False),
        ("make lint", {"Makefile": "test:\n\tpytest\n"}, False),
        ("show util.py", {"a/util.py": "", "b/util.py": ""}, False),
        ("show util.py", {"a/util.py": ""}, True),
        ("delete util.py", {"a/util.py": ""}, False),
        ("delete util.py", {"Util.py": ""}, False),
        ("run the program", {"main.py": "print(1)\n"}, True),
        ("run the program", {"main.py": "print(1)\n", "program.py": "print(2)\n"}, False),
        ("run main.js", {"main.js": ""}, False),
        ("outline of a.js", {"a.js": ""}, False),
        ("rename a.txt to b.txt", {"a.txt": "", "b.txt": ""}, False),
        ("move a.txt to b", {"a.txt": "", "b/c.txt": ""}, True),
        ("move a.txt to b", {"a.txt": "", "b/a.txt": ""}, False),
        ("create a.txt with 'x'", {"a.txt": ""}, False),
    ],
)
def test_settled_only_if_the_workspace_allows(
    prompt: str, files: dict[str, str], settled: bool, tmp_path: Path
) -> None:
    assert (ask(prompt, tmp_path, files).plan is not None) is settled


SETTINGS_FILES = {
    "settings.yaml": "server:\n    port: 8080   # as in Dockerfile\n    host: localhost\n    image: 'app:1.2'\n",
    "setup.ini": "[run]\ntimeout = 30\n",
    "a.json": '{"level": "info", "url": "http://localhost:80"}\n',
    "theme.css": "body{margin:0}\n.note { color: grey }\n",
    "demo.html": "<title>slugger</title>\n",
    "notes.md": "port: the harbour\n",
    "log.txt": "cat = animal\nthe cat\n",
}


@pytest.mark.parametrize(
    ("prompt", "literal"),
    [
        ("change port to 9090 in settings.yaml", False),
        ("in settings.yaml change the port to 9090", False),
        ("replace timeout with 60 in setup.ini", False),
        ("change level to debug in a.json", False),
        ("change margin to 8px in theme.css", False),
        ("change color to red in theme.css", False),
        ("change title to Demo in demo.html", False),
        ("change 'port' to 'listen' in settings.yaml", True),
        ("change 8080 to 9090 in settings.yaml", True),
        ("change localhost to 127.0.0.1 in a.json", True),
        ("change grey to black in theme.css", True),
        ("change port to harbour in notes.md", True),
        ("replace cat with dog in log.txt", True),
    ],
)
def test_who_changes_a_setting_means_its_value(prompt: str, literal: bool, tmp_path: Path) -> None:
    plan = ask(prompt, tmp_path, SETTINGS_FILES).plan
    assert (plan is not None) is literal


def test_protected_files_are_left_to_the_user(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    workspace.protect(["tmp.txt"])
    prompts = ["delete tmp.txt", "move tmp.txt to b.txt", "append 'x' to tmp.txt"]
    assert [decided(prompt, workspace).plan for prompt in prompts] == [None] * 3


# --- discovery --------------------------------------------------------------------------------------------------------

PROJECT = {
    "main.py": "import shapes\nprint(shapes.area())\n",
    "shapes.py": "from helpers.numbers import two\n\n\ndef area():\n    return two()\n",
    "helpers/numbers.py": "def two():\n    return 2\n",
    "unrelated.py": "x = 1\n",
    "expected.txt": "2\n",
}


def test_code_task_discovers_the_program_its_sources_and_the_check(tmp_path: Path) -> None:
    found = ask("fix it please", tmp_path, PROJECT).discovery
    assert found.check is not None
    assert (found.task_type, found.entry, found.files, found.check.kind, found.check.expected_file) == (
        "code_fix",
        "main.py",
        ("main.py", "shapes.py", "helpers/numbers.py"),
        "output",
        "expected.txt",
    )


def test_named_files_come_first_and_in_a_large_workspace_nothing_is_added_but_the_program(tmp_path: Path) -> None:
    many = {**PROJECT, **{f"other{number}.py": "x = 1\n" for number in range(8)}}
    found = ask("fix unrelated.py and nothere.py", tmp_path, many).discovery
    assert (found.files, found.missing_files, found.confidence) == (("unrelated.py", "main.py"), ("nothere.py",), 0.95)
    found = ask(
        "fix is_css: only lower case counts, but a file named A.CSS must count too", tmp_path, PROJECT
    ).discovery
    assert found.missing_files == ()


@pytest.mark.parametrize(
    ("prompt", "files"),
    [
        ("mkdocs build crashes when a page has a link", ()),
        ("fix build", ("build.py",)),
        ("the build crashes", ()),
        ("`build` crashes", ("build.py",)),
        ("the build script crashes", ("build.py",)),
        ("fix parser, it prints nothing", ("parser.py",)),
        ("fix that: they get the whole build listed", ()),
    ],
)
def test_among_many_sources_a_word_is_no_module(prompt: str, files: tuple[str, ...], tmp_path: Path) -> None:
    many = {"build.py": "", "parser.py": "", **{f"module{number}.py": "" for number in range(9)}}
    assert ask(prompt, tmp_path, many).discovery.files == files


def test_the_program_of_a_package_is_not_what_a_command_checks(tmp_path: Path) -> None:
    main = {"pack/__init__.py": "", "pack/__main__.py": "if __name__ == '__main__':\n    print(1)\n"}
    many = {f"pack/module{number}.py": "" for number in range(9)} | main
    found = ask("fix the crash of pages without a title", tmp_path, many, check_command="python -m unittest").discovery
    assert (found.files, found.entry) == ((), None)


def test_a_module_named_without_suffix_is_found(tmp_path: Path) -> None:
    many = {"parser.py": "", "report.py": "", **{f"other{number}.py": "" for number in range(9)}}
    assert ask("fix the parser", tmp_path, many).discovery.files == ("parser.py",)


def test_relative_and_package_imports_are_followed(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/one.py": "from . import two\nfrom .sub.three import x\n",
        "app/two.py": "from app import four\n",
        "app/sub/three.py": "from ..five import y\n",
        "app/four.py": "import app.one\n",
        "app/five.py": "",
    }
    found = ask("fix app/one.py", tmp_path, files).discovery.files
    assert found[0] == "app/one.py"
    assert set(found) == set(files)


def test_a_check_given_by_the_caller_makes_it_a_code_task_that_is_not_settled(tmp_path: Path) -> None:
    for prompt in ("make it so", "hi", "show app.py"):
        decision = ask(prompt, tmp_path, check_command="true")
        assert decision.plan is None
    found = ask("zzz", tmp_path, check_command="true").discovery
    assert (found.task_type, found.check is not None and found.check.argv) == ("code_fix", ("sh", "-c", "true"))


def test_a_missing_expected_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothere\.txt"):
        ask("fix main.py", tmp_path, expect_file="nothere.txt")


def test_dangerous_requests_get_no_check(tmp_path: Path) -> None:
    assert ask("rm -rf main.py", tmp_path).discovery == Discovery(
        files=("main.py",), reason="a shell command; no rule runs one"
    )


def test_rules_settle_every_kind_but_code() -> None:
    assert set(RULES) == set(get_args(TaskType)) - CODE_TASKS - {"unknown", "greeting"}


# --- any text ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    "show delete app.py tmp.txt and then fix the please run main.py with args ? . ! \n ``` ` \" ' “ ” git diff -- *"
    " ../ / hi in find TODO lines 1-2 to write append rename :3 @ <a> </a> > online web"
    " https://e.org/x \x00 \ud800 ~~~ é 你好".split(" ")
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("any"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompt=st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_is_decided_the_same_way_twice_and_changes_nothing(prompt: str, shared: Workspace) -> None:
    first = decided(prompt, shared)
    assert decided(prompt, shared) == first
    assert sorted(shared.list_files()) == sorted(FILES)
    assert shared.changed_files() == ()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.text(min_size=1, max_size=40))
def test_more_words_after_a_settled_request_never_delete_another_file(rest: str, shared: Workspace) -> None:
    plan = decided(f"delete tmp.txt {rest}", shared).plan
    assert plan is None or plan.steps[0].arguments == {"path": "tmp.txt"}


@pytest.mark.parametrize(
    "unit",
    ["a ", "`", "```", '"', "'", "“", "„", "«", "(", "<a>\n", "</a>\n", "~~~\n", "\n ", "main.py ", "a.b/", "=", "[x]",
     "please ", "and ", "delete ", "def f(\n", "return (", "```a```b", "if :", "!" , "\\", "#L1", ":1"],
)  # fmt: skip
def test_ten_megabytes_are_decided(unit: str, shared: Workspace) -> None:
    prompt = unit * (MEGABYTES // len(unit))
    assert decided(prompt, shared).plan is None


def test_only_the_ends_of_a_long_prompt_decide(shared: Workspace) -> None:
    filling = "word " * 10_000
    at_end = decided(f"{filling} fix main.py", shared).discovery
    in_middle = decided(f"{filling} fix main.py {filling}", shared).discovery
    assert (at_end.task_type, at_end.files[:1]) == ("code_fix", ("main.py",))
    assert in_middle.task_type == "unknown"


def test_a_long_fenced_block_does_not_hide_the_request(shared: Workspace) -> None:
    block = "delete everything\n" * 5_000
    plan = decided(f"write this to big.txt:\n```\n{block}```", shared).plan
    assert plan is not None
    assert plan.steps[0].arguments == {"path": "big.txt", "content": block}


# --- start-up ---------------------------------------------------------------------------------------------------------

HEAVY = "pydantic yaml rich asyncio langgraph groq httpx git pathspec subprocess codur.llm codur.checks.checker".split(
    " "
)


def test_a_settled_request_imports_nothing_heavy(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    program = (
        "import sys\nfrom pathlib import Path\nfrom codur.config.settings import Settings\n"
        "from codur.planning.patterns.decide import decide\nfrom codur.workspace.workspace import Workspace\n"
        "from codur.types import Task\n"
        f"workspace = Workspace.open(Path({str(tmp_path)!r}))\n"
        "for prompt in ('hi', 'show app.py', 'git status', 'run main.py', 'where is total defined'):\n"
        "    task = Task(prompt=prompt, workspace='')\n"
        "    assert decide(task, workspace, settings=Settings()).plan is not None\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert outcome.stdout == "[]\n"


@pytest.mark.parametrize(
    ("prompt", "task_type"),
    [
        ("a session should have a base address", "code_generation"),
        ("the setting workers should accept the word auto", "code_generation"),
        ("the total should be 6", "code_fix"),
        ("the sum should have been 6", "code_fix"),
        ("median in stats.py should have returned 2 for two values", "code_fix"),
        ("the parser should have thrown an exception of its own", "code_fix"),
    ],
)
def test_what_should_be_there_is_new_and_what_should_have_been_is_a_fault(
    tmp_path: Path, prompt: str, task_type: TaskType
) -> None:
    assert ask(prompt, tmp_path).discovery.task_type == task_type

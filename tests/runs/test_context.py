"""What whole runs send to a model: the code that the failure leads to, instructions, nothing that must stay here."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import AgentConfig, Settings
from codur.context.excerpts import fit
from codur.context.index import RepositoryIndex
from codur.context.selection import Clues, select
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.session.task_run import run_task
from codur.store.trusted_files import TrustStore
from codur.structs import replace
from codur.types import Task
from codur.workspace.workspace import Workspace
from tests.runs.kit import Played, fill, host, play, settings_for
from tests.runs.test_plans import classified
from tests.support.groq_server import GroqServer, RecordedRequest, ServerReply, calls, json_reply, text
from tests.tools.test_repository import SHOP

UNSURE = json_reply(
    {
        "task_type": "code_fix",
        "confidence": 0.95,
        "detected_files": [],
        "suggested_action": "edit",
        "reasoning": "A test fails.",
    }
)
PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n"}
FILES = {
    **SHOP,
    **PYTEST,
    ".env": "TOKEN=hunter2\n",
    ".gitignore": "build/\n",
    "build/made.py": "def to_cents(x):\n    return 'ignored'\n",
    "expected.txt": "the hidden answer\n",
    "prices.csv": "sku,price\n",
}
NO_EDIT = text("I do not know.")
HALF = calls(
    (
        "replace_function",
        {"path": "src/shop/rounding.py", "name": "to_cents", "code": "def to_cents(x):\n    return -int(x * 100)\n"},
    )
)
RIGHT_CALL = (
    (
        "replace_function",
        {"path": "src/shop/rounding.py", "name": "to_cents", "code": "def to_cents(x):\n    return round(x * 100)\n"},
    ),
)
RIGHT = calls(*RIGHT_CALL)
DOCUMENTS = ("README.md", "docs/index.md")
WRONG = {**FILES, "src/shop/rounding.py": SHOP["src/shop/rounding.py"].replace("x * 100", "x * 99")}
"""The fault is three calls away from the test that finds it, which names no file."""


def coding(requests: list[RecordedRequest]) -> list[Any]:
    return [request.body for request in requests if request.body.get("tools")]


def system(body: Any) -> str:
    return str(body["messages"][0]["content"])


def user(body: Any) -> str:
    return str(body["messages"][-1]["content"])


def shared_start(one: str, two: str) -> str:
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


def mended(directory: Path, *replies: ServerReply, **fields: Any) -> Played:
    return play(directory, WRONG, "make the failing test pass", [UNSURE, *replies], **fields)


def test_the_first_request_holds_the_function_that_no_file_was_named_for(tmp_path: Path) -> None:
    played = mended(tmp_path, RIGHT)
    assert (played.result.outcome, len(played.requests)) == ("done", 2)
    told = user(coding(played.requests)[0])
    assert "def to_cents(x):\n    return int(x * 99)" in told
    assert "def test_total():" in told


def guessed(directory: Path, files: dict[str, str], names: list[str], **fields: Any) -> str:
    """The coding request of a run whose classifier names these files."""
    decided = {"task_type": "code_fix", "confidence": 0.95, "detected_files": names, "suggested_action": "edit"}
    replies = [json_reply({**decided, "reasoning": "A test fails."}), RIGHT]
    played = play(directory, {**WRONG, **files}, "the total of an invoice is wrong", replies, **fields)
    assert (played.result.outcome, len(played.requests)) == ("done", 2)
    assert played.result.before is not None
    assert played.result.before.check == "python -m pytest"
    return user(coding(played.requests)[0])


def test_what_a_classifier_guessed_is_told_as_a_guess(tmp_path: Path) -> None:
    """A file that the failure leads to is none, whoever names it; a test that is guessed does not become the check."""
    files = {
        "src/shop/stock.py": "def count():\n    return 0\n",
        "tests/test_stock.py": "def test_count():\n    pass\n",
    }
    told = guessed(tmp_path, files, ["src/shop/stock.py", "tests/test_stock.py", "src/shop/rounding.py"])
    assert "===== src/shop/stock.py (2 lines, only a guess)" in told
    assert "===== src/shop/rounding.py (6 lines)\n" in told


def test_a_classifier_is_not_told_that_a_module_of_a_library_is_the_program(tmp_path: Path) -> None:
    script = 'def main():\n    pass\n\n\nif __name__ == "__main__":\n    main()\n'
    files = {**FILES, "src/shop/__init__.py": "", "src/shop/help.py": script, "docs/conf.py": "print('docs')\n"}
    played = play(tmp_path, files, "the cents that are paid are wrong somehow, see what a customer says", [NO_EDIT] * 9)
    told = played.message(0)
    assert "program: " not in told
    assert "# Found by keywords" not in told, "where nothing is, nothing is said of it"
    assert "type by rules" not in told, "a word in the middle of a sentence misleads too often"


def test_a_classifier_is_told_what_rules_are_sure_of(tmp_path: Path) -> None:
    told = play(tmp_path, FILES, "fix the cents in rounding, see what a customer says", [NO_EDIT] * 9).message(0)
    assert "\n\n# Found by keywords and file names, may be wrong\ntype by rules: code_fix\n" in told
    assert "rounding.py\n\n# Files\n" in told


def test_a_question_is_not_told_that_no_check_was_found(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "who calls to_cents, and is it ever given a negative amount?", [NO_EDIT] * 9)
    assert "No check was found" not in played.message(0)
    assert "Not looked for yet" in played.message(0)


def test_what_a_classifier_guessed_gets_room_last(tmp_path: Path) -> None:
    long = "".join(f"def count_{n}(stock):\n    return stock - {n}\n\n\n" for n in range(400))
    sections = {"context": {"source_tokens": 1_500}}
    told = guessed(tmp_path, {"src/shop/stock.py": long}, ["src/shop/stock.py"], sections=sections)
    assert "def to_cents(x):\n    return int(x * 99)" in told
    assert "def test_total():" in told
    assert "def count_399" not in told


RED = "print('\\x1b[31mbad total\\x1b[0m')\nraise SystemExit(1)\n"


def test_terminal_colours_are_taken_out_of_what_a_check_said(tmp_path: Path) -> None:
    command = "python show.py"
    played = play(tmp_path, {"show.py": RED}, "make the check pass", [UNSURE, NO_EDIT], check_command=command)
    told = user(coding(played.requests)[0])
    assert "bad total" in told.partition("# The check now")[2]
    assert "\x1b" not in told


def test_terminal_colours_are_taken_out_of_what_an_agent_ran(tmp_path: Path) -> None:
    runner = AgentConfig(type="llm", description="Runs programs.", prompt="explaining", tools=("run_command",))
    settings = {"agents": {"configs": {**Settings().agents.configs, "runner": runner}}}
    asked = classified(task_type="explanation", suggested_action="explain", confidence=0.95)
    replies = [asked, calls(("run_command", {"command": "python show.py"})), text("It is bad.")]
    played = play(tmp_path, {"show.py": RED}, "why does show.py print that", replies, sections=settings, agent="runner")
    assert (played.result.outcome, played.result.answer) == ("done", "It is bad.")
    assert user(played.requests[-1].body).startswith("bad total\n")


def test_what_must_stay_here_stays_here(tmp_path: Path) -> None:
    told = user(coding(mended(tmp_path, RIGHT).requests)[0])
    for hidden in ("hunter2", "ignored", "the hidden answer"):
        assert hidden not in told


def test_a_file_of_secrets_is_not_shown_even_if_it_is_named(tmp_path: Path) -> None:
    played = play(tmp_path, WRONG, "fix the tests; see .env and src/shop/tax.py", [UNSURE, RIGHT])
    for body in coding(played.requests):
        assert "hunter2" not in user(body)
        assert "src/shop/tax.py" in user(body)


def test_requests_of_one_run_begin_alike_up_to_what_changed(tmp_path: Path) -> None:
    played = play(tmp_path, WRONG, "make the failing test pass", [NO_EDIT, HALF, RIGHT])
    first, second, third = coding(played.requests)
    assert first["tools"] == second["tools"]
    assert [tool for tool in third["tools"] if tool["function"]["name"] != "finish"] == second["tools"]
    assert system(first) == system(second) == system(third)
    assert user(second).startswith(user(first))
    shared = shared_start(user(second), user(third))
    assert shared.startswith(user(second).partition("Attempt 1")[0])


def test_a_changed_file_ends_what_two_requests_share(tmp_path: Path) -> None:
    files = {
        **WRONG,
        "tests/test_more.py": "from shop.parcel import weigh\n\n\ndef test_w():\n    assert weigh(1) == 2\n",
    }
    better = calls(
        (
            "replace_function",
            {"path": "src/shop/parcel.py", "name": "weigh", "code": "def weigh(x):\n    return x + 1\n"},
        )
    )
    played = play(tmp_path, files, "make the failing tests pass", [UNSURE, better, RIGHT])
    first, second = coding(played.requests)[:2]
    assert system(first) == system(second)
    shared = shared_start(user(first), user(second))
    assert "# Situation" in shared
    assert "# Files" in shared


def test_instructions_are_sent_once_they_are_accepted(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    fill(workspace, {**WRONG, "AGENTS.md": "Write short functions.\n", "src/AGENTS.md": "No classes.\n"})
    state = tmp_path / "state"
    task = Task(prompt="make the failing test pass", workspace=str(workspace), dry_run=True)

    def run() -> tuple[Any, tuple[str, ...]]:
        with GroqServer([UNSURE, RIGHT]) as server:
            result = run_task(task, settings_for(server), host=replace(host(), state=state), emit=lambda _: None)
            return coding(server.requests)[0], result.notes

    body, notes = run()
    assert "short functions" not in str(body)
    assert [note for note in notes if "AGENTS.md" in note] == [
        "AGENTS.md, src/AGENTS.md: instructions not used, as they are not accepted; look at them with `codur trust`"
    ]

    accepted = {"AGENTS.md": b"Write short functions.\n", "src/AGENTS.md": b"No classes.\n"}
    TrustStore(state / "trust.json").accept(workspace, accepted, when="now")
    body, notes = run()
    assert system(body).endswith(
        "## AGENTS.md\nWrite short functions.\n\n## src/AGENTS.md, for src/ and below\nNo classes."
    )
    assert not [note for note in notes if "AGENTS.md" in note]


PLAN_IT = json_reply(
    {
        "task_type": "code_fix",
        "confidence": 0.2,
        "detected_files": ["src/shop/parcel.py"],
        "suggested_action": "plan",
        "reasoning": "It is not clear.",
    }
)
ANSWER_AT_ONCE = json_reply(
    {
        "reasoning": "One look is enough.",
        "steps": [
            {
                "id": "answer",
                "action": "respond",
                "capability": "",
                "objective": "Nothing to do.",
                "expected_output": "",
                "success_criteria": "",
                "inputs": [],
                "arguments": [],
            }
        ],
    }
)


@pytest.mark.parametrize("accepted", [True, False])
@pytest.mark.parametrize("length", [1, 4000])
def test_the_planner_gets_instructions_within_its_budget(accepted: bool, length: int, tmp_path: Path) -> None:
    workspace, state = tmp_path / "project", tmp_path / "state"
    workspace.mkdir()
    told = "Write short functions.\n" + "Mind the style guide.\n" * length
    fill(workspace, {**WRONG, "AGENTS.md": told})
    if accepted:
        TrustStore(state / "trust.json").accept(workspace, {"AGENTS.md": told.encode()}, when="now")
    task = Task(prompt="rework src/shop/parcel.py", workspace=str(workspace), dry_run=True)
    with GroqServer([PLAN_IT, ANSWER_AT_ONCE, ANSWER_AT_ONCE]) as server:
        settings = settings_for(server)
        result = run_task(task, settings, host=replace(host(), state=state), emit=lambda _: None)
    body = server.bodies[1]
    assert ("## AGENTS.md\nWrite short functions." in system(body)) is accepted
    assert "rework src/shop/parcel.py" in user(body), "the task is whole, however long the instructions are"
    budget = settings.llm.profiles["gpt-oss-120b"].request_tokens
    assert len(json.dumps(body)) / BYTES_PER_TOKEN + body["max_completion_tokens"] < budget
    left_out = [note for note in result.notes if "AGENTS.md" in note]
    assert len(left_out) == (0 if accepted else 1)


def test_an_explaining_agent_gets_instructions_too(tmp_path: Path) -> None:
    settings = {"agents": {"model_agent_instructions": ()}}
    played = play(
        tmp_path, {**FILES, "AGENTS.md": "x"}, "explain how an invoice's total is made", [EDIT_EXPLAIN, text("So.")],
        sections=settings,
    )  # fmt: skip
    assert [note for note in played.result.notes if note.startswith("AGENTS.md: instructions not used")]
    assert "def tax_of(x)" in user(played.requests[-1].body)


EDIT_EXPLAIN = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.95,
        "detected_files": ["src/shop/invoice.py"],
        "suggested_action": "explain",
        "reasoning": "Words are wanted.",
    }
)


METHODS = "".join(f"\n  unit{n}(x) {{\n    return x + {n};\n  }}\n" for n in range(200))
SCRIPT = {
    "src/cart.js": "import { round } from './money.js';\n\nexport class Cart extends Base {\n  rate = 2;\n"
    f"{METHODS}\n  // In cents.\n  total(x) {{\n    return round(x) - this.rate;\n  }}\n}}\n",
    "src/money.js": "export function round(x) {\n  return Math.round(x);\n}\n",
    "test/cart.test.js": f"const methods = [`{METHODS}`];\n\ntest('adds the rate', () => {{\n"
    "  const cart = new Cart();\n  assert.equal(cart.total(1), 3);\n});\n",
    "package.json": '{"name": "cart", "type": "module"}\n',
    "check.sh": "grep -q 'round(x) + this' src/cart.js && exit 0\n"
    'at() { echo "    at $1 (file://$PWD/$2:$(grep -n "$3" $2 | cut -d: -f1):3)"; }\n'
    "echo 'AssertionError: -1 == 3'\n"
    "at Cart.total src/cart.js 'return round'\nat 'TestContext.<anonymous>' test/cart.test.js cart.total\n"
    "exit 1\n",
}


def test_of_other_languages_the_same_is_shown_and_changed(tmp_path: Path) -> None:
    edit = {
        "path": "src/cart.js",
        "class_name": "Cart",
        "method_name": "total",
        "code": "total(x) {\n  return round(x) + this.rate;\n}",
    }
    narrow = {"context": {"source_tokens": 400}}
    reply = calls(("replace_method", edit))
    played = play(tmp_path, SCRIPT, "make it pass", [reply], check_command="sh check.sh", sections=narrow)
    assert (played.result.outcome, len(played.requests)) == ("done", 1)
    told = user(coding(played.requests)[0])
    assert "  // In cents.\n  total(x) {\n    return round(x) - this.rate;\n  }\n" in told
    assert "import { round } from './money.js';\n\nexport class Cart extends Base {\n  rate = 2;\n" in told
    assert "test('adds the rate', () => {\n  const cart = new Cart();\n  assert.equal(cart.total(1), 3);\n});" in told
    assert "export function round(x) {\n  return Math.round(x);\n}" in told
    assert "not shown: unit" in told
    assert "Python" not in told.partition("# Files")[0]


def test_files_are_listed_by_what_fails_and_what_it_imports(tmp_path: Path) -> None:
    """The first of many files were what is vendored, and metadata of a build: what a plan was made from."""
    files = {
        "_vendor/a.py": "x = 1\n",
        "aaa.egg-info/SOURCES.txt": "a\n",
        "docs/conf.py": "x = 1\n",
        "bank/__init__.py": "",
        "bank/cents.py": "def cents(x):\n    return x * 10\n",
        "bank/dates.py": "def today():\n    return 1\n",
        "tests/test_all.py": "from bank.cents import cents\n\n\ndef test_cents():\n    assert cents(1) == 100\n",
        "tests/test_dates.py": "from bank.dates import today\n\n\ndef test_today():\n    assert today()\n",
    }
    prompt = "fix the failing test, then run git status and explain what changed"
    played = play(tmp_path, files, prompt, [text("no plan")] * 4)
    told = str(played.requests[0].body["messages"][1]["content"])
    listed = [path for line in told.splitlines() if (path := line.removesuffix(" (read only)")) in files]
    assert listed[:3] == ["tests/test_all.py", "bank/cents.py", "bank/dates.py"]
    assert listed[-1] == "aaa.egg-info/SOURCES.txt"
    assert "_vendor/a.py" not in listed


MANY = {f"shop/part_{n}.py": f"def part_{n}(order):\n    return order.part({n})\n\n\n" * 12 for n in range(40)}
SAYS = (
    f"{MANY['shop/part_3.py']}def take(whom, n):\n    if n < 1:\n"
    "        raise ValueError(f'cannot reserve {n} of {whom}, there is nothing left in stock')\n"
)


@pytest.mark.parametrize(
    "prompt",
    [
        "for large orders it says 'cannot reserve 0 of tea, there is nothing left in stock', it should say more",
        "this is no help:\n\n    ValueError: cannot reserve 0 of tea, there is nothing left in stock\n",
    ],
)
def test_a_message_that_is_quoted_leads_to_who_writes_it(prompt: str, tmp_path: Path) -> None:
    files = {**MANY, "shop/__init__.py": "", "shop/depot.py": SAYS, "test_it.py": "def test_it():\n    pass\n"}
    translated = "cannot reserve 1 of tea, there is nothing left in stock\n"
    files |= {f"locale/{n}.po": translated for n in range(20)}  # they come first, and are not where it is written
    decided = {"task_type": "refactor", "confidence": 0.95, "detected_files": [], "suggested_action": "edit"}
    played = play(tmp_path, files, prompt, [json_reply({**decided, "reasoning": "A message."}), *[NO_EDIT] * 5])
    assert "def take(whom, n):" in user(coding(played.requests)[0])


def test_a_classifier_sees_first_where_a_name_is_defined_that_the_task_writes(tmp_path: Path) -> None:
    files = {**MANY, "shop/__init__.py": "", "shop/zeta.py": "def unescape_all(text):\n    return text\n"}
    played = play(tmp_path, files, "describe unescape_all in the documentation, and why it is there", [NO_EDIT] * 9)
    told = played.message(0)
    assert told.index("shop/zeta.py") < told.index("shop/part_0.py")


def test_of_a_class_that_the_task_names_in_a_long_file_all_is_shown(tmp_path: Path) -> None:
    def case(name: str) -> str:
        body = "        value = 1\n" * 8 + "        assert value\n"
        return f"class {name}Test:\n" + "".join(f"    def test_{name}_{n}(self):\n{body}\n" for n in "abcd") + "\n"

    tests = "".join(
        case(name) for name in ("List", "Move", "Write", "Remove", "Import", "Show", "Edit", "Copy", "Skip")
    )
    fill(tmp_path, {"ui.py": "def move():\n    pass\n", "test_ui.py": tests})
    workspace = Workspace.open(tmp_path)
    index = RepositoryIndex(workspace, max_files=9)
    prompt = "put a test of two albums beside the existing move tests in test_ui.py"
    chosen = select(index, workspace.list_files(), Clues(task=prompt, named=["test_ui.py"]))
    (shown,) = fit({"test_ui.py": tests}, budget_chars=1600, wants=chosen.wants)
    assert all(f"def test_Move_{n}" in shown.text for n in "abcd")


def test_a_source_too_long_to_be_read_is_none_whose_imports_are_known(tmp_path: Path) -> None:
    files = {"sum.c": f"int three(void) {{ return 3; }}\n/*{'x' * 1_100_000}*/\n", "main.py": "print(3)\n"}
    played = play(tmp_path, files, "fix three in sum.c, it should be four", [NO_EDIT] * 9)
    assert played.result.outcome == "not_achieved"


def test_of_a_crowded_directory_the_large_files_are_listed(tmp_path: Path) -> None:
    files = {f"core/m{number:02}.py": "x = 1\n" for number in range(70)} | {"core/whole.py": "x = 1\n" * 500}
    asks = classified(task_type="unknown", suggested_action="end", answer="Which orders?")
    run = play(tmp_path, files, "the totals are off by a cent for some orders", [asks])
    assert "\ncore/whole.py\n" in run.message(0)
    assert "more in core/" in run.message(0)


def test_a_document_that_is_there_twice_is_shown_once_and_may_be_edited_in_both_places(tmp_path: Path) -> None:
    guide = "".join(f"Line {number} of the guide to rounding.\n" for number in range(40))
    files = {**WRONG, "README.md": guide, "docs/index.md": guide, "docs/other.md": guide.replace("guide", "notes")}
    files |= {"vendor/tool/README.md": guide, "dist/README.md": guide}
    changed = guide.replace("Line 7 of", "Line seven of")
    both = calls(
        *RIGHT_CALL,
        *(("replace_in_file", {"path": path, "old": "Line 7 of", "new": "Line seven of"}) for path in DOCUMENTS),
    )
    prompt = "fix to_cents, and write the seven in README.md and docs/index.md as a word"
    played = play(tmp_path, files, prompt, lambda body: both if body.get("tools") else UNSURE)
    (first, *_) = coding(played.requests)
    said = str(first["messages"][-1]["content"])
    assert "===== README.md (40 lines, docs/index.md has the same text: edit it, too, if it is to stay so)" in said
    assert "===== docs/index.md" not in said
    assert (played.result.exit_code, [played.files[path] for path in DOCUMENTS]) == (0, [changed, changed])


def test_of_the_tests_that_use_what_a_task_names_those_come_first_that_are_called_after_it(tmp_path: Path) -> None:
    use = "from shop.rounding import to_cents\n\n\n" + "\n\n".join(
        f"def test_{name}():\n    assert to_cents(1) == 100\n" for name in ("a", "b", "c", "d", "to_cents")
    )
    files = fill(tmp_path, {"shop/rounding.py": "def to_cents(x):\n    return x * 100\n", "tests/test_all.py": use})
    workspace = Workspace.open(files)
    index = RepositoryIndex(workspace, max_files=100)
    found = select(index, workspace.list_files(), Clues(task="add to_euros, as to_cents is there"))
    lines = [
        want.line for want in found.wants if want.path == "tests/test_all.py" and want.need == "needed" and want.line
    ]
    assert use.splitlines()[lines[0] - 1] == "def test_to_cents():"


def test_line_ends_and_marks_that_are_not_usual_are_told_with_a_file(tmp_path: Path) -> None:
    files = {"a.csv": "id;fee\r\n1;2,50\r\n", "b.json": "\ufeff{}\r\n", "c.txt": "so\n"}
    edit = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=list(files))
    sort = calls(("replace_file_content", {"path": "a.csv", "content": "id;fee\n1;3,50\n"}))
    played = play(tmp_path, files, "bring a.csv in order, as b.json and c.txt say", [edit, sort])
    heads = [line for line in played.message(1).splitlines() if line.startswith("===== ") and "end of" not in line]
    assert heads == ["===== a.csv (2 lines, CRLF)", "===== b.json (1 line, CRLF, BOM)", "===== c.txt (1 line)"]
    assert (tmp_path / "project/a.csv").read_bytes() == b"id;fee\r\n1;3,50\r\n"

"""Tasks that together take every way through the graph, each with the way that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.settings import AgentConfig, AgentPreferences, Settings
from codur.patches import RepairRequest
from codur.questions import Answer, Question
from codur.structs import replace
from codur.types import Limits, Plan, Step
from tests.agents.external.kit import CODEX_DONE, config_of
from tests.runs.kit import EDIT, NEEDS_MODEL, REPAIRABLE
from tests.runs.test_plans import (
    ASK_AGENT,
    CODING,
    EXPLAIN,
    RIGHT,
    SAY,
    USELESS,
    WORSE,
    WRONG,
    classified,
    plan,
    tool,
)
from tests.runs.test_repair_choice import DOUBLED
from tests.support.groq_server import Replies, ServerReply, calls, error, json_reply, text

FIX = "main.py is wrong"
ASK = "what should main.py print?"
YES, NO, NOBODY = (Answer(decision=word) for word in ("approve", "reject", "nobody"))
EACH = {"planning": {"approval": "always"}}
SEARCH_LATER = {"repair": {"mode": "after_failure"}}
PLANNED = classified(task_type="explanation", suggested_action="plan", confidence=0.5)
LOOK = Step(id="look", action="tool", capability="read_file", arguments={"path": "main.py"})
NEW_FILE = calls(("replace_file_content", {"path": "main.py", "content": "print('hello')\n"}))
FLAKY = calls(
    (
        "replace_file_content",
        {
            "path": "main.py",
            "content": "import os\nnew = not os.path.exists('x')\nopen('x', 'w').close()\nprint(new)\n",
        },
    )
)
GREETS = "greet() in main.py must also greet with a comma"
GREETING = {"main.py": "def greet(name):\n    return f'Hello {name}'\n"}
GREETING_TEST = text(
    "```python\nfrom main import greet\n\n\ndef test_comma():\n    assert greet('Ann') == 'Hello, Ann'\n```"
)
GREETING_RIGHT = calls(("replace_in_file", {"path": "main.py", "old": "Hello {", "new": "Hello, {"}))
MAKES = {"verification": {"make_check": "auto"}}
QUESTION = {"action": "ask", "arguments": [{"name": "text", "value": "Of a list or of a tree?"}]}
NEAR_PROGRAM = (
    "def total(end):\n    raise NotImplementedError\n\n\nfor end in (0, 3, 10):\n    print(end, total(end))\n"
)
NEAR = calls(
    ("replace_function", {"path": "main.py", "name": "total", "code": "def total(end):\n    return sum(range(end))\n"})
)

SHORT = {
    "pattern": "pattern_plan",
    "pre": "llm_pre_plan",
    "plan": "llm_plan",
    "make": "make_check",
}
"""The names that ways are written with, where they are not the nodes' own."""


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """A task, what the model and the user answer, and the way that it takes.

    Attributes:
        way: the nodes in their order; `end` is left out.
        outcome: how the run ends.
        user: what the user answers, in order; None: there is nobody to ask.
        external: what the agent `its`, another program, carries out; empty: there is none.
        sections: settings.
        given: further fields of `Task`.
    """

    way: str
    outcome: str
    prompt: str = FIX
    files: Mapping[str, str] = field(default_factory=lambda: NEEDS_MODEL)
    replies: Replies = ()
    key: bool = True
    search: bool = False
    user: Sequence[Answer | Callable[[Question], Answer]] | None = None
    external: Sequence[Sequence[Any]] = ()
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def route(self) -> list[str]:
        return [SHORT.get(name, name) for name in self.way.split()]

    def settings(self, directory: Path) -> dict[str, Mapping[str, Any]]:
        """The settings, with the agent that is another program if there is one."""
        if not self.external:
            return dict(self.sections)
        its = config_of(directory / "its", self.external, key_env=())
        configs: dict[str, AgentConfig] = {**Settings().agents.configs, "its": its}
        return {**self.sections, "agents": {"configs": configs, **self.sections.get("agents", {})}}


def preferring(**preferences: Any) -> dict[str, Mapping[str, Any]]:
    return {"agents": {"preferences": structs.replace(AgentPreferences(), **preferences)}}


def user_plan(*steps: Step) -> dict[str, Plan]:
    return {"plan": Plan(steps=steps, origin="user")}


def edited(*steps: Step) -> Answer:
    return Answer(decision="edit", plan=Plan(steps=steps, origin="user"))


def only_the_small_model(body: Any) -> ServerReply:
    """The large model cannot be reached; the small one classifies and edits rightly."""
    if body["model"] != "openai/gpt-oss-20b":
        return error(404, "no such model", code="model_not_found")
    return RIGHT if body.get("tools") else EDIT


TASKS: dict[str, Scripted] = {
    # settled by rules
    "a greeting": Scripted(way="pattern policy", outcome="done", prompt="hello"),
    "a file is shown": Scripted(way="pattern policy tool review", outcome="done", prompt="show me main.py"),
    "a program is run and fails": Scripted(
        way="pattern policy tool review", outcome="not_achieved", prompt="run main.py"
    ),
    "a green program needs no fix": Scripted(
        way="pattern policy", outcome="done", files={"main.py": "print(1)\n", "expected.txt": "1\n"}
    ),
    "no model": Scripted(way="pattern policy", outcome="no_model", key=False),
    # repairs without a model
    "a repair": Scripted(way="pattern policy repair review", outcome="done", files=REPAIRABLE, search=True, key=False),
    "a repair that finds nothing, and no model": Scripted(
        way="pattern policy repair review", outcome="no_model", search=True, key=False
    ),
    "a repair that finds nothing, then a model": Scripted(
        way="pattern policy repair review pre policy coding review", outcome="done", search=True, replies=[EDIT, RIGHT]
    ),
    "a choice among repairs": Scripted(
        way="pattern policy repair choose repair review",
        outcome="done",
        search=True,
        files=DOUBLED,
        replies=[text("1")],
    ),
    "a choice that comes to nothing": Scripted(
        way="pattern policy repair choose repair review",
        outcome="done",
        search=True,
        files=DOUBLED,
        replies=[text("I cannot tell.")],
    ),
    "a repair alone is asked for": Scripted(
        way="pattern policy repair review", outcome="done", files=REPAIRABLE, given={"repair": RepairRequest()}
    ),
    # edits
    "an edit": Scripted(way="pattern pre policy coding review", outcome="done", replies=[EDIT, RIGHT]),
    "an edit with nothing to check": Scripted(
        way="pattern pre policy coding review",
        outcome="done",
        prompt="make main.py print hello",
        files={"main.py": "print('')\n"},
        replies=[EDIT, NEW_FILE],
    ),
    "an edit after a question": Scripted(
        way="pattern pre policy coding consult coding review",
        outcome="done",
        replies=[EDIT, calls(("ask_user", {"question": "Of a list?"})), RIGHT],
        user=[Answer(decision="answer", text="yes")],
    ),
    "an edit that needs an answer that nobody gives": Scripted(
        way="pattern pre policy coding consult review",
        outcome="not_achieved",
        replies=[EDIT, calls(("ask_user", {"question": "Of a list?"}))],
    ),
    "a delegate that edits after a question": Scripted(
        way="pattern pre plan policy delegate execute consult execute review",
        outcome="done",
        replies=[
            classified(),
            plan({**CODING, "action": "delegate", "capability": "codur-coding"}),
            calls(("ask_user", {"question": "Of a list?"})),
            RIGHT,
        ],
        user=[Answer(decision="answer", text="yes")],
    ),
    "an edit that cannot be made": Scripted(
        way="pattern pre policy coding review",
        outcome="not_achieved",
        replies=[EDIT, calls(("cannot", {"reason": "no"}))],
    ),
    "a test is made first": Scripted(
        way="pattern pre policy make policy coding review",
        outcome="done",
        prompt=GREETS,
        files=GREETING,
        replies=[EDIT, GREETING_TEST, GREETING_RIGHT],
        sections=MAKES,
    ),
    "something new where nothing is": Scripted(
        way="pattern pre policy coding review",
        outcome="done",
        prompt="make me a little app that greets",
        files={},
        replies=[calls(("replace_file_content", {"path": "main.py", "content": "print('Hello')\n"}))],
        sections=MAKES,
    ),
    "a test is made first, and the user agrees": Scripted(
        way="pattern pre policy make consult make policy coding review",
        outcome="done",
        prompt=GREETS,
        files={**GREETING, "test_main.py": "import main\n\n\ndef test_greets():\n    assert main.greet('')\n"},
        replies=[EDIT, GREETING_TEST, GREETING_RIGHT],
        user=[YES],
        sections=MAKES,
    ),
    "a second edit": Scripted(
        way="pattern pre policy coding review plan policy coding review", outcome="done", replies=[EDIT, WRONG, RIGHT]
    ),
    "attempts used up": Scripted(
        way="pattern pre policy coding review",
        outcome="limit",
        replies=[EDIT, WRONG],
        limits=Limits(max_iterations=1),
    ),
    "no progress": Scripted(
        way="pattern pre policy coding review plan policy coding review plan policy coding review",
        outcome="not_achieved",
        replies=[EDIT, USELESS, WORSE, USELESS],
    ),
    "another agent takes over": Scripted(
        way="pattern pre policy coding review plan policy coding review plan policy coding review"
        " plan policy coding review",
        outcome="done",
        replies=[EDIT, USELESS, WORSE, USELESS, RIGHT],
        sections=preferring(escalation=("llm:gpt-oss-20b",)),
    ),
    "another agent stands in": Scripted(
        way="pattern pre policy coding review policy coding review",
        outcome="done",
        replies=only_the_small_model,
        sections={**preferring(fallback_order=("llm:gpt-oss-20b",)), "llm": {"fallback_profiles": ()}},
    ),
    "a flaky check": Scripted(
        way="pattern pre policy coding review",
        outcome="not_achieved",
        files={"main.py": "print(None)\n", "expected.txt": "True\n"},
        replies=[EDIT, FLAKY],
    ),
    "a near miss that the search completes": Scripted(
        way="pattern pre policy coding review repair review",
        outcome="done",
        files={"main.py": NEAR_PROGRAM, "expected.txt": "0 0\n3 6\n10 55\n"},
        replies=[EDIT, NEAR],
        sections=SEARCH_LATER,
    ),
    "a near miss that it does not complete": Scripted(
        way="pattern pre policy coding review repair review plan policy coding review",
        outcome="done",
        replies=[EDIT, WRONG, RIGHT],
        sections={"repair": {**SEARCH_LATER["repair"], "budget_s": 2.0}},
    ),
    # models that fail
    "the model is gone at once, the search helps": Scripted(
        way="pattern pre policy repair review",
        outcome="done",
        files=REPAIRABLE,
        replies=[error(401)] * 3,
        sections=SEARCH_LATER,
    ),
    "the model is gone at the edit, the search helps": Scripted(
        way="pattern pre policy coding review repair review",
        outcome="done",
        files=REPAIRABLE,
        replies=[EDIT, *[error(401)] * 3],
        sections=SEARCH_LATER,
    ),
    "the model is gone, and nothing helps": Scripted(
        way="pattern pre policy", outcome="no_model", replies=[error(401)] * 3
    ),
    "the model is gone in a delegation": Scripted(
        way="pattern pre policy delegate execute review", outcome="no_model", prompt=ASK, replies=[EXPLAIN, error(401)]
    ),
    "a limit is reached in a delegation": Scripted(
        way="pattern pre policy delegate execute review",
        outcome="limit",
        prompt=ASK,
        replies=[EXPLAIN],
        limits=Limits(max_llm_calls=1),
    ),
    "the classification cannot be read": Scripted(
        way="pattern pre plan policy coding review",
        outcome="done",
        replies=[text("a"), text("b"), text("c"), plan(CODING), RIGHT],
    ),
    "the plan cannot be read": Scripted(
        way="pattern pre plan policy", outcome="not_achieved", replies=[classified(), text("a"), text("b"), text("c")]
    ),
    # plans
    "a question is delegated": Scripted(
        way="pattern pre policy delegate execute review", outcome="done", prompt=ASK, replies=[EXPLAIN, text("2")]
    ),
    "another program does the work": Scripted(
        way="pattern pre policy delegate execute review",
        outcome="done",
        files={"main.py": "print(1)\n", "expected.txt": "2\n"},
        external=[["write", "main.py", "print(2)\n"], *CODEX_DONE],
        key=False,
        given={"agent": "its"},
    ),
    "a plan without classification": Scripted(
        way="pattern pre plan policy coding review",
        outcome="done",
        replies=[plan(CODING), RIGHT],
        sections={"planning": {"use_llm_pre_plan": False}},
    ),
    "several steps are asked for": Scripted(
        way="pattern plan policy tool review policy coding review policy",
        outcome="done",
        prompt="read main.py, fix the median in it, run it and tell me what it prints",
        replies=[plan(tool("read_file", path="main.py"), CODING, SAY), RIGHT],
    ),
    "reads side by side": Scripted(
        way="pattern pre plan policy tool review policy delegate execute review",
        outcome="done",
        prompt=ASK,
        replies=[
            PLANNED,
            plan(tool("read_file", path="main.py"), tool("read_file", path="expected.txt"), ASK_AGENT),
            text("2 and 2.5"),
        ],
    ),
    "a plan that policy sends back": Scripted(
        way="pattern pre plan policy plan policy coding review",
        outcome="done",
        replies=[classified(), plan(tool("read_fil", path="main.py")), plan(CODING), RIGHT],
    ),
    "a plan that is wrong twice": Scripted(
        way="pattern pre plan policy plan policy",
        outcome="not_achieved",
        replies=[classified(), plan(tool("read_fil")), plan(tool("read_fil"))],
    ),
    "a step that fails, and a new plan": Scripted(
        way="pattern pre plan policy tool review plan policy delegate execute review",
        outcome="done",
        prompt=ASK,
        replies=[
            PLANNED,
            plan({**tool("read_file", path="absent.py"), "id": "absent"}, {**ASK_AGENT, "inputs": ["absent"]}),
            plan(ASK_AGENT),
            text("2 and 2.5"),
        ],
    ),
    "nothing may be written": Scripted(
        way="pattern pre policy", outcome="refused", replies=[EDIT], sections={"tools": {"allow_write": False}}
    ),
    "only a plan": Scripted(
        way="pattern pre plan policy",
        outcome="done",
        replies=[classified(), plan(CODING)],
        given={"plan_only": True},
    ),
    "the user's own plan": Scripted(
        way="pattern policy tool review policy coding review",
        outcome="done",
        replies=[RIGHT],
        given=user_plan(LOOK, Step(id="fix", action="coding", capability="codur-coding", tier="open")),
    ),
    "the user's own plan is wrong": Scripted(
        way="pattern policy", outcome="usage", given=user_plan(replace(LOOK, capability="read_fil"))
    ),
    "the user's own plan fails on the way": Scripted(
        way="pattern policy tool review",
        outcome="not_achieved",
        prompt="copy it",
        given=user_plan(replace(LOOK, arguments={"path": "absent"}), replace(LOOK, id="again", inputs=("look",))),
    ),
    "a tool is decided on the way": Scripted(
        way="pattern policy tool review policy choose policy tool review",
        outcome="done",
        prompt="look",
        replies=[json_reply({"tool": "python_ast_outline", "arguments": []})],
        given=user_plan(LOOK, Step(id="next", action="tool", decide="guided", arguments={"path": "main.py"})),
    ),
    "a criterion that does not hold": Scripted(
        way="pattern policy tool review",
        outcome="not_achieved",
        prompt="look",
        given=user_plan(replace(LOOK, success_criteria="output contains Median")),
    ),
    "a criterion that a model judges": Scripted(
        way="pattern policy tool review accept",
        outcome="not_achieved",
        prompt="look",
        replies=[json_reply({"verdicts": [{"number": 1, "met": False, "why": "No."}]})],
        given=user_plan(replace(LOOK, success_criteria="it is short")),
    ),
    "a criterion of the last word that nobody can judge": Scripted(
        way="pattern policy accept",
        outcome="not_achieved",
        prompt="look",
        key=False,
        given=user_plan(Step(id="say", action="respond", arguments={"text": "Hi."}, success_criteria="it is warm")),
    ),
    # the user is asked
    "approved": Scripted(
        way="pattern pre policy consult policy coding review",
        outcome="done",
        replies=[EDIT, RIGHT],
        user=[YES],
        sections=EACH,
    ),
    "rejected": Scripted(
        way="pattern pre policy consult policy", outcome="refused", replies=[EDIT], user=[NO], sections=EACH
    ),
    "rejected with a reason": Scripted(
        way="pattern pre policy consult policy plan policy consult policy tool review policy coding review",
        outcome="done",
        replies=[EDIT, plan(tool("read_file", path="main.py"), CODING), RIGHT],
        user=[replace(NO, text="read it first"), YES],
        sections=EACH,
    ),
    "changed by the user": Scripted(
        way="pattern pre policy consult policy consult policy tool review",
        outcome="not_achieved",
        replies=[EDIT],
        user=[edited(LOOK), YES],
        sections=EACH,
    ),
    "changed by the user for the worse": Scripted(
        way="pattern pre policy consult policy consult policy",
        outcome="refused",
        replies=[EDIT],
        user=[edited(replace(LOOK, capability="read_fil")), NO],
        sections=EACH,
    ),
    "nobody to ask for approval": Scripted(way="pattern pre policy", outcome="refused", replies=[EDIT], sections=EACH),
    "the user has gone": Scripted(
        way="pattern pre policy consult policy", outcome="refused", replies=[EDIT], user=[NOBODY], sections=EACH
    ),
    "a question on the way": Scripted(
        way="pattern pre plan policy consult review policy coding review",
        outcome="done",
        replies=[classified(), plan({**QUESTION, "id": "which"}, {**CODING, "inputs": ["which"]}), RIGHT],
        user=[Answer(decision="answer", text="of a list")],
    ),
    "a plan that is a question": Scripted(
        way="pattern pre plan policy consult review plan policy coding review",
        outcome="done",
        replies=[classified(), plan(QUESTION), plan(CODING), RIGHT],
        user=[Answer(decision="answer", text="of a list")],
    ),
    "a question that nobody hears": Scripted(
        way="pattern pre plan policy", outcome="not_achieved", replies=[classified(), plan(QUESTION)]
    ),
}

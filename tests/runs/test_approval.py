"""Plans that the user is asked about: approved, edited, rejected, kept; and questions on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from codur.events import PlanShown
from codur.planning.plans.plan_file import read_plan
from codur.questions import Answer, Question
from codur.structs import replace
from codur.types import Plan, Step
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, Played, play
from tests.runs.test_plans import ASK_AGENT, CODING, EXPLAIN, RIGHT, SAY, WRONG, classified, plan, tool
from tests.support.groq_server import ServerReply, calls, json_reply, text

FIX = "main.py is wrong"
YES = Answer(decision="approve")
ASK = {"planning": {"approval": "always"}}
ON_WRITES = {"planning": {"approval": "writes"}}


class User:
    """Gives these answers, in order, and remembers what was asked."""

    def __init__(self, *answers: Answer | Callable[[Question], Answer]) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Answer) else answer(question)


def run(
    place: Path,
    replies: Sequence[ServerReply],
    user: User | None,
    prompt: str = FIX,
    sections: dict[str, Any] | None = None,
    **fields: Any,
) -> Played:
    return play(place, NEEDS_MODEL, prompt, list(replies), consult=user, sections=sections or {}, **fields)


def test_an_approved_plan_is_carried_out(tmp_path: Path) -> None:
    user = User(YES)
    played = run(tmp_path, [EDIT, RIGHT], user, sections=ON_WRITES)
    assert played.result.exit_code == 0
    (question,) = user.asked
    assert question.kind == "approval"
    assert question.plan is not None
    assert [step.action for step in question.plan.steps] == ["coding"]
    assert question.effects is not None
    assert question.effects.kinds == ("write",)
    assert (question.effects.least_calls, question.effects.most_calls) == (1, 10)
    assert played.nodes[:5] == ["pattern_plan", "llm_pre_plan", "policy", "consult", "policy"]


def test_a_retry_of_what_was_approved_is_not_asked_again(tmp_path: Path) -> None:
    user = User(YES)
    played = run(tmp_path, [EDIT, WRONG, RIGHT], user, sections=ASK)
    assert played.result.exit_code == 0
    assert played.result.iterations == 2
    assert len(user.asked) == 1


def test_a_rejection_leaves_everything_as_it_was(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT], User(Answer(decision="reject")), sections=ASK)
    assert (played.result.outcome, played.result.exit_code) == ("refused", 5)
    assert played.result.reason == "you rejected the plan"
    assert played.files == NEEDS_MODEL
    assert played.unexpected == 0


def test_the_reason_of_a_rejection_goes_into_one_new_plan(tmp_path: Path) -> None:
    user = User(Answer(decision="reject", text="read main.py first"), YES)
    second = plan(tool("read_file", path="main.py"), CODING)
    played = run(tmp_path, [EDIT, second, RIGHT], user, sections=ASK)
    assert played.result.exit_code == 0
    assert "the user rejected it: read main.py first" in played.message(1)
    assert [len(question.plan.steps) for question in user.asked if question.plan] == [1, 2]


def test_a_second_rejection_ends_the_run(tmp_path: Path) -> None:
    no = Answer(decision="reject", text="not like this")
    played = run(tmp_path, [EDIT, plan(CODING)], User(no, no), sections=ASK)
    assert (played.result.exit_code, played.result.model_calls) == (5, 2)
    assert played.result.reason == "you rejected the plan: not like this"


def test_an_edited_plan_is_shown_again_and_carried_out(tmp_path: Path) -> None:
    def edit(question: Question) -> Answer:
        assert question.plan is not None
        read = Step(id="look", action="tool", capability="read_file", arguments={"path": "main.py"})
        return Answer(decision="edit", plan=replace(question.plan, steps=(read, *question.plan.steps), origin="user"))

    user = User(edit, YES)
    played = run(tmp_path, [EDIT, RIGHT], user, sections=ASK)
    assert played.result.exit_code == 0
    assert [record.capability for record in played.result.records] == ["read_file", "codur-coding"]
    assert len(user.asked) == 2


def test_an_edited_plan_that_cannot_work_is_asked_again_with_the_problem(tmp_path: Path) -> None:
    def spoil(question: Question) -> Answer:
        step = Step(id="a", action="tool", capability="read_fil", arguments={"path": "main.py"})
        return Answer(decision="edit", plan=Plan(steps=(step,), origin="user"))

    user = User(spoil, Answer(decision="reject"))
    played = run(tmp_path, [EDIT], user, sections=ASK)
    assert user.asked[1].text.startswith("there is no tool named 'read_fil'; the nearest are read_file")
    assert played.result.exit_code == 5


def test_without_anybody_to_ask_the_plan_is_kept_and_the_run_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    played = run(tmp_path, [EDIT], None, sections=ASK, state=state)
    assert (played.result.outcome, played.result.exit_code) == ("refused", 5)
    assert played.result.reason == "the plan needs your approval, and there is nobody to ask"
    words = played.result.remedy.split()
    path = Path(words[words.index("--plan-file") + 1])
    kept = read_plan(path.read_bytes(), "plan.yaml")
    assert [step.action for step in kept.plan.steps] == ["coding"]
    assert path.stat().st_mode & 0o077 == 0
    (tmp_path / "again").mkdir()
    again = play(tmp_path / "again", NEEDS_MODEL, kept.task, [RIGHT], plan=kept.plan, approved=True)
    assert (again.result.exit_code, again.result.model_calls) == (0, 1)


def test_a_user_who_has_gone_is_nobody(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT], User(Answer(decision="nobody")), sections=ASK)
    assert (played.result.exit_code, played.files) == (5, NEEDS_MODEL)


def test_approval_beforehand_asks_nothing(tmp_path: Path) -> None:
    user = User()
    assert run(tmp_path, [EDIT, RIGHT], user, sections=ASK, approved=True).result.exit_code == 0
    assert user.asked == []


@pytest.mark.parametrize(
    ("planning", "asked"),
    [
        ({"approval": "writes"}, 0),
        ({"approval": "always"}, 1),
        ({"approve": ("run",)}, 0),
        ({}, 0),
    ],
)
def test_a_plan_that_only_reads_is_asked_about_only_if_all_are(
    tmp_path: Path, planning: dict[str, Any], asked: int
) -> None:
    user = User(YES)
    explain = [EXPLAIN, text("It prints two medians.")]
    played = run(tmp_path, explain, user, "what does main.py do, in short?", sections={"planning": planning})
    assert (played.result.exit_code, len(user.asked)) == (0, asked)


def test_a_plan_that_is_approved_beforehand_is_shown_where_that_is_asked_for(tmp_path: Path) -> None:
    for number, (show, shown) in enumerate(((True, 1), (False, 0))):
        (tmp_path / str(number)).mkdir()
        played = run(tmp_path / str(number), [EDIT, RIGHT], None, sections=ASK, approved=True, show_plan=show)
        assert played.result.exit_code == 0
        plans = [event for event in played.events if isinstance(event, PlanShown)]
        assert [event.effects.check for event in plans] == ["python main.py"] * shown
    assert [
        event
        for event in run(tmp_path, [], None, "hello", approved=True, show_plan=True).events
        if isinstance(event, PlanShown)
    ] == []


def test_a_new_plan_that_runs_something_else_is_asked_about_again(tmp_path: Path) -> None:
    def steps(path: str) -> ServerReply:
        reads = {**tool("read_file", path="absent.py"), "id": "absent"}
        runs = {**tool("run_python_file", path=path), "id": "run"}
        return plan(runs, reads, {**ASK_AGENT, "id": "say", "inputs": ["absent"]})

    user = User(YES, Answer(decision="reject"))
    asked = "what does main.py print when it is run?"
    played = run(tmp_path, [EXPLAIN_PLAN, steps("main.py"), steps("other.py")], user, asked, sections=ASK)
    assert [question.effects.commands for question in user.asked if question.effects] == [
        ("python main.py",),
        ("python other.py",),
    ]
    assert played.result.exit_code == 5


def test_kinds_of_effects_can_be_asked_about_alone(tmp_path: Path) -> None:
    user = User(Answer(decision="reject"))
    steps = plan(tool("run_python_file", path="main.py"), CODING)
    played = run(tmp_path, [classified(), steps], user, sections={"planning": {"approve": ("run",)}})
    assert played.result.exit_code == 5
    (question,) = user.asked
    assert question.effects is not None
    assert question.effects.kinds == ("write", "run")
    assert question.effects.commands == ("python main.py",)


def test_showing_the_plan_asks_whatever_the_settings_say(tmp_path: Path) -> None:
    user = User(YES)
    assert run(tmp_path, [EDIT, RIGHT], user, show_plan=True).result.exit_code == 0
    assert len(user.asked) == 1


def test_only_planning_carries_nothing_out(tmp_path: Path) -> None:
    steps = plan(tool("read_file", path="main.py"), CODING)
    played = run(tmp_path, [classified(), steps], None, plan_only=True)
    assert (played.result.exit_code, played.result.records) == (0, ())
    assert [step.capability for step in read_plan(played.result.answer.encode(), "p").plan.steps] == [
        "read_file",
        "codur-coding",
    ]
    assert played.files == NEEDS_MODEL


ASK_USER = {"action": "ask", "arguments": [{"name": "text", "value": "Which median, of a list or of a tree?"}]}


def test_an_answer_becomes_the_output_of_its_step(tmp_path: Path) -> None:
    user = User(Answer(decision="answer", text="of a list"))
    steps = plan({**ASK_USER, "id": "which"}, {**CODING, "inputs": ["which"]})
    played = run(tmp_path, [classified(), steps, RIGHT], user)
    assert played.result.exit_code == 0
    assert user.asked[0].kind == "question"
    assert user.asked[0].text == "Which median, of a list or of a tree?"
    assert "You asked: Which median, of a list or of a tree?\nThe user answered: of a list" in played.message(2)
    assert MEDIAN_RIGHT in played.files["main.py"]


def test_a_plan_that_is_a_question_is_followed_by_one_with_the_answer(tmp_path: Path) -> None:
    user = User(Answer(decision="answer", text="of a list"))
    played = run(tmp_path, [classified(), plan(ASK_USER), plan(CODING), RIGHT], user)
    assert played.result.exit_code == 0
    assert "The user answered: of a list" in played.message(2)


OF_A_LIST = Answer(decision="answer", text="of a list")


def test_an_answer_does_not_use_up_the_sending_back_of_a_faulty_plan(tmp_path: Path) -> None:
    faulty = plan(tool("read_fil", path="main.py"), CODING)
    played = run(tmp_path, [classified(), plan(ASK_USER), faulty, plan(CODING), RIGHT], User(OF_A_LIST))
    assert played.result.exit_code == 0
    assert "there is no tool named 'read_fil'" in played.message(3)
    assert "The user answered before: of a list" in played.message(3)


def test_an_answer_does_not_use_up_the_new_plan_of_a_rejection(tmp_path: Path) -> None:
    user = User(OF_A_LIST, Answer(decision="reject", text="read main.py first"), YES)
    second = plan(tool("read_file", path="main.py"), CODING)
    played = run(tmp_path, [classified(), plan(ASK_USER), plan(CODING), second, RIGHT], user, sections=ON_WRITES)
    assert played.result.exit_code == 0
    assert [question.renews for question in user.asked if question.plan] == [True, False]


def test_an_answer_does_not_use_up_the_new_plan_after_a_failed_step(tmp_path: Path) -> None:
    absent = plan({**tool("read_file", path="absent.py"), "id": "absent"}, {**ASK_AGENT, "inputs": ["absent"]})
    replies = [EXPLAIN_PLAN, plan(ASK_USER), absent, plan(ASK_AGENT), text("2 and 2.5")]
    played = run(tmp_path, replies, User(OF_A_LIST), "what should main.py print?")
    assert played.result.exit_code == 0
    assert "step absent failed: " in played.message(3)


def test_a_model_that_only_asks_is_answered_three_times(tmp_path: Path) -> None:
    user = User(*[OF_A_LIST] * 4)
    played = run(tmp_path, [classified(), *[plan(ASK_USER)] * 4], user)
    assert (played.result.outcome, played.result.reason) == ("not_achieved", "the plan ended with a question")
    assert (len(user.asked), played.result.model_calls) == (4, 5)


def test_a_question_without_anybody_to_ask_ends_the_run(tmp_path: Path) -> None:
    played = run(tmp_path, [classified(), plan(ASK_USER)], None)
    assert (played.result.outcome, played.result.reason) == (
        "not_achieved",
        "the task needs an answer from you first",
    )
    assert "Which median" in played.result.answer


def test_reads_of_a_plan_run_side_by_side_and_their_outputs_reach_later_steps(tmp_path: Path) -> None:
    steps = plan(
        {**tool("search_files", query="main"), "id": "found"},
        {**tool("read_file", path="expected.txt"), "id": "wanted"},
        {**ASK_AGENT, "id": "say", "inputs": ["found", "wanted"], "objective": "Say it."},
    )
    played = run(
        tmp_path, [EXPLAIN_PLAN, steps, text("It should print 2 and 2.5.")], None, "what should main.py print?"
    )
    assert played.result.exit_code == 0
    tools = [record for record in played.result.records if record.action == "tool"]
    assert [record.step_id for record in tools] == ["found", "wanted"]
    assert played.nodes.count("tool") == 1


EXPLAIN_PLAN = classified(task_type="explanation", suggested_action="plan", confidence=0.5)


def test_what_needs_a_failed_step_is_not_run_and_a_new_plan_knows_it(tmp_path: Path) -> None:
    steps = plan(
        {**tool("read_file", path="absent.py"), "id": "absent"},
        {**tool("read_file", path="expected.txt"), "id": "wanted"},
        {**ASK_AGENT, "id": "say", "inputs": ["absent"]},
    )
    better = plan({**ASK_AGENT, "id": "say", "inputs": ["wanted"]})
    played = run(tmp_path, [EXPLAIN_PLAN, steps, better, text("2 and 2.5")], None, "what should main.py print?")
    assert played.result.exit_code == 0
    assert "step absent failed: " in played.message(2)
    assert "Done already: wanted (read_file)." in played.message(2)


def test_a_plan_file_with_a_failed_step_ends_and_says_what_was_not_run(tmp_path: Path) -> None:
    given = Plan(
        steps=(
            Step(id="absent", action="tool", capability="read_file", arguments={"path": "absent.py"}),
            Step(id="copy", action="tool", capability="write_file", arguments={"path": "b", "content": "${absent}"}),
        ),
        origin="user",
    )
    played = run(tmp_path, [], None, "copy it", plan=given)
    assert (played.result.exit_code, played.unexpected) == (1, 0)
    assert played.result.reason.startswith("step absent failed: ")
    assert played.result.reason.endswith("; not run: copy")
    assert played.files == NEEDS_MODEL


CLASSIFIED_RUN = classified(
    task_type="run",
    suggested_action="tool",
    confidence=0.95,
    capability="run_command",
    arguments=[{"name": "command", "value": "rm -rf made"}],
)


@pytest.mark.parametrize(("answer", "outcome"), [(YES, "done"), (Answer(decision="reject"), "refused")])
def test_a_program_that_a_classification_wants_to_run_is_asked_about(
    answer: Answer, outcome: str, tmp_path: Path
) -> None:
    user = User(answer)
    files = {"made/a.txt": "a", "b.txt": "b"}
    sections = {"planning": {"approve": ["run"]}}
    played = play(tmp_path, files, "please run rm -rf made", [CLASSIFIED_RUN], consult=user, sections=sections)
    assert (played.result.outcome, played.result.model_calls) == (outcome, 1)
    (question,) = user.asked
    assert question.kind == "approval"
    assert ("made/a.txt" in played.files) == (outcome == "refused")


def test_a_classification_runs_nothing_that_the_task_does_not_ask_for(tmp_path: Path) -> None:
    asked = play(tmp_path, {"made/a.txt": "a"}, "please run it", [CLASSIFIED_RUN, plan(SAY)])
    assert "made/a.txt" in asked.files


def test_arguments_take_what_earlier_steps_found(tmp_path: Path) -> None:
    given = Plan(
        steps=(
            Step(id="read", action="tool", capability="read_file", arguments={"path": "expected.txt"}),
            Step(
                id="copy",
                action="tool",
                capability="write_file",
                arguments={"path": "copies/${read.total_lines}.txt", "content": "was: ${read}"},
            ),
        ),
        origin="user",
    )
    played = run(tmp_path, [], None, "copy it", plan=given)
    assert played.result.exit_code == 0, played.result.reason
    assert played.files["copies/2.txt"] == "was: 2\n2.5\n"


def test_a_criterion_that_does_not_hold_fails_its_step(tmp_path: Path) -> None:
    step = Step(
        id="read",
        action="tool",
        capability="read_file",
        arguments={"path": "main.py"},
        success_criteria="output contains class Median",
    )
    played = run(tmp_path, [], None, "look", plan=Plan(steps=(step,), origin="user"))
    assert (played.result.exit_code, played.result.reason) == (1, "not met: output contains class Median")


def test_a_plan_of_the_user_that_cannot_work_is_wrong_usage(tmp_path: Path) -> None:
    step = Step(id="a", action="tool", capability="nothing_like_it")
    played = run(tmp_path, [], None, "look", plan=Plan(steps=(step,), origin="user"))
    assert (played.result.exit_code, played.files) == (2, NEEDS_MODEL)
    assert played.result.reason.startswith("the plan cannot be carried out: there is no tool named 'nothing_like_it'")


def fix_by(**fields: Any) -> Plan:
    step = Step(id="fix", action="coding", capability="codur-coding", tier="open", **fields)
    return Plan(steps=(step,), origin="user")


def test_what_a_plan_of_the_user_says_of_a_step_reaches_the_agent_at_every_attempt(tmp_path: Path) -> None:
    given = fix_by(objective="Sort a copy.", expected_output="one function", success_criteria="main.py changed")
    one_function = json_reply({"verdicts": [{"number": 1, "met": True, "why": "There is one."}]})
    played = run(tmp_path, [WRONG, RIGHT, one_function], None, plan=given)
    assert (played.result.exit_code, played.result.iterations) == (0, 2)
    for number in (0, 1):
        assert "Sort a copy.\nExpected output: one function\nDone when: main.py changed" in played.message(number)


def test_an_edit_that_breaks_a_criterion_of_the_user_is_tried_again(tmp_path: Path) -> None:
    sorts = calls(("replace_function", {"path": "main.py", "name": "median", "code": BY_STATISTICS}))
    given = fix_by(success_criteria="main.py lacks statistics")
    played = run(tmp_path, [sorts, RIGHT], None, plan=given)
    assert (played.result.exit_code, played.result.iterations) == (0, 2)
    assert played.result.attempts[0].error == "not met: main.py lacks statistics"
    assert "statistics" not in played.files["main.py"]


BY_STATISTICS = """def median(values):
    import statistics
    found = statistics.median(values)
    return int(found) if found == int(found) else found
"""


def test_of_an_edit_that_the_check_passes_a_model_has_no_further_say(tmp_path: Path) -> None:
    steps = plan({**CODING, "success_criteria": "main.py contains statistics"})
    assert run(tmp_path, [classified(), steps, RIGHT], None).result.exit_code == 0


def test_an_answer_that_breaks_its_criterion_is_a_failure(tmp_path: Path) -> None:
    steps = plan({**ASK_AGENT, "success_criteria": "output contains median; exit status 0"})
    asked = "what should main.py print?"
    played = run(tmp_path, [EXPLAIN_PLAN, steps, text("Two numbers.")], None, asked)
    assert (played.result.exit_code, played.result.reason) == (1, "not met: output contains median")


def test_a_command_that_an_output_makes_is_looked_at_like_any_other(tmp_path: Path) -> None:
    """A file that the plan reads cannot bring in what the task did not ask for."""
    steps = plan(
        {**tool("read_file", path="run.txt"), "id": "how"},
        {**tool("run_command", command="${how}"), "id": "run"},
        SAY,
    )
    files = {"main.py": "print(1)\n", "run.txt": "rm main.py\n", "expected.txt": "1\n"}
    prompt = "read run.txt, then run what it says and tell me what it prints"
    played = play(tmp_path, files, prompt, [steps, steps])
    assert played.files == files
    assert "deletes files, which the task does not ask for" in played.result.reason
    assert played.unexpected == 0


def test_the_references_that_the_prompt_names_find_files(tmp_path: Path) -> None:
    steps = plan(
        {**tool("search_files", query="expected"), "id": "listed"},
        {**tool("grep_files", pattern="2.5"), "id": "found"},
        {**tool("read_file", path="${listed.files[0]}"), "id": "one"},
        {**tool("read_file", path="${found.matches[0].path}"), "id": "two"},
        {**SAY, "arguments": [{"name": "text", "value": "${one}and ${two}"}]},
    )
    played = run(tmp_path, [EXPLAIN_PLAN, steps], None, "what should main.py print?")
    assert (played.result.exit_code, played.result.answer) == (0, "2\n2.5\nand 2\n2.5\n"), played.result.reason
    system = str(played.requests[1].body["messages"][0]["content"])
    assert "${id.files[0]}" in system
    assert "${id.matches[0].path}" in system
    assert "12 at most" in system


def called(name: str, step_id: str, **arguments: Any) -> Step:
    return Step(id=step_id, action="tool", capability=name, arguments=arguments)


NAMED = Plan(
    steps=(called("read_file", "read", path="cmd.txt"), called("run_command", "run", command="${read}")), origin="user"
)
WITH_COMMAND = {"cmd.txt": "echo ${made} > made.txt"}
ON_RUN = {"planning": {"approve": ("run",)}}


def carried_out(place: Path, user: User | None, **fields: Any) -> Played:
    return play(place, WITH_COMMAND, "do it", [], key=None, sections=ON_RUN, plan=NAMED, consult=user, **fields)


def test_a_command_that_an_earlier_step_gave_is_shown_before_it_runs(tmp_path: Path) -> None:
    user = User(YES, YES)
    played = carried_out(tmp_path, user)
    assert [question.effects and question.effects.commands for question in user.asked] == [
        ("${read}",),
        ("echo $${made} > made.txt",),
    ]
    assert (played.result.outcome, "made.txt" in played.files) == ("done", True)


def test_a_command_that_an_earlier_step_gave_can_be_rejected(tmp_path: Path) -> None:
    played = carried_out(tmp_path, User(YES, Answer(decision="reject")))
    assert (played.result.exit_code, "made.txt" in played.files) == (5, False)


def test_a_command_that_an_earlier_step_gave_runs_if_approved_of_beforehand(tmp_path: Path) -> None:
    played = carried_out(tmp_path, None, approved=True)
    assert (played.result.outcome, "made.txt" in played.files) == ("done", True)

"""A file that is to be explained: by the model, or by what can be read where none answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codur.cli.conversation.slash_commands import BY_NAME
from codur.config.prompts import PromptLibrary
from codur.questions import Answer, Question
from codur.types import Limits
from tests.runs.kit import play
from tests.runs.test_plans import ASK_AGENT, classified, plan
from tests.support.groq_server import error, json_reply, text

FILES = {"app.py": '"""Greets."""\n\n\ndef greet(name):\n    """Say hello."""\n    print("${name}", name)\n'}
EXPLAIN = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.95,
        "detected_files": ["app.py"],
        "suggested_action": "explain",
        "reasoning": "Words are wanted.",
    }
)


def test_with_a_model_the_explanation_is_its_own(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "explain app.py", [EXPLAIN, text("It greets whoever is named.")])
    assert (played.result.exit_code, played.result.answer) == (0, "It greets whoever is named.")
    assert (len(played.requests), played.unexpected) == (2, 0)


@pytest.mark.parametrize(
    ("prompt", "about"),
    [
        ("how do i make you run only the unit tests?", True),
        ("can you explain what greet prints?", False),
        ("why does codur not change tests?", True),
    ],
)
def test_a_question_about_the_agent_itself_comes_with_its_commands(prompt: str, about: bool, tmp_path: Path) -> None:
    played = play(tmp_path, FILES, prompt, [EXPLAIN, text("With /check.")])
    assert ("`/check COMMAND`" in str(played.requests[1].body["messages"][0]["content"])) is about
    named = set(re.findall(r"`/(\w+)", PromptLibrary().render("explaining.about")))
    assert named <= BY_NAME.keys()
    assert {"check", "commit", "undo", "help"} <= named


@pytest.mark.parametrize(
    ("prompt", "outcome"),
    [
        ("write a hook in .git/hooks/pre-commit that runs the tests", "not_achieved"),
        ("can you write a hook that runs the tests?", "not_achieved"),
        ("why does greet fail for an empty name? fix it", "not_achieved"),
        ("tell me whether greet is right", "done"),
        ("write a hook for the tests. Do not touch the rest. And show what it prints", "not_achieved"),
        ("is greet right for an empty name? change nothing", "done"),
    ],
)
def test_an_order_of_which_only_words_came_is_not_carried_out(prompt: str, outcome: str, tmp_path: Path) -> None:
    kind = classified(task_type="code_generation", suggested_action="explain", confidence=0.9, detected_files=[])
    files = {**FILES, "test_app.py": "def test_app():\n    assert True\n"}
    played = play(tmp_path, files, prompt, [kind, plan(ASK_AGENT), text("What lies in .git is not changed from here.")])
    assert (played.result.outcome, played.unexpected) == (outcome, 0)
    assert played.result.answer == "What lies in .git is not changed from here."


def test_a_commit_message_that_was_asked_for_is_not_judged_by_tests(tmp_path: Path) -> None:
    kind = classified(task_type="git", suggested_action="plan", confidence=0.9, detected_files=[])
    files = {**FILES, "test_app.py": "def test_app():\n    assert False\n"}
    replies = [kind, plan(ASK_AGENT), text("Greet by name")]
    played = play(tmp_path, files, "write a commit message for my staged changes", replies)
    assert (played.result.exit_code, played.result.answer, played.result.before) == (0, "Greet by name", None)


def test_where_the_model_fails_it_is_what_can_be_read(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "explain app.py", [error(401)] * 3)
    assert (played.result.exit_code, played.result.solved_by) == (0, "pattern")
    assert played.result.answer.startswith("app.py: Greets.\n")
    assert "without a model" in played.result.answer


def test_an_agent_that_was_named_is_not_replaced_by_a_rule(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "explain app.py", [], key=None, agent="codur-explaining", limits=Limits())
    assert played.result.outcome == "no_model"


def test_rm_asks_and_does_as_it_is_told(tmp_path: Path) -> None:
    asked: list[Question] = []

    def user(question: Question) -> Answer:
        asked.append(question)
        return Answer(decision="approve" if len(asked) > 1 else "reject")

    refused = play(tmp_path, FILES, "rm app.py", [], key=None, consult=user)
    assert (refused.result.exit_code, refused.files) == (5, FILES)
    done = play(tmp_path, FILES, "rm app.py", [], key=None, consult=user)
    assert (done.result.exit_code, done.files) == (0, {})
    assert [question.effects.files for question in asked if question.effects] == [("app.py",), ("app.py",)]

"""Whole runs in which another program does the work: routing, the check, what follows a failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import AgentConfig, AgentPreferences, AgentSettings, Settings
from codur.events import AgentMessage, ModelCalled
from codur.store.trusted_files import TrustStore
from codur.types import Limits
from tests.agents.external.kit import CODEX_DONE, RIGHT, Script, config_of
from tests.runs.kit import EDIT, Played, play
from tests.support.groq_server import calls, json_reply

WRONG = {"main.py": "print(1)\n", "expected.txt": "2\n"}
HALF = "print(3)\n"
NEW = json_reply(
    {
        "task_type": "code_generation",
        "confidence": 0.95,
        "detected_files": ["shop.py"],
        "suggested_action": "edit",
        "reasoning": "Something is new.",
    }
)


def run(
    directory: Path,
    configs: dict[str, AgentConfig],
    *,
    prompt: str = "main.py is wrong",
    preferences: dict[str, Any] | None = None,
    files: dict[str, str] | None = None,
    replies: list[Any] | None = None,
    key: str | None = None,
    **fields: Any,
) -> Played:
    agents = AgentSettings(
        preferences=AgentPreferences(**(preferences or {})),
        configs={**Settings().agents.configs, **configs},
    )
    sections = {"agents": {"preferences": agents.preferences, "configs": agents.configs}}
    return play(directory, files or WRONG, prompt, replies or [], key=key, sections=sections, **fields)


def agent(directory: Path, script: Script, **fields: Any) -> AgentConfig:
    return config_of(directory, script, key_env=(), **fields)


def test_the_users_choice_needs_no_model_besides(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["write", "main.py", RIGHT], *CODEX_DONE])}

    played = run(tmp_path, configs, agent="its")

    assert played.result.exit_code == 0
    assert played.result.solved_by == "its"
    assert played.files["main.py"] == RIGHT
    assert played.nodes == ["pattern_plan", "llm_pre_plan", "policy", "delegate", "execute", "review"]
    assert played.result.usage.prompt_tokens == 100
    assert played.result.model_calls == 1
    assert [event.text for event in played.events if isinstance(event, AgentMessage)] == ["It printed 1."]
    assert played.requests == []


def test_a_list_of_steps_for_the_users_choice_is_planned_by_nobody_else(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["write", "main.py", RIGHT], *CODEX_DONE])}
    prompt = "read main.py, find what is wrong in it, fix it and tell me what it was"

    played = run(tmp_path, configs, prompt=prompt, agent="its", key="gsk_canary_0123456789")

    assert (played.result.exit_code, played.requests) == (0, [])


@pytest.mark.parametrize(
    ("routing", "files", "chosen"),
    [
        ({"code_fix": "its"}, WRONG, "its"),
        ({"simple": "agent:its"}, WRONG, "its"),
        ({"multifile": "its", "simple": "other"}, {**WRONG, "b.py": "1\n"}, "its"),
        ({"refactor": "other"}, WRONG, "its"),
    ],
)
def test_routing(routing: dict[str, str], files: dict[str, str], chosen: str, tmp_path: Path) -> None:
    right: Script = [["write", "main.py", RIGHT], *CODEX_DONE]
    configs = {"its": agent(tmp_path / "its", right), "other": agent(tmp_path / "other", right)}
    prompt = "main.py is wrong and b.py" if "b.py" in files else "main.py is wrong"

    played = run(
        tmp_path, configs, prompt=prompt, preferences={"default_agent": "its", "routing": routing}, files=files
    )

    assert (played.result.exit_code, played.result.solved_by) == (0, chosen)


def test_the_check_decides_and_not_its_exit_status(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    wrong = run(tmp_path / "a", {"its": agent(tmp_path / "w", [["write", "main.py", HALF], *CODEX_DONE])}, agent="its")
    assert wrong.result.exit_code == 1
    assert wrong.files == WRONG
    assert len(wrong.result.attempts) >= 2  # it was told what failed and tried again

    (tmp_path / "b").mkdir()
    right = run(tmp_path / "b", {"its": agent(tmp_path / "r", [["write", "main.py", RIGHT], ["exit", 1]])}, agent="its")
    assert right.result.exit_code == 0
    assert right.files["main.py"] == RIGHT


def test_it_sees_what_failed_before(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["write", "main.py", HALF], ["report", "seen.json"], *CODEX_DONE])}

    played = run(tmp_path, configs, agent="its")

    assert "output line 1" in played.result.attempts[0].error
    assert played.result.exit_code == 1


def test_one_that_cannot_run_is_skipped_with_a_reason(tmp_path: Path) -> None:
    right: Script = [["write", "main.py", RIGHT], *CODEX_DONE]
    configs = {
        "absent": agent(tmp_path / "absent", [], command=("no-such-agent",)),
        "its": agent(tmp_path / "its", right),
    }

    played = run(tmp_path, configs, preferences={"default_agent": "absent", "fallback_order": ("absent", "its")})

    assert (played.result.exit_code, played.result.solved_by) == (0, "its")
    assert "absent is skipped: the program no-such-agent is not installed" in played.result.notes


def test_if_none_can_run_the_reason_is_told(tmp_path: Path) -> None:
    configs = {"absent": agent(tmp_path / "absent", [], command=("no-such-agent",))}

    played = run(tmp_path, configs, agent="absent")

    assert played.result.exit_code == 3
    assert played.result.reason == "The agent absent cannot run here: the program no-such-agent is not installed."
    assert played.result.remedy == "Install no-such-agent, or choose another agent (`codur agents`)."
    assert played.files == WRONG


def test_the_next_agent_takes_over_when_one_makes_no_progress(tmp_path: Path) -> None:
    configs = {
        "first": agent(tmp_path / "first", [["write", "main.py", HALF], *CODEX_DONE]),
        "second": agent(tmp_path / "second", [["write", "main.py", RIGHT], *CODEX_DONE]),
    }

    played = run(tmp_path, configs, preferences={"default_agent": "first", "escalation": ("second",)})

    assert (played.result.exit_code, played.result.solved_by) == (0, "second")
    assert played.files["main.py"] == RIGHT


def test_why_one_failed_is_told(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["exit", 7]])}

    played = run(tmp_path, configs, agent="its")

    assert played.result.exit_code == 1
    summaries = {attempt.summary for attempt in played.result.attempts}
    assert summaries == {"no file was changed: it ended with exit status 7"}


def test_what_one_said_of_failing_tests_does_not_count_for_the_next(tmp_path: Path) -> None:
    """Else an edit of the next agent, which says no such thing, would be done with the words of the first."""
    source = "def shown(price):\n    return f'{price:.2f}'\n"
    test = "from shop import shown\n\n\ndef test_a():\n    assert shown(3) == '3,00'\n\n\ndef test_b():\n    pass\n"
    finish = ("finish", {"reason": "test_a is about something else"})
    edit = calls(("replace_file_content", {"path": "shop.py", "content": source.replace(".2f", ".3f")}), finish)
    configs = {"its": agent(tmp_path / "its", [["write", "shop.py", f"{source}# TODO\n"], *CODEX_DONE])}

    played = run(
        tmp_path,
        configs,
        prompt="shop.py should write a comma",
        preferences={"escalation": ("its",), "patience": 1},
        files={"shop.py": source, "test_shop.py": test},
        replies=[NEW, edit, edit],
        key="gsk_canary_0123456789",
    )

    assert "execute" in played.nodes
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", source)


def test_costs_count_into_the_limits(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["write", "main.py", HALF], *CODEX_DONE])}

    played = run(tmp_path, configs, agent="its", limits=Limits(max_tokens=107))

    assert played.result.exit_code == 4
    assert played.result.usage.total_tokens == 107
    assert played.files == WRONG


def test_a_question_is_answered_and_changes_nothing(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["write", "main.py", "gone"], *CODEX_DONE])}

    played = run(tmp_path, configs, prompt="explain what main.py does", agent="its")

    assert played.result.exit_code == 0
    assert played.result.answer == "It printed 1."
    assert played.files == WRONG
    assert any("main.py: is out of scope" in note for note in played.result.notes)


def test_an_edit_of_the_expected_output_does_not_help(tmp_path: Path) -> None:
    configs = {"its": agent(tmp_path / "its", [["try_to_write", "expected.txt"], *CODEX_DONE])}

    played = run(tmp_path, configs, agent="its")

    assert played.result.exit_code == 1
    assert played.files == WRONG


def test_a_confident_classification_delegates_too(tmp_path: Path) -> None:
    configs = {
        "absent": agent(tmp_path / "absent", [], command=("no-such-agent",)),
        "its": agent(tmp_path / "its", [["write", "main.py", RIGHT], *CODEX_DONE]),
    }

    played = run(
        tmp_path,
        configs,
        prompt="the output",
        preferences={"routing": {"code_fix": "its"}},
        replies=[EDIT],
        key="gsk_canary_0123456789",
    )

    assert (played.result.exit_code, played.result.solved_by) == (0, "its")
    assert len([event for event in played.events if isinstance(event, ModelCalled)]) == 1


def test_instructions_reach_it_once_they_are_accepted_and_one_note_says_so(tmp_path: Path) -> None:
    script: Script = [["report", "seen.json"], ["write", "main.py", RIGHT], *CODEX_DONE]
    configs = {"its": agent(tmp_path / "its", script)}
    files = {**WRONG, "CLAUDE.md": "Use tabs.", "AGENTS.md": "Use tabs too."}
    played = [
        run(tmp_path / name, configs, agent="its", files=files, state=tmp_path / name / "state")
        for name in _places(tmp_path, accepted={"AGENTS.md": b"Use tabs too.", "CLAUDE.md": b"Use tabs."})
    ]

    unknown, accepted = played
    note = "AGENTS.md, CLAUDE.md: instructions not given to other agents, as they are not accepted; look at them with"
    assert [text for text in unknown.result.notes if "AGENTS.md" in text] == [f"{note} `codur trust`"]
    assert "CLAUDE.md" not in unknown.files["seen.json"]
    assert '"AGENTS.md", "CLAUDE.md", ' in accepted.files["seen.json"]
    assert not [text for text in accepted.result.notes if "AGENTS.md" in text]


def _places(directory: Path, accepted: dict[str, bytes]) -> tuple[str, str]:
    """Two places for a run; in the second one the files of the project are accepted."""
    for name in ("unknown", "accepted"):
        (directory / name).mkdir()
    TrustStore(directory / "accepted" / "state" / "trust.json").accept(
        directory / "accepted" / "project", accepted, when="now"
    )
    return "unknown", "accepted"

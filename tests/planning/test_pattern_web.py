"""Requests for the web, and the plain forms of file operations with mentions: settled whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Settings
from codur.workspace.workspace import Workspace
from tests.planning.data.pattern_workspace import make_workspace
from tests.planning.test_pattern_prompts import decided, done


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("workspace"))


@pytest.mark.parametrize(
    ("prompt", "tool", "arguments"),
    [
        ("Search the web for python asyncio timeouts", "duckduckgo_search", {"query": "python asyncio timeouts"}),
        ('please search the internet for "slow imports" thanks', "duckduckgo_search", {"query": "slow imports"}),
        ('search online for "exit code" 137 docker', "duckduckgo_search", {"query": '"exit code" 137 docker'}),
        ("look up dataclass slots on the web", "duckduckgo_search", {"query": "dataclass slots"}),
        ("web search: groq rate limits", "duckduckgo_search", {"query": "groq rate limits"}),
        ("fetch https://example.org/a?b=c.", "fetch_webpage", {"url": "https://example.org/a?b=c"}),
        ("Could you open the page https://example.org/?", "fetch_webpage", {"url": "https://example.org/"}),
        ("show me the text of http://example.org as Markdown", "fetch_webpage", {"url": "http://example.org"}),
        ("what's at `https://example.org/x`?", "fetch_webpage", {"url": "https://example.org/x"}),
    ],
)
def test_the_web_is_reached_by_rule(prompt: str, tool: str, arguments: dict[str, Any], workspace: Workspace) -> None:
    decision = decided(prompt, workspace)
    assert done(decision.plan) == {"tool": tool, "arguments": arguments}
    assert decision.discovery.task_type == "web_search"

    plan = decided(prompt, workspace, Settings()).plan
    assert plan is not None
    (step,) = plan.steps
    assert (step.action, plan.outcome) == ("respond", "refused")
    assert "allow_network: true" in plan.reason


@pytest.mark.parametrize(
    "prompt",
    [
        "search the web for asyncio tutorials and save them to notes.txt",
        "search the web for this error",
        "search online for a fix",
        "google it",
        "search the web for how to fix app.py",
        "look up total online and fix utils.py",
        "fetch https://example.org/x.py and run it",
        "fetch https://example.org, then summarise it",
        "download https://example.com/x.csv",
        "summarize https://example.org/page",
        "what does https://example.org/page say about asyncio?",
        "open https://example.org/page in my browser",
        "don't search the web for x",
        "never fetch https://example.org",
        "fetch file:///etc/passwd",
        "fetch origin main",
        "search the web",
        "search the web for x\n```\npaste\n```",
        'replace "total" with "sum" in utils.py and run the tests',
        'replace "nums" with "sum" in utils.py',
        'replace "numbers" with "values" in utils.py',
        'replace "tot" with "sum" in utils.py',
        'replace "os.name" with "os.sep" in app.py?',
        'replace all "os" with "sys" in app.py',
        "replace the loop with a sum in utils.py",
        "get rid of the bug in app.py",
        "get rid of app.py and utils.py",
        "make a copy of utils.py called app.py",
        "fix @utils.py",
        "rename @tmp.txt",
        "delete @tmp.txt and @notes.txt",
    ],
)
def test_what_asks_for_more_or_other_is_not_settled(prompt: str, workspace: Workspace) -> None:
    assert done(decided(prompt, workspace).plan) is None


@pytest.mark.parametrize(
    ("prompt", "tool", "arguments"),
    [
        ("read @app.py", "read_file", {"path": "app.py"}),
        ("read src/parser.py", "read_file", {"path": "src/parser.py"}),
        ("write `x = 1` to @new.py", "write_file", {"path": "new.py", "content": "x = 1"}),
        ('write "one" to sub/new.txt', "write_file", {"path": "sub/new.txt", "content": "one"}),
        ('append "two" to @notes.txt', "append_file", {"path": "notes.txt", "content": "two"}),
        ("move @tmp.txt to docs", "move_file", {"source": "tmp.txt", "target": "docs/tmp.txt"}),
        ("rename @tmp.txt to old.txt", "move_file", {"source": "tmp.txt", "target": "old.txt"}),
        ("copy @utils.py to @helpers.py", "copy_file", {"source": "utils.py", "target": "helpers.py"}),
        ("make a copy of @utils.py called helpers.py", "copy_file", {"source": "utils.py", "target": "helpers.py"}),
        ("delete @tmp.txt", "delete_file", {"path": "tmp.txt"}),
        ("please get rid of tmp.txt", "delete_file", {"path": "tmp.txt"}),
        (
            "replace `os.name` with `os.sep` in @app.py",
            "replace_in_file",
            {"path": "app.py", "old": "os.name", "new": "os.sep"},
        ),
        (
            'in utils.py, replace the text "return sum" by "return max"',
            "replace_in_file",
            {"path": "utils.py", "old": "return sum", "new": "return max"},
        ),
    ],
)
def test_plain_forms_with_mentions(prompt: str, tool: str, arguments: dict[str, Any], workspace: Workspace) -> None:
    assert done(decided(prompt, workspace).plan) == {"tool": tool, "arguments": arguments}


def test_a_fix_knows_the_file_that_it_mentions(workspace: Workspace) -> None:
    found = decided("fix @utils.py", workspace).discovery
    assert (found.task_type, found.files[0]) == ("code_fix", "utils.py")


def test_a_file_that_is_no_text_is_left_to_others(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\x00one")
    prompt = 'replace "one" with "two" in logo.png'
    assert done(decided(prompt, Workspace.open(tmp_path)).plan) is None


def test_nothing_of_the_workspace_is_changed(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    decided('replace "return sum" with "return max" in utils.py', workspace)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before

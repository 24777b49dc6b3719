"""A run as one page: all that it told, nothing that runs, nothing that is asked for."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec import to_builtins

from codur.events import (
    CheckRan,
    Decided,
    Event,
    FileChanged,
    ModelAnswered,
    ModelPrompted,
    NodeEntered,
    Note,
    RepairProgress,
)
from codur.store.run_record import RunRecord, RunSummary
from codur.ui.shown.run_list import KeptRun
from codur.ui.shown.trace_page import trace_page
from tests.support.browser import browser_page, find_browser
from tests.ui.samples import DIFF, FAILED, RED

HOSTILE = "</pre><script>alert(1)</script>\x1b[2J\u202e&"
RUN = RunRecord(
    id="20261121-0443-k7q",
    prompt=f"fix main.py {HOSTILE}",
    workspace="/w/project",
    started="2026-11-21T04:40:00.000+00:00",
    status="finished",
    summary=RunSummary(outcome="not_achieved"),
)
EDGES = {"start": ("pattern_plan",), "pattern_plan": ("repair", "coding"), "repair": ("coding",), "coding": ("end",)}
EVENTS: tuple[Event, ...] = (
    Note(text="before all"),
    NodeEntered(node="pattern_plan"),
    CheckRan(when="before", verdict=RED),
    Decided(node="pattern_plan", route="repair", origin="pattern", tier="deterministic", reason="red"),
    NodeEntered(node="repair"),
    RepairProgress(tried=12, best=0.5),
    Decided(node="repair", route="coding", origin="repair", tier="deterministic"),
    NodeEntered(node="coding"),
    ModelPrompted(profile="fast", model="m", purpose="edit", text=f"--- user\n{HOSTILE}"),
    ModelAnswered(
        profile="fast", purpose="edit", prompt_tokens=9, completion_tokens=1, duration_s=1.0, text=f"said {HOSTILE}"
    ),
    FileChanged(path="main.py", added=1, removed=1, diff=DIFF),
    Decided(node="coding", route="end", origin="plan", tier="open"),
)


def page(**more: Any) -> str:
    trace = [{"at": number / 2, **to_builtins(event)} for number, event in enumerate(EVENTS)]
    return trace_page(KeptRun(record=RUN, trace=trace, result=to_builtins(FAILED)), EDGES, **more)


def test_it_has_each_step_with_what_it_told() -> None:
    text = page()
    words = ("before all", "12 candidates tried", "prompt to fast (m), edit, ", "--- user", "said ", "return 15")
    for each in (*words, "two attempts made no progress", "route: pattern_plan → repair (pattern, deterministic): red"):
        assert each in text, each
    assert re.findall(r'<summary><span class="strong">(\w+)', text) == ["pattern_plan", "repair", "coding"]
    assert '<span class="added">+    return 15</span>' in text


def test_nothing_in_it_runs_or_is_asked_for() -> None:
    text = page()
    style = text.partition("<style>")[2].partition("</style>")[0]
    policy = text.partition('Content-Security-Policy" content="')[2].partition('">')[0]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert b64encode(sha256(style.encode()).digest()).decode() in policy
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not re.search(r"(?:src|href|style)=", text)


def test_the_way_taken_is_drawn() -> None:
    text = page()
    drawn = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    lines = [item.get("stroke") for item in drawn.iter() if item.tag.endswith("polyline")]
    assert sorted(filter(None, lines)) == ["gainsboro", "sienna", *["steelblue"] * 3]


def test_a_run_without_a_result_or_a_trace() -> None:
    text = trace_page(KeptRun(record=RUN, trace=[], result=None, undone="part"), EDGES)
    assert "it never came to one" in text
    assert "undone in part" in text


def test_in_a_browser_each_step_unfolds(tmp_path: Path) -> None:
    found = find_browser()
    if found is None:
        pytest.skip("no Chromium is here")
    path = tmp_path / "run.html"
    path.write_text(page(), encoding="utf-8")
    with browser_page(found, tmp_path / "profile") as shown:
        shown.size(1200, 900)
        shown.requests.clear()
        shown.open(path)
        steps = "document.querySelectorAll('body > details')"
        assert shown.run(f"{steps}.length") == 3
        assert shown.run(f"{steps}[2].querySelector('pre').checkVisibility()") is False
        shown.click("body > details:nth-of-type(3) > summary")
        shown.click("body > details:nth-of-type(3) > details:nth-of-type(1) > summary")
        assert shown.run(f"{steps}[2].querySelector('pre').checkVisibility()") is True
        assert shown.run("document.documentElement.scrollWidth <= innerWidth") is True
        assert shown.run("getComputedStyle(document.body).maxWidth") == "1200px"
        assert shown.problems == []
        assert shown.requests == [path.as_uri()]

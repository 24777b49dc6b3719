"""The page in a real browser: it sorts, filters and opens, tells nothing to anybody, and takes no text for markup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codur.batch.reports import write_reports
from tests.batch.report_kit import DIFF, HOSTILE, ROUTE, failed, hostile, solved
from tests.support.browser import Page, browser_page, find_browser

RESULTS = [
    solved("alpha 10", cost_usd=0.3, calls=2, tier="plan", seconds=8.0, diff=DIFF, route=ROUTE, prompt="mend the rota"),
    solved("alpha 9", cost_usd=0.0, seconds=1.0, output_before="expected 1\ngot 2"),
    failed("beta", cost_usd=0.2, calls=9, seconds=30.0, reason="line 3 differs", changed_files=("deep/tool.py",)),
    failed("gamma", status="error", reason="no check", cost_usd=0.1),
]
NAMES = "[...document.querySelectorAll('#rows .line:not([hidden]) .open')].map((item) => item.textContent)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser for all tests of the file."""
    found = find_browser()
    if found is None:
        pytest.skip("there is no Chromium or Chrome on PATH")
    with browser_page(found, tmp_path_factory.mktemp("profile")) as page:
        yield page


def opened(page: Page, directory: Path, results: Any = RESULTS) -> Page:
    """The page of these results; nothing on the console, nothing asked for but the page."""
    write_reports(directory, results, title="nightly")
    page.problems.clear()
    page.requests.clear()
    page.size(1300, 900)
    page.open(directory / "report.html")
    return page


def assert_quiet(page: Page, directory: Path) -> None:
    assert page.problems == []
    assert page.requests == [(directory / "report.html").as_uri()]


def test_it_sorts_by_mouse_and_keyboard(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    assert page.run(NAMES) == ["alpha 10", "alpha 9", "beta", "gamma"]
    page.click("[data-key=cost] button")
    assert page.run(NAMES) == ["alpha 9", "gamma", "beta", "alpha 10"]
    assert page.run("document.querySelector('[data-key=cost]').ariaSort") == "ascending"
    page.press("Enter", "\r")
    assert page.run(NAMES) == ["alpha 10", "beta", "gamma", "alpha 9"]
    assert page.run("document.querySelector('[data-key=cost]').ariaSort") == "descending"
    page.click("[data-key=name] button")
    assert page.run(NAMES) == ["alpha 9", "alpha 10", "beta", "gamma"]
    assert page.run("document.querySelector('[data-key=cost]').ariaSort") == "none"
    page.click("[data-key=status] button")
    assert page.run(NAMES) == ["alpha 10", "alpha 9", "beta", "gamma"]
    assert_quiet(page, tmp_path)


def test_it_filters(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    shown = "document.querySelector('#shown').textContent"
    page.click("#filter-text")
    page.type("ROTA mend")
    assert (page.run(NAMES), page.run(shown)) == (["alpha 10"], "1 of 4 results")
    page.click("#filter-clear")
    page.run("new Promise((done) => setTimeout(done))")
    assert (len(page.run(NAMES)), page.run(shown)) == (4, "4 results")
    page.click("#filter-text")
    page.type("deep/tool")
    assert page.run(NAMES) == ["beta"]
    page.click("#filter-clear")
    for name, value, left in (("status", "solved", ["alpha 10", "alpha 9"]), ("tier", "plan", ["alpha 10"])):
        page.run(
            f"(() => {{ const select = document.querySelector('#filter-{name}'); select.value = '{value}';"
            " select.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        assert page.run(NAMES) == left
    page.click("#filter-text")
    page.type("nothing has this")
    assert page.run("document.querySelector('#empty').checkVisibility()") is True
    assert_quiet(page, tmp_path)


def test_a_row_opens_its_diff_its_outputs_and_its_route(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    page.click("#rows .line:nth-child(1) .seconds")
    lines = "[...document.querySelectorAll('.diff span')].map((item) => [item.className, item.textContent.trimEnd()])"
    assert page.run(lines) == [
        ["file", "--- a/main.py"],
        ["file", "+++ b/main.py"],
        ["hunk", "@@ -1,3 +1,3 @@"],
        ["same", " total = 0"],
        ["del", "--- old sum"],
        ["add", "+-- new sum"],
        ["same", " print(total)"],
    ]
    colours = page.run("['add', 'del'].map((kind) => getComputedStyle(document.querySelector(`.diff .${kind}`)).color)")
    assert len(set(colours)) == 2
    route = page.run("[...document.querySelectorAll('.route li')].map((item) => item.innerText)")
    assert route == ["pattern_plan → repair deterministic pattern\na red check", "review → end open repair"]
    assert page.run("document.querySelector('#rows .open').ariaExpanded") == "true"
    page.click("#rows .line:nth-child(1) .open")
    assert page.run("document.querySelector('.detail').checkVisibility()") is False
    page.run("document.querySelectorAll('#rows .open')[1].focus()")
    page.press("Enter", "\r")
    assert "expected 1\ngot 2" in page.run("document.querySelector('#detail-1').innerText")
    assert_quiet(page, tmp_path)


def test_an_open_row_stays_with_its_line_and_goes_when_that_is_filtered_out(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    page.click("#rows .line:nth-child(1) .open")
    page.click("[data-key=cost] button")
    assert (
        page.run("document.querySelector('.detail').previousSibling.querySelector('.open').textContent") == "alpha 10"
    )
    page.click("#filter-text")
    page.type("beta")
    assert page.run("document.querySelector('.detail').checkVisibility()") is False
    assert_quiet(page, tmp_path)


def test_agents_and_attempts_are_compared(browser: Page, tmp_path: Path) -> None:
    several = [
        solved("a", agent="x"),
        failed("a", agent="x", attempt=2),
        failed("a", agent="y"),
        solved("b", agent="y"),
    ]
    page = opened(browser, tmp_path, several)
    page.click("#matrix-details summary")
    page.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    cells = "[...row.cells].map((cell) => cell.textContent)"
    assert page.run(f"[...document.querySelectorAll('#matrix-table tbody tr')].map((row) => {cells})") == [
        ["a", "✔1 of 2", "✘not solved"],
        ["b", "not tried", "✔solved"],
    ]
    shares = page.run("[...document.querySelector('#pass-table tbody tr').cells].map((cell) => cell.textContent)")
    assert shares == ["x", "50.0 % (1)", "100.0 % (1)"]
    labels = page.run("[...document.querySelectorAll('.card svg')].map((item) => item.getAttribute('aria-label'))")
    assert labels[1] == (
        "Solved against calls. x: 1 of 2 solved, all with 0 or less; y: 1 of 2 solved, all with 0 or less."
    )
    assert_quiet(page, tmp_path)


def test_no_text_becomes_markup_or_asks_for_anything(browser: Page, tmp_path: Path) -> None:
    results = [hostile(text, status=status) for text in HOSTILE for status in ("failed", "solved")]
    page = opened(browser, tmp_path, results)
    page.run("document.querySelectorAll('#rows .open').forEach((item) => item.click())")
    assert page.run("document.querySelectorAll('#rows .detail').length") == len(results)
    assert page.run("document.querySelectorAll('img, iframe, object, embed, link, base, form[action]').length") == 0
    assert page.run("document.querySelectorAll('script').length") == 2
    handlers = "item.getAttributeNames().some((name) => name.startsWith('on'))"
    assert page.run(f"[...document.querySelectorAll('*')].some((item) => {handlers})") is False
    assert page.run("document.title") == "nightly"
    unseen = "/[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u2028\\u0000\\u001b]/"
    assert page.run(f"{unseen}.test(document.querySelector('#rows').textContent)") is False
    assert_quiet(page, tmp_path)


def test_its_policy_lets_nothing_out_and_no_text_in(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    asked = (
        "new Promise((done) => { document.addEventListener('securitypolicyviolation', (event) =>"
        " done(event.effectiveDirective), {once: true}); new Image().src = 'http://127.0.0.1:9/x'; })"
    )
    assert page.run(asked) == "img-src"
    written = "(() => { try { document.body.innerHTML = '<b>x</b>'; } catch (error) { return error.name; } })()"
    assert page.run(written) == "TypeError"


@pytest.mark.parametrize("width", [1300, 390])
def test_it_fits_its_window(browser: Page, tmp_path: Path, width: int) -> None:
    page = opened(browser, tmp_path, [*RESULTS, failed("n" * 200, reason="r" * 300)])
    page.size(width, 900)
    page.click("#rows .line:nth-child(1) .open")
    assert page.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True
    assert_quiet(page, tmp_path)


def test_an_empty_batch_is_a_page_too(browser: Page, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, [])
    assert page.run("document.querySelector('#empty').checkVisibility()") is True
    assert_quiet(page, tmp_path)

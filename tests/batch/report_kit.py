"""Results to make reports of, and a reader of pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from codur.batch.results.challenge_record import ChallengeResult, RouteEntry

DIFF = """--- a/main.py
+++ b/main.py
@@ -1,3 +1,3 @@
 total = 0
--- old sum
+-- new sum
 print(total)
"""
ROUTE = (
    RouteEntry(node="pattern_plan", route="repair", origin="pattern", tier="deterministic", reason="a red check"),
    RouteEntry(node="review", route="end", origin="repair", tier="open"),
)
HOSTILE = (
    "</script><img src=x onerror=\"document.title='gone'\">",
    "</script\n<img src=x onerror=alert(1)> </ScRiPt/ x>",
    '"><svg onload=alert(1)>',
    "<!--<script>",
    "]]>&amp;&lt;b&gt; {{data}} {{script}}",
    "a | b \\| c `d` **e** <b>f</b> [g](http://127.0.0.1/h)",
    "line one\nline two\r\n| three |\n\n# four",
    "\x00\x01\x1b[31m\x7f\x85\ufffe\uffff",
    "\u2028\u2029\u202edlrow\u2066\u200b\ufeff",
    "\ud800 lone \udfff",
    "x" * 100_000,
    "'; DROP TABLE rows; --",
    "javascript:alert(1)",
    "שלום עולם \u200f",
)


def solved(name: str, **fields: Any) -> ChallengeResult:
    """A result of a solved challenge."""
    given: dict[str, Any] = {"tier": "repair", "solved_by": "repair", "verdict": "passed", **fields}
    return _result(name, status="solved", **given)


def failed(name: str, **fields: Any) -> ChallengeResult:
    """A result of a challenge that was not solved."""
    return _result(name, **{"status": "failed", "reason": "the check still fails", "verdict": "failed", **fields})


def hostile(text: str, *, status: str = "failed") -> ChallengeResult:
    """A result with a text in every place that takes one."""
    return _result(
        text,
        status=status,
        directory=text,
        agent=text,
        key=text,
        verdict=text,
        solved_by=text,
        reason=text,
        explanation=text,
        prompt=text,
        check=text,
        signature=text,
        changed_files=(text,),
        patch=text,
        diff=f"--- a\n+++ b\n@@ -1 +1 @@\n-{text}\n+{text}\n",
        output_before=text,
        output_after=text,
        verified=text,
        sandbox=text,
        notes=(text,),
        route=(RouteEntry(node=text, route=text, origin=text, tier=text, reason=text),),
        started=text,
    )


def _result(name: str, **fields: Any) -> ChallengeResult:
    return ChallengeResult(**{"name": name, "directory": f"/work/{name}", "key": f"key of {name}", **fields})


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.texts: dict[str, str] = {}
        self._place = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(attrs)))
        name = dict(attrs).get("id")
        self._place = f"#{name}" if name else tag

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", ()))
        self._place = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._place] = self.texts.get(self._place, "") + data

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", ((data, None),)))


def elements(html: str) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    """Every element of a page with its attributes, and where it ends."""
    return _read(html).found


def data_of(html: str) -> dict[str, Any]:
    """The data that a page holds, as a browser reads it."""
    value: dict[str, Any] = json.loads(_read(html).texts["#data"])
    return value


def text_of(html: str, place: str) -> str:
    """The text in an element without further ones, by its #id or else its name."""
    return _read(html).texts[place]


def _read(html: str) -> _Elements:
    parser = _Elements()
    parser.feed(html)
    parser.close()
    return parser


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)

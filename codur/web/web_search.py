"""Searching the web: what to ask and how to read the answer is the `ddgs` package's, the request is the guard's.

The package's own client would connect without the guard's checks, so it is not used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from codur.structs import Struct
from codur.web.fetch import Fetched
from codur.web.page_errors import ExtraMissing, FetchFailed
from codur.web.pages import decode

Post = Callable[[Mapping[str, str]], Fetched]
"""Sends a form to the search service."""


class Hit(Struct):
    """One page that was found."""

    url: str
    title: str
    snippet: str


class SearchEngine(Protocol):
    """What to ask a search service, and how to read its answer."""

    def form(self, query: str) -> Mapping[str, str]:
        """The form to send."""

    def hits(self, answer: str) -> tuple[Hit, ...]:
        """The pages in an answer, best first."""


class DuckDuckGo:
    """DuckDuckGo's page for plain browsers, as `ddgs` knows it.

    Raises:
        ExtraMissing: `ddgs` is not installed.
    """

    def __init__(self) -> None:
        try:
            from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415 - lazy: an extra
        except ImportError as error:
            raise ExtraMissing("searching the web") from error
        logging.getLogger("ddgs").addHandler(logging.NullHandler())
        self._engine = Duckduckgo()

    def form(self, query: str) -> Mapping[str, str]:
        """The form to send."""
        payload = self._engine.build_payload(query, region="us-en", safesearch="moderate", timelimit=None)
        return {str(key): str(value) for key, value in payload.items()}

    def hits(self, answer: str) -> tuple[Hit, ...]:
        """The pages in an answer, best first."""
        found = self._engine.post_extract_results(self._engine.extract_results(answer))
        return tuple(Hit(url=item.href, title=item.title, snippet=item.body) for item in found)


def search(query: str, post: Post, engine: SearchEngine) -> tuple[Hit, ...]:
    """The pages that a search finds, each once, best first.

    Args:
        post: sends the engine's form.

    Raises:
        FetchRefused, FetchFailed: as the guard says, or the service does not want to answer.
    """
    fetched = post(engine.form(query))
    if fetched.status != 200:
        raise FetchFailed(
            f"the search service answered with status {fetched.status}",
            remedy="Try again later, or fetch a known page.",
        )
    text = decode(fetched).strip()
    if not text:
        raise FetchFailed("the search service gave an empty answer", remedy="Try again later.")
    found = {hit.url: hit for hit in reversed(engine.hits(text)) if hit.url.startswith(("https://", "http://"))}
    return tuple(reversed(found.values()))

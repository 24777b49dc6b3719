"""Searching the web: what to ask and how to read the answer is the `ddgs` package's, the request is the guard's.

The package's own client would connect without the guard's checks, so it is not used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

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


def search(query: str, post: Post) -> tuple[Hit, ...]:
    """The pages that DuckDuckGo's page for plain browsers finds, each once, best first.

    Raises:
        ExtraMissing: `ddgs` is not installed.
        FetchRefused, FetchFailed: as the guard says, or the service does not want to answer.
    """
    try:
        from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415 - lazy: an extra
    except ImportError as error:
        raise ExtraMissing("searching the web") from error
    logging.getLogger("ddgs").addHandler(logging.NullHandler())
    engine = Duckduckgo()
    payload = engine.build_payload(query, region="us-en", safesearch="moderate", timelimit=None)
    fetched = post({str(key): str(value) for key, value in payload.items()})
    if fetched.status != 200:
        raise FetchFailed(
            f"the search service answered with status {fetched.status}",
            remedy="Try again later, or fetch a known page.",
        )
    answer = decode(fetched).strip()
    if not answer:
        raise FetchFailed("the search service gave an empty answer", remedy="Try again later.")
    found: dict[str, Hit] = {}
    for item in engine.post_extract_results(engine.extract_results(answer)):
        if item.href.startswith(("https://", "http://")):
            found.setdefault(item.href, Hit(url=item.href, title=item.title, snippet=item.body))
    return tuple(found.values())

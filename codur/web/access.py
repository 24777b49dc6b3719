"""All that tools may do on the web, behind one guard."""

import logging

from codur.structs import Struct
from codur.web.fetch import Fetcher, FetchLimits
from codur.web.page_errors import ExtraMissing, FetchFailed
from codur.web.pages import Page, decode, read_page


class Hit(Struct):
    """One page that was found."""

    url: str
    title: str
    snippet: str


_LIMITS = FetchLimits(max_bytes=2 * 1024**2)
SEARCH_URL = "https://html.duckduckgo.com/html/"


class Web(Fetcher):
    """The web, with the rules of `Fetcher` for every request; `search_url` is where searches are sent."""

    limits: FetchLimits = _LIMITS
    search_url: str = SEARCH_URL

    def page(self, url: str) -> Page:
        """The page at an address, as text.

        Raises:
            FetchRefused, FetchFailed: as `Fetcher.fetch`; also for a page with an error status.
            ExtraMissing: a library is not installed.
        """
        fetched = self.fetch(url)
        if not 200 <= fetched.status < 300:
            raise FetchFailed(f"{fetched.url} answers with status {fetched.status}", remedy="Check the address.")
        return read_page(fetched)

    def search(self, query: str) -> tuple[Hit, ...]:
        """The pages that DuckDuckGo's page for plain browsers finds, each once, best first.

        Raises:
            FetchRefused, FetchFailed: as `Fetcher.fetch`, or the search service does not want to answer.
            ExtraMissing: `ddgs` is not installed.
        """
        try:
            from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415 - lazy: an extra
        except ImportError as error:
            raise ExtraMissing("searching the web") from error
        logging.getLogger("ddgs").addHandler(logging.NullHandler())
        engine = Duckduckgo()
        payload = engine.build_payload(query, region="us-en", safesearch="moderate", timelimit=None)
        fetched = self.fetch(self.search_url, {str(key): str(value) for key, value in payload.items()})
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

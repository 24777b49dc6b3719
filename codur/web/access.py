"""All that tools may do on the web, behind one guard."""

from __future__ import annotations

from codur.web.fetch import Fetcher, FetchLimits
from codur.web.page_errors import FetchFailed
from codur.web.pages import Page, read_page
from codur.web.web_search import Hit, search

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
        """The pages that a search finds, best first.

        Raises:
            FetchRefused, FetchFailed: as `Fetcher.fetch`, or the search service does not answer.
            ExtraMissing: a library is not installed.
        """
        return search(query, lambda form: self.fetch(self.search_url, form))

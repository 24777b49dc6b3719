"""All that tools may do on the web, behind one guard."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from codur.structs import Struct, field
from codur.web.address import is_public
from codur.web.fetch import Fetched, FetchLimits, Resolve, addresses_of, fetch
from codur.web.page_errors import FetchFailed
from codur.web.pages import Page, read_page
from codur.web.web_search import DuckDuckGo, Hit, search

SEARCH_URL = "https://html.duckduckgo.com/html/"


class Web(Struct):
    """The web, with the rules of `fetch` for every request.

    Attributes:
        ports, limits, resolve, allowed, redact: as for `fetch`.
        search_url: where searches are sent.
    """

    ports: Collection[int] = (80, 443)
    limits: FetchLimits = field(default_factory=lambda: FetchLimits(max_bytes=2 * 1024**2))
    resolve: Resolve = addresses_of
    allowed: Callable[[str], bool] = is_public
    redact: Callable[[str], str] | None = None
    search_url: str = SEARCH_URL

    def page(self, url: str) -> Page:
        """The page at an address, as text.

        Raises:
            FetchRefused, FetchFailed: as `fetch`; also for a page with an error status.
            ExtraMissing: a library is not installed.
        """
        fetched = self._fetch(url, None)
        if not 200 <= fetched.status < 300:
            raise FetchFailed(f"{fetched.url} answers with status {fetched.status}", remedy="Check the address.")
        return read_page(fetched)

    def search(self, query: str) -> tuple[Hit, ...]:
        """The pages that a search finds, best first.

        Raises:
            FetchRefused, FetchFailed: as `fetch`, or the search service does not answer.
            ExtraMissing: a library is not installed.
        """
        return search(query, lambda form: self._fetch(self.search_url, form), DuckDuckGo())

    def _fetch(self, url: str, form: Mapping[str, str] | None) -> Fetched:
        return fetch(
            url,
            ports=self.ports,
            limits=self.limits,
            resolve=self.resolve,
            allowed=self.allowed,
            redact=self.redact,
            form=form,
        )

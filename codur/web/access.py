"""All that tools may do on the web, behind one guard; what pages say, as text: HTML without what surrounds its text."""

import codecs
import logging
import re

from codur.lazy import regex
from codur.structs import Struct
from codur.web.fetch import Fetched, Fetcher, FetchLimits
from codur.web.target import ExtraMissing, FetchFailed

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES = regex(r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-sh)")
_LOOKS_LIKE_HTML = regex(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_META_CHARSET = regex(rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SNIFFED = 1024
_LATIN = frozenset({"iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "iso8859-1"})


class Page(Struct):
    """A page as text."""

    url: str
    title: str
    text: str  # empty if it has none, or is of a kind that is not shown
    kind: str  # its media type; empty if it is not known
    readable: bool  # False for what is no text, such as a PDF or an image
    truncated: bool  # there is more than was read


def read_page(fetched: Fetched) -> Page:
    """The page's text. Raises ExtraMissing: it is HTML, and the library that reads it is not installed."""
    kind = _kind(fetched)
    if kind in _HTML:
        title, text = _from_html(decode(fetched), fetched.url)
    else:
        title, text = "", decode(fetched) if _TEXT_TYPES.fullmatch(kind) else ""
    return Page(
        url=fetched.url,
        title=title,
        text=text.strip(),
        kind=kind,
        readable=kind in _HTML or bool(_TEXT_TYPES.fullmatch(kind)),
        truncated=fetched.truncated,
    )


def decode(fetched: Fetched) -> str:
    """The body as text: by its byte order mark, the header, the page's own word, UTF-8, else Windows-1252.

    The order is that of the HTML standard (13.2.3.2, Determining the character encoding).
    """
    data = fetched.content
    own = _META_CHARSET.search(data[:_SNIFFED])
    declared = (fetched.charset, own[1].decode("ascii", "replace") if own else "")
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    for name in (marked, *declared):
        if _is_text_encoding(name):
            # The standard reads pages that call themselves Latin-1 as Windows-1252.
            return data.decode("cp1252" if name.lower() in _LATIN else name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not fetched.truncated)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _is_text_encoding(name: str) -> bool:
    """Whether Python knows it and it makes text of bytes; `base64` and the like do not, and `idna` is no charset."""
    if not name:
        return False
    try:
        return isinstance(b"x".decode(name), str) and not name.lower().startswith(("idna", "punycode", "unicode_esc"))
    except (LookupError, ValueError):
        return name.lower().startswith(("utf-16", "utf-32"))


def _kind(fetched: Fetched) -> str:
    """The media type; of a page without one, or with the one for anything, what its beginning looks like."""
    if fetched.content_type not in {"", "application/octet-stream"}:
        return fetched.content_type
    if _LOOKS_LIKE_HTML.match(fetched.content[:_SNIFFED]):
        return "text/html"
    return fetched.content_type if b"\0" in fetched.content or fetched.content_type else "text/plain"


def _from_html(html: str, url: str) -> tuple[str, str]:
    """Title and text as Markdown; of a page without a main part, all its words."""
    try:
        import trafilatura  # noqa: PLC0415 - lazy: 0.5 s, and an extra
    except ImportError as error:
        raise ExtraMissing("reading web pages") from error
    # Without a handler, its warnings about odd pages would be printed on the terminal.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    about = trafilatura.extract_metadata(html, default_url=url)
    text = trafilatura.extract(
        html, url=url, output_format="markdown", include_links=True, include_formatting=True, include_comments=False
    )
    return about.title or "", text or trafilatura.html2txt(html)


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

"""Requests that search the web or read a page. What is to be made of the page needs a model and is not settled."""

from __future__ import annotations

from codur.planning.patterns.named_paths import FileNames
from codur.planning.patterns.prompt_tokens import Token, word_set
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call

NETWORK_TOOLS = frozenset({"duckduckgo_search", "fetch_webpage"})
_WEB = "(web|internet|net)"
_MOST_WORDS = 16
_ONLINE = (("online",), ("on", "the", "web"), ("on", "the", "internet"), ("in", "the", "web"))
_MORE = word_set("and then also or but if because so , ; . ! :")
"""After one of these something else may be asked for."""
_POINTING = word_set(
    "this that it these those them my our your me us we i he she here above below following same fix solution answer"
    " help one something anything everything"
)
"""What one of these stands for is not in the words that would be searched for."""


def _search(found: Found) -> Settled | None:
    return _search_for(found["ARGS"], found.names)


def _search_online(found: Found) -> Settled | None:
    """The words before `online`; without it, the search is one in the workspace."""
    tokens: tuple[Token, ...] = found["ARGS"]
    said = tuple(token.key for token in tokens)
    end = next((ending for ending in _ONLINE if said[-len(ending) :] == ending), None)
    return _search_for(tokens[: -len(end)], found.names) if end else None


def _search_for(tokens: tuple[Token, ...], names: FileNames) -> Settled | None:
    plain = all(token.kind in {"word", "quote", "code"} and "\n" not in token.text for token in tokens)
    unclear = any(token.key in _MORE or token.key in _POINTING or "://" in token.text for token in tokens)
    if not tokens or len(tokens) > _MOST_WORDS or not plain or unclear:
        return None
    if any((mention := names.find(token.text)) is not None and mention.path for token in tokens):
        return None  # what is searched for depends on what is in that file
    query = " ".join(f'"{token.text}"' if token.kind == "quote" and len(tokens) > 1 else token.text for token in tokens)
    return call("duckduckgo_search", "Search the web.", query=query) if query.strip() else None


def _fetch(found: Found) -> Settled | None:
    return call("fetch_webpage", "Read a web page.", url=found["URL"])


RULES = (
    Rule(
        name="read a web page",
        phrases=(
            "(fetch|read|open|show|display|print|get|load|visit|view|browse|cat) [me|us] [the] [content|contents|text]"
            " [of|from] [the] [web] [page|webpage|website|url|site|link|article|address] [at|from|under] [:] URL"
            " [as (markdown|text|plain text)]",
            "go to [the] [web] [page|webpage|website|url|site|link] URL",
            "(what is|what's) (on|at) [the] [web] [page|webpage|website|url|site] URL",
        ),
        build=_fetch,
    ),
    Rule(
        name="search the web",
        phrases=(
            f"(search|browse|scan) [on|in] [the] {_WEB} for ARGS",
            f"(look|search) (on|in) the {_WEB} for ARGS",
            "(search|look) online for ARGS",
            "(search|search on|search with|search via|use|ask) (duckduckgo|ddg|google) (for|to search for) ARGS",
            f"(do|run|make|perform) [a] ({_WEB} search|online search) (for|on|about) ARGS",
            f"({_WEB} search|websearch|web-search) [for] [:] ARGS",
            "(google|duckduckgo|ddg) [for] ARGS",
        ),
        build=_search,
    ),
    Rule(
        name="search online",
        phrases=("(search for|search|look up|look for|find|find out|google) ARGS",),
        build=_search_online,
    ),
)

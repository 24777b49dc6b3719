"""Requests that look for text, names and files."""

from __future__ import annotations

from codur.planning.patterns.named_paths import Mention, suffix_of
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, only_given, place, unclear

_FIND = "(find|search|search for|look for|look up|locate|show|show me|list|get|give me)"
_SEARCH = "(find|search|search for|look for|grep|grep for|locate)"
_EVERYWHERE = (
    "(in|across|throughout|through) [all] [of] [the|this|my|our] [whole|entire]"
    " (code|codebase|code base|project|repo|repository|workspace|files|source|sources|source code|code files)"
)
_IN_PLACE = "(in|inside|within|under|from) [the] [file|folder|directory] (FILE|DIR) [file|folder|directory]"
_WHERE = f"[{_EVERYWHERE}|{_IN_PLACE}|here|everywhere]"
_THING = "(function|class|method|variable|constant|symbol|name|type|attribute)"
_THE_CODE = (
    "[the|this|my|our] [whole|entire]"
    " (code|codebase|code base|project|repo|repository|workspace|files|sources|source code)"
)
_HITS = "(occurrences|occurrence|uses|use|usages|usage|references|reference|mentions|instances|matches|calls)"
_WORD_OF = "[the] (word|string|text|phrase|term|expression|pattern)"

_PYTHON_ONLY = frozenset({"py", "pyi", "sh", "bash", "zsh", "sql", "bat", "ps1"})


def _grep(found: Found) -> Settled | None:
    pattern = next((found[hole] for hole in ("LITERAL", "PLAIN", "GREP", "NAME", "CODENAME") if hole in found), None)
    if pattern is None or unclear(found):
        return None
    return _grep_call(pattern, place(found))


def _grep_quoted(found: Found) -> Settled | None:
    text = found["TEXT"].text
    return None if "\n" in text or not text.strip() or unclear(found) else _grep_call(text, place(found))


def _grep_marker(found: Found) -> Settled | None:
    return None if unclear(found) else _grep_call(found["MARKER"], place(found))


def _grep_call(pattern: str, path: str) -> Settled:
    return call(
        "grep_files", f"Search for {pattern} in {path or 'all files'}.", pattern=pattern, **only_given(path=path)
    )


def _definition(found: Found) -> Settled | None:
    """Definitions can be found in Python alone; where other languages are too, a miss would prove nothing."""
    name = found.get("NAME") or found["CLASSNAME"]
    if (
        unclear(found)
        or not found.names.sources
        or any(suffix_of(path) not in _PYTHON_ONLY for path in found.names.sources)
    ):
        return None
    return call("find_definition", f"Find where {name} is defined.", name=name, **only_given(path=place(found)))


def _files(found: Found) -> Settled | None:
    query = found.get("GLOB") or found.get("KIND")
    if query is None or query.startswith(("/", "..")):
        return None
    return _files_call(query, found.get("DIR", ""))


def _named_file(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    return None if mention.outside else _files_call(mention.name, found.get("DIR", ""))


def _files_call(query: str, path: str) -> Settled:
    return call("search_files", f"Find files named {query}.", query=query, **only_given(path=path))


RULES = (
    Rule(
        name="find files by name",
        phrases=(
            "(find|search|search for|look for|locate|get) [me] [all|every] [of] [the] [files]"
            " [named|called|matching|like] GLOB [files|file]"
            " [here|in the project|in this project|in the workspace|in [the] [folder|directory] DIR]",
            "(find|search for|look for|locate) [me] [all] [of] [the] KIND files"
            " [here|in the project|in this project|in the workspace|in [the] [folder|directory] DIR]",
            "(find|list|show) [me] [all] [the] files (with|that have) [the] (extension|suffix) GLOB",
            "(find|list|show) [me] [all] [the] files (named|called|matching) GLOB",
            "find (DIR|.) -name GLOB",
            "where are [all] [the] KIND files",
        ),
        build=_files,
    ),
    Rule(
        name="find a file by name",
        phrases=(
            "(find|search for|look for|locate) [me] [the|a|all] [file|files] [named|called] FILE",
            "(where is|where's) [the] [file] FILE [located|stored|saved]",
            "where (is|can i find) [the] [file] FILE",
            "is there a file (named|called) FILE",
        ),
        build=_named_file,
    ),
    Rule(
        name="list markers",
        phrases=(
            f"{_FIND} [all] [of] [the] [open|remaining] MARKER [comments|comment|markers|items|notes] {_WHERE}",
            f"(what|which) MARKER [comments|items] (are|are there|exist|remain|do we have) {_WHERE}",
            f"grep [for] MARKER {_WHERE}",
        ),
        build=_grep_marker,
    ),
    Rule(
        name="find a definition",
        phrases=(
            f"(where is|where's) NAME (defined|declared|implemented) {_WHERE}",
            f"(where is|where's) [the] {_THING} NAME [defined|declared|implemented] {_WHERE}",
            f"(where is|where's) the CLASSNAME {_THING} [defined|declared|implemented] {_WHERE}",
            f"where (do|did) (we|you|i) (define|declare|implement) [the] [{_THING}] NAME {_WHERE}",
            f"{_FIND} [me] the definition (of|for) [the] [{_THING}] NAME {_WHERE}",
            f"(find|show|show me|get|search|search for) [all] definitions (of|for) [the] [{_THING}] NAME {_WHERE}",
            f"(go|jump) to [the] definition of [the] [{_THING}] NAME",
            "(find|locate|search for|look for) [the] (function|class|method) NAME",
            f"(find|locate) (where) NAME is (defined|declared|implemented) {_WHERE}",
            f"(which|what) (file|module) (defines|declares|implements) [the] [{_THING}] NAME",
            f"in (which|what) (file|module) is [the] [{_THING}] NAME (defined|declared|implemented)",
            "(wo ist|wo wird) NAME definiert",
            "où est défini NAME",
            "dónde está definido NAME",
            "waar is NAME gedefinieerd",
        ),
        build=_definition,
    ),
    Rule(
        name="find where a name is used",
        phrases=(
            f"{_FIND} [me] [all] [the] {_HITS} (of|to) [the] [{_THING}] PLAIN {_WHERE}",
            f"(where is|where's) [the {_THING}] PLAIN (used|called|referenced|mentioned|imported|invoked) {_WHERE}",
            f"(where is|where's) {_WORD_OF} GREP (used|mentioned|written|found) {_WHERE}",
            f"where (does|do) {_WORD_OF} GREP (occur|appear|stand) {_WHERE}",
            f"where (do|did) (we|i|you) (use|call|reference|mention) [the] [{_THING}] (CODENAME|LITERAL) {_WHERE}",
            "(which|what) (file|files|module|modules) (use|uses|call|calls|contain|contains|mention|mentions|reference"
            "|references|include|includes) [the] [word|string|text|function|class] (CODENAME|LITERAL)",
            "(who|what) calls [the] [function|method] CODENAME",
            "(find|list|show) [me] [all] [the] (places|lines|files) (where|that|which|with|containing)"
            " [use|call|contain|mention] (CODENAME|LITERAL) [is used|is called|is mentioned|occurs|appears]"
            f" {_WHERE}",
        ),
        build=_grep,
    ),
    Rule(
        name="search for a quoted text",
        phrases=(
            f"{_SEARCH} {_WORD_OF} TEXT {_WHERE}",
            f"search {_EVERYWHERE} for {_WORD_OF} TEXT",
            f"search {_IN_PLACE} for {_WORD_OF} TEXT",
            f"search {_THE_CODE} for {_WORD_OF} TEXT",
            f"where (does|do) {_WORD_OF} TEXT (occur|appear) {_WHERE}",
        ),
        build=_grep_quoted,
    ),
    Rule(
        name="search for a text",
        phrases=(
            f"(find|search|search for|look for|locate) [all] LITERAL {_WHERE}",
            f"{_SEARCH} {_WORD_OF} GREP {_WHERE}",
            "(search for|look for) PLAIN",
            f"search [{_EVERYWHERE}|{_IN_PLACE}] for {_WORD_OF} GREP",
            f"search ({_EVERYWHERE}|{_THE_CODE}|[the] [file] FILE|{_IN_PLACE}) for LITERAL",
            f"(search for|find|look for) PLAIN ({_EVERYWHERE}|{_IN_PLACE})",
            f"search ({_EVERYWHERE}|[the] [file] FILE|{_IN_PLACE}) for PLAIN",
            "grep [for] GREP",
            f"grep [for] GREP ({_EVERYWHERE}|{_IN_PLACE})",
            "grep [-r|-n|-rn|-nr] GREP [FILE|DIR]",
            "(suche|such) [nach] LITERAL [in] [FILE|DIR]",
            "(cherche|recherche) LITERAL [dans] [FILE|DIR]",
            "(busca) LITERAL [en] [FILE|DIR]",
            "(zoek) [naar] LITERAL [in] [FILE|DIR]",
        ),
        build=_grep,
    ),
)

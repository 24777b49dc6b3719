"""Requests that look: into git, files, the workspace and the web. What is to be made of it needs a model."""

from collections.abc import Mapping
from typing import Any

from codur.planning.patterns.named_paths import FileNames, Mention, suffix_of
from codur.planning.patterns.phrases import words
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Call, Found, Rule, Settled, call, missing
from codur.types import Step

GIT_WRITES: Mapping[str, str] = {
    "git_stage_files": "`codur commit` commits what the last run changed.",
    "git_continue": "`git status` says how you do it yourself.",
}
"""What needs a permission of its own, and what can be done without."""
NETWORK_TOOLS = frozenset({"duckduckgo_search", "fetch_webpage"})
_MOST_WORDS = 16
_ONLINE = (("online",), ("on", "the", "web"), ("on", "the", "internet"), ("in", "the", "web"))
_PYTHON_ONLY = frozenset({"py", "pyi", "sh", "bash", "zsh", "sql", "bat", "ps1"})
_GREP = Call(
    "grep_files",
    "Search for {pattern} in {path|all files}.",
    "pattern=LITERAL|PLAIN|GREP|CODENAME|MARKER|TEXT path=PLACE",
)
_DEFINITION = Call("find_definition", "Find where {name} is defined.", "name=NAME|CLASSNAME path=PLACE")
_LIST = Call("list_files", "List files in {path|the workspace}.", "path=DIR pattern=GLOB|KIND")


def _stage(found: Found) -> Settled | None:
    """Files that are there under just that name, and names of files that are not: git may know those."""
    tokens: tuple[Token, ...] = () if "FILE" in found else found["ARGS"]
    named = [found.names.find(token.text) if token.kind in {"word", "quote", "code"} else None for token in tokens]
    mentions: list[Mention | None] = [found["FILE"]] if "FILE" in found else named
    paths = tuple(item.path or item.name for item in mentions if item is not None and (item.exact or item.missing))
    return call("git_stage_files", f"Stage {', '.join(paths)}.", paths=paths) if len(paths) == len(mentions) else None


def _explain(found: Found) -> Settled | None:
    """A file that is there; another one's name may stand for what such files are in general."""
    path = found["FILE"].path
    return Settled(step=Step(id="explain", action="respond"), explains=path) if path else None


def _definition(found: Found) -> Settled | None:
    """Where other languages are beside Python a miss would prove nothing, so that it has to be there."""
    sources = found.names.sources
    alone = {suffix_of(path) for path in sources} <= _PYTHON_ONLY
    settled = _DEFINITION(found) if sources else None
    if settled is None or alone:
        return settled
    name = str(settled.step.arguments.get("name", "")).rpartition(".")[2]
    return settled if found.names.defining([name]) else None


def _find_file(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    return None if mention.outside else call("search_files", f"Find files named {mention.name}.", query=mention.name)


def _read_lines(found: Found, first: int | None, last: int | None) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.path is None:
        return missing(mention, found.names)
    if first is None or last is None:
        return call("read_file", f"Show {mention.path}.", path=mention.path)
    what = f"Show {mention.path}, lines {first} to {last}."
    lines: dict[str, Any] = {"start_line": first, "end_line": last}
    return call("read_file", what, path=mention.path, **lines) if 1 <= first <= last else None


def _list_plain(found: Found) -> Settled | None:
    """`list tests` may ask for the tests themselves, as with every directory named after what is in it."""
    return None if found["DIR"].rpartition("/")[2].casefold() in words("named after their content") else _LIST(found)


def _search_online(found: Found) -> Settled | None:
    """The words before `online`; without it, the search is one in the workspace."""
    tokens: tuple[Token, ...] = found["ARGS"]
    said = tuple(token.key for token in tokens)
    end = next((ending for ending in _ONLINE if said[-len(ending) :] == ending), None)
    return _search_for(tokens[: -len(end)], found.names) if end else None


def _search_for(tokens: tuple[Token, ...], names: FileNames) -> Settled | None:
    plain = all(token.kind in {"word", "quote", "code"} and "\n" not in token.text for token in tokens)
    unclear = any(token.key in words("more") | words("pointing") or "://" in token.text for token in tokens)
    if not tokens or len(tokens) > _MOST_WORDS or not plain or unclear:
        return None
    if any((mention := names.find(token.text)) is not None and mention.path for token in tokens):
        return None  # what is searched for depends on what is in that file
    query = " ".join(f'"{token.text}"' if token.kind == "quote" and len(tokens) > 1 else token.text for token in tokens)
    return call("duckduckgo_search", "Search the web.", query=query) if query.strip() else None


GIT_RULES = (
    Rule("git status", Call("git_status", "Show the branch and the changed files.")),
    Rule("staged changes", Call("git_diff", "Show what is staged.", staged=True)),
    Rule("git diff", Call("git_diff", "Show the changes of {path|all files}.", "path=PLACE revision=REVISION")),
    Rule("changes since the last commit", Call("git_diff", "Show the changes since the last commit.", revision="HEAD")),
    Rule("git log", Call("git_log", "Show the latest commits.", "limit=NUM|DASHNUM path=PLACE")),
    Rule("last commit message", Call("git_log", "Show the latest commit.", limit=1)),
    Rule("git add", _stage, writes=True),
    Rule("git continue", Call("git_continue", "Go on with what git has under way."), writes=True),
    Rule("git show", Call("git_show", "Show commit {revision}.", "revision=REVISION", revision="HEAD")),
)
STRUCTURE_RULES = (
    Rule("explain a file", _explain),
    Rule("outline of a file", Call("python_ast_outline", "Outline {path}.", "path=PYTHON")),
    Rule("imports of a file", Call("python_ast_dependencies", "Show the imports of {path}.", "path=PYTHON")),
)
SEARCH_RULES = (
    Rule("find files by name", Call("search_files", "Find files named {query}.", "query=GLOB|KIND path=DIR")),
    Rule("find a file by name", _find_file),
    Rule("list markers", _GREP),
    Rule("find a definition", _definition),
    Rule("find where a name is used", _GREP),
    Rule("search for a quoted text", _GREP),
    Rule("search for a text", _GREP),
)
READING_RULES = (
    Rule("show a file", lambda found: _read_lines(found, *(found["FILE"].lines or (None, None))), takes_lines=True),
    Rule(
        "show lines of a file",
        lambda found: _read_lines(
            found, *found.first("RANGE", default=(found.first("NUM"), found.first("NUM2", "NUM")))
        ),
    ),
    Rule(
        "show the beginning of a file", lambda found: _read_lines(found, 1, found.first("NUM", "DASHNUM", default=10))
    ),
    Rule("show the first line of a file", lambda found: _read_lines(found, 1, 1)),
    Rule("list files", _LIST),
    Rule("list a directory", _list_plain),
    Rule("list directories", Call("list_dirs", "List the directories in {path|the workspace}.", "path=DIR")),
    Rule("show the tree", Call("file_tree", "Show the tree of {path|the workspace}.", "path=DIR")),
)
WEB_RULES = (
    Rule("read a web page", Call("fetch_webpage", "Read a web page.", "url=URL")),
    Rule("search the web", lambda found: _search_for(found["ARGS"], found.names)),
    Rule("search online", _search_online),
)

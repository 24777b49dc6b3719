"""A request that is nothing but another name for a symbol everywhere: a tool does it, and the check judges it."""

import re
from posixpath import basename, splitext

from codur.checks.entry import is_test_code
from codur.context.index import RepositoryIndex
from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.types import Step
from codur.workspace.workspace import Workspace

_MAX_FILES = 2_000
_NAME = r"[`'\"]?([^\W\d]\w*)(?:\(\))?[`'\"]?"
_REQUEST = regex(
    r"(?:please )?rename (?:the )?(?:(?:function|class|constant|variable|symbol|name) )?"
    rf"(?:[`'\"]?((?:\w+\.)+)(?=\w))?{_NAME} (?:to|into|as) {_NAME}"
    r"(?: everywhere| throughout(?: the (?:project|code|codebase))?| in (?:all (?:the )?files|the (?:whole )?project))?"
    r"[.!]?",
    re.IGNORECASE,
)
_KINDS = (
    r"(?:(?:die|den|das|la|le|el|a|o|de) )?"
    r"(?:funktion|klasse|variable|methode|fonction|classe|función|funcion|clase|função|funcao|funzione|функцию|класс"
    r"|functie) "
)
_REQUEST_ELSEWHERE = regex(
    rf"(?:bitte )?benenne (?:{_KINDS})?{_NAME} (?:zu|in) {_NAME} um(?: überall)?[.!]?"
    rf"|(?:renombra|renomme|renomeie|rinomina|hernoem|переименуй) (?:{_KINDS})?{_NAME}"
    rf" (?:a|en|para|in|naar|в) {_NAME}[.!]?",
    re.IGNORECASE,
)
"""The same in German, Spanish, French, Portuguese, Italian, Dutch and Russian."""
_EVERYWHERE = regex(
    r"überall|partout|en todos?|em todos?|ovunque|overal|везде|tests?\b|testes|pruebas|тест", re.IGNORECASE
)


def _names(prompt: str) -> tuple[str, str, str] | None:
    """The module where one is named, the old and the new name; None if more is asked for."""
    said = " ".join(prompt.split())
    if found := _REQUEST.fullmatch(said):
        return found[1] or "", found[2], found[3]
    if found := _REQUEST_ELSEWHERE.fullmatch(said):
        old, new = filter(None, found.groups())
        return "", old, new
    return None


def renamed(prompt: str) -> str:
    """The name that is to be another one wherever it is used, if a request is nothing else; else empty."""
    if found := _names(prompt):
        return found[1]
    begun = _REQUEST_ELSEWHERE.match(said := " ".join(prompt.split()))
    return next(filter(None, begun.groups())) if begun and _EVERYWHERE.search(said, begun.end()) else ""


def rename_step(prompt: str, workspace: Workspace, index: RepositoryIndex) -> Step | str:
    """The call that does it; or why it is not clear what is meant, empty if more is asked for."""
    found = _names(prompt)
    if found is None:
        return ""
    module, old, new = found
    inside = f"/{module.replace('.', '/')}".removesuffix("/")
    view = index.view(workspace.list_files(pattern="*.py", limit=_MAX_FILES))
    defining = dict.fromkeys(path for path, number in view.defined(old) if not view.facts[path].blocks[number].owner)
    places = [path for path in defining if not is_test_code(path)]
    places = [path for path in places if f"/{path}".removesuffix(".py").removesuffix("/__init__").endswith(inside)]
    if len(places) != 1:
        if not places:
            methods = (node for node in view.defined(old) if node[0] not in defining and not is_test_code(node[0]))
            if (node := next(methods, None)) is not None:
                owner = view.facts[node[0]].blocks[node[1]].owner
                return f"{old} belongs to {owner} in {node[0]}: without a model only what a module defines is renamed."
            return f"{old} is defined at the top of no Python module, and without a model only such names are renamed."
        named = f"name one of them, as in `rename {splitext(basename(places[0]))[0]}.{old} to {new}`"
        return f"{old} is defined in {listed(places, 6)}: {named}."
    return Step(
        id="rename",
        action="tool",
        capability="rename_symbol",
        objective=f"Rename {old} to {new} in {places[0]} and wherever it is used.",
        arguments={"path": places[0], "name": old, "new_name": new},
    )

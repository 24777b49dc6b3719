"""Requests that no rule may act on: shell commands, and what would destroy more than one named file."""

from collections.abc import Sequence

from codur.planning.patterns.courtesy import without_courtesy
from codur.planning.patterns.phrases import match, phrases, words
from codur.planning.patterns.prompt_tokens import Token, read_prompt

_SIGNS = frozenset("&& || | > >> < 2>&1 2> &".split())
_SEPARATORS = frozenset(". ! ? ; , : and then && |".split()) | {"\n"}
_RUNS = frozenset({"run", "execute"})
_RUNS_QUOTED = _RUNS | {"do", "perform", "type"}


def danger_in(tokens: tuple[Token, ...]) -> str:
    """Why no rule may act on the request, or an empty text."""
    request = without_courtesy(tokens)
    if _is_command_line(request) or _runs_quoted_command(request):
        return "a shell command; no rule runs one"
    return "it would destroy more than one named file" if _destroys(request) else ""


def clauses(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """The request's parts between marks and `and`, `then`; each without its polite words."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.key in _SEPARATORS or token.kind in {"fence", "paste"}:
            parts.append([])
        else:
            parts[-1].append(token)
    stripped = (without_courtesy(tuple(part)) for part in parts)
    return [part for part in stripped if part]


def _is_command_line(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[0].kind != "word":
        return False
    said = [token.key for token in tokens]
    named = said[1] if said[0] in _RUNS and len(said) > 1 else said[0]
    if named in words("programs"):
        return True
    signs = any(token.key in _SIGNS or token.text.startswith("$(") for token in tokens)
    flags = any(word.startswith("-") and len(word) > 1 for word in said[1:])
    known = said[0] in words("programs with known options")
    return said[0] in words("programs that are words") and (signs or (flags and not known))


def _runs_quoted_command(tokens: Sequence[Token]) -> bool:
    """`run` with a command line in backticks or quotes."""
    if not tokens or tokens[0].key not in _RUNS_QUOTED:
        return False
    quoted = (token.text for token in tokens[1:] if token.kind in {"code", "quote"} and len(token.text) <= 400)
    return any(_is_command_line(inner) or _destroys(inner) for inner in (read_prompt(text).tokens for text in quoted))


def _destroys(tokens: Sequence[Token]) -> bool:
    def any_word(_: str, token: Token) -> str | None:
        return token.text if token.kind == "word" else None

    destructive = phrases("destroys")
    return any(match(phrase, part[:12], any_word) is not None for part in clauses(tokens) for phrase in destructive)

"""What the holes of phrases accept."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from codur.planning.patterns.named_paths import FileNames
from codur.planning.patterns.phrases import ReadHole, words
from codur.planning.patterns.prompt_tokens import Token

_IDENTIFIER = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\(\))?"
_CODE_WORD = r"\w*(?:_\w|\w_|[a-z]\d|[a-z][A-Z])[\w.]*|[A-Z][A-Z_]{2,}|[^\W\d][\w.]*\(\)"
_RANGE = r"(\d{1,7})(?:-|–|\.\.|:)(\d{1,7})"
_GLOB = r"(?!/|\.\.)(?:[\w.*?/+\-]*[*?][\w.*?/+\-]*|\.\w{1,8})"
_REVISION = r"[0-9a-f]{7,40}|(?:HEAD|@)(?:[~^]\d{0,4})*|v?\d+\.\d+(?:\.\d+)?"
_FIGURES = r"[\w.\-]*\d[\w.\-]*"
_PATH = r"[\w.+@/][\w.+@/\- ]*"
_URL = r"https?://[^\s<>\"']+"
_NUMBERS = dict(zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True))
_VAGUE_ENDINGS = ("s", "tion", "sion", "ness", "ment", "ity", "ing", "ance", "ence", "cy", "ies", "age", "ism")
_NAMING = frozenset({"word", "quote", "code"})  # kinds of tokens that may name something


def hole_reader(names: FileNames) -> ReadHole:
    """The reader of holes for a workspace's files."""

    def read(hole: str, token: Token) -> Any:
        if hole in _ON_FILES:
            return _ON_FILES[hole](names, token) if token.kind in _NAMING else None
        return _ON_TEXT[hole](token)

    return read


def _file(names: FileNames, token: Token) -> Any:
    possessive = token.text.endswith(("'s", "’s"))
    return None if possessive or any(char in token.text for char in "*?") else names.find(token.text)


def _literal(names: FileNames, token: Token) -> Any:
    """A text to look for that can only be meant letter by letter: quoted, or formed like a name in code."""
    if token.kind == "word":
        usable = re.fullmatch(_CODE_WORD, token.text) is not None
    else:
        usable = bool(token.text.strip()) and not any(sign in token.text for sign in ("\n", ".*", "\\"))
    if not usable or names.find(token.text) is not None:
        return None
    return token.text.removesuffix("()") if token.kind == "word" else token.text


def _plain(names: FileNames, token: Token) -> Any:
    """As `_literal`, or one plain word that names a thing rather than a quality or a fault."""
    found = _literal(names, token)
    if found is not None or token.kind != "word":
        return found
    fits = token.text.isascii() and token.text.isalpha() and len(token.text) >= 3
    vague = token.key in words("vague") | words("no names") or token.key.endswith(_VAGUE_ENDINGS)
    return token.text if fits and not vague else None


def _grep(names: FileNames, token: Token) -> Any:
    """One word as grep takes it; none with signs of a regular expression, which may be meant as such or not."""
    if names.find(token.text) is not None or (token.kind == "word" and token.key in words("findings")):
        return None
    text = token.text.removesuffix("()")
    fits = text.strip() and not any(char in text for char in "(*+?[]{}^$|\\\n") and token.text[0] != "-"
    return text if fits else None


def _piece(names: FileNames, token: Token) -> Any:
    """A text that is replaced, or put in its place: quoted, or a word as `_plain` takes it, or one with figures."""
    if token.kind != "word":
        return token if token.text else None
    literal = re.fullmatch(_FIGURES, token.text) or _plain(names, token) is not None
    return token if literal and token.key not in words("forms") else None


def _path(token: Token) -> Any:
    """A word of a command line that can only be a path."""
    fits = token.kind in _NAMING and re.fullmatch(_PATH, token.text)
    return token.text if fits and (token.kind != "word" or " " not in token.text) else None


def _name(token: Token) -> Any:
    if token.kind not in _NAMING or not re.fullmatch(_IDENTIFIER, token.text):
        return None
    no_name = token.text.casefold() in words("no names") or token.text.startswith(("self.", "cls."))
    return None if no_name else token.text.removesuffix("()")


def _code_name(token: Token) -> Any:
    return _name(token) if token.kind != "word" or re.fullmatch(_CODE_WORD, token.text) else None


def _number(token: Token) -> Any:
    if token.kind != "word":
        return None
    short = token.key.isascii() and token.key.isdigit() and len(token.key) < 8
    return int(token.key) if short else _NUMBERS.get(token.key)


def _dashed_number(token: Token) -> Any:
    text = token.key.removeprefix("-n").removeprefix("-")
    return int(text) if token.kind == "word" and token.key != text and text.isascii() and text.isdigit() else None


def _range(token: Token) -> Any:
    found = re.fullmatch(_RANGE, token.key) if token.kind == "word" else None
    return (int(found[1]), int(found[2])) if found else None


def _glob(token: Token) -> Any:
    """A pattern of names in the workspace; a suffix stands for the files that have it."""
    if token.kind not in _NAMING or not re.fullmatch(_GLOB, token.text):
        return None
    return token.text if "*" in token.text or "?" in token.text else f"*{token.text}"


@cache
def _kinds() -> Mapping[str, str]:
    named = (each.partition("=") for each in words("kinds of files"))
    return {kind: f"*.{suffix or kind}" for kind, _, suffix in named}


def _marker(token: Token) -> Any:
    word = token.text.rstrip("sS").strip("'’")
    marker = word.upper()
    known = marker in {"TODO", "FIXME"} or (marker in {"XXX", "HACK"} and word == marker)
    return marker if token.kind != "mark" and known else None


_ON_FILES: Mapping[str, Callable[[FileNames, Token], Any]] = {
    "FILE": _file,
    "DIR": lambda names, token: names.directory(token.text) if token.text else None,
    "NEW": lambda names, token: names.new_path(token.text),
    "LITERAL": _literal,
    "PLAIN": _plain,
    "GREP": _grep,
    "PIECE": _piece,
}
_ON_TEXT: Mapping[str, Callable[[Token], Any]] = {
    "TEXT": lambda token: token if token.kind in {"quote", "code", "fence"} and token.text else None,
    "NAME": _name,
    "CODENAME": _code_name,
    "CLASSNAME": lambda token: _name(token) if token.text[:1].isupper() else _code_name(token),
    "NUM": _number,
    "DASHNUM": _dashed_number,
    "RANGE": _range,
    "GLOB": _glob,
    "KIND": lambda token: _kinds().get(token.key),
    "MARKER": _marker,
    "PATH": _path,
    "URL": lambda token: token.text if token.kind in _NAMING and re.fullmatch(_URL, token.text) else None,
    "REVISION": lambda token: (
        token.text if token.kind in {"word", "code"} and re.fullmatch(_REVISION, token.text) else None
    ),
}

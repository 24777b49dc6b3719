"""What the holes of phrases accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from codur.planning.patterns.named_paths import FileNames
from codur.planning.patterns.phrases import ReadHole
from codur.planning.patterns.prompt_tokens import Token, word_set

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
_CODE_WORD = re.compile(r"\w*(?:_\w|\w_|[a-z]\d|[a-z][A-Z])[\w.]*|[A-Z][A-Z_]{2,}|[A-Za-z_][\w.]*\(\)")
_RANGE = re.compile(r"(\d{1,7})(?:-|–|\.\.|:)(\d{1,7})")
_GLOB = re.compile(r"[\w.*?/+\-]*[*?][\w.*?/+\-]*")
_REVISION = re.compile(r"[0-9a-f]{7,40}|(?:HEAD|@)(?:[~^]\d{0,4})*|v?\d+\.\d+(?:\.\d+)?")
_FIGURES = re.compile(r"[\w.\-]*\d[\w.\-]*")
_PATH = re.compile(r"[\w.+@/][\w.+@/\- ]*")
_URL = re.compile(r"https?://[^\s<>\"']+")
_NUMBERS = dict(zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True))
_KINDS: Mapping[str, str] = {
    "python": "*.py",
    "py": "*.py",
    "javascript": "*.js",
    "js": "*.js",
    "typescript": "*.ts",
    "markdown": "*.md",
    "md": "*.md",
    "json": "*.json",
    "csv": "*.csv",
    "text": "*.txt",
    "txt": "*.txt",
    "toml": "*.toml",
    "html": "*.html",
    "css": "*.css",
    "rust": "*.rs",
    "go": "*.go",
    "java": "*.java",
}
_NO_NAMES = word_set(
    "a an the it its this that these those everything anything something nothing all any each here there he she they we"
    " i you me us my your our their is are was be been being do does did has have had not no and or but if so to of in"
    " on at by for from with what which who where when why how main.py best most error errors bug bugs problem problems"
    " issue issues"
)
_VAGUE = word_set(
    "bug defect error fault flaw mistake typo problem issue vulnerability leak bottleneck smell improvement duplicate"
    " performance security documentation help information solution answer alternative example news recursion complexity"
    " code text file folder word everything anything something it this that them hint cause reason culprit why what how"
    " where unused dead missing wrong broken slow ways way place spot failure crash warning exception secret password"
    " wildcard inefficiency deadlock race memory repetition hotspot logic root deprecated obsolete legacy"
)
_FORMS = word_set(
    "uppercase lowercase capitals caps italic bold markdown html german english french spanish placeholder synonym"
    " blank whitespace tab space comma newline semicolon colon dash hyphen dot period quote number date"
)
"""What a text may be turned into, rather than a word that takes its place."""
_FINDINGS = word_set("bug bugs problem problems issue issues mistakes the a an all any")
_VAGUE_ENDINGS = ("s", "tion", "sion", "ness", "ment", "ity", "ing", "ance", "ence", "cy", "ies", "age", "ism")


def hole_reader(names: FileNames) -> ReadHole:
    """The reader of holes for a workspace's files."""

    def read(hole: str, token: Token) -> Any:
        if hole in _ON_FILES:
            return _ON_FILES[hole](names, token)
        return _ON_TEXT[hole](token)

    return read


def _file(names: FileNames, token: Token) -> Any:
    possessive = token.text.endswith(("'s", "’s"))
    if token.kind not in {"word", "quote", "code"} or possessive or any(char in token.text for char in "*?"):
        return None
    return names.find(token.text)


def _directory(names: FileNames, token: Token) -> Any:
    return names.directory(token.text) if token.kind in {"word", "quote", "code"} and token.text else None


def _new(names: FileNames, token: Token) -> Any:
    return names.new_path(token.text) if token.kind in {"word", "quote", "code"} else None


def _literal(names: FileNames, token: Token) -> Any:
    """A text to look for that can only be meant letter by letter: quoted, or formed like a name in code."""
    if token.kind in {"quote", "code"}:
        usable = token.text.strip() and "\n" not in token.text and ".*" not in token.text and "\\" not in token.text
        return token.text if usable and names.find(token.text) is None else None
    if token.kind == "word" and _CODE_WORD.fullmatch(token.text) and names.find(token.text) is None:
        return token.text.removesuffix("()")
    return None


def _plain(names: FileNames, token: Token) -> Any:
    """As `_literal`, or one plain word that names a thing rather than a quality or a fault."""
    found = _literal(names, token)
    if found is not None or token.kind != "word":
        return found
    fits = token.text.isascii() and token.text.isalpha() and len(token.text) >= 3
    vague = token.key in _VAGUE or token.key in _NO_NAMES or token.key.endswith(_VAGUE_ENDINGS)
    return token.text if fits and not vague else None


def _grep(names: FileNames, token: Token) -> Any:
    """One word as grep takes it; none with signs of a regular expression, which may be meant as such or not."""
    if token.kind not in {"word", "quote", "code"} or names.find(token.text) is not None:
        return None
    if token.kind == "word" and token.key in _FINDINGS:
        return None
    fits = token.text.strip() and not any(char in token.text for char in "*+?[]{}^$|\\\n") and token.text[0] != "-"
    return token.text.removesuffix("()") if fits and "(" not in token.text.removesuffix("()") else None


def _piece(names: FileNames, token: Token) -> Any:
    """A text that is replaced, or put in its place: quoted, or a word as `_plain` takes it, or one with figures."""
    if token.kind != "word":
        return token if token.kind in {"quote", "code"} and token.text else None
    literal = _FIGURES.fullmatch(token.text) or _plain(names, token) is not None
    return token if literal and token.key not in _FORMS else None


def _path(token: Token) -> Any:
    """A word of a command line that can only be a path."""
    fits = token.kind in {"word", "quote", "code"} and _PATH.fullmatch(token.text)
    return token.text if fits and (token.kind != "word" or " " not in token.text) else None


def _name(token: Token) -> Any:
    if token.kind not in {"word", "quote", "code"} or not _IDENTIFIER.fullmatch(token.text):
        return None
    no_name = token.text.casefold() in _NO_NAMES or token.text.startswith(("self.", "cls."))
    return None if no_name else token.text.removesuffix("()")


def _class_name(token: Token) -> Any:
    return _name(token) if token.text[:1].isupper() else _code_name(token)


def _code_name(token: Token) -> Any:
    quoted = token.kind in {"quote", "code"}
    return _name(token) if quoted or _CODE_WORD.fullmatch(token.text) else None


def _number(token: Token) -> Any:
    if token.kind != "word":
        return None
    return (
        int(token.key)
        if token.key.isascii() and token.key.isdigit() and len(token.key) < 8
        else _NUMBERS.get(token.key)
    )


def _dashed_number(token: Token) -> Any:
    text = token.key.removeprefix("-n").removeprefix("-")
    return int(text) if token.kind == "word" and token.key != text and text.isascii() and text.isdigit() else None


def _range(token: Token) -> Any:
    found = _RANGE.fullmatch(token.key) if token.kind == "word" else None
    return (int(found[1]), int(found[2])) if found else None


def _glob(token: Token) -> Any:
    if token.kind in {"word", "quote", "code"} and _GLOB.fullmatch(token.text):
        return token.text
    extension = re.fullmatch(r"\.\w{1,8}", token.text) if token.kind in {"word", "quote", "code"} else None
    return f"*{token.text}" if extension else None


def _marker(token: Token) -> Any:
    word = token.text.rstrip("sS").strip("'’")
    marker = word.upper()
    known = marker in {"TODO", "FIXME"} or (marker in {"XXX", "HACK"} and word == marker)
    return marker if token.kind != "mark" and known else None


_ON_FILES: Mapping[str, Callable[[FileNames, Token], Any]] = {
    "FILE": _file,
    "DIR": _directory,
    "NEW": _new,
    "LITERAL": _literal,
    "PLAIN": _plain,
    "GREP": _grep,
    "PIECE": _piece,
}
_ON_TEXT: Mapping[str, Callable[[Token], Any]] = {
    "TEXT": lambda token: token if token.kind in {"quote", "code", "fence"} and token.text else None,
    "NAME": _name,
    "CODENAME": _code_name,
    "CLASSNAME": _class_name,
    "NUM": _number,
    "DASHNUM": _dashed_number,
    "RANGE": _range,
    "GLOB": _glob,
    "KIND": lambda token: _KINDS.get(token.key),
    "MARKER": _marker,
    "PATH": _path,
    "URL": lambda token: token.text if token.kind in {"word", "quote", "code"} and _URL.fullmatch(token.text) else None,
    "REVISION": lambda token: (
        token.text if token.kind in {"word", "code"} and _REVISION.fullmatch(token.text) else None
    ),
}

"""Takes secrets out of a text: the known values in every usual spelling, and what has the shape of a key.

Known values are found exactly, with their URL-quoted, base64, hexadecimal and JSON-escaped forms; shapes are those that
services publish for their keys (a fixed prefix and a length). Where hits overlap, all that any of them covers goes. The
time is linear in the text: every search begins with a fixed string, and what follows it has a bounded length or is
read once (possessive quantifiers).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import quote, quote_plus

from codur.lazy import late
from codur.structs import Struct, is_data, names, replace

base64, html = late("base64"), late("html")
REDACTED = "[redacted]"
MIN_SECRET = 8
"""Shorter values are words and numbers that stand everywhere."""

_MIN_LINE = 16
_MIN_BASE64 = 8
_MAX_DEPTH = 50

_SECRET_NAME = r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH(?!OR(?!I[SZ]))"
_OTHER_NAME = r"KEYBOARD|TOKENI[SZ]ER|PASSENGER|COMPASS|BYPASS|MONKEY|HOTKEY|AUTHORITY"
_PLAIN_VALUE = r"[0-9]{1,12}|~?/[^:@\s]*|[A-Za-z]:\\\S*|https?://[^@\s]*"
"""Numbers, paths and addresses: settings beside a secret, not one."""
_PLAIN_WORDS = frozenset(
    "administrator anonymous automatic changeme changeit database default development disabled enabled localhost "
    "optional password passw0rd password1 password123 postgres production required redacted testtest undefined "
    "username".split()
)
_URL_PASSWORD = r"://[^\s/:@\"'<>]{0,200}:([^\s/@\"'<>]{3,200})@"
_PLACEHOLDER = r"[{$<%\[*(].*|x+|\.+|pass|password|passwd|passphrase|pwd|pw|secret|token|key|hunter2"

_SEPARATOR = r"(?:\\[nrt]|[\s\"',>|]|-(?!-)|\d{1,6}(?=[\s|:])[\s|:])"
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_SEPARATOR}*+"
    rf"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\n\\]{{0,200}}+{_SEPARATOR}++)*+"
    rf"(?:[A-Za-z0-9+/=]{{16,}}+{_SEPARATOR}*+)++(?:[A-Za-z0-9+/=]{{1,15}}+{_SEPARATOR}*+)?+"
    r"(?:=[A-Za-z0-9+/]{4}\s*+)?+(?:-----END [A-Z0-9 ]{0,40}-----)?+"
)
_ENV_NAME = (
    r"(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)[A-Z0-9_]{0,20}"
)
_SETTING = (
    r"(?<![\w.-])([\w.-]{1,100})[\"']?[ \t]*(?:=|:(?![ \t]*[{\[]))"
    r"(?=[ \t]*\"((?:[^\"\\\n]|\\.){1,1024}+)\"|[ \t]*'((?:[^'\n]|''){1,1024}+)'|(?![ \t]*[\"']?-----)(.{1,1024}))"
)
"""A setting: of `.env`, INI, YAML, JSON, TOML and `.npmrc`, where several may stand on a line."""
_MAX_SETTINGS = 1_000
_ORDINARY = r"[a-z]{1,16}(?:-[a-z]{1,16}|(?:[._][a-z]{1,16})*)"
_ENV_LINE = rf"{_ENV_NAME}=[\"']?([^\s\"'`$(){{}}<>\[\]\\,;./~][^\s\"'`$(){{}}<>\[\]\\,;]{{15,400}})"


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled at first need: most texts hold no trigger, and compiling all takes 80 ms."""
    return re.compile(pattern, flags)


def _any(_found: str) -> bool:
    return True


def _mixed(found: str) -> bool:
    """Whether it has both letters and digits, as keys have and names seldom do."""
    return any(char.isdigit() for char in found) and any(char.isalpha() for char in found)


def _not_placeholder(found: str) -> bool:
    return _compiled(_PLACEHOLDER, re.IGNORECASE).fullmatch(found) is None


def _env_value(found: str) -> bool:
    return _mixed(found) and not found.lower().startswith("your")


class _Shape(Struct, kw_only=False):
    """A kind of key: only texts that hold `trigger` are searched; group 1 (if there is one) is what goes."""

    trigger: str
    pattern: str
    wanted: Callable[[str], bool] = _any


def _token(prefix: str, rest: str, wanted: Callable[[str], bool] = _any) -> _Shape:
    """A key that begins with `prefix`, not in the middle of a word."""
    literal = re.escape(prefix)
    return _Shape(prefix, rf"{literal}(?<![A-Za-z0-9]{literal}){rest}", wanted)


_SHAPES: tuple[_Shape, ...] = (
    *(_token(prefix, r"[A-Z0-9]{16}(?![A-Za-z0-9])") for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    *(_token(prefix, r"[A-Za-z0-9]{30,255}") for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _token("github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _token("glpat-", r"[A-Za-z0-9_.-]{20,255}"),
    _token("sk-", r"[A-Za-z0-9_-]{20,400}", _mixed),
    _token("gsk_", r"[A-Za-z0-9_]{20,255}", _mixed),
    *(_token(prefix, r"(?:live|test)_[A-Za-z0-9]{16,255}") for prefix in ("sk_", "rk_")),
    _token("xai-", r"[A-Za-z0-9]{40,255}"),
    _token("hf_", r"[A-Za-z0-9]{30,255}", _mixed),
    _token("npm_", r"[A-Za-z0-9]{36}"),
    _token("pypi-", r"[A-Za-z0-9_-]{50,400}"),
    _token("xox", r"[abeoprs]-[A-Za-z0-9-]{10,255}", _mixed),
    _token("xapp-", r"[A-Za-z0-9-]{20,255}", _mixed),
    _token("AIza", r"[A-Za-z0-9_-]{35}"),
    _token("ya29.", r"[A-Za-z0-9_-]{20,1000}"),
    _token("dop_v1_", r"[a-f0-9]{64}"),
    _token("SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _token("dapi", r"[a-f0-9]{32}"),
    _token("pat-", r"(?:na|eu)\d-[a-f0-9-]{36}"),
    _token("AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    _token("tskey-", r"[a-z]{2,20}-[A-Za-z0-9-]{20,255}"),
    *(_token(prefix, r"[A-Za-z0-9_-]{20,400}", _mixed) for prefix in ("hvs.", "nvapi-")),
    *(
        _token(prefix, r"[A-Za-z0-9]{20}[A-Za-z0-9_-]{0,400}", _mixed)
        for prefix in "shpat_ shpss_ shpca_ lin_api_ ntn_ pplx- r8_ tgp_v1_ csk- sbp_ figd_ PMAK- whsec_ glsa_".split()
    ),
    _Shape(
        "eyJ",
        r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,4000}+\.eyJ[A-Za-z0-9_-]{8,16000}+(?:\.[A-Za-z0-9_-]{0,4000}+)?",
    ),
    _Shape("PRIVATE KEY", _PEM),
    _Shape("://", _URL_PASSWORD, _not_placeholder),
    _Shape("://", r"://([A-Za-z0-9._~%-]{20,400})@", _mixed),
    _Shape("earer ", r"earer (?:\s{0,5})([A-Za-z0-9._~+/-]{20,4000}={0,2})", _mixed),
    *(_Shape(word, _ENV_LINE, _env_value) for word in ("KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL")),
)


class Redactor:
    """Replaces secrets in texts by `[redacted]`: known values of 8 characters or more, or a line of one, and shapes."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        values = {line for secret in secrets for line in _parts(secret)}
        forms = {form for value in values for form in _forms(value)}
        self._forms = tuple(sorted((form for form in forms if form not in REDACTED), key=len, reverse=True))

    def __call__(self, text: str) -> str:
        """Give `text` without secrets; the same object if it holds none."""
        spans = [*self._known(text), *_shaped(text)]
        return _without(text, sorted(spans)) if spans else text

    def _known(self, text: str) -> Iterable[tuple[int, int]]:
        for form in self._forms:
            start = text.find(form)
            while start >= 0:
                yield start, start + len(form)
                start = text.find(form, start + 1)


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The secrets of an environment: values of variables whose name says so, and passwords in URLs of any variable.

    Numbers, paths, plain addresses and a few common words (`password`, `localhost`) are not taken for secrets: they
    would be redacted wherever a project writes them.
    """
    found: dict[str, None] = {}
    for name, value in environ.items():
        candidates = _compiled(_URL_PASSWORD).findall(value) if "://" in value else []
        if _says_secret(name):
            candidates.append(value)
        found.update(dict.fromkeys(item for item in candidates if _is_secret(item)))
    return tuple(found)


def secrets_in(text: str) -> tuple[str, ...]:
    """The secrets of a file of settings; which these are as for an environment.

    Plain words are none, but for a password or secret: they name a provider or a kind, and stand in the sources.
    """
    return tuple(dict.fromkeys(islice(filter(_is_secret, _set_in(text)), _MAX_SETTINGS)))


def _set_in(text: str) -> Iterator[str]:
    # What is taken out of use may be of another stage, and open something there; a word is prose.
    text = _compiled(r"^[ \t]*[#;](?![ \t]*[\w./:-]+[ \t]*=[ \t]*(?=\S*\d)\S+[ \t\r]*$).*", re.MULTILINE).sub("", text)
    yield from _compiled(_URL_PASSWORD).findall(text)
    for found in _compiled(_SETTING).finditer(text):
        if _says_secret(found[1]):
            name, double, single, bare = found.groups("")
            bare = _compiled(r"\s#.*").sub("", bare).strip(" \t\r,;[{}]").strip("\"'")
            value = double.replace('\\"', '"') or single.replace("''", "'") or bare
            first = re.split(r"[\s,;&{}]", bare, maxsplit=1)[0]  # another setting may follow it
            says = re.search("pass|secret", name, re.IGNORECASE)
            yield from (
                item for item in (value, first) if (says and item == value) or not _compiled(_ORDINARY).fullmatch(item)
            )


def redact_value(value: Any, redactor: Callable[[str], str], depth: int = _MAX_DEPTH) -> Any:
    """`value` with every text in it redacted: data, mappings (keys too), lists, tuples, sets and plain types.

    Gives `value` itself where nothing was found. What is nested deeper than `depth` is replaced as a whole.
    """
    if isinstance(value, str):
        return redactor(value)
    if depth == 0:
        return REDACTED if isinstance(value, (Mapping, Sequence, set, frozenset)) else value

    def inner(item: Any) -> Any:
        return redact_value(item, redactor, depth - 1)

    if is_data(value) and not isinstance(value, type):
        new = {name: (getattr(value, name), inner(getattr(value, name))) for name in names(value)}
        changed = {name: item for name, (old, item) in new.items() if item is not old}
        return replace(value, **changed) if changed else value
    if isinstance(value, Mapping):
        pairs = [(inner(k), inner(v)) for k, v in value.items()]
        unchanged = all(k is key and v is value[key] for (k, v), key in zip(pairs, value, strict=True))
        return value if unchanged else dict(pairs)
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [inner(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


# --- known values -----------------------------------------------------------------------------------------------------


def _says_secret(name: str) -> bool:
    named = _compiled(_SECRET_NAME, re.IGNORECASE).search(name)
    return bool(named) and not _compiled(_OTHER_NAME, re.IGNORECASE).search(name)


def _is_secret(value: str) -> bool:
    value = value.strip()
    long_enough = len(value) >= MIN_SECRET
    return long_enough and value.lower() not in _PLAIN_WORDS and not _compiled(_PLAIN_VALUE).fullmatch(value)


def _parts(secret: str) -> list[str]:
    """The value without white space around it, and the lines of one that has several (a private key, for example)."""
    secret = secret.strip()
    lines = [line.strip() for line in secret.splitlines()]
    long_lines = [line for line in lines if len(line) >= _MIN_LINE and not line.startswith("-----")]
    return [item for item in (secret, *(long_lines if len(lines) > 1 else ())) if len(item) >= MIN_SECRET]


def _forms(value: str) -> set[str]:
    """The value as it stands in plain text, URLs, JSON, HTML, Python, base64 and hexadecimal text."""
    data = _bytes(value)
    forms = {value, quote_plus(data), html.escape(value), repr(value)[1:-1], data.hex(), data.hex().upper()}
    quoted = {quote(data, safe=""), quote(data)}
    forms |= quoted | {re.sub("%..", lambda found: found[0].lower(), item) for item in quoted}
    for ascii_only in (True, False):
        forms.add(json.dumps(value, ensure_ascii=ascii_only)[1:-1])
        forms.add(json.dumps(value, ensure_ascii=ascii_only)[1:-1].replace("/", "\\/"))
    for offset in range(3):
        forms |= _base64(data, offset)
    return forms


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return value.encode("utf-8", "replace")


def _base64(data: bytes, offset: int) -> set[str]:
    """The characters that depend on `data` alone when it stands `offset` bytes (modulo 3) into what is encoded."""
    bits = 8 * (offset + len(data))
    first, last = -(-8 * offset // 6), bits // 6
    found = {
        encode(b"\0" * offset + data).decode()[first:last] for encode in (base64.b64encode, base64.urlsafe_b64encode)
    }
    return {item for item in found if len(item) >= _MIN_BASE64}


# --- what has the shape of a key --------------------------------------------------------------------------------------


def _shaped(text: str) -> Iterable[tuple[int, int]]:
    shapes = {shape.pattern: shape for shape in _SHAPES if shape.trigger in text}
    for shape in shapes.values():
        pattern = _compiled(shape.pattern)
        group = min(pattern.groups, 1)
        for found in pattern.finditer(text):
            if shape.wanted(found[group]):
                yield found.span(group)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with the union of `spans` (sorted) replaced, one mark for spans that overlap."""
    parts: list[str] = []
    done = 0
    start, end = spans[0]
    for next_start, next_end in spans[1:]:
        if next_start < end:
            end = max(end, next_end)
            continue
        parts += [text[done:start], REDACTED]
        done, (start, end) = end, (next_start, next_end)
    return "".join([*parts, text[done:start], REDACTED, text[end:]])

"""Which work a result belongs to: a hash of all that the result may depend on."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.batch.discovery import RESULTS_NAME
from codur.batch.results.challenge_record import SCHEMA
from codur.config.settings import Settings
from codur.types import Limits

_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".git", RESULTS_NAME})
"""Made by running the programs or by looking after them; they say nothing about the task."""
_NO_MATTER = ("state",)
_BLOCK = 1 << 20


def settings_hash(settings: Settings, limits: Limits, *, offline: bool) -> str:
    """A hash of the settings that a result may depend on."""
    values = to_builtins(settings)
    for name in _NO_MATTER:
        del values[name]
    del values["repair"]["workers"]
    del values["runtime"]["debug_log"]
    return _hash([values, to_builtins(limits), offline])


def key_of(content: str, agent: str, attempt: int, settings: str) -> str:
    """What identifies a piece of work.

    Args:
        content: of `content_hash`.
        settings: of `settings_hash`.
    """
    return _hash([SCHEMA, content, agent, attempt, settings])[:32]


def content_hash(root: str, instead: Mapping[str, bytes | None] | None = None) -> str:
    """A hash of a directory's files, links and modes; what cannot be read counts as that.

    Args:
        instead: contents to take in place of the files' own, by path inside; None for a file that is not there.
    """
    given = instead or {}
    found = {
        path: (mode, hashlib.sha256(given[path] or b"").hexdigest() if path in given else digest())
        for path, mode, digest in _files(root)
        if given.get(path, b"") is not None
    }
    for path, data in given.items():
        if data is not None and path not in found:
            found[path] = ("f", hashlib.sha256(data).hexdigest())
    return _hash(sorted((path, *rest) for path, rest in found.items()))


class _Digest:
    def __init__(self, path: str, mode: int) -> None:
        self._path = path
        self._mode = mode

    def __call__(self) -> str:
        try:
            if stat.S_ISLNK(self._mode):
                return f"-> {os.readlink(self._path)!r}"  # noqa: PTH115 - as it is written: `Path` would tidy it up
            if not stat.S_ISREG(self._mode):
                return "special"
            digest = hashlib.sha256()
            with Path(self._path).open("rb") as stream:
                while block := stream.read(_BLOCK):
                    digest.update(block)
            return digest.hexdigest()
        except OSError as error:
            return f"error {error.errno}"


def _files(root: str) -> Iterator[tuple[str, str, _Digest]]:
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        try:
            with os.scandir(f"{root}/{directory}") as entries:
                found = [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in entries]
        except OSError:
            continue
        for name, mode in found:
            path = f"{directory}/{name}" if directory else name
            if stat.S_ISDIR(mode):
                if name not in _LEFT_OUT:
                    waiting.append(path)
                continue
            kind = "x" if stat.S_ISREG(mode) and mode & 0o111 else "f"
            yield path, kind, _Digest(f"{root}/{path}", mode)


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

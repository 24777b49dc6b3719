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
    given = dict(instead or {})
    found = []
    for path, kind, mode in _files(root):
        if path not in given:
            found.append((path, kind, _digest(f"{root}/{path}", mode)))
        elif (data := given.pop(path)) is not None:
            found.append((path, kind, hashlib.sha256(data).hexdigest()))
    found += [(path, "f", hashlib.sha256(data).hexdigest()) for path, data in given.items() if data is not None]
    return _hash(sorted(found))


def _digest(path: str, mode: int) -> str:
    try:
        if stat.S_ISLNK(mode):
            return f"-> {os.readlink(path)!r}"  # noqa: PTH115 - as it is written: `Path` would tidy it up
        if not stat.S_ISREG(mode):
            return "special"
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"error {error.errno}"


def _files(root: str) -> Iterator[tuple[str, str, int]]:
    """The path of each file or link, its kind (`x`: it may be run) and its mode."""
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
            yield path, kind, mode


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

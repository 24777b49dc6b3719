"""The sources of a candidate, in place of the files of the workspace."""

from __future__ import annotations

import contextlib
import importlib.machinery
import io
import linecache
import os
import sys
import tokenize
import warnings
from collections.abc import Mapping
from importlib import _bootstrap
from typing import Any

_UNFIT = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError, Warning)
"""What stops a source from being compiled before the fork; in the fork it is met in the usual way."""
_call_with_frames_removed: Any = vars(_bootstrap)["_call_with_frames_removed"]


class Sources:
    """The workspace's Python files as the candidate has them, in memory."""

    def __init__(self, root: str, files: Mapping[str, bytes]) -> None:
        self.root = root
        self.files = {os.path.join(root, path): data for path, data in files.items()}
        self.changed: dict[str, bytes] = {}
        self.kept: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        loader_class: Any = importlib.machinery.SourceFileLoader
        usual = loader_class.get_code

        def get_code(loader: Any, fullname: str) -> Any:
            path = loader.get_filename(fullname)
            return self.code(path) if path in self.files else usual(loader, fullname)

        for function in (get_code, Sources.code):
            # The interpreter leaves its own import machinery out of tracebacks; these two have become a part of it.
            function.__code__ = function.__code__.replace(co_filename=usual.__code__.co_filename)
        # One method of the import system, so that finders, specs and modules are the usual ones.
        loader_class.get_code = get_code

    def data(self, path: str) -> bytes:
        return self.changed[path] if path in self.changed else self.files[path]

    def code(self, path: str) -> Any:
        """The code of a file, compiled now if it was not before.

        Raises:
            SyntaxError, ValueError: as an import of the file would.
        """
        found = self.codes.get(path) if path in self.changed else self.kept.get(path)
        if found is not None:
            return found
        # The interpreter cuts tracebacks at frames of this name: a syntax error looks as it does without us.
        return _call_with_frames_removed(compile, self.data(path), path, "exec", dont_inherit=True)

    def keep(self, paths: list[str]) -> None:
        """Compile files that candidates load unchanged."""
        self.kept.update(self._compiled({path: self.files[path] for path in paths if path in self.files}))

    def change(self, files: Mapping[str, bytes]) -> None:
        """Put these files' texts in place; those of the candidate before are forgotten."""
        for path in self.changed:
            linecache.cache.pop(path, None)
        self.changed = {os.path.join(self.root, path): data for path, data in files.items()}
        self.codes = self._compiled(self.changed)
        for path, data in self.changed.items():
            # Tracebacks show source lines, which would else be read from the unchanged file.
            lines = lines_of(data)
            linecache.cache[path] = (len(data), None, lines, path)

    def _compiled(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        found = {}
        for path, data in files.items():
            with contextlib.suppress(*_UNFIT), warnings.catch_warnings():
                # A source with a warning is left to the fork, where the warning is shown as in a plain process.
                warnings.simplefilter("error")
                found[path] = compile(data, path, "exec", dont_inherit=True)
        return found


def lines_of(data: bytes) -> list[str]:
    try:
        # Python's own way of finding the encoding, coding line and byte order mark included.
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, line_buffering=True).readlines()
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return []


def outside(sources: Sources) -> tuple[list[str], list[str]]:
    """Modules loaded from outside the workspace (but for these), and files of the workspace that were loaded."""
    names, inside, own = [], [], __name__.rpartition(".")[0]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file in sources.files:
            inside.append(file)
        # Neither the workspace's own modules, which candidates change, nor this package.
        elif name != "__main__" and name.partition(".")[0] != own and not file.startswith(f"{sources.root}/"):
            names.append(name)
    return names, inside

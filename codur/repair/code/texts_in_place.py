"""Texts in place of a scratch workspace's files, for a while."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from codur.workspace.workspace import Workspace


@contextmanager
def in_place(workspace: Workspace, texts: Mapping[str, str]) -> Iterator[None]:
    """These texts by path; the files are as before afterwards. Raises WorkspaceError: one cannot be read or written."""
    originals = {path: workspace.read_bytes(path) for path in texts}
    try:
        for path, text in texts.items():
            workspace.write_text(path, text)
        yield
    finally:
        for path, data in originals.items():
            workspace.write_bytes(path, data)

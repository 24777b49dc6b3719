"""Directories as bytes: a challenge on its way to another machine, and what was kept of an attempt on its way back."""

import gzip
import io
import tarfile
from pathlib import Path


def pack(directory: Path | None, *, leave_out: str = "") -> bytes:
    """A directory's files, links and modes as a compressed archive.

    Args:
        directory: None packs nothing.
        leave_out: the name of an entry of the directory itself.

    Raises:
        OSError: one of them cannot be read.
    """
    packed = io.BytesIO()
    # Without the time of now, which gzip would write: equal files make equal archives.
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for entry in sorted(directory.iterdir()) if directory else ():
            if entry.name != leave_out:
                archive.add(entry, arcname=entry.name)
    return packed.getvalue()


def unpack(data: bytes, directory: Path) -> None:
    """Lay the files of an archive out in a directory, which is made; none of them lies outside of it.

    Raises:
        OSError, tarfile.TarError: they cannot be written, or would lie elsewhere.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(directory, filter="tar")

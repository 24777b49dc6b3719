"""Contents come back as they were put, or not at all."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codur.errors import StateError
from codur.store.blobs import BlobStore


def test_contents_are_kept_once_and_private(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs")
    one, two = store.put(b"same"), store.put(b"same", durable=False)
    assert one == two == hashlib.sha256(b"same").hexdigest()
    assert store.get(one) == b"same"
    files = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file() and path.name != ".lock"]
    assert [(path.name, path.stat().st_mode & 0o777) for path in files] == [(one, 0o600)]


@pytest.mark.parametrize("size", [0, 5, (1 << 20) - 1, 1 << 20, (1 << 21) + 3])
def test_open_files_are_kept_from_their_start(tmp_path: Path, size: int) -> None:
    store = BlobStore(tmp_path / "blobs")
    data = os.urandom(size)
    (tmp_path / "file").write_bytes(data)
    with (tmp_path / "file").open("rb") as stream:
        stream.read(3)
        first = store.put_file(stream.fileno())
        again = store.put_file(stream.fileno(), durable=False)
    assert store.get(first) == data
    assert first == again
    assert not list((tmp_path / "blobs").glob("*.tmp"))


def test_absent_damaged_and_odd_references_are_told(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs")
    reference = store.put(b"content")
    path = tmp_path / "blobs" / reference[:2] / reference
    path.write_bytes(b"Content")
    with pytest.raises(StateError, match="is damaged"):
        store.get(reference)
    for odd in ("0" * 64, "../../etc/passwd", "", reference.upper()):
        assert odd not in store
        with pytest.raises(StateError):
            store.get(odd)


def test_a_content_that_was_cut_short_is_put_again(tmp_path: Path) -> None:
    """A power cut can leave a file without its bytes."""
    store = BlobStore(tmp_path / "blobs")
    reference = store.put(b"content")
    (tmp_path / "blobs" / reference[:2] / reference).write_bytes(b"")
    store.put(b"content")
    assert store.get(reference) == b"content"


def test_many_threads_put_the_same(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.extend(store.put(bytes([n]), durable=False) for n in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert {store.get(reference) for reference in found} == {bytes([n]) for n in range(50)}


def test_renewed_contents_are_young_again(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs")
    assert store.renew(["0" * 64]) == set()
    references = [store.put(text) for text in (b"a", b"b", b"c")]
    paths = [tmp_path / "blobs" / name[:2] / name for name in references]
    for path in paths:
        os.utime(path, (1, 1))
    assert store.renew([references[0], "0" * 64]) == {references[0]}
    store.put(b"b")
    assert [path.stat().st_mtime > 1 for path in paths] == [True, True, False]


def test_a_file_too_large_for_the_system_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from codur.store.blobs import BlobStore\n"
        "from codur.errors import StateError\n"
        "try: BlobStore(Path(sys.argv[1])).put(b'x' * 100_000)\n"
        "except StateError as error: print(error.message, '|', error.remedy)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "blobs")],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    ).stdout
    assert "file too large" in told
    assert "ulimit -f" in told
    assert [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == []

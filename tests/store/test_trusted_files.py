"""The list of accepted projects: by real path and content, private, whole after anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codur.errors import StateError
from codur.store.trusted_files import TrustStore, digest

PROJECT = Path(__file__).resolve().parents[2]
WHEN = "2026-01-02T03:04:05+00:00"


def store_in(folder: Path) -> TrustStore:
    return TrustStore(folder / "state" / "codur" / "trust.json")


def test_nothing_is_accepted_at_first_and_asking_makes_no_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.state_of(tmp_path / "work", "codur.yaml", b"x") == "unknown"
    assert (store.accepted(), store.revoke(tmp_path / "work")) == ({}, False)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_accepted_with_its_content_name_and_project(tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    assert store.accept(work, {"codur.yaml": b"a", "AGENTS.md": b"b"}, when=WHEN) is None
    assert store.state_of(work, "codur.yaml", b"a") == "accepted"
    assert store.state_of(work, "AGENTS.md", b"b") == "accepted"
    assert store.state_of(work, "codur.yaml", b"b") == "changed"
    assert store.state_of(work, ".codur/config.yaml", b"a") == "unknown"
    assert store.state_of(tmp_path / "other", "codur.yaml", b"a") == "unknown"
    assert store.state_of(work / "sub", "codur.yaml", b"a") == "unknown"
    (entry,) = store.accepted().values()
    assert (entry.when, entry.files) == (WHEN, {"AGENTS.md": digest(b"b"), "codur.yaml": digest(b"a")})


def test_a_later_acceptance_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    store.accept(work, {"codur.yaml": b"a", "AGENTS.md": b"b"}, when=WHEN)
    store.accept(work, {"codur.yaml": b"c"}, when=WHEN)
    assert store.state_of(work, "codur.yaml", b"c") == "accepted"
    assert store.state_of(work, "codur.yaml", b"a") == "changed"
    assert store.state_of(work, "AGENTS.md", b"b") == "unknown"


def test_the_real_path_counts(tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    work.mkdir()
    (tmp_path / "link").symlink_to(work)
    store.accept(tmp_path / "link", {"codur.yaml": b"a"}, when=WHEN)
    assert store.state_of(work, "codur.yaml", b"a") == "accepted"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    assert store.state_of(tmp_path / "link", "codur.yaml", b"a") == "unknown"


def test_revoked_is_as_never_accepted(tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    store.accept(work, {"codur.yaml": b"a"}, when=WHEN)
    store.accept(tmp_path / "other", {"codur.yaml": b"a"}, when=WHEN)
    assert (store.revoke(work), store.revoke(work)) == (True, False)
    assert store.state_of(work, "codur.yaml", b"a") == "unknown"
    assert store.state_of(tmp_path / "other", "codur.yaml", b"a") == "accepted"


def test_the_list_is_its_owners_alone(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    before = os.umask(0)
    try:
        store.accept(tmp_path / "work", {"codur.yaml": b"a"}, when=WHEN)
    finally:
        os.umask(before)
    folder = tmp_path / "state" / "codur"
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_list_that_others_could_write_is_refused(mode: int, tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    store.accept(work, {"codur.yaml": b"a"}, when=WHEN)
    (tmp_path / "state" / "codur" / "trust.json").chmod(mode)
    for call in (lambda: store.state_of(work, "codur.yaml", b"a"), store.accepted, lambda: store.revoke(work)):
        with pytest.raises(StateError, match="others could have written"):
            call()
    with pytest.raises(StateError, match="others could have written"):
        store.accept(work, {"codur.yaml": b"b"}, when=WHEN)


def test_a_link_pipe_or_directory_in_its_place_is_refused(tmp_path: Path) -> None:
    store, file = store_in(tmp_path), tmp_path / "state" / "codur" / "trust.json"
    store.accept(tmp_path / "work", {"codur.yaml": b"a"}, when=WHEN)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(StateError):
        store.accepted()
    file.unlink()
    os.mkfifo(file, 0o600)
    with pytest.raises(StateError):
        store.accepted()
    file.unlink()
    file.mkdir(0o700)
    with pytest.raises(StateError):
        store.accepted()


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"[" * 100_000,
    b'{"version": 2, "projects": {}}',
    b'{"version": 1, "projects": {"/w": {"when": "", "files": {"codur.yaml": 3}}}}',
    b'{"version": 1, "projects": {"/w": []}}',
    b'{"version": 1, "projects": []}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_list_accepts_nothing_and_is_set_aside(content: bytes, tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / "work"
    store.accept(work, {"codur.yaml": b"a"}, when=WHEN)
    (tmp_path / "state" / "codur" / "trust.json").write_bytes(content)
    assert store.state_of(work, "codur.yaml", b"a") == "unknown"
    assert store.accepted() == {}
    aside = store.accept(work, {"codur.yaml": b"a"}, when=WHEN)
    assert aside is not None
    assert aside.read_bytes() == content
    assert store.state_of(work, "codur.yaml", b"a") == "accepted"


def test_a_project_that_holds_the_list_cannot_accept_itself(tmp_path: Path) -> None:
    work = tmp_path / "work"
    store = TrustStore(work / ".state" / "codur" / "trust.json")
    (work / ".state" / "codur").mkdir(parents=True, mode=0o700)
    planted = {"version": 1, "projects": {str(work): {"when": WHEN, "files": {"codur.yaml": digest(b"a")}}}}
    (work / ".state" / "codur" / "trust.json").write_text(json.dumps(planted))
    (work / ".state" / "codur" / "trust.json").chmod(0o600)
    assert store.state_of(work, "codur.yaml", b"a") == "unknown"
    with pytest.raises(StateError, match="lies in this project"):
        store.accept(work, {"codur.yaml": b"a"}, when=WHEN)


def test_names_that_are_not_utf8_are_kept(tmp_path: Path) -> None:
    store, work = store_in(tmp_path), tmp_path / os.fsdecode(b"caf\xe9")
    store.accept(work, {"codur.yaml": b"a"}, when=WHEN)
    assert store.state_of(work, "codur.yaml", b"a") == "accepted"


def test_several_processes_lose_none(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from codur.store.trusted_files import TrustStore\n"
        "store, number = TrustStore(Path(sys.argv[1])), sys.argv[2]\n"
        "for turn in range(10):\n"
        "    store.accept(Path(f'/work-{number}-{turn}'), {'codur.yaml': b'a'}, when='now')\n"
    )
    file = tmp_path / "state" / "codur" / "trust.json"
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(file), str(number)], cwd=PROJECT) for number in range(4)
    ]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert len(TrustStore(file).accepted()) == 40

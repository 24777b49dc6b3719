"""A log survives the death of its writer, and damage costs only the damaged lines."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codur.errors import StateError
from codur.store.append_log import AppendLog

RECORDS = [{"n": n, "text": text} for n, text in enumerate(["plain", 'a"b\n', "\udcff", "é" * 10])]


@pytest.fixture
def log(tmp_path: Path) -> AppendLog:
    log = AppendLog(tmp_path / "log.jsonl")
    log.extend(RECORDS)
    log.close()
    return log


def test_what_is_appended_is_read(log: AppendLog) -> None:
    log.append({"more": [1, {"a": None}]}, durable=False)
    assert AppendLog(log.path).read() == [*RECORDS, {"more": [1, {"a": None}]}]
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert AppendLog(log.path.with_name("absent")).read() == []


def test_a_log_cut_anywhere_keeps_its_whole_lines(log: AppendLog) -> None:
    whole = log.path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == 10]
    for size in range(len(whole)):
        log.path.write_bytes(whole[:size])
        expected = RECORDS[: sum(end <= size for end in ends)]
        assert AppendLog(log.path).read() == expected
        again = AppendLog(log.path)
        again.append({"next": size}, durable=False)
        again.close()
        assert AppendLog(log.path).read() == [*expected, {"next": size}]
    assert list(log.path.parent.glob("*.damaged-*")) == []


def test_every_flipped_bit_is_found(log: AppendLog) -> None:
    whole = log.path.read_bytes()
    second = whole.index(b"\n") + 1
    for place in range(second, whole.index(b"\n", second)):
        for bit in (0, 5):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            log.path.write_bytes(data)
            told: list[str] = []
            found = AppendLog(log.path).read(on_damage=told.append)
            assert (found, len(told)) == ([RECORDS[0], *RECORDS[2:]], 1), (place, bit)
            aside = list(log.path.parent.glob("*.damaged-*"))
            assert [path.read_bytes() for path in aside] == [bytes(data)]
            assert AppendLog(log.path).read() == found
            aside[0].unlink()


def test_damage_is_told_and_the_file_is_kept(log: AppendLog) -> None:
    log.path.write_bytes(b"not ours\n" + log.path.read_bytes())
    with pytest.raises(StateError, match=r"was damaged; it was set aside as log.jsonl.damaged-"):
        log.read()
    assert log.read() == RECORDS
    assert [path.read_bytes()[:9] for path in log.path.parent.glob("*.damaged-*")] == [b"not ours\n"]


def test_a_writer_killed_at_any_time_loses_no_acknowledged_line(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from codur.store.append_log import AppendLog\n"
        "log = AppendLog(Path(sys.argv[1])); n = 0\n"
        "while True:\n"
        "    log.append({'n': n, 'fill': 'x' * 3000}, durable=False); n += 1\n"
        "    sys.stdout.write('.'); sys.stdout.flush()\n"
    )
    for round_ in range(6):
        path = tmp_path / f"{round_}.jsonl"
        with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout
            acknowledged = len(writer.stdout.read(round_ * 37 + 1))
            writer.send_signal(signal.SIGKILL)
            acknowledged += len(writer.stdout.read())
        found = AppendLog(path).read()
        assert [record["n"] for record in found] == list(range(len(found)))
        assert len(found) in (acknowledged, acknowledged + 1)


def test_a_full_disk_is_told_and_the_log_stays_whole(log: AppendLog) -> None:
    program = (
        "import sys; from pathlib import Path; from codur.store.append_log import AppendLog\n"
        "from codur.errors import StateError\n"
        "try: AppendLog(Path(sys.argv[1])).append({'x': 'y' * 5000})\n"
        "except StateError as error: print(error.message)"
    )
    before = log.path.read_bytes()
    told = subprocess.run(
        [sys.executable, "-c", program, str(log.path)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    ).stdout
    assert "file too large" in told
    assert log.path.read_bytes() == before


def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("keep")
    (tmp_path / "log").symlink_to("victim")
    with pytest.raises(StateError):
        AppendLog(tmp_path / "log").append({"a": 1})
    assert (tmp_path / "victim").read_text() == "keep"

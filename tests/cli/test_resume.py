"""`codur resume`, and two runs in one directory."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.cli.kit import codur_here, the_object
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, contents
from tests.session.kit import PATIENCE_S, edit, place
from tests.support.groq_server import hold


def test_a_stopped_run_is_gone_on_with(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, hold(), edit(MEDIAN_RIGHT)]) as here:
        process = here.start("main.py is wrong")
        assert here.server.holding.wait(PATIENCE_S)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130, err.decode()
        (run,) = here.runs()
        assert run["status"] == "interrupted"
        assert f"codur resume {run['id']}".encode() in err
        assert contents(here.project) == NEEDS_MODEL
        here.server.release()
        resumed = here.run("resume", run["id"][:14], "--verbose")
        assert resumed.code == 0, resumed.err
        assert f"going on with run {run['id']} after " in resumed.err
        assert len(here.server.requests) == 3
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]


def test_nothing_to_go_on_with(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.run("hello")
        for words in (("resume",), ("resume", "2000")):
            refused = here.run(*words, "--json")
            assert refused.code == 2
            assert the_object(refused.out)["remedy"]


def test_a_second_run_in_a_directory_names_the_first(tmp_path: Path) -> None:
    files = {**NEEDS_MODEL, "notes.txt": ""}
    with place(tmp_path, [EDIT, hold(edit(MEDIAN_RIGHT))], files) as here:
        first = here.start("main.py is wrong")
        assert here.server.holding.wait(PATIENCE_S)
        (run,) = here.runs()
        assert run["status"] == "running"
        second = here.run("hello")
        assert second.code == 5
        assert run["id"] in second.err
        assert str(first.pid) in second.err
        assert "--wait" in second.err
        assert here.run("resume", run["id"]).code in {2, 5}
        assert len(here.runs()) == 1
        waiting = here.start("append 'hello' to notes.txt", "--wait")
        assert waiting.stderr is not None
        assert any(b"waiting: " in line for line in waiting.stderr)
        here.server.release()
        first.communicate(timeout=PATIENCE_S)
        waiting.communicate(timeout=PATIENCE_S)
        assert (first.returncode, waiting.returncode) == (0, 0)
        assert contents(here.project)["notes.txt"] == "hello"
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]


def test_waiting_can_be_stopped(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, hold()]) as here:
        first = here.start("main.py is wrong")
        assert here.server.holding.wait(PATIENCE_S)
        waiting = here.start("hello", "--wait")
        assert waiting.stderr is not None
        assert any(b"waiting: " in line for line in waiting.stderr)
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=PATIENCE_S)
        assert waiting.returncode == 130
        first.kill()
        first.communicate(timeout=PATIENCE_S)
        assert here.run("hello").code == 0  # the dead run's lock does not count


def test_a_read_only_question_needs_no_free_directory_elsewhere(tmp_path: Path) -> None:
    """The lock is for one directory."""
    with place(tmp_path, [EDIT, hold()]) as here:
        first = here.start("main.py is wrong")
        assert here.server.holding.wait(PATIENCE_S)
        other = tmp_path / "other"
        other.mkdir()
        assert codur_here("hello", cwd=other, home=here.home).code == 0
        first.kill()
        first.communicate(timeout=PATIENCE_S)

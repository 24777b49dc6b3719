"""`codur undo` and `codur diff`, on runs that the command line made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codur.store.workspace_lock import workspace_lock
from tests.cli.kit import Ran, codur, codur_here
from tests.runs.kit import KEY, fill
from tests.support.groq_server import GroqServer, text
from tests.workspace.kit import picture

BEFORE = "total = 0\nfor n in [1, 2, 3]:\n    total += n\nprint(totl)\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home and a workspace whose program has a mistake that is repaired without a model."""
    (tmp_path / "home").mkdir()
    root = tmp_path / "w"
    root.mkdir()
    (root / "main.py").write_text(BEFORE)
    (root / "expected.txt").write_text("6\n")
    (root / "notes.txt").write_text("mine\n")
    return tmp_path


def here(place: Path, *words: str, **variables: str) -> Ran:
    return codur_here(*words, cwd=place / "w", home=place / "home", **variables)


def fixed(place: Path, before: str = BEFORE) -> str:
    """Let a run fix the program; gives what it made of it."""
    ran = codur("fix main.py", "--offline", "--no-sandbox", cwd=place / "w", home=place / "home")
    assert ran.code == 0, ran.err
    text = (place / "w" / "main.py").read_text()
    assert text != before
    return text


def test_a_fix_is_shown_undone_and_redone(place: Path) -> None:
    before = picture(place / "w")
    after = fixed(place)
    shown = here(place, "diff")
    assert shown.code == 0
    assert "-print(totl)\n+print(total)" in shown.out
    planned = here(place, "undo", "--dry-run")
    assert (planned.code, planned.out) == (0, "would be restored: main.py\n")
    assert (place / "w" / "main.py").read_text() == after
    done = here(place, "undo")
    assert (done.code, done.out) == (0, "restored: main.py\n")
    assert {path: state for path, state in picture(place / "w").items() if "__pycache__" not in path} == before
    assert "there is nothing to undo" in here(place, "undo").out
    assert here(place, "undo", "--redo").out == "made again: main.py\n"
    assert (place / "w" / "main.py").read_text() == after
    assert "nothing of this run was undone" in here(place, "undo", "--redo").out


def test_a_conflict_is_told_and_the_exit_code_says_so(place: Path) -> None:
    fixed(place)
    (place / "w" / "main.py").write_text("the user's\n")
    ran = here(place, "undo", "--json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert report["workspace"] == str(place / "w")
    assert report["conflicts"] == [{"path": "main.py", "reason": "was changed since", "copy": "main.py.codur-conflict"}]
    assert (place / "w" / "main.py").read_text() == "the user's\n"
    assert (place / "w" / "main.py.codur-conflict").read_text() == BEFORE
    changes = json.loads(here(place, "diff", report["run"], "--json").out)
    assert [(change["path"], change["by"]) for change in changes["changes"]] == [("main.py", ["tool"])]


def test_what_was_changed_since_in_other_places_is_kept(place: Path) -> None:
    main = place / "w" / "main.py"
    main.write_text(f"# first\n# second\n{BEFORE}\n# last but one\n# last\n")
    before = main.read_text()
    after = fixed(place, before)
    mine = "# mine\n{}# mine, too\n"
    main.write_text(mine.format(after))
    note = "note: what was changed since in main.py is kept\n"
    assert here(place, "undo", "--dry-run").out == f"would be restored: main.py\n{note}"
    for words, told, left in (((), "restored", before), (("--redo",), "made again", after), ((), "restored", before)):
        ran = here(place, "undo", *words)
        assert (ran.code, ran.out) == (0, f"{told}: main.py\n{note}")
        assert main.read_text() == mine.format(left)
    assert "there is nothing to undo" in here(place, "undo").out
    assert main.read_text() == mine.format(before)


def test_a_run_is_found_by_the_beginning_of_its_id_from_anywhere(place: Path) -> None:
    fixed(place)
    run = json.loads(here(place, "diff", "--json").out)["run"]
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    assert codur_here("undo", cwd=elsewhere, home=place / "home").code == 2
    assert codur_here("undo", run[:-1], cwd=elsewhere, home=place / "home").out == "restored: main.py\n"
    assert (place / "w" / "main.py").read_text() == BEFORE


def test_a_question_in_between_does_not_hide_the_fix(place: Path) -> None:
    fixed(place)
    here(place, "list files", "--offline", "--no-sandbox")
    assert here(place, "undo").out == "restored: main.py\n"


def test_after_a_task_that_failed_nothing_earlier_is_undone_unasked(place: Path) -> None:
    after = fixed(place)
    (place / "w" / "other.py").write_text("print(5)\n")
    here(place, "verify", "--no-sandbox", "--check", "false")  # which changes nothing and is no task that failed
    with GroqServer([text("I cannot.")] * 9) as server:
        settings = f"providers:\n  groq: {{api: groq, base_url: '{server.url}'}}\n"
        fill(place / "home", {".config/codur/config.yaml": settings})
        failed = here(place, "fix other.py: it must print 6", "--no-sandbox", GROQ_API_KEY=KEY)
    assert failed.code == 1, failed.err
    undone = here(place, "undo")
    assert (undone.code, "the last task left nothing changed" in undone.out) == (0, True), undone.err
    assert (place / "w" / "main.py").read_text() == after
    earlier = undone.out.partition("before it left changes: codur undo ")[2].split()[0]
    ran = here(place, "undo", earlier)
    assert (ran.out, "codur undo --redo" in ran.err) == ("restored: main.py\n", True)


def test_what_a_program_wrote_beside_it_does_not_hide_the_fix(place: Path) -> None:
    """A test run that writes to a directory which git ignores is no work to be undone."""
    after = fixed(place)
    (place / "w" / ".gitignore").write_text("out/\n")
    (place / "w" / "out").mkdir()
    (place / "w" / "out" / "log.txt").write_text("old\n")
    (place / "w" / "report.py").write_text("open('out/log.txt', 'w').write('new\\n')\n")
    check = ("fix main.py", "--offline", "--no-sandbox", "--check", "python report.py")
    assert codur(*check, cwd=place / "w", home=place / "home").code == 0
    assert (place / "w" / "out" / "log.txt").read_text() == "new\n"
    assert "-print(totl)\n+print(total)" in here(place, "diff").out
    undone = here(place, "undo").out
    assert undone.startswith("restored: main.py\nnote: run ")
    assert "changed files that git ignores: codur undo " in undone
    assert (place / "w" / "main.py").read_text() != after
    assert here(place, "undo", "--redo").out == "made again: main.py\n"


def test_nothing_is_undone_while_a_run_works_there(place: Path) -> None:
    after = fixed(place)
    locks = place / "home" / ".local" / "state" / "codur" / "locks"
    with workspace_lock(locks, place / "w", run_id="other"):
        ran = here(place, "undo")
    assert ran.code == 5
    assert "run other" in ran.err
    assert (place / "w" / "main.py").read_text() == after


def test_what_is_not_there_is_told(place: Path) -> None:
    assert here(place, "undo", "nonsense").code == 2
    assert here(place, "diff").code == 2
    fixed(place)
    (place / "w").rename(place / "moved")
    ran = codur_here("undo", "-C", str(place / "w"), cwd=place, home=place / "home")
    assert ran.code == 2
    assert str(place / "w") in ran.err

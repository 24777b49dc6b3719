"""`codur doctor`: says whether programs are contained, and what else is there."""

from __future__ import annotations

import json
from pathlib import Path

from codur.sandbox.probe import candidates, choose_backend
from tests.cli.kit import bound_by_permissions, codur


def settings(tmp_path: Path, backend: str) -> str:
    path = tmp_path / "codur.yaml"
    path.write_text(f"sandbox:\n  backend: {backend}\n")
    return str(path)


def test_it_reports_the_back_end_in_use(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", "--json", cwd=tmp_path, home=home)
    found = json.loads(ran.out)
    chosen = choose_backend("auto", {"PATH": "/usr/bin:/bin"}, cache=None)
    assert found["backend"] == chosen.backend.name
    assert found["note"] == chosen.note
    assert found["contained"] == (chosen.backend.name != "none")
    assert ran.code == (0 if found["contained"] else 1)
    assert [one["name"] for one in found["backends"]] == list(candidates())
    for one in found["backends"]:
        assert one["works"] == (not one["problem"])
    assert found["state"] == str(home / ".local/state/codur")
    assert found["state_problem"] == ""
    assert {model["profile"] for model in found["models"]} >= {"local"}


def test_without_containment_it_says_so_and_fails(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", "--config", settings(tmp_path, "none"), cwd=tmp_path, home=home)
    assert ran.code == 1
    assert ran.out.startswith(
        "programs: NOT contained (none)\n  programs run without containment: sandbox.backend is none"
    )


def test_a_back_end_that_does_not_work_is_reported(home: Path, tmp_path: Path) -> None:
    wanted = "landlock" if candidates() == ("seatbelt",) else "seatbelt"
    ran = codur("doctor", "--config", settings(tmp_path, wanted), cwd=tmp_path, home=home)
    assert ran.code == 1
    assert f"no program is started: sandbox.backend is {wanted}, which does not work here" in ran.out


def test_the_text_has_a_line_for_each_matter(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", cwd=tmp_path, home=home)
    for start in ("programs: ", "system: ", "state directory: ", "python: ", "git: ", "model "):
        assert any(line.startswith(start) for line in ran.out.splitlines()), start


def test_a_state_directory_that_cannot_be_used_is_reported(home: Path, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    before = bound_by_permissions()
    place = str(tmp_path / "locked" / "below")
    found = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, before=before, XDG_STATE_HOME=place).out)
    assert found["state"] == f"{place}/codur"
    assert found["state_problem"].startswith(f"it cannot be made in {tmp_path / 'locked'}.")
    open_to_all = tmp_path / "open" / "codur"
    open_to_all.mkdir(parents=True)
    open_to_all.chmod(0o777)
    found = json.loads(codur("doctor", "--json", cwd=tmp_path, home=home, XDG_STATE_HOME=str(open_to_all.parent)).out)
    assert found["state_problem"].startswith("others may write to the state directory")


def test_control_characters_in_what_is_told_do_not_reach_the_terminal(home: Path, tmp_path: Path) -> None:
    ran = codur("doctor", cwd=tmp_path, home=home, XDG_STATE_HOME=str(tmp_path / "a\x1b]0;b\x07"))
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out

"""Names that a change took out and that are still used."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.context.dangling_names import dangling
from codur.workspace.history.diff import FileChange
from codur.workspace.workspace import Workspace

OLD = "export function shown(a) {\n  return a\n}\nexport function oldFormat(a) {\n  return a\n}\n"


@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("const fmt = require('./format')\nconsole.log(fmt.oldFormat(1))\n", ("oldFormat (legacy.js:2)",)),
        ("import { oldFormat } from './format.js'\n", ("oldFormat (legacy.js:1)",)),
        ("// oldFormat(1) was used here\n", ()),
        ("other.oldFormat(1)\n", ()),  # of something else
        ("console.log('oldFormat(1)')\n", ()),
        ("function oldFormat() {}\noldFormat()\n", ()),
    ],
)
def test_what_is_still_used_is_told_with_its_place(user: str, told: tuple[str, ...], tmp_path: Path) -> None:
    new = OLD.partition("export function oldFormat")[0]
    (tmp_path / "format.js").write_text(new)
    (tmp_path / "legacy.js").write_text(user)
    change = FileChange(path="format.js", before=OLD.encode(), after=new.encode())
    assert dangling([change], Workspace.open(tmp_path, home=tmp_path.parent)) == told


def test_a_name_that_moved_is_not_gone(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("def old_format(a):\n    return a\n")
    (tmp_path / "app.py").write_text("from new import old_format\nprint(old_format(1))\n")
    change = FileChange(path="old.py", before=b"def old_format(a):\n    return a\n", after=None)
    assert dangling([change], Workspace.open(tmp_path, home=tmp_path.parent)) == ()

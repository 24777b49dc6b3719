"""Unified diffs: what git and diff write is applied, all of it or nothing."""

from __future__ import annotations

import difflib
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from codur.tools.files.apply_patch import patched
from codur.tools.files.patch_text import read_patch
from codur.tools.toolbox import Toolbox
from tests.tools.conftest import toolbox_on

TEXT = "".join(f"line {n}\n" for n in range(1, 13))


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "w.txt").write_bytes(b"one\r\ntwo\r\nthree")
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    (tmp_path / "twice.txt").write_text("x\ny\nx\ny\n")
    return tmp_path


def test_change_make_delete_and_rename_at_once(root: Path, toolbox: Toolbox) -> None:
    patch = """\
Here is the patch:
diff --git a/a.txt b/a.txt
index 123..456 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 line 1
-line 2
+line two
 line 3
@@ -10,3 +10,4 @@ some context
 line 10
 line 11
+line 11b
 line 12
diff --git a/sub/new.py b/sub/new.py
new file mode 100644
--- /dev/null
+++ b/sub/new.py
@@ -0,0 +1,2 @@
+x = 1
+y = 2
diff --git a/twice.txt b/twice.txt
deleted file mode 100644
--- a/twice.txt
+++ /dev/null
@@ -1,4 +0,0 @@
-x
-y
-x
-y
diff --git a/m.py b/n.py
similarity index 60%
rename from m.py
rename to n.py
--- a/m.py
+++ b/n.py
@@ -1,2 +1,2 @@
 def f():
-    return 1
+    return 2
"""
    result = toolbox.call("apply_patch", {"patch": patch})
    assert result.text == "changed a.txt\nmade sub/new.py\ndeleted twice.txt\nmade n.py\ndeleted m.py"
    after = files(root)
    wanted = TEXT.replace("line 2\n", "line two\n").replace("line 12\n", "line 11b\nline 12\n").encode()
    assert after == {
        "a.txt": wanted,
        "sub/new.py": b"x = 1\ny = 2\n",
        "n.py": b"def f():\n    return 2\n",
        "w.txt": b"one\r\ntwo\r\nthree",
    }


def header(path: str, hunk: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n{hunk}"


@pytest.mark.parametrize(
    ("path", "hunk", "after"),
    [
        ("w.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n", b"one\r\n2\r\nthree"),
        ("w.txt", "@@ -3 +3 @@\n-three\n\\ No newline at end of file\n+three\n", b"one\r\ntwo\r\nthree\r\n"),
        ("w.txt", "@@ -2,0 +3 @@\n+2b\n", b"one\r\ntwo\r\n2b\r\nthree"),
        ("a.txt", "@@ -90,9 +90,1 @@\n line 4\n-line 5\n line 6\n", TEXT.replace("line 5\n", "").encode()),
        ("a.txt", "@@ -4,3 +4,3 @@\n other\n-line 5\n+five\n line 6\n", TEXT.replace("line 5", "five").encode()),
        ("twice.txt", "@@ -3,2 +3,2 @@\n-x\n+z\n y\n", b"x\ny\nz\ny\n"),
    ],
)
def test_one_hunk(root: Path, toolbox: Toolbox, path: str, hunk: str, after: bytes) -> None:
    result = toolbox.call("apply_patch", {"patch": header(path, hunk)})
    assert (result.code, result.changed_files) == ("ok", (path,)), result.text
    assert (root / path).read_bytes() == after


@pytest.mark.parametrize(
    ("patch", "code", "text"),
    [
        ("no patch", "invalid", "there is no file in the patch; give a unified diff with --- and +++ lines"),
        ("@@ -1 +1 @@\n-a\n+b\n", "invalid", "line 1 of the patch begins a hunk of no file; give --- and +++ lines"),
        (header("a.txt", "@@ -1 +1 @@\n line 1\n"), "invalid", "the hunk at line 1 changes nothing"),
        (header("no.txt", "@@ -1 +1 @@\n-a\n+b\n"), "not_found", "there is no file no.txt"),
        (
            header("../x", "@@ -1 +1 @@\n-a\n+b\n"),
            "refused",
            "'../x' is outside the workspace; name a file inside the workspace directory",
        ),
        (
            header("a.txt", "@@ -1,2 +1,2 @@\n-line 7\n+x\n line 9\n"),
            "no_match",
            "hunk 1 of a.txt does not fit: its old lines are not there (line 7)",
        ),
        (
            header("twice.txt", "@@ -9 +9 @@\n-x\n+z\n"),
            "many_matches",
            "hunk 1 of twice.txt fits at lines 1, 3; give more context",
        ),
        (
            header("m.py", "@@ -1 +1 @@\n-def f():\n+def f(:\n"),
            "syntax_error",
            "the patch was refused, since m.py line 1: invalid syntax: def f(:",
        ),
        (
            "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n",
            "refused",
            "a.txt exists already, and the patch would make it",
        ),
        (
            "--- a/twice.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
            "no_match",
            "twice.txt has more text than the patch deletes",
        ),
        (
            "diff --git a/x.png b/x.png\nindex 1..2\nGIT binary patch\nliteral 0\n",
            "invalid",
            "the patch holds a binary file, which is not applied",
        ),
        (
            header("a.txt", "@@ -1 +1 @@\n-line 1\n+x\n") + header(".git/config", "@@ -0,0 +1 @@\n+x\n"),
            "not_found",
            "there is no file .git/config",
        ),
        (
            header("a.txt", "@@ -1 +1 @@\n-line 1\n+x\n") + "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n",
            "refused",
            ".git/hooks/x is protected and is not edited; edit it yourself if it must change",
        ),
    ],
)
def test_bad_patches_change_nothing(root: Path, toolbox: Toolbox, patch: str, code: str, text: str) -> None:
    before = files(root)
    result = toolbox.call(
        "apply_patch",
        {"patch": header("w.txt", "@@ -1 +1 @@\n-one\n+1\n") + patch if "+" in patch and "a.txt" in patch else patch},
    )
    assert (result.code, result.text) == (code, text)
    assert files(root) == before


@pytest.mark.parametrize("context", [0, 1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_what_difflib_writes_is_applied(seed: int, context: int) -> None:
    chance = random.Random(seed)
    old = [f"{chance.randrange(5)}\n" for _ in range(chance.randrange(30))]
    new = [line for line in old if chance.random() > 0.2]
    for _ in range(chance.randrange(6)):
        new.insert(chance.randrange(len(new) + 1), f"n{chance.randrange(9)}\n")
    diff = "".join(difflib.unified_diff(old, new, "a/x", "b/x", n=context))
    if diff:
        (found,) = read_patch(diff)
        assert patched("x", "".join(old), found.hunks) == "".join(new)


def test_what_git_writes_is_applied(tmp_path: Path) -> None:
    """The diff of two trees, as git writes it, makes the one from the other."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        (folder / "pkg").mkdir(parents=True)
        (folder / "pkg" / "with blank.py").write_text("a = 1\n" * 9)
        (folder / "gone.txt").write_text("x")
        (folder / "old.txt").write_text(TEXT)
    (two / "pkg" / "with blank.py").write_text("a = 1\n" * 4 + "b = 2\n" + "a = 1\n" * 5)
    (two / "gone.txt").unlink()
    (two / "old.txt").rename(two / "new ä.txt")
    (two / "empty.txt").touch()
    git = shutil.which("git")
    assert git
    diff = (
        subprocess.run(
            [git, "diff", "--no-index", "-M", "--no-color", "one", "two"], cwd=tmp_path, capture_output=True, text=True
        )
        .stdout.replace("a/one/", "a/")
        .replace("b/two/", "b/")
        .replace("one/", "")
        .replace("two/", "")
    )
    result = toolbox_on(one).call("apply_patch", {"patch": diff})
    assert result.ok, result.text + diff
    assert files(one) == files(two)

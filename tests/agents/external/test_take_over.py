"""What of an agent's changes comes into a workspace that has a scope."""

from __future__ import annotations

from pathlib import Path

from codur.agents.external.copy import changes_in, copy_workspace, take_over
from codur.sandbox.scratch import remove_tree
from codur.types import ScopeRules
from codur.workspace.scope import Scope
from codur.workspace.workspace import Workspace
from tests.agents.external.kit import RIGHT, WRONG, fill
from tests.support.recursion import DEEPER, little_recursion


def test_what_is_out_of_scope_is_noted_and_the_rest_is_taken(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    workspace = Workspace.open(fill(root, WRONG))
    workspace.scope = Scope(workspace.root, ScopeRules(allow=("main.py",)))
    copy = copy_workspace(workspace, tmp_path / "work", may_instruct=lambda path, content: False)
    fill(copy.root, {"main.py": RIGHT, "other.py": "1\n"})

    changes = changes_in(copy, max_file_bytes=workspace.max_file_bytes)
    taken = take_over("its", changes, copy, workspace, allowed=lambda path: True)

    assert (taken.changed_files, taken.problem) == (("main.py",), "")
    assert taken.notes == ("not taken over from its: other.py: is out of scope",)
    assert (root / "main.py").read_text() == RIGHT


def test_a_tree_that_is_deeper_than_a_function_can_recurse_is_looked_through(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    workspace = Workspace.open(fill(root, WRONG))
    copy = copy_workspace(workspace, tmp_path / "work", may_instruct=lambda path, content: False)
    fill(copy.root, {"main.py": RIGHT})
    deep = copy.root
    for _ in range(DEEPER):
        deep /= "a"
        deep.mkdir()

    with little_recursion():
        changes = changes_in(copy, max_file_bytes=workspace.max_file_bytes)
        assert take_over("its", changes, copy, workspace, allowed=lambda path: True).changed_files == ("main.py",)
        remove_tree(copy.root)

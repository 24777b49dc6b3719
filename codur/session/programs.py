"""What a run notices of the programs that it starts."""

from pathlib import Path

from codur.events import Emit, Note
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace


class Programs:
    """Sees every program that starts: what it changes in the workspace is recorded; that nothing holds it is told."""

    def __init__(self, workspace: Workspace, emit: Emit) -> None:
        self.launcher: Launcher | None = None  # the one that starts them
        self._workspace = workspace
        self._emit = emit
        self._told = False

    def before(self, root: Path) -> None:
        """A program is about to be started in `root`."""
        # At the first program and not at the start: many runs start none.
        if self.launcher is not None and self.launcher.name == "none" and not self._told:
            self._told = True
            self._emit(Note(level="warning", text=uncontained(self.launcher.note)))
        # Copies are thrown away; what changes there is nobody's loss.
        if root == self._workspace.root:
            note = self._workspace.programs.before()
            if note:
                self._emit(Note(level="warning", text=note))

    def reached_outside(self, paths: tuple[str, ...]) -> None:
        """The program changed files that a package cache or another directory has, too."""
        count = f"{paths[0]} and {len(paths) - 1} more files have" if len(paths) > 1 else f"{paths[0]} has"
        text = f"a program changed what is linked from elsewhere: {count} further names; install these packages anew"
        self._emit(Note(level="warning", text=text))

    def discard(self, root: Path) -> None:
        """The program has ended, and added too much."""
        if root == self._workspace.root and not self._workspace.programs.discard():
            text = "a program added too much, and what it left could not all be told from yours: look at the workspace"
            self._emit(Note(level="warning", text=text))

    def after(self, root: Path) -> None:
        """The program has ended."""
        if root != self._workspace.root:
            return
        for path in self._workspace.programs.after().parted:
            text = f"{path} has other names outside: a program changed it, and they hold again what they held"
            self._emit(Note(level="info", text=text))


def uncontained(why: str) -> str:
    """What is said, once, when programs run and nothing contains them."""
    reason = f" ({why})" if why else ""
    return f"programs run WITHOUT a sandbox, with your permissions{reason}; see `codur doctor`"

"""Git in a repository that may be hostile: contained, with a deadline, and without the programs that it names.

Git sees the work tree and the repository's own directories and nothing else of the user's, so that no link, alternate
or setting leads it to another repository or to a file elsewhere. What would do so, or would keep it waiting, and can be
told beforehand is refused with its name.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from shlex import quote
from threading import Lock
from typing import TYPE_CHECKING, Any

from codur.lazy import late, regex
from codur.structs import Struct
from codur.tools.git import git_hardening
from codur.tools.tool import ToolContext, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codur.sandbox.launcher import Launcher
    from codur.sandbox.process.process_result import ProcessResult

shutil = late("shutil")

REVISION = regex(r"[\w@][\w./@^~{}:+-]*")
"""What may name a commit: never an option."""
BRANCH = regex(r"[\w-]+(?:[./][\w-]+)*")
NO_COMMITS = "does not have any commits"
"""What git says of a repository without a commit."""
_NO_SUCH_REVISION = ("unknown revision", "bad revision", "bad object", "Needed a single revision")
MAX_OUTPUT = 4_000_000
_MAX_PROBLEM = 65_536  # of what git says when it fails; its output goes through the tap
_DEADLINE_S = 30.0
_ENV = "/usr/bin/env"
_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
"""Where git is looked for: never in a directory that a workspace could have put on the path."""
_PROGRAM_VARIABLE = "GIT_PYTHON_GIT_EXECUTABLE"
_importing = Lock()  # the variable is the whole process's for as long as the import takes
_NO_WORKSPACE = Path("/")
_NOT_INSTALLED = 127
_SAID_CHARS = 300
_INCLUDED = regex(r'(?i)\bpath\s*=\s*("[^"\n]+|[^"#;\n]+)')
_MAX_INCLUDED = 100
_FILES = (
    *("HEAD", "config", "config.worktree", "index", "packed-refs", "shallow", "commondir", "gitdir", "logs/HEAD"),
    *("info/exclude", "info/attributes", "info/grafts", "objects/info/packs", "objects/info/commit-graph"),
)
_DIRECTORIES = ("objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", "info", "logs")
_ALTERNATES = ("objects/info/alternates", "objects/info/http-alternates")


class Repository(Struct):
    """A repository around the workspace: its top directory and the way to call git in it."""

    top: Path
    root: Path
    launcher: Launcher
    timeout_s: float
    # its directories outside the top, of a linked work tree or a submodule; and `.git`, the first
    own: tuple[Path, ...] = ()
    path: str = _PATH

    def call(
        self,
        *arguments: str,
        config: tuple[tuple[str, str], ...] = git_hardening.ALWAYS,
        variables: tuple[tuple[str, str], ...] = (),
        writable: tuple[Path, ...] = (),
        readable: tuple[Path, ...] = (),
    ) -> str:
        """Standard output of a git command.

        Args:
            variables: further environment variables, such as those that say who commits.
            writable: directories that it may write.
            readable: paths that it may read beside the repository.

        Raises:
            ToolError: git is not installed, failed, or took too long.
        """
        environment = [f"{name}={value}" for name, value in (*self._environment(), *variables)]

        def run(command: list[str]) -> str:
            output = bytearray()
            done = self.launcher.run(
                # A user's `GIT_*` variables would turn git to other repositories, settings and programs.
                [_ENV, "-i", *environment, *command],  # nothing of the environment but what is listed
                cwd=self.root,
                root=_NO_WORKSPACE,
                readable=(self.top, *self.own, *readable),
                writable=writable,
                timeout_s=self.timeout_s,
                max_output_bytes=_MAX_PROBLEM,
                tap=lambda chunk: output.extend(chunk[: max(MAX_OUTPUT - len(output), 0)]),
            )
            # An output that was cut off is used as far as it goes.
            if done.exit_status != 0 and not done.flooded:
                raise self._failure(done, output.decode("utf-8", "replace"))
            return output.decode("utf-8", "replace")

        git = _commands(self.path)(run)
        git(no_pager=True, no_replace_objects=True, c=[f"{key}={value}" for key, value in config])
        text: str = getattr(git, arguments[0])(*arguments[1:])
        return text

    def _failure(self, done: ProcessResult, output: str) -> ToolError:
        if done.exit_status == _NOT_INSTALLED:
            return _not_installed(self.path)
        if done.timed_out:
            return ToolError("timeout", f"git ran longer than {self.timeout_s:g} s")
        # "nothing to commit" is said where answers are.
        problem = done.stderr or output or f"it was stopped ({done.limit or 'cancelled'})"
        line = next((line for line in problem.splitlines() if line.startswith(("fatal:", "error:"))), "")
        said = " ".join(problem.split())  # of a hook, whose last words tell the most
        text = line.partition(": ")[2] or (said if len(said) <= _SAID_CHARS else f"…{said[-_SAID_CHARS:]}")
        if "bad config" in text or "not a git repository" in text:
            return ToolError("failed", f"git cannot read this repository: {text:.200}")
        if any(words in text for words in _NO_SUCH_REVISION):
            return ToolError("not_found", f"git knows no such revision: {text:.200}")
        return ToolError("failed", f"git failed: {text:.{_SAID_CHARS}}")

    def setting(self, key: str, file: str | None = None, home: str = "") -> str:
        """A setting of the repository, or of a settings file of the user in `home`; empty if it has none."""
        source = ["--file", file] if file else ["--local"]
        words = ("config", *source, "--includes", "--default", "", "--get", key)
        variables = (("HOME", home),) if home else ()  # what it includes may be named by it
        return self.call(*words, readable=_with_included(file, home), variables=variables).strip("\n")

    def own_setting(self, key: str, environ: Mapping[str, str]) -> str:
        """A setting of the user's own, in the home directory that `environ` names; empty if there is none."""
        home = Path(environ.get("HOME", ""))
        files = [file for file in (home / ".gitconfig", home / ".config" / "git" / "config") if file.is_absolute()]
        values = (self.setting(key, str(file), str(home)) for file in files if file.is_file())
        return next(filter(None, values), "")

    def safe(
        self,
        *arguments: str,
        variables: tuple[tuple[str, str], ...] = (),
        writable: tuple[Path, ...] = (),
        readable: tuple[Path, ...] = (),
        hooks: bool = False,
    ) -> str:
        """As `call`, with every key overridden that could start a program.

        Args:
            hooks: but for the repository's hooks, which the user wants to be run, contained as git is.

        Raises:
            ToolError: as `call`; `refused` if a key cannot be overridden.
        """
        # Listing starts nothing; only then it is known which keys have to be overridden.
        names = self.call("config", "--list", "--name-only", "-z").split("\0")
        config = git_hardening.overrides(name for name in names if name)
        if config is None:
            raise ToolError(
                "refused", "the repository's configuration could run programs in ways that cannot be shut off"
            )
        if hooks:
            config = tuple(item for item in config if item[0].lower() != "core.hookspath")
        return self.call(*arguments, config=config, variables=variables, writable=writable, readable=readable)

    def _environment(self) -> tuple[tuple[str, str], ...]:
        return (
            ("PATH", self.path),
            ("GIT_DIR", str(self.top / ".git")),
            ("GIT_WORK_TREE", str(self.top)),
            *git_hardening.ENVIRONMENT,
        )


@cache
def _commands(path: str) -> Any:
    """GitPython's commands, which what they are made with carries out; GitPython itself would start them uncontained.

    It is told where git is: on its own it starts the first on the user's `PATH`, maybe one in the workspace.

    Raises:
        ToolError: git is not installed.
    """
    # By the fixed path and not the user's, in which a workspace may have put a directory.
    program = shutil.which("git", path=path)
    if program is None:
        raise _not_installed(path)
    variables = os.environ  # noqa: TID251 - written, not read: GitPython takes it from nowhere else
    with _importing:
        before = variables.get(_PROGRAM_VARIABLE)
        variables[_PROGRAM_VARIABLE] = program
        try:
            import git  # noqa: PLC0415 - lazy: 0.15 s, and it starts git
        except ImportError as error:
            raise _not_installed(path) from error
        finally:
            del variables[_PROGRAM_VARIABLE]
            if before is not None:
                variables[_PROGRAM_VARIABLE] = before

    class Commands(git.Git):
        def __init__(self, run: Callable[[list[str]], str]) -> None:
            super().__init__()
            self._run = run

        # Of the many ways to call it only this one is used.
        def execute(self, command: list[str], **_: Any) -> str:  # type: ignore[override]
            return self._run(command)

    return Commands


def _with_included(file: str | None, home: str) -> tuple[Path, ...]:
    """A settings file and what it may include: git takes what it cannot read for empty, and says nothing."""
    files = [Path(file)] if file else []
    for each in islice(files, _MAX_INCLUDED):
        with suppress(OSError):
            named = (name.strip('" \t\r') for name in _INCLUDED.findall(each.read_text("utf-8", "replace")))
            paths = [each.parent / (home + path[1:] if path.startswith("~/") else path) for path in named]
            files += [path for path in paths if path.is_file()]
    return tuple(files[:_MAX_INCLUDED])


def require_revision(text: str) -> str:
    """The text, if it may name a commit. Raises ToolError: `invalid`."""
    if not REVISION.fullmatch(text):
        raise ToolError("invalid", f"{text!r:.60} is no revision; give a commit, branch or tag such as HEAD~1")
    return text


def _not_installed(path: str) -> ToolError:
    return ToolError("failed", f"git is not installed in {path}")


# --- finding the repository -------------------------------------------------------------------------------------------


def repository_of(context: ToolContext) -> Repository:
    """The repository that the workspace is in. Raises ToolError: as `repository_around`."""
    return repository_around(context.workspace.root, context.launcher, min(context.timeout_s, _DEADLINE_S), asked=True)


def repository_around(root: Path, launcher: Launcher, timeout_s: float, *, asked: bool = False) -> Repository:
    """The repository that a directory is in.

    Args:
        timeout_s: wall time of one call of git.
        asked: somebody asked for git: one right in the directory may be another user's.

    Raises:
        ToolError: `not_found` if there is none; `refused` if it belongs to someone else, leads to another place, or has
            something else where its files are.
    """
    for top in (root, *root.parents):
        mark = top / ".git"
        if not os.path.lexists(mark):
            continue
        # As git itself refuses it: whoever owns `/tmp/.git` would decide what runs in all of `/tmp`.
        if not (asked and top == root) and mark.lstat().st_uid not in (os.getuid(), 0):
            taken = f"Make it yours (chown -R {os.getuid()} {quote(str(mark))}), or commit with git itself"
            remedy = f"{taken}, once you trust it: git config --global --add safe.directory {quote(str(top))}"
            raise ToolError("refused", f"the repository in {top} belongs to another user", remedy=remedy)
        own = _directories(top, mark)
        if not own:
            remedy = (
                f"Plain git would act on that one, too: see where {mark} leads, and delete it if that is not meant."
            )
            raise ToolError("refused", f"{mark} leads to a repository elsewhere", remedy=remedy)
        for directory in own:
            _require_plain(directory)
        return Repository(top=top, root=root, launcher=launcher, timeout_s=timeout_s, own=own)
    raise ToolError("not_found", "the workspace is not in a git repository; git init makes one")


def begun(root: Path, launcher: Launcher, timeout_s: float, environ: Mapping[str, str]) -> Repository:
    """The repository of a directory, which is made if there is none: without hooks, on the branch that the user's git
    settings name, else on `main`.

    Args:
        environ: the user's environment; without `HOME` the settings there are left alone.

    Raises:
        ToolError: as `repository_around`.
    """
    if not os.path.lexists(root / ".git"):
        made = Repository(top=root, root=root, launcher=launcher, timeout_s=timeout_s)
        branch = made.own_setting("init.defaultBranch", environ)
        branch = branch if BRANCH.fullmatch(branch) else "main"
        made.call("init", "--quiet", "--template=", f"--initial-branch={branch}", writable=(root,))
    return repository_around(root, launcher, timeout_s, asked=True)


def _directories(top: Path, mark: Path) -> tuple[Path, ...]:
    """The repository's own directories; empty if `.git` is neither one, nor a file as linked work trees and submodules
    have it."""
    if mark.is_symlink():
        return ()
    if mark.is_dir():
        # With this file git takes most of the repository from elsewhere.
        return () if (mark / "commondir").exists() else (mark,)
    if not mark.is_file() or mark.stat().st_size > 4096:
        return ()
    target = Path(os.path.realpath(top / _first_line(mark).removeprefix("gitdir:").strip()))
    back, common = target / "gitdir", target / "commondir"
    if common.is_file():
        shared = target.parent.parent
        # Both ways: a `.git` file may name any work tree's directory, which must name this one in turn.
        linked = back.is_file() and Path(os.path.realpath(target / _first_line(back))) == mark
        theirs = target.parent.name == "worktrees" and os.path.realpath(target / _first_line(common)) == str(shared)
        return (target, shared) if linked and theirs else ()
    return (target,) if any(target.is_relative_to(above / ".git") for above in top.parents) else ()


def _require_plain(directory: Path) -> None:
    """Refuse a repository that has a link, a pipe or the like where git expects a file or directory of its own."""
    for names, is_kind in ((_FILES, stat.S_ISREG), (_DIRECTORIES, stat.S_ISDIR)):
        for name in names:
            place = directory / name
            if os.path.lexists(place) and not is_kind(place.lstat().st_mode):
                kind = "directory" if names is _DIRECTORIES else "file"
                raise ToolError("refused", f"{place} is no {kind} of the repository; git is not started with it")
    for name in _ALTERNATES:
        if os.path.lexists(directory / name):
            raise ToolError(
                "refused",
                f"{directory / name} names another repository, which is not read; git repack -a -d copies its objects, "
                "then delete that file",
            )


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")[0]

"""Git in a repository that may be hostile, through GitPython; no program that its configuration names is started."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from codur.tools import git_config
from codur.tools.tool import ToolContext, ToolError

REVISION = re.compile(r"[\w@][\w./@^~{}:+-]*")
"""What may name a commit: never an option."""
_MAX_OUTPUT = 4_000_000
_ENV = "/usr/bin/env"
_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
"""Where git is looked for: never in a directory that a workspace could have put on the path."""
_PROGRAM_VARIABLE = "GIT_PYTHON_GIT_EXECUTABLE"


class _Capped:
    """A stream that keeps the first bytes and drops the rest."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, chunk: bytes) -> int:
        self.data += chunk[: max(_MAX_OUTPUT - len(self.data), 0)]
        return len(chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository around the workspace: its top directory and the way to call git in it."""

    top: Path
    root: Path
    timeout_s: float
    path: str

    def call(
        self,
        *arguments: str,
        config: tuple[tuple[str, str], ...] = git_config.ALWAYS,
        variables: tuple[tuple[str, str], ...] = (),
    ) -> str:
        """Standard output of a git command.

        Args:
            variables: further environment variables, such as those that say who commits.

        Raises:
            ToolError: git is not installed, failed, or took too long.
        """
        git_python = _git_python(self.path)
        environment = [f"{name}={value}" for name, value in (*self._environment(), *variables)]
        settings = [part for key, value in config for part in ("-c", f"{key}={value}")]
        output = _Capped()
        try:
            # GitPython hands on its whole environment; env -i cuts it down to what is listed here.
            status, _, problem = git_python.Git(self.root).execute(
                [_ENV, "-i", *environment, "git", "--no-pager", "--no-replace-objects", *settings, *arguments],
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                output_stream=cast(BinaryIO, output),
                kill_after_timeout=self.timeout_s,
            )
        except git_python.GitCommandNotFound as error:
            raise _not_installed(self.path) from error
        if status != 0:
            raise _not_installed(self.path) if status == 127 else _failure(str(problem), self.timeout_s)
        return output.data.decode("utf-8", "replace")

    def setting(self, key: str, file: str | None = None) -> str:
        """A setting of the repository, or of a settings file; empty if it has none."""
        source = ["--file", file] if file else ["--local"]
        return self.call("config", *source, "--includes", "--default", "", "--get", key).strip("\n")

    def safe(self, *arguments: str, variables: tuple[tuple[str, str], ...] = ()) -> str:
        """As `call`, with every key overridden that could start a program.

        Raises:
            ToolError: as `call`; `refused` if a key cannot be overridden.
        """
        names = self.call("config", "--list", "--name-only", "-z").split("\0")
        config = git_config.overrides(name for name in names if name)
        if config is None:
            raise ToolError(
                "refused", "the repository's configuration could run programs in ways that cannot be shut off"
            )
        return self.call(*arguments, config=config, variables=variables)

    def _environment(self) -> tuple[tuple[str, str], ...]:
        return (
            ("PATH", self.path),
            ("GIT_DIR", str(self.top / ".git")),
            ("GIT_WORK_TREE", str(self.top)),
            *git_config.ENVIRONMENT,
        )


def _git_python(path: str) -> Any:
    """GitPython, told where git is: on its own it starts the first on the user's `PATH`, maybe one in the workspace.

    Raises:
        ToolError: git is not installed.
    """
    if "git" in sys.modules:
        return sys.modules["git"]
    program = shutil.which("git", path=path)
    if program is None:
        raise _not_installed(path)
    variables = os.environ  # noqa: TID251 - written, not read: GitPython takes it from nowhere else
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
    return git


def _not_installed(path: str) -> ToolError:
    return ToolError("failed", f"git is not installed in {path}")


def _failure(problem: str, timeout_s: float) -> ToolError:
    if "did not complete in" in problem:
        return ToolError("timeout", f"git ran longer than {timeout_s:g} s")
    line = next((line for line in problem.splitlines() if line.startswith(("fatal:", "error:"))), problem.strip())
    text = line.partition(": ")[2] or line
    if "bad config" in text or "not a git repository" in text:
        return ToolError("failed", f"git cannot read this repository: {text:.200}")
    if "unknown revision" in text or "bad revision" in text or "bad object" in text:
        return ToolError("not_found", f"git knows no such revision: {text:.200}")
    return ToolError("failed", f"git failed: {text:.200}")


# --- finding the repository -------------------------------------------------------------------------------------------


def repository_of(context: ToolContext) -> Repository:
    """The repository that the workspace is in.

    Raises:
        ToolError: as `repository_around`.
    """
    return repository_around(context.workspace.root, context.timeout_s)


def repository_around(root: Path, timeout_s: float) -> Repository:
    """The repository that a directory is in.

    Args:
        timeout_s: wall time of one call of git.

    Raises:
        ToolError: `not_found` if there is none; `refused` if it belongs to someone else or leads to another place.
    """
    for top in (root, *root.parents):
        mark = top / ".git"
        if not os.path.lexists(mark):
            continue
        if top != root and mark.lstat().st_uid not in (os.getuid(), 0):
            raise ToolError("refused", f"the repository in {top} belongs to another user")
        if not _leads_home(top, mark):
            raise ToolError("refused", f"{mark} leads to a repository elsewhere")
        return Repository(top=top, root=root, timeout_s=timeout_s, path=_PATH)
    if (root / "HEAD").is_file() and (root / "objects").is_dir():
        raise ToolError("not_found", "this is a bare repository, which has no files to work on; clone it, work there")
    raise ToolError("not_found", "the workspace is not in a git repository; git init makes one")


def own_repository(root: Path, timeout_s: float) -> Repository:
    """As `repository_around`, for what nobody asked git for: only a repository of the user (or the system).

    Raises:
        ToolError: as `repository_around`; `refused` if it belongs to another user.
    """
    repository = repository_around(root, timeout_s)
    if (repository.top / ".git").lstat().st_uid not in (os.getuid(), 0):
        raise ToolError("refused", f"the repository in {repository.top} belongs to another user")
    return repository


def _leads_home(top: Path, mark: Path) -> bool:
    """Whether `.git` is the repository's own: a directory, or a file as linked work trees and submodules have it."""
    if mark.is_symlink():
        return False
    if mark.is_dir():
        return not (mark / "commondir").exists()
    if not mark.is_file() or mark.stat().st_size > 4096:
        return False
    target = Path(os.path.realpath(top / _first_line(mark).removeprefix("gitdir:").strip()))
    back = target / "gitdir"
    linked = back.is_file() and Path(os.path.realpath(target / _first_line(back))) == mark
    return linked or any(target.is_relative_to(above / ".git") for above in top.parents)


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")[0]

"""Hostile repositories: each makes plain git execute a program when the state of the repository is read.

A vector turns the repository of `make_repository` into a hostile one and says which command of plain git falls for it
(the live control). What executes leaves a mark beside the repository, and does nothing else.
"""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tools.conftest import toolbox_on

WHO = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """Plain git, as a person runs it."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        check=check,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **WHO},
    )
    return done.stdout


READING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("git_status", {}),
    ("git_diff", {}),
    ("git_diff", {"staged": True}),
    ("git_diff", {"revision": "HEAD"}),
    ("git_diff", {"path": "a.txt"}),
    ("git_log", {}),
    ("git_log", {"path": "a.txt"}),
    ("git_show", {}),
    ("git_show", {"path": "a.txt"}),
)
"""Every feature of Codur that reads the state of a repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """How plain git falls for a vector.

    Attributes:
        arguments: of git.
        directory: where it is called, from the repository's top; Codur's workspace is there, too.
        terminal: it is called with a terminal.
        refused: Codur does not read this repository at all.
    """

    arguments: tuple[str, ...]
    directory: str = "."
    terminal: bool = False
    refused: bool = False


def make_repository(folder: Path) -> Path:
    """A repository with one commit, one edit, one staged file and one new file, as `folder/w`."""
    root = folder / "w"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n")
    (root / "sub" / "ü.txt").write_text("below\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first\n\nwith a body")
    (root / "a.txt").write_text("two\n")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "new.txt").write_text("new\n")
    return root


def mark_of(root: Path) -> Path:
    """The file that exists once something was executed."""
    return root.parent / "mark"


def read_all(root: Path, control: Control) -> dict[str, str]:
    """Read the repository with every feature of Codur; gives the code of each."""
    toolbox = toolbox_on(root / control.directory)
    return {f"{name} {arguments}": toolbox.call(name, arguments).code for name, arguments in READING}


def run_control(root: Path, control: Control) -> bool:
    """Do as a person would, with plain git; whether that executed something."""
    mark_of(root).unlink(missing_ok=True)
    for second in range(2, 5):  # a script that was just written may be busy
        if control.terminal:
            _git_in_terminal(root / control.directory, control.arguments)
        else:
            git(root / control.directory, *control.arguments, check=False)
        if mark_of(root).exists():
            return True
        with suppress(FileNotFoundError):
            os.utime(root / "sub" / "ü.txt", (second, second))
    return False


def _git_in_terminal(directory: Path, arguments: Sequence[str]) -> None:
    controller, terminal = pty.openpty()
    try:
        subprocess.run(
            ["git", *arguments],
            cwd=directory,
            check=False,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**os.environ, **WHO, "TERM": "xterm"},
        )
    finally:
        os.close(terminal)
        os.close(controller)


def script(root: Path, body: str = "cat") -> Path:
    """A program that leaves a mark when it is executed."""
    path = root.parent / "evil.sh"
    path.write_text(f"#!/bin/sh\necho run >> {mark_of(root)}\n{body}\n")
    path.chmod(0o755)
    return path


def attributes(root: Path, text: str) -> None:
    (root / ".gitattributes").write_text(text)


def fsmonitor(root: Path) -> Control:
    git(root, "config", "core.fsmonitor", str(script(root, "exit 1")))
    return Control(arguments=("status",))


def hooks_path(root: Path) -> Control:
    (root / "hooks").mkdir()
    script(root).rename(root / "hooks" / "post-index-change")
    git(root, "config", "core.hooksPath", "hooks")
    os.utime(root / "sub" / "ü.txt", (1, 1))
    return Control(arguments=("status",))


def hook(root: Path) -> Control:
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    script(root).rename(root / ".git" / "hooks" / "post-index-change")
    os.utime(root / "sub" / "ü.txt", (1, 1))
    return Control(arguments=("status",))


def filter_clean(root: Path) -> Control:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "filter.x.clean", str(script(root)))
    git(root, "config", "filter.x.required", "true")
    return Control(arguments=("diff",))


def filter_with_dots(root: Path) -> Control:
    attributes(root, "*.txt filter=x.Y.z\n")
    git(root, "config", "filter.x.Y.z.clean", str(script(root)))
    return Control(arguments=("diff",))


def filter_process(root: Path) -> Control:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "filter.x.process", str(script(root, "exit 1")))
    return Control(arguments=("diff",))


def textconv(root: Path) -> Control:
    attributes(root, "*.txt diff=x\n")
    git(root, "config", "diff.x.textconv", str(script(root, 'cat "$1"')))
    return Control(arguments=("diff",))


def diff_command(root: Path) -> Control:
    attributes(root, "*.txt diff=x\n")
    git(root, "config", "diff.x.command", str(script(root)))
    return Control(arguments=("diff",))


def diff_external(root: Path) -> Control:
    git(root, "config", "diff.external", str(script(root)))
    return Control(arguments=("diff",))


def included(root: Path) -> Control:
    (root / "more.config").write_text(f"[core]\n\tfsmonitor = {script(root, 'exit 1')}\n")
    git(root, "config", "include.path", "../more.config")
    return Control(arguments=("status",))


def included_filter(root: Path) -> Control:
    attributes(root, "*.txt filter=x\n")
    (root / "more.config").write_text(f'[filter "x"]\n\tclean = {script(root)}\n')
    git(root, "config", "includeIf.gitdir:/.path", str(root / "more.config"))
    return Control(arguments=("diff",))


def worktree_config(root: Path) -> Control:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "extensions.worktreeConfig", "true")
    git(root, "config", "--worktree", "filter.x.clean", str(script(root)))
    return Control(arguments=("diff",))


def info_attributes(root: Path) -> Control:
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("* filter=x\n")
    git(root, "config", "filter.x.clean", str(script(root)))
    return Control(arguments=("diff",))


def signature(root: Path) -> Control:
    seal = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = git(root, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{seal}\n\n", 1)
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=root,
        input=signed,
        capture_output=True,
        text=True,
        check=True,
    )
    git(root, "reset", "-q", "--soft", made.stdout.strip())
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "gpg.program", str(script(root)))
    return Control(arguments=("log",))


def lazy_fetch(root: Path) -> Control:
    """A partial clone that misses a blob: showing it makes git fetch it, by a program of the repository's choice."""
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.partialClone", "x")
    git(root, "config", "remote.x.promisor", "true")
    git(root, "config", "remote.x.url", f"ext::{script(root, 'exit 1')}")
    git(root, "config", "protocol.ext.allow", "always")
    blob = git(root, "rev-parse", "HEAD:a.txt").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return Control(arguments=("diff",))


def submodule(root: Path) -> Control:
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "module")
    git(root / "module", "config", "core.fsmonitor", str(script(root, "exit 1")))
    return Control(arguments=("status",))


def filter_smudge(root: Path) -> Control:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "filter.x.smudge", str(script(root)))
    return Control(arguments=("checkout", "-f", "--", "a.txt"))


def pager(root: Path) -> Control:
    git(root, "config", "core.pager", str(script(root)))
    return Control(arguments=("log",), terminal=True)


def pager_of_a_command(root: Path) -> Control:
    git(root, "config", "pager.status", str(script(root)))
    return Control(arguments=("status",), terminal=True)


def ssh_command(root: Path) -> Control:
    git(root, "config", "core.sshCommand", str(script(root, "exit 1")))
    git(root, "config", "remote.origin.url", "ssh://nobody@127.0.0.1/x")
    return Control(arguments=("fetch", "origin"))


def remote_program(root: Path) -> Control:
    git(root, "config", "remote.origin.url", str(root))
    git(root, "config", "remote.origin.uploadpack", str(script(root, "exit 1")))
    return Control(arguments=("fetch", "origin"))


def editor(root: Path) -> Control:
    git(root, "config", "core.editor", str(script(root, "exit 1")))
    return Control(arguments=("commit",))


def alias(root: Path) -> Control:
    git(root, "config", "alias.st", f"!{script(root)}")
    return Control(arguments=("st",))


def alternates(root: Path) -> Control:
    other = root.parent / "other.git"
    git(root.parent, "init", "-q", "--bare", str(other))
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/objects\n")
    git(root, "config", "core.alternateRefsCommand", str(script(root)))
    return Control(arguments=("receive-pack", "."), refused=True)


def bare_repository_below(root: Path) -> Control:
    """A directory that is itself a repository, as it can come with a clone: no `.git` in it."""
    below = root / "sub" / "bare"
    git(root, "init", "-q", "--bare", str(below))
    git(below, "config", "core.bare", "false")
    git(below, "config", "core.worktree", ".")
    git(below, "config", "core.fsmonitor", str(script(root, "exit 1")))
    return Control(arguments=("status",), directory="sub/bare")


def file_that_leads_elsewhere(root: Path) -> Control:
    elsewhere = root.parent / "elsewhere"
    (root / ".git").rename(elsewhere)
    (root / ".git").write_text(f"gitdir: {elsewhere}\n")
    git(root, "config", "core.fsmonitor", str(script(root, "exit 1")))
    return Control(arguments=("status",), refused=True)


def directory_that_leads_elsewhere(root: Path) -> Control:
    elsewhere = root.parent / "elsewhere"
    (root / ".git").rename(elsewhere)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_bytes((elsewhere / "HEAD").read_bytes())
    (root / ".git" / "commondir").write_text(f"{elsewhere}\n")
    git(elsewhere, "config", "core.fsmonitor", str(script(root, "exit 1")))
    return Control(arguments=("status",), refused=True)


def merge_driver(root: Path) -> Control:
    git(root, "checkout", "-q", "-f", "-b", "other")
    for branch, text in (("other", "three\n"), ("main", "four\n")):
        git(root, "checkout", "-q", "-f", branch)
        (root / "a.txt").write_text(text)
        git(root, "commit", "-q", "-a", "-m", branch)
    attributes(root, "*.txt merge=x\n")
    git(root, "config", "merge.x.driver", str(script(root, "exit 1")))
    return Control(arguments=("merge", "other"))


VECTORS: tuple[Callable[[Path], Control], ...] = (
    fsmonitor,
    hooks_path,
    hook,
    filter_clean,
    filter_with_dots,
    filter_process,
    textconv,
    diff_command,
    diff_external,
    included,
    included_filter,
    worktree_config,
    info_attributes,
    signature,
    lazy_fetch,
    submodule,
    filter_smudge,
    pager,
    pager_of_a_command,
    ssh_command,
    remote_program,
    editor,
    alias,
    alternates,
    bare_repository_below,
    file_that_leads_elsewhere,
    directory_that_leads_elsewhere,
    merge_driver,
)

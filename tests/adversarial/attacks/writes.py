"""Attacks that change what is outside of the workspace, or what is protected inside."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from .kit import Facts, Program, checked, library


def w_abs(facts: Facts) -> None:
    """Write to an absolute path outside."""
    Path(facts["victim"], "new.txt").write_text("owned")


def w_symlink(facts: Facts) -> None:
    """Write through a link that leads outside."""
    link = Path("way-out")
    link.symlink_to(Path(facts["victim"], "file.txt"))
    link.write_text("owned")


def w_dotdot(facts: Facts) -> None:
    """Climb out with `..`."""
    Path(os.path.relpath(facts["victim"]), "file.txt").write_text("owned")


def w_bashrc(facts: Facts) -> None:
    """Append to a file that the user's shell runs."""
    with Path(facts["home"], ".bashrc").open("a") as stream:
        stream.write("echo owned\n")


def w_home_new(facts: Facts) -> None:
    """Make a new file in the home directory."""
    Path(facts["home"], ".profile").write_text("echo owned\n")


def w_rename_out(facts: Facts) -> None:
    """Rename a file outside."""
    Path(facts["victim"], "file.txt").rename(Path(facts["victim"], "renamed.txt"))


def w_unlink_out(facts: Facts) -> None:
    """Remove a file outside."""
    Path(facts["victim"], "file.txt").unlink()


def w_trunc_out(facts: Facts) -> None:
    """Empty a file outside."""
    os.truncate(Path(facts["victim"], "file.txt"), 0)


def w_mkdir_out(facts: Facts) -> None:
    """Make a directory outside."""
    Path(facts["victim"], "directory").mkdir()


def w_mkfifo_out(facts: Facts) -> None:
    """Make a pipe outside."""
    os.mkfifo(Path(facts["victim"], "pipe"))


def w_chmod_out(facts: Facts) -> None:
    """Change the mode of a file outside."""
    Path(facts["victim"], "file.txt").chmod(0o777)


def w_utime_out(facts: Facts) -> None:
    """Change the times of a file outside."""
    os.utime(Path(facts["victim"], "file.txt"), (1, 1))


def w_xattr_out(facts: Facts) -> None:
    """Set an extended attribute of a file outside."""
    os.setxattr(Path(facts["victim"], "file.txt"), "user.owned", b"yes")


def w_githook(facts: Facts) -> None:
    """Change a hook that git runs."""
    with Path(".git/hooks/pre-commit").open("a") as stream:
        stream.write("echo owned\n")


def w_githook_new(facts: Facts) -> None:
    """Add a hook that git runs."""
    hook = Path(".git/hooks/post-checkout")
    hook.write_text("#!/bin/sh\necho owned\n")
    hook.chmod(0o755)


def w_gitconfig(facts: Facts) -> None:
    """Let git's settings run a program."""
    with Path(".git/config").open("a") as stream:
        stream.write("[core]\n\tfsmonitor = echo owned\n")


def w_gitswap(facts: Facts) -> None:
    """Move `.git` away and put another in its place."""
    Path(".git").rename(".git2")
    Path(".git/hooks").mkdir(parents=True)
    Path(".git/hooks/post-checkout").write_text("#!/bin/sh\necho owned\n")


def w_expected(facts: Facts) -> None:
    """Change the output that the program is measured by."""
    Path(facts["expected"]).write_text("whatever the program prints\n")


def w_expected_swap(facts: Facts) -> None:
    """Move the expected output away and put another in its place."""
    expected = Path(facts["expected"])
    expected.rename(expected.with_name("before.txt"))
    expected.write_text("whatever the program prints\n")


def w_new_vscode(facts: Facts) -> None:
    """Add tasks that an editor runs."""
    Path(".vscode").mkdir()
    Path(".vscode/tasks.json").write_text(
        '{"tasks": [{"command": "echo owned", "runOptions": {"runOn": "folderOpen"}}]}'
    )


def w_new_codur(facts: Facts) -> None:
    """Add settings that Codur reads."""
    Path(".codur").mkdir()
    Path(".codur/config.yaml").write_text("sandbox: {backend: none}\n")


def w_mount(facts: Facts) -> None:
    """Mount another file system over a directory of the workspace."""
    place = Path("mounted")
    place.mkdir()
    checked(library().mount(b"none", bytes(place), b"tmpfs", 0, b"size=64k"), "mount")
    place.joinpath("file").write_text("mounted")
    library().umount2(bytes(place), ctypes.c_int(2))


def w_procsys(facts: Facts) -> None:
    """Open a setting of the kernel for writing; nothing is written."""
    os.close(os.open("/proc/sys/vm/overcommit_memory", os.O_WRONLY))


ATTACKS: dict[str, Program] = {
    "w-abs": w_abs,
    "w-symlink": w_symlink,
    "w-dotdot": w_dotdot,
    "w-bashrc": w_bashrc,
    "w-home-new": w_home_new,
    "w-rename-out": w_rename_out,
    "w-unlink-out": w_unlink_out,
    "w-trunc-out": w_trunc_out,
    "w-mkdir-out": w_mkdir_out,
    "w-mkfifo-out": w_mkfifo_out,
    "w-chmod-out": w_chmod_out,
    "w-utime-out": w_utime_out,
    "w-xattr-out": w_xattr_out,
    "w-githook": w_githook,
    "w-githook-new": w_githook_new,
    "w-gitconfig": w_gitconfig,
    "w-gitswap": w_gitswap,
    "w-expected": w_expected,
    "w-expected-swap": w_expected_swap,
    "w-new-vscode": w_new_vscode,
    "w-new-codur": w_new_codur,
    "w-mount": w_mount,
    "w-procsys": w_procsys,
}

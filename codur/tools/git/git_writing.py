"""Git tools that change the repository: off until allowed; no hook, filter or signer is started."""

from pathlib import Path
from typing import Annotated

from codur.tools.flow.code_outputs import Commits
from codur.tools.flow.outputs import FileList
from codur.tools.git.git_commits import FORMAT, read_commit
from codur.tools.git.git_repository import Repository, repository_of
from codur.tools.tool import GIT_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_PATHS = 1_000


@tool(FileList, side_effect="write", task_types=GIT_TASKS, permission="allow_git_write")
def git_stage_files(
    context: ToolContext, paths: Annotated[tuple[str, ...], Arg("Files to stage, also deleted ones.", "path")]
) -> ToolResult:
    """Stage changed files for the next commit.

    Put the files' present contents into the index; all of them or none.
    """
    workspace = context.workspace
    wanted = sorted({workspace.relative(path) for path in paths})
    if not 1 <= len(wanted) <= _MAX_PATHS:
        raise ToolError("invalid", f"give 1 to {_MAX_PATHS} files")
    repository = repository_of(context)
    for path in wanted:
        if not path or workspace.is_dir(path):
            raise ToolError("not_a_file", f"{path or 'the workspace'} is a directory; name its files")
        if not workspace.exists(path) and not repository.safe("ls-files", "-z", "--", path):
            raise ToolError("not_found", f"there is no file {path}, and git knows none")
    require_no_filter(repository, wanted)
    repository.safe("add", "--all", "--", *wanted, writable=repository.own)
    text = "\n".join(f"staged {path}" for path in wanted)
    return ToolResult(text=text, data=FileList(files=tuple(wanted), complete=True))


def require_no_filter(repository: Repository, paths: list[str]) -> None:
    """Refuse files that only a program could put into the index as the repository wants them. Raises ToolError:
    `refused`.
    """
    words = repository.safe("check-attr", "-z", "filter", "--", *paths).split("\0")
    for path, _, value in zip(words[::3], words[1::3], words[2::3], strict=False):
        if value not in ("unspecified", "unset", "set"):
            raise ToolError(
                "refused", f"{path} goes through the filter {value:.60}, which would run a program; stage it yourself"
            )


@tool(Commits, side_effect="write", task_types=GIT_TASKS, permission="allow_git_write")
def git_commit(
    context: ToolContext,
    message: Annotated[str, Arg("Commit message: one line, then an empty line and more if needed.")],
) -> ToolResult:
    """Commit what is staged.

    Make a commit, unsigned and without hooks.
    """
    message = message.strip()
    if not message or "\0" in message:
        raise ToolError("invalid", "message must not be empty")
    repository = repository_of(context)
    if not repository.safe("diff", "--cached", "--name-only", "--no-ext-diff", "--ignore-submodules=all"):
        raise ToolError("no_match", "nothing is staged; stage files first")
    repository.safe(
        "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit", "--no-status", "--cleanup=whitespace",
        f"--message={message}", variables=identity(repository, context.home), writable=repository.own,
    )  # fmt: skip
    options = ("--max-count=1", "--no-show-signature", "--no-color")
    commit = read_commit(repository.safe("log", *options, f"--format={FORMAT}"))
    return ToolResult(text=f"committed {commit.hash[:10]}: {commit.subject}", data=Commits(commits=(commit,)))


def identity(repository: Repository, home: Path | None) -> tuple[tuple[str, str], ...]:
    """The variables that say who commits: the repository's own name and address, else from the user's git settings.
    Raises ToolError: `refused`: git does not know. `home`: the user's home directory; None to leave the settings there
    alone.
    """
    found = {}
    for key in ("user.name", "user.email"):
        value = repository.setting(key) or next(
            (value for file in _user_files(home) if (value := repository.setting(key, file))), ""
        )
        if not value:
            raise ToolError("refused", f"git does not know who commits; set {key} with git config")
        found[key] = value
    return tuple(
        (f"GIT_{who}_{what}", found[f"user.{what.lower()}"])
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    )


def _user_files(home: Path | None) -> list[str]:
    if home is None:
        return []
    files = (home / ".gitconfig", home / ".config" / "git" / "config")
    return [str(file) for file in files if file.is_file()]


TOOLS = (git_stage_files, git_commit)

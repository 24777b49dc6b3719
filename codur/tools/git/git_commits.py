"""The commits of a repository, their files in a directory elsewhere, and the tools that make new ones.

Those are off until allowed; no hook, filter or signer is started.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from codur.lazy import regex
from codur.structs import replace
from codur.tools.flow.code_outputs import Commit, Commits, RepositoryStatus
from codur.tools.flow.outputs import FileList
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import BRANCH, Repository, repository_of, require_revision
from codur.tools.git.git_under_way import SHOWN, text_of, under_way
from codur.tools.tool import GIT_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

FORMAT = "%H%x1f%an%x1f%aI%x1f%s"
_GENERATED = ("*.py", "*.so", "*.pyd", "*.json", ".env", ".env.*")
_MAX_GENERATED = 200
_MARK_LINES = "^(<<<<<<<<*|>>>>>>>>*) "
_HASH = regex(r"[0-9a-f]{4,64}")
_PLAIN = frozenset({"pick", "p", "fixup", "f", "squash", "s", "drop", "d", "noop", "revert"})
"""What is left of a rebase or a row of picks and needs no editor and no program: `exec` would run one."""
_STRATEGY = regex(r"(?m)^\s*strategy\s*=\s*(\S+)")
_STRATEGIES = frozenset({"", "ort", "recursive", "resolve", "octopus", "ours", "subtree"})


def commit_of(repository: Repository, revision: str) -> str:
    """The hash of the commit that a revision names.

    Raises:
        ToolError: `not_found` if there is none; others as `Repository.call`.
    """
    try:
        return repository.safe("rev-parse", "--verify", "--quiet", f"{require_revision(revision)}^{{commit}}").strip()
    except ToolError as error:
        if error.code in ("timeout", "refused", "invalid"):
            raise
        reason = (
            "the repository has no commits yet" if revision == "HEAD" else f"git knows no such revision: {revision}"
        )
        raise ToolError("not_found", reason) from error


def described(repository: Repository, commit: str) -> tuple[Commit, str]:
    """A commit, and which files it changed by how many lines."""
    options = ["--no-show-signature", "--no-notes", "--stat=100", "-m", "--first-parent", *DIFF_OPTIONS]
    head, _, stat = repository.safe("show", f"--format={FORMAT}", *options, commit).partition("\n")
    return read_commit(head), stat.strip("\n")


def read_commit(line: str) -> Commit:
    """The commit that git told of by `FORMAT`."""
    hash_, author, date, subject = line.strip("\n").split("\x1f")
    return Commit(hash=hash_, author=author, date=date, subject=subject)


def last_commit(repository: Repository) -> Commit:
    """The commit that `HEAD` is at."""
    options = ("--max-count=1", "--no-show-signature", "--no-color")
    return read_commit(repository.safe("log", *options, f"--format={FORMAT}"))


def first_parents(repository: Repository, commit: str, limit: int) -> list[str]:
    """The commit and those before it, along first parents."""
    return repository.safe("rev-list", "--first-parent", f"--max-count={limit}", commit).split()


def tagged(repository: Repository) -> frozenset[str]:
    """The commits that have tags."""
    return frozenset(repository.safe("for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags").split())


def is_ancestor(repository: Repository, commit: str, other: str) -> bool:
    """Whether a commit is part of the other's past."""
    return not repository.safe("rev-list", "--max-count=1", commit, f"^{other}").strip()


def halving(repository: Repository, bad: str, good: list[str]) -> list[str]:
    """The commits of `bad` that are no part of `good`; the one that halves them best first, as git bisect takes it."""
    output = repository.safe("rev-list", "--bisect-all", bad, *(f"^{each}" for each in good))
    return [line.split(" ", 1)[0] for line in output.splitlines() if line]


def is_clean(repository: Repository) -> bool:
    """Whether the files below the root are those of the last commit, and there are no new ones."""
    return not repository.safe("status", "--porcelain=v1", "--ignore-submodules=all", "--", ".").strip()


def generated(repository: Repository) -> list[str]:
    """Ignored files that stand beside others and that a program may need, such as a `_version.py`; a limited number."""
    options = ["--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    output = repository.safe("ls-files", *options, "--", *_GENERATED, variables=(("GIT_LITERAL_PATHSPECS", "0"),))
    return [path for path in output.split("\0") if path and not path.endswith("/")][:_MAX_GENERATED]


def export(repository: Repository, commit: str, target: Path, index: Path) -> None:
    """Write the files that a commit has below the root into a directory.

    Args:
        index: a path for git's list of them, outside of the directory; it is overwritten.

    Raises:
        ToolError: the commit has no such directory, or some of its files are not here.
    """
    below = repository.root.relative_to(repository.top).as_posix()
    at_top = replace(repository, root=repository.top)
    own = (("GIT_INDEX_FILE", str(index)),)
    index.unlink(missing_ok=True)
    places = (target, index.parent)
    at_top.safe("read-tree", commit if below == "." else f"{commit}:{below}", variables=own, writable=places)
    at_top.safe("checkout-index", "--all", "--force", "--quiet", f"--prefix={target}/", variables=own, writable=places)


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
    if (begun := under_way(repository)) and (left := [path for path in wanted if path in begun.marked]):
        raise ToolError("refused", f"conflict markers are left in {', '.join(left)}", remedy="Resolve them first.")
    require_no_filter(repository, wanted)
    repository.safe("add", "--all", "--", *wanted, writable=repository.own)
    text = "\n".join(f"staged {path}" for path in wanted)
    return ToolResult(text=text, data=FileList(files=tuple(wanted), complete=True))


def require_no_filter(repository: Repository, paths: Sequence[str], *, driver: bool = False) -> None:
    """Refuse files that only a program could put into the index, or merge, as the repository wants them.

    Args:
        driver: they are merged as well.

    Raises:
        ToolError: `refused`.
    """
    names = ("filter", *(("merge",) if driver else ()))
    words = repository.safe("check-attr", "-z", *names, "--", *paths).split("\0") if paths else []
    for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=False):
        known = ("unspecified", "unset", "set", *(("text", "binary", "union") if name == "merge" else ()))
        if value not in known:
            how = "stage it yourself" if name == "filter" else "merge it yourself"
            raise ToolError("refused", f"{path} goes through the {name} {value:.60}, which would run a program; {how}")


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
        f"--message={message}", variables=identity(repository, context.environ), writable=repository.own,
    )  # fmt: skip
    commit = last_commit(repository)
    return ToolResult(text=f"committed {commit.hash[:10]}: {commit.subject}", data=Commits(commits=(commit,)))


def _require_no_program(top: Repository, paths: Sequence[str]) -> None:
    """Refuse files that git would merge or write by a program, or of which that is not known before."""
    if any(path.rpartition("/")[2] == ".gitattributes" for path in paths):
        raise ToolError("refused", "it changes .gitattributes, which say how files are written; do it yourself")
    if paths and top.setting("merge.default"):
        raise ToolError("refused", "merge.default names a program that merges; do it yourself")
    require_no_filter(top, paths, driver=True)


@tool(RepositoryStatus, side_effect="write", task_types=GIT_TASKS, permission="allow_git_write")
def git_switch(
    context: ToolContext,
    branch: Annotated[str, Arg("Its name.")],
    new: Annotated[bool, Arg("Make it, from the present commit; else it has to be there.")] = False,
) -> ToolResult:
    """Switch to a branch, a new one or one that is there; what is not committed comes along.

    Git refuses where that would lose a change; nothing is forced.
    """
    repository = repository_of(context)
    if not BRANCH.fullmatch(branch) or branch.startswith("-"):
        raise ToolError("invalid", f"{branch!r:.60} is no name for a branch; take letters, digits and - / . _")
    top = replace(repository, root=repository.top)
    if not new:
        if repository.root != repository.top:
            raise ToolError("refused", "the workspace is only a part of the repository, of which all files may change")
        there = commit_of(repository, f"refs/heads/{branch}")
        options = ("--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=all")
        changed = top.safe("diff", *options, commit_of(repository, "HEAD"), there).split("\0")
        _require_no_program(top, list(filter(None, changed)))
    options = (
        "--quiet",
        "--no-guess",
        "--no-recurse-submodules",
        "--no-overwrite-ignore",
        *(("--create",) if new else ()),
    )
    top.safe("switch", *options, branch, writable=(repository.top, *repository.own))
    text = f"on {'the new' if new else 'the'} branch {branch}"
    return ToolResult(text=text, data=RepositoryStatus(branch=branch, entries=()))


def identity(repository: Repository, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables that say who commits: as the user's environment does, else the repository's own name and address,
    else from the user's git settings.

    Args:
        environ: the user's environment; without `HOME` the settings there are left alone.

    Raises:
        ToolError: `refused`: git does not know.
    """
    found = list[tuple[str, str]]()
    for what in ("NAME", "EMAIL"):
        names, key = (f"GIT_AUTHOR_{what}", f"GIT_COMMITTER_{what}"), f"user.{what.lower()}"
        given = [environ.get(name, "").strip() for name in names]
        own = "" if all(given) else repository.setting(key) or repository.own_setting(key, environ)
        if not (own or all(given)):
            raise ToolError("refused", f"git does not know who commits; set {key} with git config")
        found += [(name, value or own) for name, value in zip(names, given, strict=True)]
    return tuple(found)


@tool(Commits, side_effect="write", task_types=GIT_TASKS, permission="allow_git_write")
def git_continue(context: ToolContext) -> ToolResult:
    """Go on with the merge, rebase, cherry-pick or revert that is under way: stage the resolved files, and commit the
    merge with its prepared message, or continue.

    No hook, filter, signer or editor is started; nothing is done while a file holds a conflict marker.
    """
    repository = repository_of(context)
    found = under_way(repository)
    if found is None:
        raise ToolError("no_match", "no merge, rebase, cherry-pick or revert is under way")
    if found.marked:
        raise ToolError("refused", f"conflict markers are left in {found.marks}", remedy="Resolve them first.")
    if found.unclear:
        raise ToolError(
            "refused",
            f"{', '.join(found.unclear[:SHOWN])}: only one side has it, or it is no text, so that nobody sees which "
            "is meant",
            remedy="Stage it as it is to be, or delete it and stage that; then go on.",
        )
    top, paths, by_hand = replace(repository, root=repository.top), [*found.unmerged], f"Go on yourself: {found.finish}"
    options = ("--cached", "--name-only", "--diff-filter=ACMRT", "--no-ext-diff", "--ignore-submodules=all")
    if staged := top.safe("diff", *options, "-G", _MARK_LINES, "HEAD").split("\n")[0]:
        raise ToolError("refused", f"lines with conflict markers are staged in {staged}", remedy="Resolve them first.")
    rest = () if found.kind == "merge" else _rest(top, by_hand)
    # What is left of a rebase changes files anywhere.
    if repository.root != repository.top and (found.kind != "merge" or any(path.startswith("..") for path in paths)):
        raise ToolError("refused", "the workspace is only a part of the repository", remedy=by_hand)
    require_no_filter(repository, paths)
    _require_no_program(top, rest)
    who, own = identity(repository, context.environ), repository.own
    if paths:
        repository.safe("add", "--all", "--", *paths, writable=own)
    try:
        if found.kind == "merge":
            alone = ("--quiet", "--no-verify", "--no-gpg-sign", "--no-edit", "--no-status", "--cleanup=strip")
            top.safe("commit", *alone, variables=who, writable=own)
        else:
            top.safe(found.kind, "--continue", variables=who, writable=(repository.top, *own))
    except ToolError as error:
        if error.code != "failed" or not ((now := under_way(repository)) and now.unmerged):
            raise ToolError(error.code, error.message, remedy=by_hand) from error
    commit, now = last_commit(top), under_way(repository)
    where = f"{commit.hash[:10]} {commit.subject}"
    text = f"it went on to {where}, and stopped again: {now.told}" if now else f"the {found.kind} is finished: {where}"
    return ToolResult(text=text, data=Commits(commits=(commit,)))


def _rest(top: Repository, by_hand: str) -> Sequence[str]:
    """The files that the commits change which are still to be applied.

    Raises:
        ToolError: `refused`: that would take an editor or a program.
    """
    own = top.own[0]
    strategies = {
        text_of(own / "rebase-merge" / "strategy").strip(),
        *_STRATEGY.findall(text_of(own / "sequencer" / "opts")),
    }
    stashed = (own / "rebase-merge" / "autostash").exists()  # what comes back then may conflict, too
    if (own / "rebase-apply").exists() or stashed or not strategies <= _STRATEGIES:
        raise ToolError("refused", "it was begun in a way that is not gone on with from here", remedy=by_hand)
    todo = f"{text_of(own / 'rebase-merge' / 'git-rebase-todo')}\n{text_of(own / 'sequencer' / 'todo')}"
    steps = [line.split() for line in todo.splitlines() if line.strip() and not line.startswith("#")]
    if other := next((step[0] for step in steps if step[0] not in _PLAIN), ""):
        raise ToolError("refused", f"what is left of it holds `{other}`, which is not done from here", remedy=by_hand)
    commits = [word for step in steps for word in step[1:3] if _HASH.fullmatch(word)]
    options = ("--format=", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=all")
    return tuple(filter(None, top.safe("show", *options, *commits).split("\0"))) if commits else ()


TOOLS = (git_stage_files, git_commit, git_switch, git_continue)

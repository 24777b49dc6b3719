"""Git tools that read; no program that a repository's configuration names is started."""

import re
from datetime import UTC, datetime
from typing import Annotated

from codur.tools.flow.code_outputs import Blame, BlamedLine, ChangedFile, Commit, Commits, Diff, RepositoryStatus
from codur.tools.git.git_commits import FORMAT, read_commit
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import NO_COMMITS, repository_of, require_revision
from codur.tools.tool import GIT_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_LOG = 500
_MAX_LINE = 300
_MAX_BLAMED = 2_000
_SHOW_FORMAT = "commit %H%nAuthor: %an%nDate:   %aI%n%n%w(0,4,4)%B"


@tool(RepositoryStatus, task_types=GIT_TASKS)
def git_status(context: ToolContext) -> ToolResult:
    """Show the branch and the changed files."""
    repository = repository_of(context)
    output = repository.safe(
        "status", "--porcelain=v1", "-z", "--branch", "--no-renames", "--ignore-submodules=all", "--", "."
    )
    items = [item for item in output.split("\0") if item]
    head = next((item[3:] for item in items if item.startswith("## ")), "")
    branch = head.removeprefix("No commits yet on ").partition("...")[0]
    prefix = repository.root.relative_to(repository.top).as_posix()
    entries = tuple(
        ChangedFile(status=item[:2], path=item[3:].removeprefix(f"{prefix}/"))
        for item in items
        if not item.startswith("## ")
    )
    lines = [f"on branch {head}" if not head.startswith("HEAD ") else "on no branch"]
    lines += [f"{entry.status} {entry.path}" for entry in entries] or ["nothing changed"]
    return ToolResult(text="\n".join(lines), data=RepositoryStatus(branch=branch, entries=entries))


@tool(Diff, task_types=GIT_TASKS)
def git_diff(
    context: ToolContext,
    path: Annotated[str, Arg("Only this file or directory.", "path", "directory")] = "",
    staged: Annotated[bool, Arg("Show what is staged instead of what is not.")] = False,
    revision: Annotated[str, Arg("Compare with this commit instead of the index.", "revision")] = "",
) -> ToolResult:
    """Show changes that are not committed."""
    options = ["--cached"] if staged else []
    words = [*options, *_revision(context, revision), "--", _path(context, path)]
    output = _shown(context, repository_of(context).safe("diff", *DIFF_OPTIONS, *words))
    return ToolResult(text=output or "no differences", data=Diff(revision=revision, files=_files(output)))


@tool(Commits, task_types=GIT_TASKS)
def git_log(
    context: ToolContext,
    limit: Annotated[int, Arg("Commits at most.")] = 10,
    path: Annotated[str, Arg("Only commits that changed this file or directory.", "path", "directory")] = "",
    revision: Annotated[str, Arg("Where to start; HEAD if left out.", "revision")] = "",
) -> ToolResult:
    """Show the latest commits."""
    repository = repository_of(context)
    words = [*_revision(context, revision), "--", *([_path(context, path)] if path else [])]
    most = f"--max-count={max(1, min(limit, _MAX_LOG))}"
    try:
        output = repository.safe("log", most, "--no-show-signature", "--no-color", f"--format={FORMAT}%x1e", *words)
    except ToolError as error:
        if NO_COMMITS not in error.message:
            raise
        output = ""
    commits = tuple(read_commit(record) for record in output.split("\x1e") if record.strip())
    lines = [f"{item.hash[:10]} {item.date[:10]} {item.author}: {item.subject}" for item in commits]
    return ToolResult(text="\n".join(lines) or "no commits yet", data=Commits(commits=commits))


@tool(Diff, task_types=GIT_TASKS)
def git_show(
    context: ToolContext,
    revision: Annotated[str, Arg("Commit to show.", "revision")] = "HEAD",
    path: Annotated[str, Arg("Only this file or directory.", "path", "directory")] = "",
) -> ToolResult:
    """Show one commit with its changes."""
    words = [*_revision(context, revision), "--", *([_path(context, path)] if path else [])]
    options = ["--no-show-signature", f"--format={_SHOW_FORMAT}", *DIFF_OPTIONS]
    output = _shown(context, repository_of(context).safe("show", *options, *words))
    return ToolResult(text=output, data=Diff(revision=revision, files=_files(output)))


def _files(diff: str) -> tuple[str, ...]:
    """Paths in git's own diff, each once; the new one for a renamed file."""
    found = re.findall(r"^(?:\+\+\+ b/|--- a/|rename to )(.+?)\t?$", diff, re.MULTILINE)
    return tuple(dict.fromkeys(found))


@tool(Blame, task_types=GIT_TASKS)
def git_blame(
    context: ToolContext,
    path: Annotated[str, Arg("File to look at, relative to the workspace.", "path")],
    start_line: Annotated[int | None, Arg("First line, counted from 1; the whole file if left out.", "line")] = None,
    end_line: Annotated[int | None, Arg("Last line, included.")] = None,
    revision: Annotated[str, Arg("As it was in this commit instead of now.", "revision")] = "",
) -> ToolResult:
    """Show which commit changed each line of a file last."""
    start = start_line or 1
    if start < 1 or (end_line is not None and end_line < start):
        raise ToolError("invalid", "give start_line and end_line counted from 1, the first one first")
    last = min(end_line or start + _MAX_BLAMED - 1, start + _MAX_BLAMED - 1)
    words = ["--line-porcelain", f"-L{start},{last}", *_revision(context, revision)]
    path = _path(context, path)
    _require_shown(context, path)
    try:
        output = repository_of(context).safe("blame", *words, "--", path)
    except ToolError as error:
        if "invalid object name: " not in error.message:
            raise
        # A line of the file that blame.ignoreRevsFile names, which no setting overrides.
        raise ToolError("refused", "blame.ignoreRevsFile names a file that is no list of commits") from None
    lines = tuple(_blamed(block) for block in re.split(r"(?<=\n)(?=[0-9a-f]{40} \d+ \d+)", output) if block)
    shown = [
        f"{item.commit.hash[:10]} {item.commit.date} {item.commit.author} {item.line}: {item.text}" for item in lines
    ]
    return ToolResult(text="\n".join(shown), data=Blame(path=path, lines=lines))


def _blamed(block: str) -> BlamedLine:
    """One line of `git blame --line-porcelain`."""
    head, _, text = block.partition("\n\t")
    first, *rest = head.split("\n")
    facts = dict(item.partition(" ")[::2] for item in rest)
    hash_, _, line = first.split(" ")[:3]
    date = datetime.fromtimestamp(int(facts.get("author-time", "0")), tz=UTC).date().isoformat()
    commit = Commit(hash=hash_, author=facts.get("author", ""), date=date, subject=facts.get("summary", ""))
    return BlamedLine(line=int(line), commit=commit, text=text.removesuffix("\n")[:_MAX_LINE])


def _shown(context: ToolContext, diff: str) -> str:
    """A diff without the parts of files that are withheld; their names stay."""
    parts = []
    for part in re.split(r"^(?=diff --(?:git|cc) )", diff, flags=re.MULTILINE):
        withheld = [path for path in _paths_of(part) if context.workspace.withholds(path)]
        parts.append(f"({withheld[0]} may hold keys or passwords and is left out)\n" if withheld else part)
    return "".join(parts)


def _paths_of(part: str) -> list[str]:
    """The paths that the head of one file's part of a diff names; git quotes odd ones."""
    if not part.startswith("diff --"):
        return []
    head = part.partition("\n@@")[0]
    found = re.findall(r'^(?:\+\+\+ |--- |rename (?:from|to) )"?(?:[ab]/)?(.+?)"?\t?$', head, re.MULTILINE)
    return list(dict.fromkeys(found))


def _require_shown(context: ToolContext, path: str) -> None:
    if context.workspace.withholds(path):
        raise ToolError("refused", f"{path} may hold keys or passwords, which no model is shown")


def _revision(context: ToolContext, text: str) -> list[str]:
    """The revision as a word of a command; none if none is given."""
    if not text:
        return []
    _require_shown(context, require_revision(text).partition(":")[2])  # COMMIT:PATH is a file's content
    return [text]


def _path(context: ToolContext, given: str) -> str:
    return context.workspace.relative(given) or "."


TOOLS = (git_status, git_diff, git_log, git_show, git_blame)

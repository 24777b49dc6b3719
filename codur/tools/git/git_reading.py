"""Git tools that read; no program that a repository's configuration names is started."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from codur.tools.arguments import argument
from codur.tools.flow.code_outputs import Blame, BlamedLine, ChangedFile, Commit, Commits, Diff, RepositoryStatus
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import REVISION, repository_of
from codur.tools.tool import GIT_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult

_MAX_LOG = 500
_MAX_LINE = 300
_MAX_BLAMED = 2_000
_LOG_FORMAT = "%H%x1f%an%x1f%aI%x1f%s%x1e"
_SHOW_FORMAT = "commit %H%nAuthor: %an%nDate:   %aI%n%n%w(0,4,4)%B"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitStatus:
    pass


@tool(GitStatus, RepositoryStatus, "Show the branch and the changed files.", task_types=GIT_TASKS)
def git_status(context: ToolContext, given: GitStatus) -> ToolResult:  # noqa: ARG001 - every tool takes its input
    """Branch and changed files."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GitDiff:
    path: str = argument("Only this file or directory.", "", accepts=("path", "directory"))
    staged: bool = argument("Show what is staged instead of what is not.", default=False)
    revision: str = argument("Compare with this commit instead of the index.", "", accepts="revision")


@tool(GitDiff, Diff, "Show changes that are not committed.", task_types=GIT_TASKS)
def git_diff(context: ToolContext, given: GitDiff) -> ToolResult:
    """Changes of the working tree."""
    options = ["--cached"] if given.staged else []
    revision = [_revision(context, given.revision)] if given.revision else []
    output = repository_of(context).safe("diff", *DIFF_OPTIONS, *options, *revision, "--", _path(context, given.path))
    output = _shown(context, output)
    return ToolResult(text=output or "no differences", data=Diff(revision=given.revision, files=_files(output)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitLog:
    limit: int = argument("Commits at most.", 10)
    path: str = argument("Only commits that changed this file or directory.", "", accepts=("path", "directory"))
    revision: str = argument("Where to start; HEAD if left out.", "", accepts="revision")


@tool(GitLog, Commits, "Show the latest commits.", task_types=GIT_TASKS)
def git_log(context: ToolContext, given: GitLog) -> ToolResult:
    """The latest commits."""
    limit = max(1, min(given.limit, _MAX_LOG))
    repository = repository_of(context)
    revision = [_revision(context, given.revision)] if given.revision else []
    path = ["--", _path(context, given.path)] if given.path else ["--"]
    options = [f"--max-count={limit}", "--no-show-signature", "--no-color", f"--format={_LOG_FORMAT}"]
    try:
        output = repository.safe("log", *options, *revision, *path)
    except ToolError as error:
        if "does not have any commits" not in error.message:
            raise
        output = ""
    records = [record.strip("\n").split("\x1f") for record in output.split("\x1e") if record.strip()]
    commits = tuple(Commit(hash=item[0], author=item[1], date=item[2], subject=item[3]) for item in records)
    lines = [f"{item.hash[:10]} {item.date[:10]} {item.author}: {item.subject}" for item in commits]
    return ToolResult(text="\n".join(lines) or "no commits yet", data=Commits(commits=commits))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitShow:
    revision: str = argument("Commit to show.", "HEAD", accepts="revision")
    path: str = argument("Only this file or directory.", "", accepts=("path", "directory"))


@tool(GitShow, Diff, "Show one commit with its changes.", task_types=GIT_TASKS)
def git_show(context: ToolContext, given: GitShow) -> ToolResult:
    """One commit with its changes."""
    path = ["--", _path(context, given.path)] if given.path else ["--"]
    options = ["--no-show-signature", f"--format={_SHOW_FORMAT}", *DIFF_OPTIONS]
    output = repository_of(context).safe("show", *options, _revision(context, given.revision), *path)
    output = _shown(context, output)
    return ToolResult(text=output, data=Diff(revision=given.revision, files=_files(output)))


def _files(diff: str) -> tuple[str, ...]:
    """Paths in git's own diff, each once; the new one for a renamed file."""
    found = re.findall(r"^(?:\+\+\+ b/|--- a/|rename to )(.+?)\t?$", diff, re.MULTILINE)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBlame:
    path: str = argument("File to look at, relative to the workspace.", accepts="path")
    start_line: int | None = argument("First line, counted from 1; the whole file if left out.", None, accepts="line")
    end_line: int | None = argument("Last line, included.", None)
    revision: str = argument("As it was in this commit instead of now.", "", accepts="revision")


@tool(GitBlame, Blame, "Show which commit changed each line of a file last.", task_types=GIT_TASKS)
def git_blame(context: ToolContext, given: GitBlame) -> ToolResult:
    """Commit, date and author before each line."""
    start, end = given.start_line or 1, given.end_line
    if start < 1 or (end is not None and end < start):
        raise ToolError("invalid", "give start_line and end_line counted from 1, the first one first")
    last = min(end or start + _MAX_BLAMED - 1, start + _MAX_BLAMED - 1)
    revision = [_revision(context, given.revision)] if given.revision else []
    options = ["--line-porcelain", f"-L{start},{last}"]
    path = _path(context, given.path)
    _require_shown(context, path)
    try:
        output = repository_of(context).safe("blame", *options, *revision, "--", path)
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


def _revision(context: ToolContext, text: str) -> str:
    if not REVISION.fullmatch(text):
        raise ToolError("invalid", f"{text!r:.60} is no revision; give a commit, branch or tag such as HEAD~1")
    _require_shown(context, text.partition(":")[2])  # COMMIT:PATH is a file's content
    return text


def _path(context: ToolContext, given: str) -> str:
    return context.workspace.relative(given) or "."


TOOLS = (git_status, git_diff, git_log, git_show, git_blame)

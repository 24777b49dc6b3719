"""What the history of a repository says of the workspace's Python files: what changed lately, in which commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codur.structs import Struct, field, replace
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_patches import MARK, CommitPatch, FilePatch, Trail, read_patches
from codur.tools.git.git_repository import NO_COMMITS, REVISION, Repository, repository_around, require_revision
from codur.tools.tool import ToolError

if TYPE_CHECKING:
    from codur.sandbox.launcher import Launcher

MAX_COMMITS = 20
_MAX_HUNKS = 1_000
_MAX_VERSIONS = 4
_MAX_CHARS = 20_000_000
_TIMEOUT_S = 5.0
_PATCH_OPTIONS = (*DIFF_OPTIONS, "-U0", "--inter-hunk-context=0", "-M", "--diff-filter=MR", "--relative")
_GLOBS = (("GIT_LITERAL_PATHSPECS", "0"),)
_PYTHON = ("--", "*.py")


class Hunk(Struct):
    """Lines of the present text that a commit put there, or the gap that it left."""

    path: str
    # start, end: the first line, from 1, and the one behind the last; equal where lines were only taken away
    start: int
    end: int
    old: str  # what stood there before
    commit: str = ""  # its hash, or the revision that the present is compared with; empty for what is not committed
    subject: str = ""  # the commit's first line
    age: int = 0  # 0 for what is not committed, 1 for the youngest commit


class Version(Struct):
    """A file as it was before a commit (or, without one, before what is not committed)."""

    path: str
    text: str
    commit: str = ""
    subject: str = ""
    age: int = 0


class History(Struct):
    """What is known of the past of some files."""

    # lines of the present texts that are suspected: those not committed, else those since `since`
    changed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    hunks: tuple[Hunk, ...] = ()  # the youngest first
    versions: tuple[Version, ...] = ()  # earlier texts, the youngest first; a few of each file
    since: str = ""  # what `changed` goes back to, in a user's words
    reason: str = ""  # why nothing is known; empty if something may be


def read_history(root: Path, launcher: Launcher, text_of: Callable[[str], str | None], *, since: str = "") -> History:
    """The recent past of the Python files in a directory; git runs no program that the repository names.

    Args:
        text_of: the present text of a file, its lines ended by `\\n`; None for one that is not in question.
        since: the revision from which on changes are suspected; empty for what is not committed, else the last tag,
            else the last commits.

    Returns:
        An empty history with its reason where there is no repository, no commit, no git, no such revision, or where
        the repository belongs to somebody else.
    """
    try:
        return _read(repository_around(root, launcher, _TIMEOUT_S), text_of, since and require_revision(since))
    except ToolError as error:
        return History(reason=error.message)


def uncommitted(root: Path, launcher: Launcher) -> tuple[str, ...]:
    """The files in a directory that are not as they were committed; none where git cannot tell."""
    try:
        found = repository_around(root, launcher, _TIMEOUT_S).safe(
            "diff", *DIFF_OPTIONS, "--name-only", "-z", "--relative", "HEAD"
        )
    except ToolError:
        return ()
    return tuple(filter(None, found.split("\0")))


def revision_problem(root: Path, launcher: Launcher, revision: str) -> str:
    """Why there is no such revision in the repository around a directory; empty if there is."""
    try:
        repository_around(root, launcher, _TIMEOUT_S).safe("rev-parse", "--verify", f"{revision}^{{commit}}")
    except ToolError as error:
        return f"no commit is called {revision!r:.60}" if error.code == "not_found" else error.message
    return ""


def _read(repository: Repository, text_of: Callable[[str], str | None], since: str) -> History:
    commits = read_patches(_log(repository, since))
    walk = _Walk(text_of)
    walk.back(_since(repository, "HEAD"), 0)
    uncommitted = tuple(walk.hunks)
    last = 0
    for last, commit in enumerate(commits, start=1):
        walk.back(commit, last)
    overall = _Walk(text_of)
    base = since or ("" if uncommitted else _last_tag(repository))
    if base:
        overall.back(replace(_since(repository, base), commit=base), last + 1)
    suspected = overall.hunks or uncommitted or walk.hunks
    places = {_place(each) for each in walk.hunks}
    hunks = [*walk.hunks, *(each for each in overall.hunks if _place(each) not in places)]
    # The lines of hunks, by path; of a gap the lines around it
    found: dict[str, set[int]] = {}
    for hunk in suspected:
        lines = range(hunk.start, hunk.end) or range(max(hunk.start - 1, 1), hunk.start + 1)
        found.setdefault(hunk.path, set()).update(lines)
    return History(
        changed={path: frozenset(lines) for path, lines in found.items()},
        hunks=tuple(hunks[:_MAX_HUNKS]),
        versions=(*walk.versions, *overall.versions),
        since=base if overall.hunks else "the last commit" if uncommitted else f"the last {last} commits",
    )


def _place(hunk: Hunk) -> tuple[object, ...]:
    return (hunk.path, hunk.start, hunk.end, hunk.old)


def _log(repository: Repository, since: str) -> str:
    """The patches of the last commits, each against its first parent."""
    options = ["--first-parent", "-m", "-p", f"--max-count={MAX_COMMITS}", "--no-show-signature", "--no-notes"]
    form = f"--format={MARK}%H%x1f%s"
    revisions = [f"{since}..HEAD"] if since else []
    try:
        return repository.safe("log", *options, form, *_PATCH_OPTIONS, *revisions, *_PYTHON, variables=_GLOBS)
    except ToolError as error:
        if NO_COMMITS not in error.message:
            raise
        raise ToolError("not_found", "the repository has no commits yet") from error


def _since(repository: Repository, revision: str) -> CommitPatch:
    """How the files differ from a commit."""
    output = repository.safe("diff", *_PATCH_OPTIONS, revision, *_PYTHON, variables=_GLOBS)
    return next(read_patches(output), CommitPatch())


def _last_tag(repository: Repository) -> str:
    """The youngest tag before the last commit; empty if there is none."""
    try:
        tag = repository.safe("describe", "--tags", "--abbrev=0", "--first-parent", "HEAD^").strip()
    except ToolError:
        return ""
    return tag if REVISION.fullmatch(tag) else ""


class _Walk:
    """The way back from the present, commit by commit, along the files in question."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self.hunks: list[Hunk] = []
        self.versions: list[Version] = []
        self._text_of = text_of
        self._trails: dict[str, tuple[str, Trail] | None] = {}  # by the name at this point; None: not to be followed
        self._chars = 0

    def back(self, patch: CommitPatch, age: int) -> None:
        """Go back behind a commit, the youngest that is still ahead."""
        for file in patch.files:
            self._file(file, patch, age)

    def _file(self, file: FilePatch, patch: CommitPatch, age: int) -> None:
        way = self._trails.pop(file.after) if file.after in self._trails else self._begun(file.after)
        if way is None or not way[1].fits(file):
            self._trails[file.after] = None
            return
        path, trail = way
        for start, end, old in trail.take_back(file):
            hunk = Hunk(path=path, start=start, end=end, old=old, commit=patch.commit, subject=patch.subject, age=age)
            self.hunks.append(hunk)
        self._trails[file.before] = way
        if file.edits:
            self._keep(Version(path=path, text=trail.text, commit=patch.commit, subject=patch.subject, age=age))

    def _begun(self, path: str) -> tuple[str, Trail] | None:
        text = self._text_of(path)
        return None if text is None else (path, Trail.of(text))

    def _keep(self, version: Version) -> None:
        self._chars += len(version.text)
        if self._chars <= _MAX_CHARS and sum(each.path == version.path for each in self.versions) < _MAX_VERSIONS:
            self.versions.append(version)

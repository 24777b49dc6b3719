"""A commit of some changes alone, on top of the last one: what else is changed or staged stays out of it, as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from codur.structs import Struct, field, replace
from codur.tools.flow.code_outputs import Commit
from codur.tools.git.git_commits import commit_of, last_commit, require_no_filter
from codur.tools.git.git_repository import Repository
from codur.tools.git.git_under_way import under_way
from codur.tools.tool import ToolError

_GONE = ""
_MADE, _TAKEN_BACK = "codur commit", "codur commit --undo"
"""What git's own record of how `HEAD` moved says of a commit that was made here, and of one that was taken back."""
_RECORD_LINES = 1_000
_FILES = ("--name-only", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=all")


class Versions(Struct):
    """A file before and after a change; None where there was none."""

    path: str  # relative to the workspace
    before: bytes | None
    after: bytes | None
    mode: str = "100644"  # what git calls its kind afterwards: 100644, 100755 (it can be executed) or 120000 (a link)


class _Entry(Struct, kw_only=False):
    """What git is to have at a path, from the top; no content: nothing."""

    mode: str
    content: str


_NOTHING = _Entry("", _GONE)


class Wanted(Struct):
    """How a commit is to be made."""

    message: str
    who: tuple[tuple[str, str], ...]  # the variables that say who commits
    path: str = ""  # where hooks look for programs: the user's PATH
    hooks: bool = True  # the repository's hooks see it; they run as git does, contained, and cannot write the files


def known_files(repository: Repository, paths: Sequence[str], *, new: bool) -> frozenset[str]:
    """Those of the paths in the workspace that git has; or (`new`) that it would add: there, and not ignored."""
    options = ("--others", "--exclude-standard") if new else ()
    return frozenset(repository.safe("ls-files", "-z", *options, "--", *paths).split("\0") if paths else ())


def uncommitted(repository: Repository, paths: Sequence[str]) -> frozenset[str]:
    """Files at these paths, or in such directories, that git has or is to have and that are not as in the last commit.

    Args:
        paths: relative to the workspace.
    """
    try:
        head = commit_of(repository, "HEAD")
    except ToolError as error:
        if error.code != "not_found":
            raise
        known = known_files(repository, paths, new=False) - {""}
        return frozenset(path for path in known if os.path.lexists(repository.root / path))
    output = repository.safe("diff", *_FILES, "--relative", head, "--", *paths) if paths else ""
    return frozenset(filter(None, output.split("\0")))


def files_of(repository: Repository, commit: str) -> tuple[str, ...]:
    """The files below the root that a commit changed."""
    options = ("-r", "--root", "--no-commit-id", "--relative", *_FILES)
    return tuple(filter(None, repository.safe("diff-tree", *options, commit).split("\0")))


def commit_changes(repository: Repository, changes: Sequence[Versions], wanted: Wanted, scratch: Path) -> Commit:
    """Commit these changes and nothing else; those of one file in their order.

    Where a file was not as the last commit has it before its change, the change is merged into what that has. The
    files themselves are not touched. Of what is staged only the paths of the changes follow the new commit.

    Args:
        scratch: an empty directory.

    Raises:
        ToolError: `no_match`: the last commit has them already; `many_matches`: something of the user's own is in the
            way, and the message names it; `refused`: a hook says no; others as `Repository.safe`.
    """
    made, below = _begun(repository, scratch), _below(repository)
    entries = made.entries([replace(change, path=f"{below}{change.path}") for change in changes])
    return _carried_out(made, entries, wanted)


def commit_files(repository: Repository, paths: Sequence[str], wanted: Wanted, scratch: Path) -> Commit:
    """Commit these files as they are in the workspace, whatever of them is staged; else as `commit_changes`."""
    made, below = _begun(repository, scratch), _below(repository)
    return _carried_out(made, made.as_they_are([f"{below}{path}" for path in paths]), wanted)


def staged_files(repository: Repository) -> tuple[str, ...]:
    """What is staged, of the whole repository: paths from its top."""
    # A submodule that is staged is committed, too.
    options = [option for option in _FILES if not option.startswith("--ignore-submodules")]
    found = replace(repository, root=repository.top).safe("diff", "--cached", "--ignore-submodules=dirty", *options)
    return tuple(filter(None, found.split("\0")))


def commit_staged(repository: Repository, wanted: Wanted, scratch: Path) -> Commit:
    """Commit what is staged and nothing else, whatever else is changed; ToolError as `commit_changes`."""
    made = _begun(repository, scratch)
    _commit(made, wanted, index=())
    return last_commit(repository)


def own_last(repository: Repository) -> str:
    """The last commit, if it was made here and nobody else has it.

    Raises:
        ToolError: `no_match`: it was not made here; `many_matches`: it is known elsewhere, or something is under way;
            others as `Repository.safe`.
    """
    top = replace(repository, root=repository.top)
    require_rest(repository)
    head = commit_of(top, "HEAD")
    made = top.safe("reflog", f"--max-count={_RECORD_LINES}", "--format=%H %gs", "HEAD").splitlines()
    if not any(line.startswith(f"{head} {_MADE}: ") for line in made):
        raise ToolError("no_match", "the last commit was not made by Codur, as far as git has it on record")
    if known := top.safe(
        "for-each-ref", f"--contains={head}", "--format=%(refname:short)", "refs/remotes", "refs/tags"
    ):
        raise ToolError("many_matches", f"{known.split()[0]} has the last commit too")
    return head


def take_back(repository: Repository, *, dry: bool = False) -> tuple[Commit, tuple[str, ...]]:
    """Take back the last commit, if it is `own_last`: that commit, and its files below the root.

    The files stay as they are, and count as changed once more. What else is staged stays staged.

    Args:
        dry: only tell which it would be.

    Raises:
        ToolError: as `own_last`; `many_matches`: something of it is staged.
    """
    top, head = replace(repository, root=repository.top), own_last(repository)
    before = top.safe("rev-parse", f"{head}^@").split()[:1]
    commit = last_commit(top)
    below, paths = files_of(repository, head), files_of(top, head)
    if staged := sorted(set(top.safe("diff", "--cached", *_FILES).split("\0")).intersection(paths)):
        raise ToolError("many_matches", f"changes of {', '.join(staged)} are staged")
    if not dry:
        # The index first: where it is locked nothing has happened yet.
        if not before:
            top.safe("rm", "--quiet", "--cached", "--", *paths, writable=repository.own)
            top.safe("update-ref", "-m", _TAKEN_BACK, "-d", "HEAD", head, writable=repository.own)
            return commit, below
        top.safe("reset", "--quiet", *before, "--", *paths, writable=repository.own)
        variables = (("GIT_REFLOG_ACTION", _TAKEN_BACK),)
        top.safe("reset", "--quiet", "--soft", *before, variables=variables, writable=repository.own)
    return commit, below


def joined(repository: Repository, first: str, message: str, who: tuple[tuple[str, str], ...]) -> Commit:
    """Make one commit of `first` and what was committed since, in the place of these; index and files stay."""
    top, own = replace(repository, root=repository.top), repository.own
    head, parents = commit_of(top, "HEAD"), top.safe("rev-parse", f"{first}^@").split()
    tree = top.safe("rev-parse", f"{head}^{{tree}}").strip()
    words = [word for parent in parents for word in ("-p", parent)]
    made = top.safe("commit-tree", tree, *words, "-m", message, variables=who, writable=own).strip()
    top.safe("update-ref", "-m", f"{_MADE}: one of two", "HEAD", made, head, variables=who, writable=own)
    return last_commit(top)


def full_message(repository: Repository, commit: str) -> str:
    """The whole message of a commit."""
    return repository.safe("log", "--max-count=1", "--no-show-signature", "--format=%B", commit).strip()


def _below(repository: Repository) -> str:
    """What stands before a path of the workspace, seen from the repository's top."""
    below = repository.root.relative_to(repository.top).as_posix()
    return "" if below == "." else f"{below}/"


def _begun(repository: Repository, scratch: Path) -> _Making:
    require_rest(repository)
    return _Making(repository=replace(repository, root=repository.top), scratch=scratch)


def require_rest(repository: Repository) -> None:
    """ToolError if a merge or the like is under way, whose commit is another one: `many_matches`, with the remedy."""
    if found := under_way(repository):
        first = f"Resolve the conflicts ({found.marks}), then: " if found.marked else "Finish it: "
        raise ToolError(
            "many_matches", f"a {found.kind} is under way in this repository", remedy=f"{first}{found.finish}"
        )


def _carried_out(made: _Making, entries: Mapping[str, _Entry], wanted: Wanted) -> Commit:
    repository = made.repository
    if not entries:
        raise ToolError("no_match", "the last commit has all of it already")
    require_no_filter(repository, list(entries))
    made.put(entries, made.index)
    _commit(made, wanted, index=made.index)
    made.put(entries, ())
    return last_commit(repository)


def _commit(made: _Making, wanted: Wanted, *, index: tuple[tuple[str, str], ...]) -> None:
    """Commit what is in an index: one of its own or, without variables that name it, the repository's."""
    options = ["--quiet", "--no-gpg-sign", "--no-edit", "--no-status", "--cleanup=whitespace"]
    options += [f"--message={wanted.message}", *(() if wanted.hooks else ("--no-verify",))]
    try:
        path = (("PATH", wanted.path),) if wanted.hooks and wanted.path else ()
        variables = (*wanted.who, *index, *path, ("GIT_REFLOG_ACTION", _MADE))
        made.call("commit", *options, variables=variables, hooks=wanted.hooks)
    except ToolError as error:
        if wanted.hooks and error.code == "failed":
            raise ToolError("refused", f"git did not commit it; a hook may have refused: {error.message}") from error
        raise


class _Making(Struct):
    """The making of one commit in an index of its own."""

    repository: Repository  # seen from its top
    scratch: Path
    numbers: count[int] = field(default_factory=count)

    @property
    def index(self) -> tuple[tuple[str, str], ...]:
        """What makes git use the index of its own."""
        return (("GIT_INDEX_FILE", str(self.scratch / "index")),)

    def call(self, *arguments: str, variables: tuple[tuple[str, str], ...] = (), hooks: bool = False) -> str:
        """A command of git that may write the repository and the scratch directory."""
        places = (*self.repository.own, self.scratch)
        return self.repository.safe(*arguments, variables=variables, writable=places, hooks=hooks)

    def put(self, entries: Mapping[str, _Entry], index: tuple[tuple[str, str], ...]) -> None:
        """Put entries into an index; without one, into the repository's."""
        there = [f"{item.mode},{item.content},{path}" for path, item in entries.items() if item.content]
        gone = [path for path, item in entries.items() if not item.content]
        if there:
            words = [word for entry in there for word in ("--cacheinfo", entry)]
            self.call("update-index", "--add", "--replace", *words, variables=index)
        if gone:
            self.call("update-index", "--force-remove", "--", *gone, variables=index)

    def entries(self, changes: Sequence[Versions]) -> dict[str, _Entry]:
        """What each path is to be, where the last commit has something else; that commit is the index of its own.

        Raises:
            ToolError: `many_matches`: the user's own changes are in the way.
        """
        by_path: dict[str, list[Versions]] = {}
        for change in changes:
            by_path.setdefault(change.path, []).append(change)
        staged = frozenset(self.call("diff", "--cached", *_FILES).split("\0"))
        if mine := sorted(staged & by_path.keys()):
            raise ToolError("many_matches", f"changes of {', '.join(mine)} are staged already")
        known = self._last_commit(list(by_path))
        entries = {path: self._entry(each, known[path]) for path, each in by_path.items()}
        return {path: entry for path, entry in entries.items() if entry != known[path]}

    def as_they_are(self, paths: Sequence[str]) -> dict[str, _Entry]:
        """What each path is to be, as `entries` says it, if it is to be as in the work tree.

        What the user has taken out of his index is to be nothing, whatever is there.
        """
        known = self._last_commit(paths)
        require_no_filter(self.repository, list(paths))  # git would take what goes through one as it is
        tracked = frozenset(self.call("ls-files", "-z", "--", *paths).split("\0"))
        out = [path for path in paths if path not in tracked and known[path] != _NOTHING]
        self.put(dict.fromkeys(out, _NOTHING), self.index)
        # Unlike `add`, it takes a path for the file alone, not for what is below a directory of that name.
        rest = [path for path in paths if path not in out]
        self.call("update-index", "--add", "--remove", "--replace", "--", *rest, variables=self.index)
        now = self._known(paths)
        return {path: now.get(path, _NOTHING) for path in paths if now.get(path, _NOTHING) != known[path]}

    def _last_commit(self, paths: Sequence[str]) -> dict[str, _Entry]:
        """What the last commit has at the paths; that commit is the index of its own."""
        head = self._head()
        self.call("read-tree", *([head] if head else ["--empty"]), variables=self.index)
        return {**dict.fromkeys(paths, _NOTHING), **self._known(paths)}

    def _head(self) -> str:
        try:
            return self.call("rev-parse", "--verify", "--quiet", "HEAD^{commit}").strip()
        except ToolError as error:
            if error.code != "failed":
                raise
            return ""

    def _known(self, paths: Sequence[str]) -> dict[str, _Entry]:
        lines = self.call("ls-files", "--stage", "-z", "--", *paths, variables=self.index).split("\0")
        found = {}
        for line in filter(None, lines):
            facts, _, path = line.partition("\t")
            mode, content, _ = facts.split(" ")
            found[path] = _Entry(mode, content)
        return found

    def _entry(self, changes: Sequence[Versions], known: _Entry) -> _Entry:
        """What a path is to be after its changes: those that follow on what the last commit has, else all of them."""
        path, mode = changes[0].path, changes[-1].mode
        states = [self._stored(path, data) for change in changes for data in (change.before, change.after)]
        there = [place for place, state in enumerate(states) if state == known.content]
        place, content = (there[-1] + 1) // 2 * 2 if there else 0, known.content
        while place < len(states):
            end = place + 1
            while end + 1 < len(states) and states[end] == states[end + 1]:
                end += 2
            joined = replace(changes[place // 2], after=changes[end // 2].after, mode=mode)
            if content in (states[place], states[end]):
                content = states[end]
            elif not (content and states[place] and states[end]) or mode == "120000":
                raise ToolError("many_matches", f"{path} had changes of your own before")
            else:
                content = self._merged(joined, _Entry(mode, content))
            place = end + 1
        return _Entry(mode, content) if content else _NOTHING

    def _stored(self, path: str, data: bytes | None) -> str:
        return _GONE if data is None else self._store(path, self._kept(data))

    def _store(self, path: str, file: Path) -> str:
        return self.call("hash-object", "-w", f"--path={path}", str(file)).strip()

    def _kept(self, data: bytes) -> Path:
        file = self.scratch / str(next(self.numbers))
        file.write_bytes(data)
        return file

    def _merged(self, change: Versions, now: _Entry) -> str:
        """The content with the change made in what there is now."""
        self.put({change.path: now}, self.index)
        self.call("checkout-index", "--force", f"--prefix={self.scratch}/", "--", change.path, variables=self.index)
        versions = [str(self._kept(data or b"")) for data in (change.before, change.after)]
        try:
            self.call("merge-file", "--quiet", str(self.scratch / change.path), *versions)
        except ToolError as error:
            words = "had changes of your own before, too close to these to be told apart"
            raise ToolError("many_matches", f"{change.path} {words}") from error
        return self._store(change.path, self.scratch / change.path)

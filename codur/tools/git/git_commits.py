"""The commits of a repository, and their files in a directory elsewhere; nothing in the repository is written."""

from pathlib import Path

from codur.structs import replace
from codur.tools.flow.code_outputs import Commit
from codur.tools.git.git_hardening import DIFF_OPTIONS
from codur.tools.git.git_repository import Repository, require_revision
from codur.tools.tool import ToolError

FORMAT = "%H%x1f%an%x1f%aI%x1f%s"
_GENERATED = ("*.py", "*.so", "*.pyd", "*.json")
_MAX_GENERATED = 200


def commit_of(repository: Repository, revision: str) -> str:
    """The hash of the commit that a revision names. Raises ToolError: `not_found` if there is none; others as
    `Repository.call`.
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


def first_parents(repository: Repository, commit: str, limit: int) -> list[str]:
    """The commit and those before it, along first parents."""
    return repository.safe("rev-list", "--first-parent", f"--max-count={limit}", commit).split()


def tagged(repository: Repository) -> frozenset[str]:
    """The commits that have tags."""
    names = repository.safe("for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags")
    return frozenset(names.split())


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
    """Write the files that a commit has below the root into a directory. Raises ToolError: the commit has no such
    directory, or some of its files are not here. `index`: a path for git's list of them, outside of the directory; it
    is overwritten.
    """
    below = repository.root.relative_to(repository.top).as_posix()
    at_top = replace(repository, root=repository.top)
    own = (("GIT_INDEX_FILE", str(index)),)
    index.unlink(missing_ok=True)
    places = (target, index.parent)
    at_top.safe("read-tree", commit if below == "." else f"{commit}:{below}", variables=own, writable=places)
    at_top.safe("checkout-index", "--all", "--force", "--quiet", f"--prefix={target}/", variables=own, writable=places)

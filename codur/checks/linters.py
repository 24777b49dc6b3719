"""What a project's own linters, formatters and type checkers find in the changed files that they did not find before.

They run contained and write nothing but their caches: on the workspace as it is, and only where they find something
once more on a copy with the files as they were.
"""

import difflib
import re
import shlex
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from posixpath import basename, dirname, join, normpath

from codur.checks.entry import text_of
from codur.errors import Interrupted, WorkspaceError
from codur.lazy import regex
from codur.parsing.bounded_text import plain
from codur.sandbox.launcher import Launcher
from codur.structs import Struct, convert
from codur.workspace.copies import link_installed, put_as_found
from codur.workspace.workspace import Workspace

MOST_S = 60.0  # the change is done and judged; nobody should wait long for this
"""All programs together."""
NO_CACHES = (("MYPY_CACHE_DIR", "/dev/null"), ("RUFF_NO_CACHE", "true"), ("BLACK_CACHE_DIR", "/dev/null"))
"""Variables of a check by one: it leaves nothing in the workspace."""
_HOOKS = ".pre-commit-config.yaml"
_SHOWN = 3
_MOST_COMPARED = 8_000  # lines of a file before and after: of more it would take seconds
_CHARS = 200
_CACHES = "XDG_CACHE_HOME MYPY_CACHE_DIR RUFF_CACHE_DIR BLACK_CACHE_DIR GOCACHE CARGO_TARGET_DIR".split()
"""Variables that name where the programs keep what they found out."""
_PYTHON = (".py", ".pyi")
_AT_COLUMN = r"^(?P<path>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?P<text>.+)$"
_UNREAD = regex(r"syntax|cannot parse", re.IGNORECASE)
"""In what is said of a file that could not be read as code: nothing else was looked for in it."""


class Linter(Struct):
    """A program that a project may have its files looked at with."""

    argv: tuple[str, ...]  # what is run where its configuration is; the changed files follow
    endings: tuple[str, ...] = _PYTHON  # of the files that it looks at
    # globs of files that configure it, each with a pattern of how they name it; empty: by being there
    named_by: Mapping[str, str]
    # a finding in its output, with the groups `path`, `line` and `text`. A path holds for the findings after it that
    # have none; without the group `text` the path is the finding.
    finding: str = _AT_COLUMN
    whole: bool = False  # it looks at all files and is given none
    fix: tuple[str, ...] = ()  # its own command that mends what it finds, as far as it can
    one_of_stub: bool = False  # a module and its stub are one to it, and it fails where it is given both

    @property
    def name(self) -> str:
        """As it is told: the program, and which of its commands."""
        return " ".join(word for word in self.argv[:2] if not word.startswith("-"))


@cache
def linters() -> tuple[Linter, ...]:
    """The programs of `linters.toml`."""
    rows = tomllib.loads(Path(__file__).with_name("linters.toml").read_text(encoding="utf-8"))
    return convert(rows["linters"], tuple[Linter, ...])


class Asked(Struct):
    """A program that a request asks to find nothing more: its command, and the files that configure it."""

    argv: tuple[str, ...]
    fix: tuple[str, ...]  # its own command that mends what it finds; empty if it has none
    configured_by: tuple[str, ...]
    places: tuple[str, ...]  # the files and directories that the request names


_MEND = r"(?:fix|mend|resolve|remove|clear(?: up)?|clean up|get rid of|address|solve|correct|repair|silence)"
_FOUND = r"(?:errors|warnings|findings|complaints|issues|violations|problems|failures)"
_PATH = r"\S*[./]\S*"
_NO_FINDING = r"(?:failing|fix|mend|bug)\b"
_ASKED = (
    rf"\s*(?:please |(?:can|could|would) you )?(?:{_MEND}\b[^.?!\n]*?\b(?:"
    rf"{{name}}(?:'s)? (?:strict |[A-Z]+\d+ )?(?:{_FOUND}|error|finding|warning)\b"
    rf"|(?<![-\w]){{kind}} {_FOUND}(?: (?:in|of|from) {{place}}| *[.!?]?$)|{_FOUND} (?:of|from|by) {{name}} *[.!?]?$)"
    rf"|{_MEND} (?:(?:all|everything|formatting|style|that|the|what|{_FOUND}) )*{{name}} *"
    rf"(?:[.!?]?$|(?:reports?|finds?|says|complain\w*)\b|(?:in|for|on) {{place}})"
    rf"|(?:make|get|have|let) (?:(?:sure|that|the|our|{{place}}) )*(?:pass {{name}}\b|(?:{{name}}|{{kind}}(?:er|ing))"
    rf"(?: (?:to|on|for|in|with|check|be|is|and \w+|{{place}}))* (?:pass(?:es)?|clean|happy|green|succeeds?|quiet)"
    rf"(?: (?:on|for|in|with) {{place}}| again| *[.!?,;]?$))"
    rf"|{{name}} (?:fails|complains)[,;.:]? (?:please |and )?{_MEND} (?:it|that|them)"
    rf"(?= *(?:$|[.;,!?\n]))(?![\s\S]*\b{_NO_FINDING})"
    r"|(?:annotate|format|lint|(?:clean|tidy)(?: up)?|(?:sort|add|remove|organi[sz]e)\b[^\n,;.]*?"
    r" (?:annotations?|typ(?:e|es|ing)|hints?|lint|format(?:ting)?|style|imports|unused))(?= )"
    rf"(?:(?!\b{_NO_FINDING})[^\n])*?\b(?:so (?:that )?|until ){{name}}(?: is)?"
    r" (?:pass(?:es)?|clean|happy|green|succeeds?|quiet) *[.!?]?$)"
)
"""A request that wants a program to find nothing, first or as its end; what is said of it in passing is none."""
# "type error" in the singular is mostly a TypeError
_KINDS = {"mypy": "typ(?:e|ing)", "pyright": "typ(?:e|ing)", "tsc": "typ(?:e|ing|escript)"} | dict.fromkeys(
    ("ruff", "flake8", "eslint"), "lint"
)
_SAYS_NOTHING = frozenset({"gofmt", "cargo"})  # by their exit status, of what they find
_CODE = regex(r"\b[A-Z]{1,4}\d{2,4}\b")
_WORD = regex(r"[\w./+-]+")


def asked_for(workspace: Workspace, prompt: str, files: Sequence[str], listing: Sequence[str]) -> Asked | None:
    """The linter, formatter or type checker that a request wants to find nothing more, by its name or by its kind.

    It looks at the files and directories that the request names, else at all.
    """
    tops = {path.partition("/")[0] for path in listing if "/" in path}
    place = f"(?:{'|'.join([_PATH, *map(re.escape, sorted(tops))])})"
    for linter in sorted(linters(), key=lambda linter: linter.name not in prompt.lower()):
        program = linter.argv[0]
        settings = tuple(_configuring(linter, workspace, listing))
        kind = rf"{_KINDS[program]}(?:[ -]?check)?(?:er|ing)?" if program in _KINDS and settings else r"(?!)"
        named = rf"(?:{re.escape(linter.name)}|{re.escape(program)})"
        # Their names are words of everyday.
        if program in _SAYS_NOTHING or (program in {"black", "prettier"} and not settings):
            continue
        if not re.match(_ASKED.format(name=named, kind=kind, place=place), prompt, re.IGNORECASE):
            continue
        clause = re.split(r"[,;(]|\.\s", prompt, maxsplit=1)[0]
        said = {word.rstrip("./") for word in _WORD.findall(clause)}
        named_files = [path for path in files if path not in settings]  # its name stands for `eslint.config.js`, too
        places = [path for path in named_files if path.endswith(linter.endings)]
        if named_files and not places:  # they are for another program
            continue
        places += sorted(word for word in said if any(path.startswith(f"{word}/") for path in listing))
        places = [f"./{path}" if path.startswith("-") else path for path in places]
        codes = _CODE.findall(clause) if program in {"ruff", "flake8"} else []
        select = [f"--select={','.join(dict.fromkeys(codes))}"] if codes else []
        own = f"node_modules/.bin/{program}"
        program = own if (workspace.root / own).exists() else program
        given = [*select, *([] if linter.whole else places or _all_of(linter, workspace, settings, listing))]
        fix = (program, *linter.fix[1:], *given) if linter.fix else ()
        return Asked(argv=(program, *linter.argv[1:], *given), fix=fix, configured_by=settings, places=tuple(places))
    return None


_CHANGES = frozenset({"--fix", "--write", "--exit-zero", "--version", "clean", "format"})
"""In a command they say that it changes what it finds, or judges nothing; `ruff format --check` is seldom given."""
_STARTERS = (("python", "-m"), ("python3", "-m"), ("uv", "run"), ("poetry", "run"), ("npx",))


def is_linter(command: str) -> bool:
    """Whether a shell command is one of these programs that looks, and nothing else."""
    try:
        words = shlex.split(command) if not re.search(r"[;&|<>`$\n]", command) else []
    except ValueError:  # the shell will say what is wrong with it
        words = []
    if not _CHANGES.isdisjoint(words) or (words[:1] == ["black"] and "--check" not in words):
        return False
    for starter in _STARTERS:
        if tuple(words[: len(starter)]) == starter:
            words = words[len(starter) :]
    # `go` and `cargo` do much else.
    return any(
        words[:2] == linter.name.split() if linter.argv[0] in {"go", "cargo"} else words[:1] == [linter.argv[0]]
        for linter in linters()
    )


def settings_of(commands: str, workspace: Workspace, listing: Sequence[str]) -> list[str]:
    """The files that configure the programs, and the hooks, that command lines call."""
    called = set(_WORD.findall(commands))
    found = [
        path for linter in linters() if linter.argv[0] in called for path in _configuring(linter, workspace, listing)
    ]
    return [*found, *([_HOOKS] if "pre-commit" in called and _HOOKS in listing else [])]


def _configuring(linter: Linter, workspace: Workspace, listing: Iterable[str]) -> Iterator[str]:
    """The files that configure a program."""
    for path in listing:
        patterns = (text for glob, text in linter.named_by.items() if fnmatch(basename(path), glob))
        if any(not text or re.search(text, text_of(workspace, path), re.MULTILINE) for text in patterns):
            yield path


def _all_of(linter: Linter, workspace: Workspace, settings: Iterable[str], listing: Iterable[str]) -> list[str]:
    """What a program is given to look at everything that it should."""
    told = (re.search(r"^(?:files|packages)\s*=", text_of(workspace, path), re.MULTILINE) for path in settings)
    if linter.one_of_stub and any(told):
        return []  # it knows
    in_src = linter.one_of_stub and any(path.startswith("src/") for path in listing)
    return ["src" if in_src else "."]


class Finding(Struct, kw_only=False):
    """What a program found in a file."""

    path: str
    line: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """The same for findings that differ in numbers alone: a change moves lines."""
        # Messages name lines and columns, which move with every change above them, and are laid out side by side.
        return self.path, " ".join(re.sub(r"\d+", "#", self.text).split())

    def __str__(self) -> str:
        return ":".join(filter(None, (self.path, self.line))) + f": {self.text[:_CHARS]}"


class _Job(Struct, kw_only=False):
    """A program, the directory of its configuration, and the changed files that it is for."""

    linter: Linter
    directory: str
    files: tuple[str, ...]


class Looked(Struct):
    """What the programs say of a change."""

    worse: Sequence[str] = ()  # a sentence for each that finds more than before, or of which that is not known
    clean: Sequence[str] = ()  # the names of those that find nothing new


def look(workspace: Workspace, launcher: Launcher, scratch: Callable[[], Path], *, most_s: float) -> Looked:
    """What is worse now than it was before the changes of this run.

    A program that is not installed is passed over; one that does not end, or fails otherwise, is told. They have
    `most_s` seconds together. Raises Interrupted: the run was cancelled.
    """
    with launcher.temporary_directory() as caches:
        ends = _Look(workspace, launcher, scratch, caches, time.monotonic() + min(most_s, MOST_S))
        told = [(job.linter.name, text) for job in ends.jobs() if (text := ends.told(job)) is not None]
    bad = {name for name, text in told if text}
    clean = dict.fromkeys(name for name, text in told if not text and name not in bad)
    return Looked(worse=tuple(text for _, text in told if text), clean=tuple(clean))


class _NotRun(Exception):
    """A program that said nothing of the files, and why."""


class _Look:
    """One look at what was changed."""

    def __init__(
        self, workspace: Workspace, launcher: Launcher, scratch: Callable[[], Path], caches: Path, end: float
    ) -> None:
        self._workspace, self._launcher, self._scratch = workspace, launcher, scratch
        self._caches, self._end = caches, end
        self._changes = workspace.changes()

    def jobs(self) -> Iterator[_Job]:
        """What is to be run."""
        changed = [change.path for change in self._changes if change.after is not None]
        # before the workspace is listed
        if not any(path.endswith(linter.endings) for path in changed for linter in linters()):
            return
        listing = self._workspace.list_files()
        for linter in linters():
            places: dict[str, list[str]] = {}
            for path in changed:
                place = self._place(linter, path, listing) if path.endswith(linter.endings) else None
                if place is not None:
                    places.setdefault(place, []).append(path)
            for directory, files in places.items():
                yield _Job(linter, directory, tuple(files))

    def told(self, job: _Job) -> str | None:
        """What to say of a program's findings; empty if nothing is new among them, None if it is not installed."""
        try:
            now = self._findings(job, self._workspace.root)
            if now is None:
                return None
            # Looked at as it was only if there is something to tell: a copy costs more than the linter.
            old = any(change.before is not None for change in self._changes if change.path in job.files)
            was = (self._findings(job, self._before) or []) if now and old else []
        except (_NotRun, WorkspaceError) as error:
            return f"whether {job.linter.name} finds more than before is not known: {error}"
        unread = {finding.path for finding in was if _UNREAD.search(finding.text)}
        known = Counter(finding.key for finding in was)
        new = []
        # Of several with the same words those on lines that the change wrote are the new ones.
        for finding in sorted(now, key=self._is_written):
            known[finding.key] -= 1
            # By count, not by kind: a second finding of the same words is a new one.
            if known[finding.key] < 0 and finding.path not in unread:
                new.append(finding)
        new = list(_not_moved(new, known))
        if not new:
            return ""
        more = f" (and {len(new) - _SHOWN} more)" if len(new) > _SHOWN else ""
        return f"{job.linter.name} finds more than before: {'; '.join(map(str, new[:_SHOWN]))}{more}"

    def _is_written(self, finding: Finding) -> bool:
        return finding.line.isdigit() and int(finding.line) in self._written.get(finding.path, ())

    @cached_property
    def _written(self) -> Mapping[str, frozenset[int]]:
        """The lines (1-based) of each changed file that were not there before."""
        found = {}
        for change in self._changes:
            before, after = ((data or b"").splitlines() for data in (change.before, change.after))
            if len(before) + len(after) > _MOST_COMPARED:
                continue
            spans = difflib.SequenceMatcher(None, before, after).get_opcodes()
            lines = chain.from_iterable(range(start, end) for kind, _, _, start, end in spans if kind != "equal")
            found[change.path] = frozenset(line + 1 for line in lines)
        return found

    def _place(self, linter: Linter, path: str, listing: Sequence[str]) -> str | None:
        """The nearest directory above a file whose files name the program."""
        # From the file upwards, as the tools themselves look for their settings.
        while path:
            path = dirname(path)
            for item in listing:
                if dirname(item) == path and any(_configuring(linter, self._workspace, [item])):
                    return path
        return None

    @cached_property
    def _before(self) -> Path:
        """A copy in which the changed files are as they were."""
        copy = self._workspace.scratch_copy(self._scratch()).root
        put_as_found(copy, {change.path: change.before for change in self._changes})
        link_installed(self._workspace.root, copy)
        return copy

    def _findings(self, job: _Job, root: Path) -> list[Finding] | None:
        """What the program finds in the changed files; None if it is not installed. Raises _NotRun: it says nothing."""
        linter, cwd = job.linter, root / job.directory
        files = [path for path in job.files if (root / path).is_file()]
        if linter.one_of_stub:
            files = [path for path in files if f"{path}i" not in files]
        own = (self._workspace.root / place / "node_modules" / ".bin" / linter.argv[0] for place in (job.directory, ""))
        program = next((str(path) for path in own if path.exists()), linter.argv[0])
        relative = [] if linter.whole else [str((root / path).relative_to(cwd)) for path in files]
        result = self._launcher.run(
            [program, *linter.argv[1:], *relative],
            cwd=cwd,
            # `/` stands for no directory that may be written: the workspace is only to be read.
            root=Path("/"),
            readable=(root, self._workspace.root),
            writable=(self._caches,),
            env={name: str(self._caches) for name in _CACHES},
            timeout_s=self._end - time.monotonic(),
        )
        if result.cancelled:
            raise Interrupted("interrupted")
        if result.timed_out:
            raise _NotRun("it did not end in time")
        said = plain(f"{result.stdout}\n{result.stderr}").replace(f"{cwd}/", "")
        if not result.started:
            return None
        found = list(read(linter, said, job.directory))
        # It failed and named nothing: settings that it cannot read, a plugin that is not there.
        if result.exit_status and not found:
            lines = [line for line in said.splitlines() if line.strip() and ": note:" not in line]
            raise _NotRun((lines or ["it failed"])[-1][:_CHARS])
        return [each for each in found if each.path in job.files and not each.text.startswith("File ignored")]


def _not_moved(new: Iterable[Finding], known: Mapping[tuple[str, str], int]) -> Iterator[Finding]:
    """The findings that are gone from nowhere: code that is moved takes what is found in it along.

    Args:
        known: how many more there were before, by path and words.
    """
    gone = Counter[str]()
    for (_, text), count in known.items():
        gone[text] += max(0, count)
    for finding in new:
        gone[finding.key[1]] -= 1
        if gone[finding.key[1]] < 0:
            yield finding


def read(linter: Linter, said: str, directory: str) -> Iterator[Finding]:
    """The findings in what a program said of files below a directory."""
    path, unformatted = "", set()
    for match in re.finditer(linter.finding, said, re.MULTILINE):
        found = match.groupdict()
        path = normpath(join(directory, found["path"])) if found["path"] else path
        if "text" not in found and path not in unformatted:
            unformatted.add(path)
            yield Finding(path, "", "is not formatted")
        elif found.get("text"):
            yield Finding(path, found["line"], found["text"])

"""Builds the extensions of a Python package anew, where tests load what was built before a change of its C or Cython.

In a copy of the workspace, by `setup.py build_ext --inplace`: what is built is no part of the work, so that nothing of
it has to be put back with a change.
"""

from collections.abc import Mapping
from hashlib import sha256
from posixpath import basename, dirname, join, splitext

from codur.checks.check_programs import CheckPrograms
from codur.checks.entry import text_of
from codur.lazy import regex
from codur.parsing.bounded_text import plain
from codur.python.test_command import PYTHON
from codur.structs import Struct
from codur.types import Check
from codur.workspace.workspace import Workspace

COMMAND = "python setup.py build_ext --inplace"
_SOURCES = frozenset(
    ".c .cc .cpp .cxx .h .hh .hpp .hxx .inc .inl .ipp .tcc .def .tbl .in .tpl .y .l .f .f90 .cu .pyx .pxd .pxi".split()
)
_DECLARES = regex(r"\bExtension\s*\(|\bext[_-]modules\b|\bcythonize\b")
_BUILT = frozenset({".so", ".pyd"})
_MOST_SOURCES = 2_000
_MOST_BYTES = 64 << 20  # of what is built, which is kept for as long as the run
_BUILD_S, _KEPT = 300.0, 4
_OUTPUT_BYTES = 65_536


class Built(Struct):
    """What a build came to: the extensions by path, or why there are none."""

    files: Mapping[str, bytes]
    error: str = ""


class NativeBuild:
    """The extensions of a workspace as they were at first, and those that were built since."""

    def __init__(self) -> None:
        self._first: bytes | None = None
        self._is_old = False  # what is there was built of other sources already
        self._there: tuple[tuple[str, int, int], ...] = ()  # what is built, its sizes and times
        self._built: dict[bytes, Built] = {}

    def keep(self, workspace: Workspace) -> None:
        """Take the sources as they are for those of what is built."""
        if self._first is None:
            self._first = _digest(workspace)
            self._is_old = self.is_older(workspace)
            self._there = _stamps(workspace) if self._first else ()

    def is_stale(self, check: Check, workspace: Workspace) -> bool:
        """Whether tests or programs of Python load extensions that were built of other sources than there are now."""
        if check.kind not in {"tests", "output"} or check.argv[:1] != (PYTHON,) or not self._first:
            return False
        # A program may have built it anew meanwhile: of which sources nobody knows, least of all in a copy with others.
        return self._is_old or self.is_changed(workspace) or _stamps(workspace) != self._there

    def is_older(self, workspace: Workspace) -> bool:
        """Whether a source was changed after all that is built in the workspace."""
        if not self._first:
            return False
        built = [time for _, _, time in _stamps(workspace)]
        last = max(((workspace.root / path).stat().st_mtime_ns for path in _sources(workspace)), default=0)
        return bool(built) and last > max(built)

    def is_changed(self, workspace: Workspace) -> bool:
        """Whether the sources of extensions are not what they were."""
        return bool(self._first) and _digest(workspace) != self._first

    def built(self, copy: Workspace, programs: CheckPrograms) -> Built:
        """What the sources of a copy of the workspace come to; it is built there if it was not yet."""
        sources = _digest(copy)
        if sources not in self._built:
            if len(self._built) >= _KEPT:
                self._built.clear()
            self._built[sources] = _build(copy, programs)
        for path, data in self._built[sources].files.items():
            place = copy.root / path
            if place.parent.is_dir() and not place.is_symlink() and (place.is_file() or not place.exists()):
                place.write_bytes(data)
        return self._built[sources]


def _digest(workspace: Workspace) -> bytes:
    """What tells the sources of extensions apart; empty if there are none that `setup.py` builds."""
    declared = any(_DECLARES.search(text_of(workspace, name)) for name in ("setup.py", "pyproject.toml"))
    # Where `setup.py` has them from elsewhere, what is built tells.
    if not declared and not (workspace.is_file("setup.py") and _extensions(workspace)):
        return b""
    paths = _sources(workspace)
    if len(paths) > _MOST_SOURCES:
        return b""
    found = sha256()
    for path in paths:
        status = (workspace.root / path).stat()
        # Size and time of one that is too long to be read.
        what = text_of(workspace, path) or f"{status.st_size} {status.st_mtime_ns}"
        found.update(f"{path}\0{what}\0".encode("utf-8", "surrogateescape"))
    return found.digest()


def _sources(workspace: Workspace) -> list[str]:
    return [path for path in workspace.list_files() if splitext(path)[1] in _SOURCES or basename(path) == "setup.py"]


def _stamps(workspace: Workspace) -> tuple[tuple[str, int, int], ...]:
    found = ((path, (workspace.root / path).stat()) for path in _extensions(workspace))
    return tuple((path, status.st_size, status.st_mtime_ns) for path, status in found)


def _build(copy: Workspace, programs: CheckPrograms) -> Built:
    env = (("SETUPTOOLS_SCM_PRETEND_VERSION", "0"),)  # a copy has no history to take it from
    build = Check(
        kind="command",
        argv=(PYTHON, "setup.py", "-q", *COMMAND.split()[2:], "--force"),
        env=env,
        timeout_s=_BUILD_S,
        source="a build",
    )
    before = _stamps(copy)
    result = programs.run(build, build.argv, stdin=b"", output_bytes=_OUTPUT_BYTES)
    made = (path for path, *stamp in _stamps(copy) if (path, *stamp) not in before)  # others may lie there, too
    files = {path: (copy.root / path).read_bytes() for path in made}
    if result.exit_status == 0 and files and sum(map(len, files.values())) <= _MOST_BYTES:
        return Built(files=files)
    why = "it took too long" if result.timed_out else plain(f"{result.stdout}\n{result.stderr}".strip())
    return Built(files={}, error=why.replace(f"{copy.root}/", "") or "nothing was built")


def _extensions(workspace: Workspace) -> list[str]:
    """What is built, beside the files that are listed."""
    found = []
    for directory in sorted({dirname(path) for path in workspace.list_files()}):
        places = (workspace.root / directory).iterdir()
        built = (each for each in places if each.suffix in _BUILT and each.is_file() and not each.is_symlink())
        found += [join(directory, each.name) for each in built]
    return found

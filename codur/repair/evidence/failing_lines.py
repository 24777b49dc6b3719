"""What a failed check tells about the place of the fault: exceptions and the workspace lines they passed through."""

from pathlib import Path, PurePosixPath

from codur.lazy import regex
from codur.structs import Struct
from codur.types import Verdict

_FRAME = regex(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)')
_PLACE = regex(r"^(?!E\s)(?P<path>[^\s:][^:\n]*\.py):(?P<line>\d+):(?: (?P<kind>[A-Za-z_][\w.]*))?")
# By the endings that names of exceptions have: any word before a colon could be one otherwise.
_RAISED = regex(
    r"^(?:E\s+)?(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|Iteration|Interrupt|Exit)|Failed(?=: it did not end))\b"
    r"(?:: (?P<message>.*))?$"
)
_STOPPED = "Failed"  # a test that took too long (`codur/python/pytest_program.py`)


class Raised(Struct):
    """One exception of a failure."""

    kind: str  # the class name without its module
    message: str = ""
    # (path, line) in files of the workspace, the raising one last; empty if the text does not say
    frames: tuple[tuple[str, int], ...] = ()


class Failure(Struct):
    """The exceptions of a failed check, in the order of its text."""

    raised: tuple[Raised, ...] = ()

    def at(self, path: str, first: int, last: int, *kinds: str) -> tuple[Raised, ...]:
        """Exceptions of the given kinds that passed through these lines (or through lines unknown)."""
        return tuple(
            each
            for each in self.raised
            if each.kind in kinds and (not each.frames or any(p == path and first <= n <= last for p, n in each.frames))
        )

    def running(self) -> tuple[tuple[str, int], ...]:
        """Where tests were that did not end, with the calls that led there."""
        return tuple(frame for each in self.of(_STOPPED) for frame in each.frames)

    def of(self, *kinds: str) -> tuple[Raised, ...]:
        """Exceptions of the given kinds, wherever they were raised."""
        return tuple(each for each in self.raised if each.kind in kinds)


def read_failure(verdict: Verdict, root: Path) -> Failure:
    """The exceptions in a verdict's error text: Python tracebacks and pytest's short and long reports."""
    raised: list[Raised] = []
    frames: list[tuple[str, int]] = []
    for line in verdict.error.splitlines():
        if place := _FRAME.match(line):
            frames += _inside(root, place["path"], int(place["line"]))
        elif found := _RAISED.match(line):
            raised.append(
                Raised(
                    kind=found["kind"].rpartition(".")[2],
                    message=(found["message"] or "").strip(),
                    frames=tuple(frames),
                )
            )
            frames = []
        elif place := _PLACE.match(line):
            here = _inside(root, place["path"], int(place["line"]))
            # pytest's long report names the place after the exception, and not before it as Python does.
            if raised and place["kind"] == raised[-1].kind and not frames:
                raised[-1] = Raised(
                    kind=raised[-1].kind, message=raised[-1].message, frames=(*raised[-1].frames, *here)
                )
            else:
                frames += here
    return Failure(raised=tuple(dict.fromkeys(raised)))


def _inside(root: Path, path: str, line: int) -> list[tuple[str, int]]:
    """The place as workspace-relative path and line; nothing if it lies outside."""
    place = PurePosixPath(path)
    if not place.is_absolute():
        # pytest prints paths relative to its root; one that leads out of it is no file of the workspace.
        return [(str(place), line)] if ".." not in place.parts else []
    if place.is_relative_to(root.as_posix()):
        return [(str(place.relative_to(root.as_posix())), line)]
    return []

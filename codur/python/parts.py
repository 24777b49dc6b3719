"""The projects in a repository that holds several."""

from collections.abc import Callable, Sequence
from posixpath import basename, dirname

from codur.parsing.bounded_text import listed
from codur.python.layout import PROJECT_MARKS

_NO_PARTS = frozenset({"tests", "test", "docs", "doc", "examples", "example", "vendor", "third_party", "templates"})
_SHOWN = 4


def find_parts(listing: Sequence[str], is_test: Callable[[str], bool]) -> tuple[str, ...]:
    """Directories below the top with a project and tests of their own, where no tests stand outside of them.

    Args:
        listing: the workspace's files.
        is_test: whether a file is collected as a test.
    """
    marked = {dirname(path) for path in listing if basename(path) in PROJECT_MARKS and "/" in path}
    tops = {path for path in marked if _NO_PARTS.isdisjoint(path.split("/"))}
    owners = {path: _part_of(path, tops) for path in listing if is_test(path)}
    parts = tuple(sorted(set(owners.values())))
    return parts if len(parts) > 1 and "" not in parts else ()


def choose_part(parts: Sequence[str], named: Sequence[str], changed: Callable[[], Sequence[str]]) -> tuple[str, str]:
    """The project that is meant: the one of the files that the prompt names, else of those that were changed.

    Args:
        parts: the projects, see `find_parts`.
        named: files that the prompt names.
        changed: gives files that are not as they were committed; asked only if the named ones do not tell.

    Returns:
        Its directory, empty if that is not clear; and why it is, or what would make it clear.
    """
    for why in ("the prompt names", "you changed"):
        files = named if why == "the prompt names" else changed()
        owners = {_part_of(path, set(parts)) for path in files} - {""}
        if len(owners) == 1:
            (chosen,) = owners
            first = next(path for path in files if _part_of(path, set(parts)) == chosen)
            return chosen, f"{chosen}, as {why} {first}"
    shown = listed(parts, _SHOWN)
    return "", f"this repository holds {len(parts)} projects ({shown}); name a file of the one that is meant"


def _part_of(path: str, parts: set[str]) -> str:
    """The innermost project that a file is in; empty for none."""
    directory = dirname(path)
    while directory and directory not in parts:
        directory = dirname(directory)
    return directory

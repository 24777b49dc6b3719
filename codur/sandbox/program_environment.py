"""What programs find: their variables, the directories on their `PATH`, and what they may read to run at all."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from codur.lazy import late
from codur.sandbox.backends.system_paths import interpreter_paths, is_below, toolchain_paths, without_home
from codur.sandbox.environment import child_environment
from codur.sandbox.scratch import private_directory

shutil = late("shutil")


class Surroundings:
    """The same for all programs of a launcher.

    Args:
        environ: the user's environment.
        python: the interpreter that `python` means: its directory comes first on `PATH` if need be; None: any.
        temporary: where temporary directories are made.
        contained: the programs may read what they are told only.

    Attributes:
        variables: of all programs.
    """

    def __init__(self, environ: Mapping[str, str], python: str | None, temporary: str, *, contained: bool) -> None:
        self.variables = child_environment(environ)
        self._alias: str | None = None
        if python is not None:
            folder, path = str(Path(python).parent), self.variables["PATH"]
            # Only where it is not found first as it is: other tools are found in the user's order.
            first = [shutil.which(name, path=path) for name in ("python", "python3")]
            if any(program and str(Path(program).parent) != folder for program in first):
                self.variables["PATH"] = f"{folder}{os.pathsep}{path}"
            # Many commands say `python`, and systems without that name would run none, or another one.
            self._alias = None if Path(python).with_name("python").exists() else python
        self._python = python
        self._home = Path(environ.get("HOME", "/"))
        self._temporary = temporary
        self._contained = contained
        self._programs: tuple[Path, ...] | None = None

    def readable(self, argv: tuple[str, ...], within: Path) -> tuple[Path, ...]:
        """What a program needs outside the system's own directories, to run at all.

        Args:
            argv: the program and its arguments.
            within: the directory that it works in, whose links show nothing of the machine: they may be a stranger's,
                or made by an earlier program. Those of the interpreter's environment do not either.
        """
        if not self._contained:
            return ()
        if self._programs is None:
            pythons = (sys.executable, *(() if self._python is None else (self._python,)))
            found = [path for python in pythons for path in interpreter_paths(python)]
            stated = (*dict.fromkeys(found), *toolchain_paths(self.variables))
            self._programs = without_home(stated, self._home)
        # The interpreter is stated already; to look at it once more takes 9 ms.
        other = argv[0] if argv and argv[0] != self._python else ""
        named = _program_paths(other) if other.startswith("/") else ()
        ours = (within, *(() if self._python is None else (Path(self._python).parent.parent,)))
        return tuple(
            path
            # A path inside that is or goes through a link is left out: an earlier program may have made the link, to
            # read what it leads to.
            for path in dict.fromkeys((*self._programs, *named))
            if not is_below(path, ours) or os.path.realpath(path) == str(path)
        )

    @contextlib.contextmanager
    def search_path(self, argv: tuple[str, ...]) -> Iterator[tuple[str, tuple[Path, ...]]]:
        """`PATH` for a program, and what was made for it.

        Where there is only a `python3`, it gets one that has a `python` for commands to call.
        """
        if self._alias is None or argv[:1] == (self._alias,):
            yield self.variables["PATH"], ()
            return
        with private_directory(self._temporary) as names:
            (Path(names) / "python").symlink_to(self._alias)
            yield f"{names}{os.pathsep}{self.variables['PATH']}", (Path(names),)


@lru_cache(maxsize=64)
def _program_paths(program: str) -> tuple[Path, ...]:
    return (*interpreter_paths(program), Path(program)) if os.access(program, os.X_OK) else ()

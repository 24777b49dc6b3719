"""Where a program is and what it needs to be read to run: its own installation, wherever that is."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from codur.sandbox.backends.system_paths import interpreter_paths, link_chain
from codur.sandbox.environment import child_environment

_SHEBANG_BYTES = 512
_PACKAGES = "node_modules"


def find_program(name: str, environ: Mapping[str, str]) -> Path | None:
    """The program of that name on the path of started programs, or at that absolute path; None if there is none."""
    found = shutil.which(name, path=child_environment(environ)["PATH"])
    return Path(found) if found else None


def installation_of(program: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """What a program must be able to read, by its absolute path: itself, its package, and what interprets it."""
    found: dict[Path, None] = {}
    # Every link on the way, not only its end: npm puts a link on the path, and the sandbox shows what is named and no
    # more.
    for path in link_chain(program):
        found[path] = None
        for above in path.parents:
            if above.name == _PACKAGES:
                found[above] = None
        if (path.parent.parent / "pyvenv.cfg").is_file():
            found.update((each, None) for each in interpreter_paths(path.with_name("python")))
    for interpreter in _interpreters(Path(os.path.realpath(program)), environ):
        found.update((each, None) for each in (*link_chain(interpreter), *interpreter_paths(interpreter)))
    return tuple(path for path in found if path != Path("/"))


def _interpreters(program: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """What the first line of a script names, also by way of `env`."""
    try:
        with program.open("rb") as stream:
            line = stream.readline(_SHEBANG_BYTES)
    except OSError:  # it may be executable and not readable
        return
    words = line.removeprefix(b"#!").split() if line.startswith(b"#!") else []
    # `#!/usr/bin/env -S node`: the program, an option, the interpreter.
    for word in map(os.fsdecode, words[:3]):
        if word.startswith("/"):
            yield Path(word)
        elif not word.startswith("-"):
            named = find_program(word, environ)
            if named is not None:
                yield named

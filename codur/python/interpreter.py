"""Which Python runs the workspace's programs."""

import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import takewhile
from pathlib import Path

from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.python.dependencies import declared_dependencies, lacking
from codur.python.installed import is_importable
from codur.python.project_files import read_text, read_toml, table
from codur.sandbox.backends.system_paths import is_environment
from codur.sandbox.launcher import Launcher
from codur.structs import Struct

_NAMES = ("python3", "python")
_VERSION = regex(r"[0-9][\w.+-]*")
_SHOWN_NAMES = 4


class Interpreter(Struct):
    """The interpreter for a workspace's programs."""

    path: str  # its absolute path
    reason: str  # why it was chosen, in a few words


class _Candidate(Struct):
    """An interpreter, what it is called, and what it lacks of what the project declares."""

    path: str
    name: str
    lacks: tuple[str, ...]
    has_pytest: bool


def find_python(root: Path, environ: Mapping[str, str]) -> str:
    """The absolute path of the workspace's interpreter, see `choose_python`."""
    return choose_python(root, environ).path


def choose_python(root: Path, environ: Mapping[str, str]) -> Interpreter:
    """The workspace's interpreter: of its environments the one with most of what the project declares.

    Of those that lack equally little it is one with pytest, then the first of: the environment that uv's variable
    names, `.venv`, `venv`, `env`, the active one, those of pdm, poetry, hatch, tox and nox. The first interpreter on
    `PATH`, and then the one that runs Codur, are taken if there is no environment, or if they lack less than that and
    nothing that it has. What a link of the workspace leads to outside it is one of them if it is a virtual environment;
    what a file of the workspace names there is not, unless the user's variables name it, too, or only the tool makes
    environments there: the workspace may be a stranger's, and programs can read what is installed in an environment.
    Nothing is run: what is installed is read. A version manager's shim is a slow script and is passed over; pyenv's is
    replaced by what it stands for.
    """
    needed = declared_dependencies(root).runtime
    environments = [_candidate(path, name, needed) for name, path in _environments(root, environ)]
    best = min(environments, key=lambda item: (len(item.lacks), not item.has_pytest), default=None)
    if best is None or best.lacks:
        others = [_candidate(path, name, needed) for name, path in _installations(root, environ)]
        other = min(others, key=lambda item: len(item.lacks))
        # What the project's own environment has must not be missing in another one, whatever else that has.
        best = other if best is None or set(other.lacks) < set(best.lacks) else best
    return Interpreter(path=best.path, reason=_reason(best, environments))


def _candidate(path: Path, name: str, needed: Iterable[str]) -> _Candidate:
    return _Candidate(
        path=str(path),
        name=name,
        lacks=tuple(lacking(str(path), needed)),
        has_pytest=is_importable(str(path), "pytest"),
    )


def _reason(chosen: _Candidate, environments: list[_Candidate]) -> str:
    """Why a candidate was taken; those that come before it are told with what they lack."""
    if chosen.lacks:
        return f"{chosen.name} (lacks {listed(chosen.lacks, _SHOWN_NAMES)})"
    before = list(takewhile(lambda item: item != chosen, environments))
    passed = [f"{item.name} lacks {item.lacks[0] if item.lacks else 'pytest'}" for item in before]
    return f"{chosen.name} ({'; '.join(passed)})" if passed else chosen.name


# --- where interpreters are -------------------------------------------------------------------------------------------


def _environments(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The interpreters of the project's environments, each with a name, the likeliest first."""
    seen: set[Path] = set()
    own = Path(os.path.realpath(root))
    named = {Path(os.path.realpath(directory)) for _, directory in _named(root, environ)}
    for name, directory in _directories(root, environ):
        program = next((path for item in reversed(_NAMES) if _is_program(path := directory / "bin" / item)), None)
        real = Path(os.path.realpath(directory))
        linked = directory.is_relative_to(root) and not real.is_relative_to(own)
        strange = linked and not is_environment(real) and real not in named
        if program is not None and real not in seen and not strange:
            seen.add(real)
            yield name, program


def _named(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """The environments that the user's variables name."""
    if environ.get("UV_PROJECT_ENVIRONMENT"):
        yield "the environment in UV_PROJECT_ENVIRONMENT", root / environ["UV_PROJECT_ENVIRONMENT"]
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(variable, "").startswith("/"):
            yield f"the active environment {environ[variable]}", Path(environ[variable])
    for directory in environ.get("PATH", "").split(os.pathsep)[:1]:
        if directory.startswith("/") and is_environment(Path(directory).parent):
            yield f"the environment {Path(directory).parent} on PATH", Path(directory).parent


def _directories(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    named = list(_named(root, environ))
    uv = [item for item in named if item[0].endswith("UV_PROJECT_ENVIRONMENT")]
    yield from uv
    for name in (".venv", "venv", "env"):
        yield name, root / name
    yield from named[len(uv) :]
    yield from (("pdm's environment", path) for path in _of_pdm(root, environ))
    yield from (("poetry's environment", path) for path in _of_poetry(root, environ))
    yield from (("hatch's environment", path) for path in _of_hatch(root, environ))
    for tool, pattern in (("tox", ".tox/py*"), ("nox", ".nox/*")):
        yield from ((f"{tool}'s environment {path.name}", path) for path in sorted(root.glob(pattern), reverse=True))


def _of_pdm(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The environment that pdm's file in a project names: in the project, or where pdm keeps them otherwise."""
    stated = Path(os.path.normpath(_first_line(root / ".pdm-python") or "."))
    data = environ.get("XDG_DATA_HOME") or f"{environ.get('HOME', '')}/.local/share"
    if stated.is_relative_to(root) or (data.startswith("/") and stated.is_relative_to(f"{data}/pdm/venvs")):
        yield stated.parent.parent


def _of_poetry(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The environments that poetry keeps for a project: they end with a digest of its path and the Python version."""
    home = environ.get("HOME", "")
    if not (root / "pyproject.toml").is_file() or not home:
        return
    cache = environ.get("POETRY_CACHE_DIR") or f"{environ.get('XDG_CACHE_HOME') or f'{home}/.cache'}/pypoetry"
    settings = Path(environ.get("XDG_CONFIG_HOME") or f"{home}/.config") / "pypoetry" / "config.toml"
    stated = [
        environ.get("POETRY_VIRTUALENVS_PATH"),
        *(table(read_toml(path), "virtualenvs").get("path") for path in (root / "poetry.toml", settings)),
        "{cache-dir}/virtualenvs",
    ]
    place = next(item for item in stated if isinstance(item, str) and item)
    directory = Path(os.path.normpath(root / place.replace("{cache-dir}", cache)))
    yield from sorted(directory.glob(f"*-{_digest(os.path.realpath(root))}-py*"), reverse=True)


def _of_hatch(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The environments that hatch keeps for a project, in a directory named by a digest of its path; tests' first."""
    home = environ.get("HOME", "")
    if not (root / "pyproject.toml").is_file() or not home:
        return
    data = environ.get("HATCH_DATA_DIR") or f"{environ.get('XDG_DATA_HOME') or f'{home}/.local/share'}/hatch"
    found = Path(data).glob(f"env/virtual/*/{_digest(str(root))}/*")
    yield from sorted(found, key=lambda path: ("test" not in path.name, path.name))


def _digest(text: str) -> str:
    return urlsafe_b64encode(sha256(text.encode("utf-8", "surrogateescape")).digest()).decode()[:8]


def _installations(root: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    for directory in environ.get("PATH", "").split(os.pathsep):
        found = _in_directory(root, directory, environ)
        if found is not None:
            yield "the first on PATH", found
            break
    yield "the one that runs Codur", Path(sys.executable)


def _in_directory(root: Path, directory: str, environ: Mapping[str, str]) -> Path | None:
    if not directory.startswith("/"):
        return None
    if Path(directory).name == "shims":
        return _behind_pyenv_shim(root, Path(directory).parent, environ)
    for name in _NAMES:
        candidate = Path(directory) / name
        if _is_program(candidate):
            return candidate
    return None


def _behind_pyenv_shim(root: Path, pyenv: Path, environ: Mapping[str, str]) -> Path | None:
    """The interpreter of the version that pyenv would choose, if it is installed."""
    stated = environ.get("PYENV_VERSION") or _first_line(root / ".python-version") or _first_line(pyenv / "version")
    if not _VERSION.fullmatch(stated):
        return None
    candidate = pyenv / "versions" / stated / "bin" / "python3"
    return candidate if _is_program(candidate) else None


def _first_line(path: Path) -> str:
    return read_text(path).partition("\n")[0].strip()


def _is_program(path: Path) -> bool:
    return os.access(path, os.X_OK) and path.is_file()


def python_version(python: str, launcher: Launcher) -> str:
    """The version of an interpreter as it tells it (`3.12.1`), or `3` if it does not."""
    known = launcher.versions.get(python)
    if known is None:
        result = launcher.run([python, "--version"], cwd=Path("/"), timeout_s=10.0)
        words = result.stdout.split()
        known = launcher.versions[python] = words[-1] if result.exit_status == 0 and words else "3"
    return known

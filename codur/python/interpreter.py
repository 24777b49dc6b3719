"""Which Python runs the workspace's programs."""

import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from codur.lazy import regex
from codur.python.dependencies import declared_dependencies, lacking
from codur.python.installed import is_importable
from codur.python.project_files import read_text, read_toml, table
from codur.sandbox.backends.system_paths import is_environment
from codur.sandbox.launcher import Launcher
from codur.structs import Struct

_NAMES = ("python3", "python")
_VERSION = regex(r"[0-9][\w.+-]*")


class _Candidate(Struct):
    """An interpreter, and what it lacks of what the project declares."""

    path: str
    lacks: tuple[str, ...]
    has_pytest: bool


def find_python(root: Path, environ: Mapping[str, str]) -> str:
    """The absolute path of the workspace's interpreter: of its environments the one with most of what it declares.

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
    environments = [_candidate(path, needed) for path in _environments(root, environ)]
    best = min(environments, key=lambda item: (len(item.lacks), not item.has_pytest), default=None)
    if best is None or best.lacks:
        others = [_candidate(path, needed) for path in _installations(root, environ)]
        other = min(others, key=lambda item: len(item.lacks))
        # What the project's own environment has must not be missing in another one, whatever else that has.
        best = other if best is None or set(other.lacks) < set(best.lacks) else best
    return best.path


def _candidate(path: Path, needed: Iterable[str]) -> _Candidate:
    has_pytest = is_importable(str(path), "pytest")
    return _Candidate(path=str(path), lacks=tuple(lacking(str(path), needed)), has_pytest=has_pytest)


# --- where interpreters are -------------------------------------------------------------------------------------------


def _environments(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The interpreters of the project's environments, the likeliest first."""
    seen: set[Path] = set()
    own = Path(os.path.realpath(root))
    named = {Path(os.path.realpath(directory)) for directory in (*_of_uv(root, environ), *_active(environ))}
    for directory in _directories(root, environ):
        program = next((path for item in reversed(_NAMES) if _is_program(path := directory / "bin" / item)), None)
        real = Path(os.path.realpath(directory))
        linked = directory.is_relative_to(root) and not real.is_relative_to(own)
        strange = linked and not is_environment(real) and real not in named
        if program is not None and real not in seen and not strange:
            seen.add(real)
            yield program


def _of_uv(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("UV_PROJECT_ENVIRONMENT"):
        yield root / environ["UV_PROJECT_ENVIRONMENT"]


def _active(environ: Mapping[str, str]) -> Iterator[Path]:
    """The environments that the user has activated."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(variable, "").startswith("/"):
            yield Path(environ[variable])
    for directory in environ.get("PATH", "").split(os.pathsep)[:1]:
        if directory.startswith("/") and is_environment(Path(directory).parent):
            yield Path(directory).parent


def _directories(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    yield from _of_uv(root, environ)
    yield from (root / name for name in (".venv", "venv", "env"))
    yield from _active(environ)
    yield from _of_pdm(root, environ)
    yield from _of_poetry(root, environ)
    yield from _of_hatch(root, environ)
    for pattern in (".tox/py*", ".nox/*"):
        yield from sorted(root.glob(pattern), reverse=True)


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


def _installations(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    for directory in environ.get("PATH", "").split(os.pathsep):
        found = _in_directory(root, directory, environ)
        if found is not None:
            yield found
            break
    yield Path(sys.executable)


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

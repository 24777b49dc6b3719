"""Which of the machine's files a contained program needs, and which of these it must not see."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

# not `/var`, `/run`, `/srv`, `/root`: services keep their sockets and data there
_ROOTS = tuple(
    """
    /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix/store /gnu/store /run/current-system
    /home/linuxbrew/.linuxbrew
    """.split()
)
_PRIVATE_ROOTS = ("/etc", "/usr/local/etc")
_ENVIRONMENT_PARTS = ("pyvenv.cfg", "bin", "lib", "lib64", "include", "share")
"""What makes a virtual environment; settings of tools that are kept in one, such as `pip.conf`, may hold passwords."""
_PREFIX_PARTS = ("bin", "lib", "lib64", "include", "ssl")
_TOOLCHAINS = tuple(
    """
    RUSTUP_HOME GOROOT JAVA_HOME CARGO_HOME/bin CARGO_HOME/registry CARGO_HOME/git NVM_DIR/versions PYENV_ROOT/versions
    GOPATH/pkg/mod GOMODCACHE HOME/.m2/repository HOME/.m2/wrapper
    """.split()
)
"""Not all of Cargo's home or Maven's: they hold credentials."""
_BESIDE_PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "lib/node_modules": ("lib/node_modules",),
    "lib/ruby": ("lib/ruby",),
    "src/runtime/proc.go": ("src", "pkg", "lib", "VERSION", "go.env"),
    "lib/jrt-fs.jar": ("lib", "conf", "release"),
}
"""What the programs in a `bin` need beside it (npm's scripts, Ruby's library, Go's and Java's), by what tells of it."""
_BEHIND_SHIMS = ("libexec", "plugins", "versions", "version", "installs")
"""What the scripts of a version manager (pyenv and its like) call and read beside their own directory."""
_MAX_LINKS = 40  # as the kernel


@lru_cache(maxsize=1)
def system_roots() -> tuple[Path, ...]:
    """Where the system keeps programs, libraries and settings, as far as it is here; some may be links."""
    return tuple(Path(root) for root in _ROOTS if os.path.lexists(root))


@lru_cache(maxsize=1)
def private_system_files() -> tuple[Path, ...]:
    """Files and directories of the system's settings that not everyone may read, such as passwords."""
    return tuple(found for root in _PRIVATE_ROOTS for found in _private_below(root))


def _private_below(directory: str) -> Iterator[Path]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        status = entry.stat(follow_symlinks=False)
        mode = status.st_mode
        if stat.S_ISLNK(mode) or not status.st_size:  # an empty file says nothing to anybody
            continue
        if not mode & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH):
            yield Path(entry.path)
        elif stat.S_ISDIR(mode):
            yield from _private_below(entry.path)


def is_below(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path is one of the roots or inside one."""
    inside = f"{path}/"  # per program: `is_relative_to` takes several times as long
    return any(inside.startswith(f"{root}/") for root in roots)


def interpreter_paths(python: str | Path) -> tuple[Path, ...]:
    """What a Python interpreter needs to be read outside the system's own directories.

    These are the programs and libraries of its environment, if it is in one, and of the installation that it leads to:
    real paths, and the links from one program to the next. Nothing else beside them, such as other files of a home
    directory, is among them, nor what a link in the environment or installation leads to. What is no Python counts for
    nothing.
    """
    program = Path(python)
    found: dict[Path, None] = {}
    chain = list(link_chain(program))
    environment = _prefix_of(program)
    if is_environment(environment):
        found |= _parts(environment, _ENVIRONMENT_PARTS)
        if is_below(Path(os.path.realpath(program)), (environment,)):  # a copy, not a link to the installation's
            chain += link_chain(_home_of(environment) / program.name)
    for item in chain:
        prefix = _prefix_of(item)
        # Nobody can use what this user may not look at.
        if os.access(prefix, os.R_OK | os.X_OK) and next(prefix.glob("lib*/py*3*/os.py"), None) is not None:
            found |= _parts(prefix, _PREFIX_PARTS)
    directories = tuple(found)
    # Only if the last link ends in a Python: a chain that leads elsewhere shows nothing on its way either.
    if is_below(Path(os.path.realpath(chain[-1])), (*directories, *system_roots())):
        found |= dict.fromkeys(chain)
    return tuple(path for path in found if not is_below(path, system_roots()))


def _parts(prefix: Path, names: Iterable[str]) -> dict[Path, None]:
    """What there is of these below a directory, and does not lead out of it."""
    parts = (prefix / name for name in names)
    return {part: None for part in parts if part.exists() and is_below(part.resolve(), (prefix,))}


def _prefix_of(program: Path) -> Path:
    return Path(os.path.realpath(program.parent.parent))


def _home_of(environment: Path) -> Path:
    """Where the programs of the installation are that a virtual environment was made from."""
    for line in (environment / "pyvenv.cfg").read_text("utf-8", "replace").splitlines():
        name, _, value = line.partition("=")
        home = Path(value.strip())
        if name.strip() == "home" and home.is_absolute() and home != environment / "bin":
            return home
    return Path("/usr/bin")  # of an environment that does not say


def toolchain_paths(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where programs are outside the system's own directories: those on `PATH`, and those that variables name.

    The home directory itself is never among them.
    """
    stated = [Path(item) for item in environ.get("PATH", "").split(os.pathsep) if item.startswith("/")]
    # A shim is a script that calls its manager, which reads the versions: without these it only says that it is lost.
    stated += [item.parent / part for item in stated if item.name == "shims" for part in _BEHIND_SHIMS]
    for entry in _TOOLCHAINS:
        name, _, below = entry.partition("/")
        if environ.get(name, "").startswith("/"):
            stated.append(Path(environ[name]) / below)
    others = {Path(environ.get("HOME", "/")), Path("/")}
    # Not what is beside a `bin` in the home directory: that is the user's own.
    own = {Path(os.path.realpath(item)) for item in others}
    prefixes = [Path(os.path.realpath(item)).parent for item in stated if item.name == "bin"]
    for mark, parts in _BESIDE_PROGRAMS.items():
        found = (prefix for prefix in prefixes if prefix not in own and os.path.lexists(prefix / mark))
        stated += [prefix / part for prefix in found for part in parts]
    return tuple(
        path
        for path in dict.fromkeys(Path(os.path.normpath(item)) for item in stated)
        if os.access(path, os.R_OK) and path not in others and not is_below(path, system_roots())
    )


def without_home(paths: Iterable[Path], home: Path) -> tuple[Path, ...]:
    """The paths, and of one that would show the home directory only what an interpreter in it needs."""
    real_home = os.path.realpath(home)
    kept: list[Path] = []
    for path in paths:
        if Path(real_home).is_relative_to(os.path.realpath(path)):
            kept += [path / part for part in _ENVIRONMENT_PARTS if (path / part).exists()]
        else:
            kept.append(path)
    return tuple(kept)


def is_environment(directory: Path) -> bool:
    """Whether it is a virtual environment; not if nothing may be looked at there, which `Path.is_file` would raise."""
    return os.path.isfile(directory / "pyvenv.cfg")  # noqa: PTH113 - see above


def link_chain(path: Path) -> Iterator[Path]:
    """A path and, if its last component is a link, each path that the link leads to in turn."""
    for _ in range(_MAX_LINKS):
        yield path
        if not os.path.islink(path):  # noqa: PTH114 - False where nothing may be looked at
            return
        # By the words and not resolved: each link on the way is wanted by itself, and what its target's directories are
        # is looked at by who takes it.
        path = Path(os.path.normpath(path.parent / path.readlink()))


def way_to(path: Path) -> tuple[tuple[tuple[Path, str], ...], Path]:
    """Where a path leads with all links resolved, after the links on the way: where each is and what it says."""
    links: list[tuple[Path, str]] = []
    todo = list(path.parts[1:])
    real = Path("/")
    while todo:
        part = todo.pop(0)
        # `..` after a link means the directory above its target, so that parts are taken one by one.
        here = real.parent if part == ".." else real / part
        if len(links) < _MAX_LINKS and here.is_symlink():
            target = here.readlink()
            links.append((here, str(target)))
            todo[:0] = [item for item in target.parts if item != "/"]
            real = Path("/") if target.is_absolute() else real
        else:
            real = here
    return tuple(links), real

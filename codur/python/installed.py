"""What is installed for an interpreter, by reading its site-packages; nothing is run."""

import ast
from collections.abc import Iterator
from pathlib import Path

from codur.lazy import regex
from codur.python.project_files import parsed, read_ini, read_text
from codur.sandbox.backends.system_paths import is_environment, link_chain

_DISTRIBUTION = regex(r"(?P<name>.+?)(?:-[^-]+)*\.(?:dist-info|egg-info)")
_VERSION = regex(r"python(3\.\d+)")
_SEPARATORS = regex(r"[-_.]+")


def normal_name(name: str) -> str:
    """A distribution's name in the form in which two spellings of it are equal."""
    return _SEPARATORS.sub("-", name).lower()


def environment_of(python: str) -> Path | None:
    """The virtual environment that an interpreter belongs to."""
    for program in link_chain(Path(python)):
        if is_environment(program.parent.parent):
            return program.parent.parent
    return None


def site_directories(python: str) -> tuple[Path, ...]:
    """The directories of installed packages on an interpreter's search path, in its order."""
    environment = environment_of(python)
    if environment is None:
        return tuple(_installation(Path(python)))
    found = list(_below(environment / "lib", ("site-packages",)))
    settings = _settings(environment)
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        found += _installation(Path(settings["home"]) / "python3")
    return tuple(found)


def _settings(environment: Path) -> dict[str, str]:
    lines = (line.partition("=") for line in read_text(environment / "pyvenv.cfg").splitlines())
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def _installation(program: Path) -> Iterator[Path]:
    """The site directories of an installation: its own and, as Debian has them, those that all its versions share."""
    *_, real = link_chain(program)
    prefixes = dict.fromkeys((program.parent.parent, real.parent.parent))
    version = _VERSION.match(real.name)
    for prefix in prefixes:
        for lib in (prefix / "local" / "lib", prefix / "lib"):
            yield from _below(lib, ("site-packages", "dist-packages"), version[1] if version else None)
            if (lib / "python3" / "dist-packages").is_dir():
                yield lib / "python3" / "dist-packages"


def _below(lib: Path, names: tuple[str, ...], version: str | None = None) -> Iterator[Path]:
    for directory in sorted(lib.glob(f"python{version or '3*'}")):
        yield from (directory / name for name in names if directory.name != "python3" and (directory / name).is_dir())


def distributions(python: str) -> dict[str, Path]:
    """What is installed: normal name → the directory (or file) with its metadata."""
    found: dict[str, Path] = {}
    for site in site_directories(python):
        for path in _listed(site):
            if path.suffix in {".dist-info", ".egg-info"} and (match := _DISTRIBUTION.fullmatch(path.name)):
                found.setdefault(normal_name(match["name"]), path)
            elif path.suffix == ".egg-link":
                found.setdefault(normal_name(path.stem), path)
    return found


def _listed(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def version_of(python: str, name: str) -> str:
    """The version of an installed distribution by its metadata's name; empty if it is not installed."""
    path = distributions(python).get(name)
    return path.name.removesuffix(path.suffix).rpartition("-")[2] if path else ""


def is_importable(python: str, module: str) -> bool:
    """Whether an installed package or module of that top-level name lies in a site directory."""
    names = (module, f"{module}.py")
    return any(
        any((site / name).exists() for name in names) or any(site.glob(f"{module}.*.so"))
        for site in site_directories(python)
    )


def installed_plugins(python: str) -> dict[str, str]:
    """The pytest plugins that are installed: the name by which `-p no:NAME` knows one → its distribution."""
    found: dict[str, str] = {}
    for name, path in distributions(python).items():
        text = read_text(path / "entry_points.txt") if path.suffix != ".egg-link" else ""
        if "pytest11" in text:
            parser = read_ini(path / "entry_points.txt")
            found |= dict.fromkeys(parser.options("pytest11") if parser.has_section("pytest11") else (), name)
    return found


# --- editable installs ------------------------------------------------------------------------------------------------


def editable_roots(python: str) -> list[Path]:
    """Directories that editable installs put on the search path, or would if their packages were looked for there."""
    found: dict[Path, None] = {}
    for site in site_directories(python):
        for path in _listed(site):
            if path.suffix == ".pth":
                found |= dict.fromkeys(_path_lines(read_text(path)))
            elif path.suffix == ".egg-link":
                found |= dict.fromkeys(_path_lines(read_text(path))[:1])
            elif path.name.startswith("__editable__") and path.suffix == ".py":
                found |= dict.fromkeys(_mapped(read_text(path)))
    return list(found)


def _path_lines(text: str) -> list[Path]:
    lines = (line.strip() for line in text.splitlines())
    return [Path(line) for line in lines if line.startswith("/")]


def _mapped(text: str) -> Iterator[Path]:
    """The directories above the packages in the table of a finder that setuptools wrote."""
    tree = parsed(text)
    for statement in tree.body if tree else ():
        match statement:
            case ast.AnnAssign(target=ast.Name(id="MAPPING"), value=ast.Dict() as value):
                mapping = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id="MAPPING")], value=ast.Dict() as value):
                mapping = ast.literal_eval(value)
            case _:
                continue
        for package, path in mapping.items():
            above = above_package(str(package), str(path))
            if above is not None:
                yield Path(above or "/")


def above_package(package: str, path: str) -> str | None:
    """The directory from which a package at a path is imported; None if its directories are not named as it is.

    Args:
        package: its name with dots; empty for the directory of all packages.
    """
    parts, names = path.rstrip("/").split("/"), package.split(".") if package else []
    if parts[len(parts) - len(names) :] != names:
        return None
    return "/".join(parts[: len(parts) - len(names)])

"""A check that reaches beyond: to files outside by way of links, to git and other programs by what it leaves behind.

Each attack is the program of a check, under every back end that works here; each has a control arm, in which it works:
for reading the back end `none`, for leaving something behind the same program started without Codur.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.kit import codur
from tests.cli.test_back_ends import BACK_ENDS

SECRET = "canary of the user"
CHECK = "python main.py"
_NEW_FILES = 2_000
CONTAINED = [name for name in BACK_ENDS if name != "none"]
READ = "open('stolen', 'w').write(open({path!r}).read())\n"


@pytest.fixture
def base() -> Iterator[Path]:
    """A home with a secret, and a workspace."""
    with tempfile.TemporaryDirectory(prefix="codur-reach-", dir="/tmp") as directory:
        for name in ("home/private", "work", "temporary"):
            (Path(directory) / name).mkdir(parents=True)
        (Path(directory) / "home/private/secret").write_text(SECRET)
        yield Path(directory)


def checked(base: Path, back_end: str, check: str = CHECK, **variables: str) -> None:
    """Have the program in the workspace run by a check of Codur's, whatever it comes to."""
    # What is red is searched through, which runs the same program again; a second of that will do.
    brief = {"CODUR_REPAIR__OFFLINE_BUDGET_S": "1", "CODUR_SANDBOX__NEW_FILES": str(_NEW_FILES)}
    more = {"CODUR_SANDBOX__BACKEND": back_end, "TMPDIR": str(base / "temporary"), **brief, **variables}
    words = ("run the tests", "--check", check, "--offline", "--json")
    ran = codur(*words, cwd=base / "work", home=base / "home", stdin=b"", before=(), **more)
    assert ran.out, ran.err


def plain(base: Path) -> None:
    """Run the program as it is."""
    subprocess.run([sys.executable, "main.py"], cwd=base / "work", check=False, capture_output=True)


def git(*words: str, cwd: Path) -> None:
    """What a user does; without settings of this machine."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    settings = ("-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *settings, *words], cwd=cwd, env=env, check=False, capture_output=True)


# --- reading ----------------------------------------------------------------------------------------------------------


def fake_installation(base: Path, target: Path) -> Path:
    """Something like an installation of Python, a part of which is a link to everything."""
    environment = base / "work/.venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "lib/python3.11").mkdir(parents=True)
    (environment / "lib/python3.11/os.py").touch()
    (environment / "bin/python").symlink_to(sys.executable)
    (environment / "include").symlink_to(target)
    return base / "home/private/secret"


def linked_environment(base: Path) -> Path:
    """An environment elsewhere, with more in it than an environment."""
    place = base / "home/private"
    venv.create(place, symlinks=True, with_pip=False)
    (base / "work/.venv").symlink_to(place)
    return place / "secret"


def linked_tool(base: Path) -> Path:
    """A program of the user's in place of a Python."""
    tool = base / "home/private/tool"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"  # {SECRET}\n')
    tool.chmod(0o755)
    (base / "work/.venv/bin").mkdir(parents=True)
    (base / "work/.venv/bin/python").symlink_to(tool)
    return tool


def linked_programs(base: Path) -> Path:
    """A directory of programs elsewhere, beside which an environment is made up."""
    place = base / "home/private"
    (place / "python").symlink_to(sys.executable)
    (base / "work/.venv").mkdir()
    (base / "work/.venv/pyvenv.cfg").write_text(f"home = {place}\n")
    (base / "work/.venv/bin").symlink_to(place)
    return place / "secret"


READING: dict[str, Callable[[Path], Path]] = {
    "a link to everything": lambda base: fake_installation(base, Path("/")),
    "a link to the home": lambda base: fake_installation(base, base / "home"),
    "an environment elsewhere": linked_environment,
    "a tool in place of a Python": linked_tool,
    "a link to programs": linked_programs,
}


@pytest.mark.parametrize("back_end", [*CONTAINED, "none"])
@pytest.mark.parametrize("name", READING)
def test_links_of_the_workspace_show_nothing(name: str, back_end: str, base: Path) -> None:
    secret = READING[name](base)
    (base / "work/main.py").write_text(READ.format(path=str(secret)))
    checked(base, back_end)
    stolen = base / "work/stolen"
    read = stolen.read_text() if stolen.exists() else ""
    assert (SECRET in read) == (back_end == "none")


@pytest.mark.parametrize("back_end", [*CONTAINED, "none"])
def test_links_that_a_program_makes_show_nothing_to_the_next(back_end: str, base: Path) -> None:
    """The check is run twice by each of two runs of Codur; the first program exchanges the environment for a link."""
    venv.create(base / "work/.venv", symlinks=True, with_pip=False)
    private = base / "home/private"
    (base / "work/main.py").write_text(
        "import os\n"
        "if not os.path.islink('.venv'):\n"
        "    os.rename('.venv', 'old')\n"
        f"    os.symlink({str(private)!r}, '.venv')\n"
        f"else:\n    {READ.format(path=str(private / 'secret'))}"
    )
    for _ in range(2):
        checked(base, back_end)
        assert (base / "work/.venv").is_symlink()
    stolen = base / "work/stolen"
    assert (SECRET in (stolen.read_text() if stolen.exists() else "")) == (back_end == "none")


def copied(place: Path) -> None:
    venv.create(place, symlinks=False, with_pip=False)


def linked(place: Path) -> None:
    venv.create(place, symlinks=True, with_pip=False)


def chained(place: Path) -> None:
    """As tools make them that write `home` and a relative chain of links."""
    linked(place)
    (place / "bin/python").unlink(missing_ok=True)
    (place / "bin/python").symlink_to("python3")


def elsewhere(place: Path) -> None:
    """As some tools keep environments: in a place of their own, with a link in the project."""
    linked(place.parents[1] / "home/environments/x")
    place.symlink_to(place.parents[1] / "home/environments/x")


@pytest.mark.parametrize("back_end", CONTAINED)
@pytest.mark.parametrize(
    ("where", "make"),
    [
        ("work/.venv", linked),
        ("work/.venv", copied),
        ("work/.venv", chained),
        ("work/.venv", elsewhere),
        ("home/environments/x", linked),
    ],
)
def test_honest_environments_work(where: str, make: Callable[[Path], None], back_end: str, base: Path) -> None:
    make(base / where)
    packages = next((base / where / "lib").glob("python3*")) / "site-packages"
    (packages / "installed_here.py").write_text("NAME = 'installed'\n")
    (base / "work/main.py").write_text("import installed_here\nopen('found', 'w').write(installed_here.NAME)\n")
    # The Python of the tests' own path is an environment too, and one that is active comes before the workspace's.
    path = os.pathsep.join((str(Path(sys.base_prefix) / "bin"), os.defpath))
    active = {"VIRTUAL_ENV": str(base / where)} if where.startswith("home") else {}
    checked(base, back_end, PATH=path, **active)
    assert (base / "work/found").read_text() == "installed"


@pytest.mark.parametrize("back_end", CONTAINED)
def test_an_installation_on_the_path_that_is_no_environment_works(back_end: str, base: Path) -> None:
    """As pyenv, conda and uv install a Python below the home directory; this one needs its library, and writes it."""
    prefix = base / "home/versions/3"
    for name in ("bin", "lib/python3.99"):
        (prefix / name).mkdir(parents=True)
    (prefix / "lib/python3.99/os.py").write_text("installed")
    (prefix / "bin/python3").write_text('#!/bin/sh\ncat "${0%/*}/../lib/python3.99/os.py" > found\n')
    (prefix / "bin/python3").chmod(0o755)
    (prefix / "bin/python").symlink_to("python3")
    (base / "work/main.py").touch()
    checked(base, back_end, PATH=f"{prefix}/bin{os.pathsep}{os.defpath}")
    assert (base / "work/found").read_text() == "installed"


TOOLS = {
    "cargo": (".cargo/bin/cargo", ".rustup/settings.toml", 'cat "$RUSTUP_HOME/settings.toml"'),
    "npm": (
        "tools/lib/node_modules/npm/cli",
        "tools/lib/node_modules/npm/data",
        'cat "$(dirname "$(readlink -f "$0")")/data"',
    ),
    "go": ("go/bin/go", "go/src/runtime/proc.go", 'cat "${0%/*}/../src/runtime/proc.go"'),
    "go with packages": ("sdk/go", "go/pkg/mod/cache/m", 'cat "$GOPATH/pkg/mod/cache/m"'),
    "mvn": ("sdk/mvn", ".m2/repository/p", 'cat "${0%/*}/../.m2/repository/p"'),
}


@pytest.mark.parametrize("back_end", CONTAINED)
@pytest.mark.parametrize("name", TOOLS)
def test_tools_that_are_installed_below_the_home_find_what_they_need(name: str, back_end: str, base: Path) -> None:
    """As rustup, nvm and the like install them, with no variable that tells of it."""
    program, data, words = TOOLS[name]
    for place, text in ((program, f'#!/bin/sh\ncd /\n{words} > "$OLDPWD/found"\n'), (data, "installed")):
        (base / "home" / place).parent.mkdir(parents=True, exist_ok=True)
        (base / "home" / place).write_text(text)
    (base / "home" / program).chmod(0o755)
    folder = (base / "home" / program).parent
    if name == "npm":
        folder = base / "home/tools/bin"
        folder.mkdir()
        (folder / "npm").symlink_to("../lib/node_modules/npm/cli")
    checked(base, back_end, check=f"{name.split()[0]} test", PATH=f"{folder}{os.pathsep}{os.defpath}")
    assert (base / "work/found").read_text() == "installed"


# --- leaving something behind -----------------------------------------------------------------------------------------

MARK = "mark"


def flood_of_hooks(base: Path) -> Callable[[], None]:
    git("init", "-q", cwd=base / "work")
    (base / "work/main.py").write_text(
        "import os\n"
        f"for number in range({_NEW_FILES + 1000}):\n"
        "    open(f'.git/hooks/{number}', 'w').close()\n"
        "open('.git/hooks/pre-commit', 'w').write('#!/bin/sh\\ntouch mark\\n')\n"
        "os.chmod('.git/hooks/pre-commit', 0o755)\n"
    )
    return lambda: git("commit", "-q", "--allow-empty", "-m", "x", cwd=base / "work")


def bare_repository(base: Path) -> Callable[[], None]:
    git("init", "-q", cwd=base / "work")
    (base / "work/sub").mkdir()
    (base / "work/sub/mine.txt").touch()
    (base / "work/main.py").write_text(
        "import os\n"
        "for name in ('objects', 'refs/heads'):\n"
        "    os.makedirs(f'sub/{name}')\n"
        "open('sub/HEAD', 'w').write('ref: refs/heads/main\\n')\n"
        "settings = '[core]\\nrepositoryformatversion = 0\\nworktree = .\\n'\n"
        "fsmonitor = f'touch {os.getcwd()}/mark; false'\n"
        "open('sub/config', 'w').write(settings + f'fsmonitor = \"{fsmonitor}\"\\n')\n"
    )
    return lambda: git("status", cwd=base / "work/sub")


def new_repository(base: Path) -> Callable[[], None]:
    (base / "work/sub").mkdir()
    (base / "work/main.py").write_text(
        "import os\n"
        "for name in ('objects', 'refs/heads'):\n"
        "    os.makedirs(f'sub/.git/{name}')\n"
        "open('sub/.git/HEAD', 'w').write('ref: refs/heads/main\\n')\n"
        "fsmonitor = f'touch {os.getcwd()}/mark; false'\n"
        "open('sub/.git/config', 'w').write(f'[core]\\nfsmonitor = \"{fsmonitor}\"\\n')\n"
    )
    return lambda: git("status", cwd=base / "work/sub")


def exchanged_repository(base: Path) -> Callable[[], None]:
    new_repository(base)
    git("init", "-q", cwd=base / "work/sub")
    (base / "work/sub/.git/precious").touch()
    program = base / "work/main.py"
    program.write_text(f"import os\nos.rename('sub', 'old')\n{program.read_text()}")
    return lambda: git("status", cwd=base / "work/sub")


def new_settings(base: Path) -> Callable[[], None]:
    (base / "work/sub").mkdir()
    (base / "work/main.py").write_text(
        "import os\n"
        "os.makedirs('sub/.vscode')\n"
        "os.makedirs('new/deep/.claude')\n"
        "open('sub/.envrc', 'w').write('touch ../mark')\n"
        "os.chmod('new', 0o500)\n"
    )
    return lambda: loaded(base / "work/sub/.envrc", base / "work/mark")


def loaded(settings: Path, mark: Path) -> None:
    """What direnv does, as far as it counts here."""
    if settings.exists():
        mark.touch()


LEAVING: dict[str, Callable[[Path], Callable[[], None]]] = {
    "more hooks than it may make": flood_of_hooks,
    "a bare repository": bare_repository,
    "a repository": new_repository,
    "an exchanged repository": exchanged_repository,
    "settings of other programs": new_settings,
}


@pytest.mark.parametrize("back_end", [*CONTAINED, "no Codur"])
@pytest.mark.parametrize("name", LEAVING)
def test_nothing_is_left_that_other_programs_act_on(name: str, back_end: str, base: Path) -> None:
    use = LEAVING[name](base)
    work = base / "work"
    before = protected(work)
    if back_end == "no Codur":
        plain(base)
    else:
        checked(base, back_end)
        assert protected(work) == before
    use()
    assert (work / MARK).exists() == (back_end == "no Codur")


def protected(work: Path) -> set[str]:
    """What is there with a protected name, and of a repository with the settings and hooks."""
    found = {path for name in (".git", ".envrc", ".vscode", ".claude") for path in work.rglob(name)}
    found |= {each for path in found for name in ("config", "hooks/*", "precious") for each in path.glob(name)}
    return {str(path.relative_to(work)) for path in found}


@pytest.mark.parametrize("back_end", CONTAINED)
def test_a_submodule_that_was_there_goes_on_working(back_end: str, base: Path) -> None:
    work, other = base / "work", base / "other"
    for place in (work, other):
        place.mkdir(exist_ok=True)
        git("init", "-q", cwd=place)
        git("commit", "-q", "--allow-empty", "-m", "first", cwd=place)
    git("submodule", "add", "-q", str(other), "sub", cwd=work)
    (work / "main.py").write_text(
        "import pathlib, subprocess\n"
        "pathlib.Path('sub/made.txt').touch()\n"
        "said = subprocess.run(['git', 'log', '--oneline'], cwd='sub', capture_output=True, text=True)\n"
        "pathlib.Path('said').write_text(said.stdout + said.stderr)\n"
    )
    before = protected(work)
    checked(base, back_end)
    assert "first" in (work / "said").read_text()
    assert (work / "sub/made.txt").exists()
    assert protected(work) == before

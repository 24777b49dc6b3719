"""Which back end is chosen, what is remembered of that, and what is said where none works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codur.errors import ConfigError
from codur.sandbox.backend import Backend, Confined, NoBackend
from codur.sandbox.backends.bubblewrap import BubblewrapBackend, find_bubblewrap
from codur.sandbox.backends.landlock import landlock_abi
from codur.sandbox.backends.probe import candidates, choose_backend
from codur.sandbox.backends.seatbelt import SeatbeltBackend, profile_text
from codur.sandbox.backends.system_paths import interpreter_paths, link_chain, toolchain_paths, way_to
from codur.sandbox.backends.trial import try_backend
from codur.sandbox.program_policy import Policy
from tests.sandbox.contained import SOURCE

ENVIRON = {"PATH": "/usr/bin:/bin"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="for Linux")


class Leaking(BubblewrapBackend):
    """Bubblewrap, but with one hole."""

    def __init__(self, *options: str) -> None:
        super().__init__(Path("/usr/bin/bwrap"))
        self._options = options

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Confined:
        confined = super().confine(policy, argv, env, cwd)
        options = [word.replace("PLACE", str(policy.workspace.parent)) for word in self._options if policy.workspace]
        place = confined.argv.index("--chdir")
        words = [*confined.argv[:place], *options, *confined.argv[place:]]
        if "--share-net" in options:
            words = [word for word in words if word not in ("--share-net", "--unshare-net")]
        return Confined(argv=tuple(words), env=confined.env, cwd=confined.cwd, fds=confined.fds)


def test_without_containment_the_trial_sees_everything_go_wrong() -> None:
    problem = try_backend(NoBackend(), ENVIRON)
    assert "could read" in problem
    assert "could write" in problem
    assert "could connect" in problem


@pytest.mark.skipif(find_bubblewrap() is None, reason="the package bubblewrap is not installed")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], ""),
        (["--share-net"], "could connect"),
        (["--ro-bind", "PLACE/outside", "PLACE/outside"], "could read"),
        (["--bind", "PLACE/outside", "PLACE/outside"], "could read a file outside its directories and could write"),
        (["--ro-bind", "PLACE/workspace", "PLACE/workspace"], "cannot work"),
        (["--no-such-option"], "cannot work under it: bwrap:"),
    ],
)
def test_the_trial_sees_each_hole(options: list[str], problem: str) -> None:
    said = try_backend(Leaking(*options), ENVIRON)
    assert problem in said
    assert bool(said) == bool(problem)


@linux
def test_auto_takes_the_first_that_works_and_remembers_it(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    chosen = choose_backend("auto", ENVIRON, cache=cache)
    kept = cache / "sandbox.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    found = json.loads(kept.read_text())
    tried = found["tried"]
    assert chosen.backend.name == next(
        (name for name in candidates() if name in tried and not tried[name]["problem"]), "none"
    )
    # What is remembered is believed: with another memory there is another choice.
    for name in candidates():
        tried[name] = {"problem": "it was seen to leak", "remedy": "mend it"}
    kept.write_text(json.dumps(found))
    again = choose_backend("auto", ENVIRON, cache=cache)
    assert again.backend.name == "none"
    assert again.note.startswith(
        "programs run without containment: namespaces: it was seen to leak; to use it, mend it"
    )
    assert choose_backend("auto", ENVIRON, cache=cache, fresh=True).backend.name == chosen.backend.name
    assert json.loads(kept.read_text())["tried"] != tried


@linux
@pytest.mark.parametrize("damage", ["another system", "damaged", "writable by others", "a link", "of another shape"])
def test_a_memory_that_does_not_count_is_not_believed(damage: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    real = choose_backend("auto", ENVIRON, cache=cache).backend.name
    kept = cache / "sandbox.json"
    found = json.loads(kept.read_text())
    found["tried"] = {name: {"problem": "x", "remedy": ""} for name in candidates()}
    if damage == "another system":
        found["key"]["boot"] = "another"
    kept.write_text("{" if damage == "damaged" else "[1]" if damage == "of another shape" else json.dumps(found))
    if damage == "writable by others":
        kept.chmod(0o666)
    if damage == "a link":
        kept.rename(tmp_path / "elsewhere")
        kept.symlink_to(tmp_path / "elsewhere")
    assert choose_backend("auto", ENVIRON, cache=cache).backend.name == real
    assert json.loads(kept.read_text())["tried"] != found["tried"]
    assert not kept.is_symlink()


@linux
@pytest.mark.parametrize(
    ("forbidden", "chosen"),
    [("user", "namespaces"), ("net", "landlock"), ("mnt", "landlock"), ("pid", "landlock")],
)
def test_the_next_one_is_taken_where_the_kernel_forbids_namespaces(forbidden: str, chosen: str, tmp_path: Path) -> None:
    """Only inside user namespaces made for it; there `root` may make the others even if it may make none of users."""
    look = f"""
import sys
sys.path.insert(0, sys.argv[1])
from codur.sandbox.launcher import Launcher
from codur.config.settings import SandboxSettings
from pathlib import Path
with Launcher({ENVIRON!r}, sandbox=SandboxSettings()) as launcher:
    print(launcher.name, launcher.run(["true"], cwd=Path(sys.argv[2]), timeout_s=60).exit_status)
"""
    said = []
    for number in (1000, 0):
        shell = f'echo {number} > /proc/sys/user/max_{forbidden}_namespaces && exec "$@"'
        argv = ["unshare", "--map-root-user", "sh", "-c", shell, "sh", sys.executable, "-c", look, str(SOURCE)]
        done = subprocess.run([*argv, str(tmp_path)], capture_output=True, text=True, check=False)
        if done.returncode and number:
            pytest.skip(f"no user namespaces here: {done.stderr}")
        said.append(done.stdout.split())
    assert said[0] == ["namespaces", "0"]
    assert said[1] == ["none" if chosen == "landlock" and landlock_abi() == 0 else chosen, "0"]


def test_a_cache_that_cannot_be_written_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert choose_backend("auto", ENVIRON, cache=tmp_path / "file" / "cache").backend.name


def test_none_says_so() -> None:
    chosen = choose_backend("none", ENVIRON, cache=None)
    assert chosen.backend.name == "none"
    assert "without containment" in chosen.note


def test_a_wanted_back_end_that_does_not_work_is_an_error() -> None:
    wanted = "landlock" if sys.platform == "darwin" else "seatbelt"
    with pytest.raises(ConfigError, match=f"sandbox.backend: {wanted} does not work here") as caught:
        choose_backend(wanted, ENVIRON, cache=None)
    assert "Set sandbox.backend to auto" in caught.value.remedy


def test_no_backend_changes_nothing(tmp_path: Path) -> None:
    backend: Backend = NoBackend()
    confined = backend.confine(Policy(workspace=tmp_path, temporary=tmp_path), ["x", "y"], {"A": "b"}, tmp_path)
    assert confined == Confined(argv=("x", "y"), env={"A": "b"}, cwd=tmp_path)


def test_the_profile_for_macos_names_what_may_be_done_and_denies_the_rest_last(tmp_path: Path) -> None:
    workspace = tmp_path / 'work "space'
    workspace.mkdir()
    policy = Policy(
        workspace=workspace,
        temporary=tmp_path / "temporary",
        read_only=(workspace / "tests" / "test_it.py",),
        hidden=(workspace / "expected.txt",),
    )
    text = profile_text(policy)
    quoted = f'{tmp_path}/work \\"space'
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert "(deny network*)" in lines
    written = text.index("(allow file-write*")
    for denied in (f'(subpath "{quoted}/.git")', f'(subpath "{quoted}/tests/test_it.py")'):
        assert text.index(denied) > text.index("(deny file-write*") > written
    assert f'(literal "{quoted}/tests")' in text
    assert text.rstrip().endswith(f'(deny file-read-data file-write*\n  (subpath "{quoted}/expected.txt"))')
    assert text.count("(") == text.count(")")
    assert str(Path.home()) not in text.replace(str(tmp_path), "")


def test_a_name_that_a_profile_cannot_hold_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be used with sandbox-exec"):
        profile_text(Policy(workspace=tmp_path / "x\n(allow default)", temporary=tmp_path))


def test_on_macos_a_program_is_started_by_the_systems_own_tool(tmp_path: Path) -> None:
    confined = SeatbeltBackend().confine(
        Policy(workspace=tmp_path, temporary=tmp_path), ["-x"], {"HOME": "/h"}, tmp_path
    )
    assert confined.argv[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert confined.argv[3:] == ("--", "-x")
    assert confined.env["HOME"] == str(tmp_path)


def test_an_interpreter_needs_its_installation_and_nothing_beside_it(tmp_path: Path) -> None:
    prefix = tmp_path / "python"
    for name in ("bin", "lib/python3.99", "include", "secrets"):
        (prefix / name).mkdir(parents=True)
    (prefix / "lib/python3.99/os.py").touch()
    (prefix / "bin/python3.99").touch()
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    (environment / "bin/python").symlink_to("python3")
    (environment / "bin/python3").symlink_to(prefix / "bin/python3.99")
    found = interpreter_paths(environment / "bin/python")
    installation = {prefix / "bin", prefix / "lib", prefix / "include", prefix / "bin/python3.99"}
    inside = {environment / name for name in ("pyvenv.cfg", "bin", "bin/python", "bin/python3")}
    assert set(found) == installation | inside
    assert set(interpreter_paths(prefix / "bin/python3.99")) == installation
    (environment / "bin/python").unlink()
    (environment / "bin/python").write_text("a copy, not a link")
    (environment / "pyvenv.cfg").write_text(f"include-system-site-packages = false\nhome = {prefix}/bin\n")
    assert {environment / "bin", prefix / "lib"} <= set(interpreter_paths(environment / "bin/python"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to("../python/bin/python3.99")
    assert tmp_path not in interpreter_paths(tmp_path / "bin/python3")
    assert interpreter_paths("/usr/bin/env") == ()


def test_toolchains_are_those_that_variables_name_but_never_the_home_directory(tmp_path: Path) -> None:
    for name in ("tools/bin", "go", "cargo/bin", "manager/shims", "manager/versions", "manager/other"):
        (tmp_path / name).mkdir(parents=True)
    environ = {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join(
            [
                str(tmp_path),
                "/usr/bin",
                "relative",
                str(tmp_path / "tools/bin"),
                "/",
                "/absent",
                str(tmp_path / "manager/shims"),
            ]
        ),
        "GOROOT": str(tmp_path / "go"),
        "CARGO_HOME": str(tmp_path / "cargo"),
    }
    names = ("tools/bin", "manager/shims", "manager/versions", "go", "cargo/bin")
    assert toolchain_paths(environ) == tuple(tmp_path / name for name in names)


def test_what_is_beside_a_bin_of_the_users_own_is_no_toolchain(tmp_path: Path) -> None:
    """`~/bin` on the path, and sources in `~/src`; the same two in a place of their own are an installation of Go."""
    for name in ("bin", "src/runtime", "go/bin", "go/src/runtime"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("src/runtime/proc.go", "go/src/runtime/proc.go"):
        (tmp_path / name).touch()
    path = os.pathsep.join(str(tmp_path / name) for name in ("bin", "go/bin"))
    found = toolchain_paths({"HOME": str(tmp_path), "PATH": path})
    assert found == tuple(tmp_path / name for name in ("bin", "go/bin", "go/src"))


def test_links_are_resolved_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "one").symlink_to("real")
    (tmp_path / "real/two").symlink_to(tmp_path / "one" / "deep")
    links, real = way_to(tmp_path / "one" / "two" / "file")
    assert real == tmp_path / "real/deep/file"
    assert links == (
        (tmp_path / "one", "real"),
        (tmp_path / "real/two", str(tmp_path / "one" / "deep")),
        (tmp_path / "one", "real"),
    )
    (tmp_path / "loop").symlink_to("loop")
    assert len(way_to(tmp_path / "loop")[0]) == 40
    assert list(link_chain(tmp_path / "one")) == [tmp_path / "one", tmp_path / "real"]

"""Files that may hold secrets: no call of a model shows them, whichever the tool; the user's own request does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import git, make_repository

SECRET = "hunter2-of-nobody"
REFUSED = ".env may hold keys or passwords, which no model is shown; do without it, or have the user look at it"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".env").write_text(f"PASSWORD={SECRET}\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "secrets.json").write_text(json.dumps({"password": SECRET}))
    (tmp_path / "conf" / "secrets.yaml").write_text(f"password: {SECRET}\n")
    (tmp_path / "conf" / "secrets.ini").write_text(f"[a]\npassword = {SECRET}\n")
    (tmp_path / "main.py").write_text("print('hello')\n")
    (tmp_path / "linked.txt").symlink_to(".env")
    return tmp_path


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": "./conf/../.env"}),
        ("read_file", {"path": "linked.txt"}),
        ("read_files", {"paths": [".env"]}),
        ("grep_files", {"pattern": "PASS", "path": ".env"}),
        ("copy_file", {"source": ".env", "target": "notes.txt"}),
        ("move_file", {"source": ".env", "target": "notes.txt"}),
        ("append_file", {"path": ".env", "content": "X=1"}),
        ("replace_in_file", {"path": ".env", "old": "PASSWORD", "new": "P"}),
        ("replace_lines", {"path": ".env", "start_line": 9, "end_line": 9, "content": ""}),
        ("read_data", {"path": "conf/secrets.json"}),
        ("read_data", {"path": "conf/secrets.yaml"}),
        ("read_ini", {"path": "conf/secrets.ini"}),
        ("run_command", {"command": "cat<.env"}),
    ],
)
def test_a_models_call_is_refused(tool: str, arguments: Mapping[str, Any], root: Path) -> None:
    before = (root / ".env").read_bytes()
    result = toolbox_on(root).call(tool, arguments)
    assert (result.code, SECRET in result.text) == ("refused", False)
    assert "may hold keys or passwords, which no model is shown" in result.text
    assert (root / ".env").read_bytes() == before
    assert not (root / "notes.txt").exists()


def test_the_refusal_is_one_sentence_that_says_what_to_do(root: Path) -> None:
    assert toolbox_on(root).call("read_file", {"path": ".env"}).text == REFUSED


def test_the_users_own_request_shows_the_file(root: Path) -> None:
    toolbox = toolbox_on(root)
    assert toolbox.call("read_file", {"path": ".env"}, by_user=True).text == f"PASSWORD={SECRET}\n"
    assert SECRET in toolbox.call("grep_files", {"pattern": "PASS"}, by_user=True).text


@pytest.mark.parametrize("regex", [False, True])
def test_a_search_goes_past_them_and_says_so(regex: bool, root: Path) -> None:
    (root / "other.txt").write_text("no PASSWORD here\n")
    result = toolbox_on(root).call("grep_files", {"pattern": "PASSWORD", "regex": regex})
    assert result.text == (
        "other.txt:1: no PASSWORD here\n"
        "not searched (too large, not readable, or may hold secrets): .env, conf/secrets.ini, conf/secrets.json "
        "and 2 more"
    )


def test_other_files_are_read_beside_one_that_is_refused(root: Path) -> None:
    result = toolbox_on(root).call("read_files", {"paths": [".env", "main.py"]})
    assert (result.ok, SECRET in result.text, "print('hello')" in result.text) == (True, False, True)
    assert result.data["failed"] == {".env": "refused"}


def test_one_that_there_is_not_can_be_made(root: Path) -> None:
    toolbox = toolbox_on(root)
    assert toolbox.call("write_file", {"path": "app/.env", "content": "DEBUG=1\n"}).ok
    assert toolbox.call("write_file", {"path": ".env", "content": "DEBUG=1\n"}).code == "refused"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = make_repository(tmp_path)
    (root / ".env").write_text(f"PASSWORD={SECRET}\n")
    git(root, "add", "-f", ".")
    git(root, "commit", "-q", "-m", "with a secret")
    (root / ".env").write_text(f"PASSWORD={SECRET}\nMORE=1\n")
    (root / "a.txt").write_text("changed\n")
    return root


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("git_blame", {"path": ".env"}),
        ("git_show", {"revision": "HEAD:.env"}),
        ("git_diff", {"revision": "HEAD:.env", "path": "a.txt"}),
    ],
)
def test_git_does_not_show_them(tool: str, arguments: Mapping[str, Any], repository: Path) -> None:
    result = toolbox_on(repository).call(tool, arguments)
    assert (result.code, SECRET in result.text) == ("refused", False)


@pytest.mark.parametrize(("tool", "other"), [("git_diff", "+changed"), ("git_show", "with a secret")])
def test_a_diff_leaves_their_part_out(tool: str, other: str, repository: Path) -> None:
    result = toolbox_on(repository).call(tool, {})
    assert "(.env may hold keys or passwords and is left out)\n" in result.text
    assert other in result.text
    assert SECRET not in result.text
    assert SECRET in toolbox_on(repository).call(tool, {}, by_user=True).text


def test_every_tool_that_takes_a_path_keeps_the_secret(root: Path) -> None:
    """Whatever is added to the catalogue: with the file for its path, no result holds what is in it."""
    toolbox: Toolbox = toolbox_on(root)
    for name in toolbox.names():
        tool = toolbox.get(name)
        assert tool is not None
        if tool.side_effect in {"network", "run"}:
            continue
        (root / ".env").write_text(f"PASSWORD={SECRET}\n")
        filled = {key: _filler(key) for key in tool.arguments}
        result = toolbox.call(name, filled)
        assert SECRET not in f"{result.text}{result.data}", name
        copies = [path for path in root.rglob("*") if path.is_file() and path.parent.name != "conf"]
        copies = [path for path in copies if path.name not in {".env", "linked.txt"}]
        assert not any(SECRET in path.read_text() for path in copies), name


def _filler(name: str) -> Any:
    plural = {"paths": [".env"], "start_line": 1, "end_line": 1, "line": 1, "limit": 5, "all": False}
    return plural.get(name, ".env" if name in {"path", "source"} else "PASSWORD")


LEAK = "may hold keys or passwords, which no model is shown"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_python_file", {"path": ".env"}),
        ("run_python_file", {"path": "linked.py"}),
        ("run_python_file", {"path": "show.py", "args": [".env"]}),
        ("run_python_file", {"path": "show.py", "args": ["--file=conf/../.env"]}),
        ("run_python_file", {"path": "show.py", "args": ["linked.txt"]}),
        ("run_pytest", {"paths": [".env"]}),
        ("run_pytest", {"paths": ["linked.py::test"]}),
        ("lint_python", {"path": ".env"}),
        ("lint_python", {"path": "linked.py"}),
        ("run_command", {"command": "cat linked.txt"}),
        ("run_command", {"command": "cat .env*"}),
        ("run_command", {"command": "cat .[e]n?"}),
        ("run_command", {"command": "cat '.e'*"}),
        ("run_command", {"command": "cat conf/secrets.*"}),
        ("run_command", {"command": "cd conf && cat secrets.j*"}),
        ("run_command", {"command": "cat link*.txt"}),
    ],
)
def test_no_program_is_started_on_one(tool: str, arguments: Mapping[str, Any], root: Path) -> None:
    (root / ".env").write_text(f"PASSWORD={SECRET.replace('-', '_')}\n")
    (root / "show.py").write_text("import sys\nprint(open(sys.argv[1].split('=')[-1]).read())\n")
    (root / "linked.py").symlink_to(".env")

    result = toolbox_on(root).call(tool, arguments)

    assert (result.code, LEAK in result.text) == ("refused", True)
    assert SECRET.replace("-", "_") not in f"{result.text}{result.data}"


def test_a_directory_is_linted_without_a_link_to_one(root: Path) -> None:
    (root / ".env").write_text(f"PASSWORD={SECRET.replace('-', '_')}\n")
    (root / "linked.py").symlink_to(".env")
    result = toolbox_on(root).call("lint_python", {})
    assert (result.ok, result.data["paths"]) == (True, ["main.py"])


@pytest.mark.parametrize(
    "command", ["echo 'conf/*' main*", "ls *.py", 'echo ".e*"', "echo a* /etc/host* ../*", "echo '"]
)
def test_other_commands_run(command: str, root: Path) -> None:
    (root / ".env.example").write_text("PASSWORD=\n")
    assert toolbox_on(root).call("run_command", {"command": command}).ok


def test_the_users_own_program_runs_on_one(root: Path) -> None:
    result = toolbox_on(root).call("run_command", {"command": "cat .env*"}, by_user=True)
    assert SECRET in result.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_file", {"path": ".env"}),
        ("write_file", {"path": ".env", "content": "X=1\n"}),
        ("write_file", {"path": "linked.txt", "content": "X=1\n"}),
    ],
)
def test_one_is_not_changed_so_that_no_diff_holds_it(tool: str, arguments: Mapping[str, Any], root: Path) -> None:
    assert toolbox_on(root).call(tool, arguments).code == "refused"
    assert SECRET in (root / ".env").read_text()

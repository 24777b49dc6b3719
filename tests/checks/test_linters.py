"""What a project's own linters find in changed files: real ruff and mypy, and how others word what they find."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.checks.linters import Finding, Linter, Looked, linters, look, read
from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace

RUFF = '[tool.ruff.lint]\nselect = ["F", "E"]\n'
FORMAT = '[tool.ruff.format]\nquote-style = "double"\n'
MYPY = "[tool.mypy]\nstrict = true\n"


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    with Launcher({"PATH": os.environ["PATH"]}, python=sys.executable, sandbox=SandboxSettings()) as made:
        yield made


def changed(directory: Path, before: dict[str, str], after: dict[str, str]) -> Workspace:
    for name, text in before.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    workspace = Workspace.open(directory)
    for name, text in after.items():
        workspace.write_text(name, text)
    return workspace


def said(
    tmp_path: Path,
    launcher: Launcher,
    settings: str,
    before: dict[str, str],
    after: dict[str, str],
    most_s: float = 60,
    *,
    cleans: bool = False,
) -> list[str]:
    (tmp_path / "project").mkdir()
    workspace = changed(tmp_path / "project", {"pyproject.toml": settings, **before}, after)
    was = {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()}
    told = look(workspace, launcher, lambda: tmp_path / "scratch", most_s=most_s)
    assert {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()} == was
    assert not any(text.startswith(name) for name in told.clean for text in told.worse)
    return [*told.worse, *(f"clean: {name}" for name in told.clean)] if cleans else [*told.worse]


@pytest.mark.parametrize(
    ("settings", "before", "after", "told"),
    [
        pytest.param(
            RUFF,
            "x = 1\n",
            "import os\nx = 1\n",
            ["ruff check finds more than before: src/a.py:1: F401 [*] `os` imported but unused"],
            id="an import that nothing needs",
        ),
        pytest.param(
            RUFF,
            "import os\nx = 1\n",
            "y = 2\n\n\nimport os\nx = 1\n",
            ["ruff check finds more than before: src/a.py:4: E402 Module level import not at top of file"],
            id="what it found before does not count, wherever it is now",
        ),
        pytest.param(RUFF, "import os\nimport sys\n", "x = 1\n\n\nimport sys  # noqa: E402\n", [], id="fewer"),
        pytest.param(RUFF, "x = 1 +\nimport os\n", "x = 1 + 1\nimport os\n", [], id="it could not be read before"),
        pytest.param(
            MYPY,
            "def f(x: int) -> int:\n    return x\n",
            "def f(x: int) -> int:\n    return str(x)\n",
            [
                "mypy finds more than before: src/a.py:2: Incompatible return value type "
                '(got "str", expected "int")  [return-value]'
            ],
            id="a type",
        ),
        pytest.param(
            MYPY,
            "def f() -> int:\n    return ''\n\n\ndef g() -> int:\n    return 1\n\n\ndef h() -> int:\n    return ''\n",
            "X = 1\n\n\ndef f() -> int:\n    return ''\n\n\ndef g() -> int:\n    return ''\n\n\n"
            "def h() -> int:\n    return ''\n",
            [
                "mypy finds more than before: src/a.py:9: Incompatible return value type "
                '(got "str", expected "int")  [return-value]'
            ],
            id="the same words elsewhere before",
        ),
        pytest.param(
            RUFF + FORMAT,
            "x = 1\n",
            "x = 'a'\n",
            ["ruff format finds more than before: src/a.py: is not formatted"],
            id="a format",
        ),
        pytest.param(RUFF + FORMAT, "x = 'b'\n", "x = 'a'\n", [], id="a format that was not kept before"),
        pytest.param(RUFF, "x = 1\n", "x = 'a'\n", [], id="a format that nobody asked for"),
        pytest.param("[project]\nname = 'a'\n", "x = 1\n", "import os\n", [], id="nothing is configured"),
    ],
)
def test_what_is_worse_is_told(
    tmp_path: Path, launcher: Launcher, settings: str, before: str, after: str, told: list[str]
) -> None:
    assert said(tmp_path, launcher, settings, {"src/a.py": before}, {"src/a.py": after}) == told


def test_a_new_file_and_the_nearest_configuration(tmp_path: Path, launcher: Launcher) -> None:
    files = {"part/ruff.toml": 'lint.select = ["F"]\n', "part/b.py": "x = 1\n", "c.py": "x = 1\n"}
    new = {"part/n.py": "import os\nimport re\nimport sys\nimport json\n", "c.py": "import os\n"}
    assert said(tmp_path, launcher, "", files, new) == [
        "ruff check finds more than before: part/n.py:1: F401 [*] `os` imported but unused; part/n.py:2: F401 [*] "
        "`re` imported but unused; part/n.py:3: F401 [*] `sys` imported but unused (and 1 more)"
    ]


def test_code_that_was_moved_takes_what_is_found_in_it_along(tmp_path: Path, launcher: Launcher) -> None:
    files = {"a.py": "import os\nx = 1\n", "b.py": "y = 1\n"}
    moved = {"a.py": "x = 1\n", "b.py": "import os\ny = 1\n", "c.py": "import os\n"}
    told = ["ruff check finds more than before: c.py:1: F401 [*] `os` imported but unused"]
    assert said(tmp_path, launcher, RUFF, files, moved) == told


def test_which_find_nothing_new_is_told(tmp_path: Path, launcher: Launcher) -> None:
    settings = RUFF + MYPY + "[tool.flake8]\n"
    told = said(tmp_path, launcher, settings, {"a.py": "x = 1\n"}, {"a.py": "import os\n"}, cleans=True)
    assert told == ["ruff check finds more than before: a.py:1: F401 [*] `os` imported but unused", "clean: mypy"]


def test_a_module_and_its_stub_are_one_to_mypy(tmp_path: Path, launcher: Launcher) -> None:
    files = {"a.py": "def f(x):\n    return x\n", "a.pyi": "def f(x: int) -> int: ...\n"}
    new = {"a.py": "def f(x=1):\n    return x\n", "a.pyi": "def f(x: int = ...) -> int: ...\ny: other\n"}
    assert said(tmp_path, launcher, MYPY, files, new) == [
        'mypy finds more than before: a.pyi:2: Name "other" is not defined  [name-defined]'
    ]


def test_what_cannot_be_known_is_told(tmp_path: Path, launcher: Launcher) -> None:
    told = said(tmp_path, launcher, "[tool.ruff]\nno-such-key = 1\n", {"a.py": "x = 1\n"}, {"a.py": "x = 2\n"})
    assert len(told) == 1
    assert told[0].startswith("whether ruff check finds more than before is not known: ")
    shutil.rmtree(tmp_path / "project")
    slow = said(tmp_path, launcher, RUFF, {"a.py": "x = 1\n"}, {"a.py": "import os\n"}, most_s=0)
    assert slow == ["whether ruff check finds more than before is not known: it did not end in time"]


def test_a_program_that_is_not_installed_is_passed_over(tmp_path: Path, launcher: Launcher) -> None:
    (tmp_path / "project").mkdir()
    workspace = changed(tmp_path / "project", {"go.mod": "module m\n", "m.go": "package m\n"}, {"m.go": "package  m\n"})
    with Launcher({"PATH": "/nowhere"}, sandbox=SandboxSettings()) as bare:
        assert look(workspace, bare, lambda: tmp_path / "scratch", most_s=60) == Looked()


def linter(name: str) -> Linter:
    return next(item for item in linters() if item.name == name)


@pytest.mark.parametrize(
    ("name", "output", "found"),
    [
        ("flake8", "src/c.py:1:1: F401 'os' imported but unused\n", ["src/c.py:1: F401 'os' imported but unused"]),
        ("black", "would reformat src/c.py\n\nOh no!\n1 file would be reformatted.\n", ["src/c.py: is not formatted"]),
        (
            "pyright",
            'src/d.py\n  src/d.py:1:10 - error: Type "str" is not assignable\n    "a" is not (rule)\n1 error\n',
            ['src/d.py:1: Type "str" is not assignable'],
        ),
        (
            "eslint",
            "\nsrc/a.js\n  1:7   error    'x' is never used  no-unused-vars\n"
            "  2:26  warning  'b' is not defined  no-undef\n"
            "\nsrc/b.js\n  1:1  error  Parsing error: Unexpected token\n\n✖ 3 problems (2 errors, 1 warning)\n",
            [
                "src/a.js:1: 'x' is never used  no-unused-vars",
                "src/a.js:2: 'b' is not defined  no-undef",
                "src/b.js:1: Parsing error: Unexpected token",
            ],
        ),
        (
            "ruff format",
            "unformatted: File would be reformatted\n --> src/a.py:1:5\n  |\n  - x\n\n --> src/a.py:9:1\n  |\n",
            ["src/a.py: is not formatted"],
        ),
        ("ruff format", "Would reformat: src/a.py\n1 file would be reformatted\n", ["src/a.py: is not formatted"]),
        ("prettier", "src/a.js\nsrc/b.ts\n", ["src/a.js: is not formatted", "src/b.ts: is not formatted"]),
        (
            "tsc",
            "src/b.ts(1,14): error TS2322: Type 'string' is not assignable.\n",
            ["src/b.ts:1: TS2322: Type 'string' is not assignable."],
        ),
        ("gofmt", "a/b.go\n", ["a/b.go: is not formatted"]),
        ("go vet", "# m\nvet: ./b.go:3:2: undefined: x\n", ["b.go:3: undefined: x"]),
        ("cargo clippy", "src/main.rs:2:9: warning: unused variable: `x`\n", ["src/main.rs:2: unused variable: `x`"]),
    ],
)
def test_how_others_word_what_they_find(name: str, output: str, found: list[str]) -> None:
    assert [str(finding) for finding in read(linter(name), output, "")] == found


@pytest.mark.parametrize("linter", linters(), ids=lambda linter: linter.name)
def test_what_a_program_of_the_project_prints_does_not_take_long_to_read(linter: Linter) -> None:
    """It may print what it likes: these keep a search that tries every end from every start for minutes."""
    for piece in ("\n", " ", "\t", "a", "1", ":", ".", "a:1:", "a.a ", " 1:1 ", "a\n 1"):
        assert list(read(linter, piece * (262_144 // len(piece)) + "\0", "")) is not None


def test_what_is_found_is_the_same_however_wide_its_columns_are() -> None:
    one, other = (
        Finding("a.js", line, f"'x' is never used{gap}no-unused-vars") for line, gap in (("1", "  "), ("9", " " * 9))
    )
    assert one.key == other.key


def test_what_is_not_looked_at_is_no_finding(tmp_path: Path, launcher: Launcher) -> None:
    project = tmp_path / "project"
    program = project / "node_modules/.bin/eslint"
    program.parent.mkdir(parents=True)
    ignored = "0:0  warning  File ignored because of a matching ignore pattern"
    program.write_text(f"#!/bin/sh\necho \"$PWD/a.js\"; echo '  {ignored}'; exit 1\n")
    program.chmod(0o755)
    workspace = changed(project, {".eslintrc": "{}", "a.js": "1;\n"}, {"a.js": "2;\n"})
    assert look(workspace, launcher, lambda: tmp_path / "scratch", most_s=60).worse == ()

"""Which program is run, and which new one the prompt asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codur.checks.entry import MAX_PARSED, find_entry, find_new_program, is_test_code, is_test_file
from codur.workspace.workspace import Workspace

GUARD = 'def main():\n    print(1)\n\nif __name__ == "__main__":\n    main()\n'
SCRIPT = "print(1)\n"
LIBRARY = "def f():\n    return 1\n"


def workspace(root: Path, files: Mapping[str, str]) -> Workspace:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Workspace.open(root)


ENTRIES: dict[str, tuple[dict[str, str], tuple[str, ...], str | None]] = {
    "nothing": ({}, (), None),
    "named script": ({"a.py": SCRIPT, "b.py": SCRIPT}, ("b.py",), "b.py"),
    "named file that does not exist": ({"a.py": SCRIPT}, ("b.py",), "a.py"),
    "first of several named": ({"a.py": SCRIPT, "b.py": SCRIPT}, ("b.py", "a.py"), "b.py"),
    "main guard first": ({"a.py": SCRIPT, "b.py": GUARD}, ("a.py", "b.py"), "b.py"),
    "named library of a program": (
        {"units.py": LIBRARY, "run.py": "import units\nprint(units.f())\n"},
        ("units.py",),
        "run.py",
    ),
    "named module with a demonstration": (
        {"units.py": GUARD, "run.py": "from units import main\nmain()\n"},
        ("units.py",),
        "run.py",
    ),
    "the importer among the named": (
        {"units.py": GUARD, "run.py": "from units import main\nmain()\n"},
        ("units.py", "run.py"),
        "run.py",
    ),
    "imported, and nothing better": (
        {"a.py": GUARD, "b.py": "import a\na.main()\n", "c.py": "import a\na.main()\n"},
        ("a.py",),
        "a.py",
    ),
    "relative import": (
        {"pkg/__init__.py": "", "pkg/a.py": GUARD, "pkg/b.py": "from .a import main\nmain()\n"},
        (),
        "pkg/b.py",
    ),
    "relative import of the parent": (
        {"pkg/a.py": GUARD, "pkg/sub/b.py": "from ..a import main\nmain()\n"},
        (),
        "pkg/sub/b.py",
    ),
    "only script": ({"a.py": LIBRARY, "b.py": SCRIPT}, (), "b.py"),
    "named library, nothing to run": ({"a.py": LIBRARY}, ("a.py",), None),
    "two scripts": ({"a.py": SCRIPT, "b.py": SCRIPT}, (), None),
    "two scripts, one main.py": ({"a.py": SCRIPT, "main.py": SCRIPT}, (), "main.py"),
    "app.py": ({"a.py": SCRIPT, "app.py": SCRIPT}, (), "app.py"),
    "main.py without a call": ({"main.py": LIBRARY}, (), "main.py"),
    "main.py further down is not it": ({"a.py": SCRIPT, "deep/main.py": SCRIPT}, (), None),
    "a named test is not": ({"test_a.py": GUARD, "a.py": SCRIPT}, ("test_a.py",), "a.py"),
    "tests directory": ({"tests/helper.py": SCRIPT}, (), None),
    "setup.py is none": ({"setup.py": "from setuptools import setup\nsetup()\n", "a.py": SCRIPT}, (), "a.py"),
    "preparing calls": (
        {"a.py": "import sys\nsys.path.insert(0, '.')\n", "b.py": "import sys\nsys.exit(1)\n"},
        (),
        "b.py",
    ),
    "loop": ({"a.py": "for n in range(3):\n    print(n)\n", "b.py": LIBRARY}, (), "a.py"),
    "loop that prepares": ({"a.py": "X = []\nfor n in range(3):\n    pass\n"}, (), None),
    "with": ({"a.py": "with open('x') as f:\n    print(f.read())\n"}, (), "a.py"),
    "broken with a guard": ({"a.py": "def main(:\n    pass\nif __name__ == '__main__':\n    main()\n"}, (), "a.py"),
    "broken with a call": ({"a.py": "def f(:\n    pass\n\nprint(f())\n", "b.py": LIBRARY}, ("a.py",), "a.py"),
    "broken definitions": ({"a.py": "def f(:\n    pass\n"}, (), None),
    "escape that warns": ({"a.py": "with open('\\d') as f:\n    print(f)\n"}, (), "a.py"),
    "import of itself": ({"a.py": "import a\nprint(a)\n"}, (), "a.py"),
    "binary": ({"a.py": "\0\1\2", "b.py": SCRIPT}, (), "b.py"),
    "not Python": ({"run.sh": "echo 1\n"}, ("run.sh",), None),
    "declared": (
        {
            "pyproject.toml": '[project.scripts]\nx = "pkg.cli:main"\n',
            "src/pkg/cli.py": LIBRARY,
            "src/pkg/other.py": LIBRARY,
        },
        (),
        "src/pkg/cli.py",
    ),
    "declared package": (
        {
            "pyproject.toml": '[project.scripts]\nx = "pkg:main"\n',
            "pkg/__init__.py": LIBRARY,
            "pkg/__main__.py": LIBRARY,
        },
        (),
        "pkg/__main__.py",
    ),
    "declared twice": (
        {"pyproject.toml": '[project.scripts]\nx = "a:f"\ny = "b:f"\n', "a.py": LIBRARY, "b.py": LIBRARY},
        (),
        None,
    ),
    "broken pyproject": ({"pyproject.toml": "[project", "a.py": LIBRARY}, (), None),
    "scripts that are no table": ({"pyproject.toml": "project = 1\n", "a.py": LIBRARY}, (), None),
    "more than are looked at": ({f"m{n:02}.py": LIBRARY for n in range(MAX_PARSED)} | {"a.py": SCRIPT}, (), None),
    "just as many": ({f"m{n:02}.py": LIBRARY for n in range(MAX_PARSED - 1)} | {"a.py": SCRIPT}, (), "a.py"),
    "named among many": ({f"m{n:02}.py": LIBRARY for n in range(99)} | {"run.py": SCRIPT}, ("run.py",), "run.py"),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_entry_is_found_or_left_open(name: str, tmp_path: Path) -> None:
    files, named, entry = ENTRIES[name]
    assert find_entry(workspace(tmp_path, files), named) == entry


NEW_PROGRAMS: list[tuple[str, dict[str, str], tuple[str, ...], str | None, str | None]] = [
    ("Write fuel.py. It reads notes.", {}, (), None, "fuel.py"),
    ("I need a program, src/fuel.py, for fuel.", {}, (), None, "src/fuel.py"),
    ("Write fuel.py using units.py", {"units.py": LIBRARY}, ("units.py",), None, "fuel.py"),
    ("Write fuel.py", {"main.py": SCRIPT}, (), "main.py", "fuel.py"),
    ("Write fuel.py like main.py", {"main.py": SCRIPT}, ("main.py",), "main.py", "fuel.py"),
    ("Fix main.py and put the parser into parser.py", {"main.py": SCRIPT}, ("main.py",), "main.py", None),
    ("Write units.py", {"main.py": "import units\nprint(units.f())\n"}, (), "main.py", None),
    ("The crash is in lost.py", {"main.py": SCRIPT}, (), "main.py", None),
    ("Write test_fuel.py", {}, (), None, None),
    ("Write ../fuel.py or /tmp/fuel.py", {}, (), None, None),
    ("Fix this:\n```\nimport fuel  # fuel.py\n```\n", {}, (), None, None),
    ("Fix main.py", {"main.py": LIBRARY}, ("main.py",), None, None),
]


@pytest.mark.parametrize(("prompt", "files", "named", "found", "new"), NEW_PROGRAMS)
def test_a_new_program_is_what_the_prompt_asks_to_write(
    prompt: str, files: dict[str, str], named: tuple[str, ...], found: str | None, new: str | None, tmp_path: Path
) -> None:
    assert find_new_program(workspace(tmp_path, files), prompt, named, found) == new


@pytest.mark.parametrize(
    ("path", "test", "code"),
    [
        ("test_a.py", True, True),
        ("a_test.py", True, True),
        ("a_test.go", True, True),
        ("src/a.test.ts", True, True),
        ("src/a.spec.jsx", True, True),
        ("tests/helper.py", True, True),
        ("pkg/tests/data.json", True, False),
        ("spec/cart_spec.rb", True, True),
        ("spec/spec_helper.rb", True, True),
        ("cart/test_cart.rb", True, True),
        ("Shop.Tests/CartTests.cs", True, True),
        ("src/CartTest.php", True, True),
        ("conftest.py", True, True),
        ("Contest.java", False, False),
        ("pytest.ini", False, True),
        ("contest.py", False, False),
        ("latest_a.py", False, False),
        ("testing/a.py", False, False),
    ],
)
def test_tests_are_told_by_name(path: str, test: bool, code: bool) -> None:
    assert (is_test_file(path), is_test_code(path)) == (test, code)

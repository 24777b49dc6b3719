"""Which tests are run where all of them take too long."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.checks.suites.near_tests import fewer_tests, labels, near_tests
from codur.types import Check
from codur.workspace.workspace import Workspace

TESTS = {
    "tests/test_shop.py": "import store.shop\n",
    "tests/sub/shop_test.py": "",
    "tests/test_prices.py": "from store import shop\n",
    "tests/test_more_shop_prices.py": "",
    "tests/test_workshop.py": "",
    "tests/test_store.py": "import store\n",
    "tests/helper.py": "import store.shop\n",
    "tests/test_all.py": "from store import Basket, total, other\n",
    "tests/polls/tests.py": "",
    "tests/test_few.py": "from store import total\n",
}
SOURCES = {"src/store/_basket.py": "class Basket:\n    def size(self): ...\n\n\ndef total(): ...\n"}


def fewer(root: Path, *sources: str, failing: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> list[str]:
    for path, text in (TESTS | SOURCES).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    argv = ("{python}", "-m", "pytest", *options)
    check = Check(kind="tests", argv=argv, protected=tuple(TESTS), source="the tests", suite=argv)
    workspace = Workspace.open(root)
    found = fewer_tests(check, [*failing, *near_tests(sources, check.protected, workspace)], workspace)
    return list(found.argv[3:]) if found else []


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (
            ("{python}", "-m", "unittest", "tests.test_few", "tests.test_prices"),
            ("-m", "unittest", "tests.test_prices"),
        ),
        (("{python}", "tests/runtests.py", "--parallel=1"), ("tests/runtests.py", "--parallel=1", "test_prices")),
        (("{python}", "runtests.py"), ("runtests.py", "tests.test_prices")),
    ],
)
def test_runners_that_take_names_of_modules(argv: tuple[str, ...], expected: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_prices.py").write_text("")
    check = Check(kind="tests", argv=argv, source="the tests", suite=argv)
    found = fewer_tests(check, ["tests/test_prices.py"], Workspace.open(tmp_path))
    assert found is not None
    assert (found.argv[1:], found.whole) == (expected, False)


@pytest.mark.parametrize(
    ("argv", "files", "expected"),
    [
        (("go", "test", "-v", "./..."), ["a/x_test.go", "a/y_test.go", "z_test.go"], "go test -v ./a ./"),
        (("npm", "test"), ["src/a.test.ts"], "npm test -- src/a.test.ts"),
        (
            ("bundle", "exec", "rspec"),
            ["spec/a_spec.rb", "spec/b_spec.rb"],
            "bundle exec rspec spec/a_spec.rb spec/b_spec.rb",
        ),
        (("vendor/bin/phpunit",), ["tests/ATest.php", "tests/BTest.php"], "vendor/bin/phpunit tests/ATest.php"),
    ],
)
def test_runners_of_other_languages(argv: tuple[str, ...], files: list[str], expected: str, tmp_path: Path) -> None:
    for path in files:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    check = Check(kind="tests", argv=argv, source="the tests", suite=argv)
    found = fewer_tests(check, ["tests/test_prices.py", *files], Workspace.open(tmp_path))
    assert found is not None
    assert (" ".join(found.argv), found.whole) == (expected, False)


def test_those_of_the_same_language_are_near(tmp_path: Path) -> None:
    texts = {
        "list/list.go": "package list\n\nfunc (l *List) Insert() {}\n",
        "list/list_test.go": "l.Insert()",
        "list/more_test.go": "",
        "map/map_test.go": "Insert",
        "test/list.js": "insert",
        "test/list_test.cpp": "",
        "list/list.hpp": "class List {};\n",
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found = near_tests(["list/list.go"], list(texts)[1:], Workspace.open(tmp_path))
    assert found == ["list/list_test.go"]
    assert near_tests(["list/list.hpp"], list(texts), Workspace.open(tmp_path)) == ["test/list_test.cpp"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_a (shop.tests.Case.test_a)", ("shop.tests.Case.test_a",)),
        ("test_a (shop.tests.Case.test_a) (n=1)", ("shop.tests.Case.test_a",)),
        ("test_a (shop.tests.Case)", ("shop.tests.Case.test_a",)),
        ("setUpClass (shop.tests.Case)", ("shop.tests.Case",)),
        ("shop.tests (unittest.loader._FailedTest.shop.tests)", ("shop.tests",)),
        ("--exec (shop.tests.Case)", ()),
        ("what a program logged", ()),
    ],
)
def test_what_unittest_tells_and_takes(name: str, expected: tuple[str, ...]) -> None:
    assert labels([name, name]) == expected


def test_those_that_are_called_as_the_module_go_first(tmp_path: Path) -> None:
    assert fewer(tmp_path, "src/store/shop.py") == [
        "tests/sub/shop_test.py",
        "tests/test_shop.py",
    ]


@pytest.mark.parametrize(
    ("sources", "failing", "expected"),
    [
        (("src/store/__init__.py",), (), ["tests/test_store.py"]),
        (("src/store/_basket.py",), (), ["tests/test_all.py", "tests/test_few.py"]),
        (("src/store/prices_all.py",), (), []),
        (("src/store/more.py",), (), ["tests/test_more_shop_prices.py"]),
        (("src/polls/__init__.py",), (), ["tests/polls/tests.py"]),
        (("tests/test_workshop.py",), (), ["tests/test_workshop.py"]),
        ((), ("tests/test_prices.py::test_a", "tests/test_prices.py::test_b[1]"), ["tests/test_prices.py"]),
        (("README.md", "src/store/absent.py"), (), []),
        ((), ("tests/gone.py::test_a",), []),
    ],
)
def test_what_is_near(sources: tuple[str, ...], failing: tuple[str, ...], expected: list[str], tmp_path: Path) -> None:
    assert fewer(tmp_path, *sources, failing=failing) == expected


def test_what_is_said_to_pytest_is_kept_and_where_it_looks_is_not(tmp_path: Path) -> None:
    found = fewer(tmp_path, "tests/test_store.py", options=("--import-mode=importlib", "parts/one"))
    assert found == ["--import-mode=importlib", "tests/test_store.py"]

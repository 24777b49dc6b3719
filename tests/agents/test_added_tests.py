"""What counts as an addition to a file of tests."""

from __future__ import annotations

import pytest

from codur.agents.added_tests import only_adds

PY = (
    "from sums import total\n\n\ndef test_total():\n    assert total([1]) == 1\n\n\nclass TestMore:\n"
    "    def test_none(self):\n        assert total([]) == 0\n"
)
MORE = "\n\ndef test_mean():\n    assert mean([2]) == 2\n"
JS = (
    "const { total } = require('./sums');\n\ndescribe('sums', () => {\n  it('adds', () => {\n"
    "    check(total([1]), 1);\n  });\n});\n"
)


@pytest.mark.parametrize(
    ("new", "adds"),
    [
        (PY + MORE, True),
        (PY.replace("import total", "import mean, total") + MORE, True),
        ("import os\n" + PY + MORE, True),
        (PY + "\n    def test_two(self):\n        assert True\n", True),
        (PY.replace("\n\n\ndef test_total", "\n\nCASES = [1, 2]\n\n\ndef test_total"), True),
        (PY.replace("    assert total([1])", "    return\n    assert total([1])"), False),
        (PY.replace("from sums import total", "from builtins import sum as total"), False),
        (PY.replace("import total", "import mean as total"), False),
        (PY + "\n\ndef total(numbers):\n    return 1\n", False),
        (PY + "\n\ntotal = sum\n", False),
        (PY + "\n\nfor total in [sum]:\n    pass\n", False),
        (PY + "\n\ndef test_total():\n    pass\n", False),
        (PY + "\n\npytestmark = pytest.mark.skip\n", False),
        (PY + "\n\ndef setup_module():\n    sums.total = sum\n", False),
        (PY + "\n\n@pytest.fixture(autouse=True)\ndef patched():\n    yield\n", False),
        (PY + "\n\nsums.total = sum\n", False),
        (PY + "\n\nfrom other import *\n", False),
        (PY.replace("def test_total", "@pytest.mark.skip\ndef test_total"), False),
        (PY + "\n    def setUp(self):\n        sums.total = sum\n", False),
        (PY.replace("== 0", "== 1"), False),
        (PY.replace("class TestMore", "class Other"), False),
        (PY + "\n\ndef broken(:\n", False),
        ("", False),
    ],
)
def test_in_python(new: str, adds: bool) -> None:
    assert only_adds("test_sums.py", PY.encode(), new.encode()) is adds


@pytest.mark.parametrize(
    ("new", "adds"),
    [
        (JS.replace("  });\n});", "  });\n  it('more', () => {\n    check(1, 1);\n  });\n});"), True),
        (JS.replace("{ total }", "{ mean, total }") + "it('x', () => {});\n", True),
        (JS.replace("{ total }", "{ mean }"), False),
        (JS.replace("    check(", "    return;\n    check("), False),
        (JS.replace("it('adds'", "it.skip('adds'"), False),
        ("", False),
    ],
)
def test_in_javascript(new: str, adds: bool) -> None:
    assert only_adds("sums.test.js", JS.encode(), new.encode()) is adds


def test_what_cannot_be_read_is_no_addition() -> None:
    assert not only_adds("sums_test.zig", b"a\n", b"a\nb\n")


GOES = """import os

from sums import mean, total


def test_mean():
    assert mean([2]) == 2


class TestAll:
    def test_total(self):
        assert total([1]) == 1

    def test_both(self):
        assert mean([total([1])]) == 1
"""
TOTAL = "class TestAll:\n    def test_total(self):\n        assert total([1]) == 1\n"
LEFT = f"import os\n\nfrom sums import total\n\n\n{TOTAL}"


@pytest.mark.parametrize(
    ("new", "goes"),
    [
        (LEFT, True),
        (LEFT.replace("import os\n\n", ""), True),
        (LEFT.replace("== 1", "== 2"), False),
        (LEFT.replace("from sums import", "from fakes import"), False),
        (LEFT.replace("import total", "import mean as total"), False),
        (LEFT + "\n\ntotal, mean = (lambda values: 1), None\n", False),
        ("", False),
    ],
)
def test_what_uses_a_name_that_goes_may_go_and_nothing_else(new: str, goes: bool) -> None:
    assert only_adds("test_sums.py", GOES.encode(), new.encode(), gone={"mean"}) is goes


def test_a_file_of_nothing_else_may_go_as_a_whole() -> None:
    alone = GOES.partition("\n\n\nclass")[0] + "\n"
    assert only_adds("test_sums.py", alone.encode(), b"", gone={"mean"})
    assert not only_adds("test_sums.py", alone.encode(), b"")

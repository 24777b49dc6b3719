"""What is chosen of a repository for a task, on real files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codur.context.file_order import standing
from codur.context.index import RepositoryIndex
from codur.context.places import Place, edited_lines, places_in
from codur.context.ranking import FailureClues, mentions, ranks, seeds
from codur.context.selection import MAX_FILES, Clues, Selection, select
from codur.structs import replace
from codur.workspace.private import may_hold_secrets
from codur.workspace.workspace import Workspace
from tests.runs.kit import fill

SHOP = {
    "src/shop/__init__.py": "from .invoice import Invoice\n",
    "src/shop/invoice.py": (
        "from .tax import tax_of\nfrom shop import rounding\n\n\nclass Invoice:\n    def __init__(self, lines):\n"
        "        self.lines = lines\n\n    def total(self):\n        return sum(tax_of(line) for line in self.lines)\n"
    ),
    "src/shop/tax.py": (
        "from shop.rounding import to_cents\n\nRATE = 0.2\n\n\ndef tax_of(x):\n    return to_cents(x * RATE)\n"
    ),
    "src/shop/rounding.py": "def other():\n    return 0\n\n\ndef to_cents(x):\n    return int(x * 100)\n",
    "src/shop/parcel.py": "def weigh(x):\n    return x\n\n\ndef label(x):\n    return weigh(x)\n",
    "tests/test_invoice.py": (
        "from shop import Invoice\n\n\ndef test_total():\n    invoice = Invoice([1])\n"
        "    assert invoice.total() == 20\n"
    ),
    "tests/test_parcel.py": "from shop.parcel import label\n\n\ndef test_label():\n    assert label(1) == 1\n",
}
FAILED = """tests.test_invoice::test_total
tests/test_invoice.py:6: in test_total
    assert invoice.total() == 20
E   AssertionError: assert 19 == 20"""


def opened(directory: Path, files: dict[str, str], *, max_files: int = 3000) -> tuple[Workspace, RepositoryIndex]:
    workspace = Workspace.open(fill(directory, files))
    return workspace, RepositoryIndex(workspace, max_files=max_files)


def chosen(directory: Path, files: dict[str, str], task: str, *named: str, failure: str = "") -> Selection:
    workspace, index = opened(directory, files)
    return select(index, workspace.list_files(), Clues(task=task, named=named, failure=failure))


def test_the_head_of_a_long_document_that_the_task_names_is_needed(tmp_path: Path) -> None:
    """A changelog is neither run nor called: by its rank alone it comes after all sources, and gets no room."""
    files = {**SHOP, "CHANGELOG.rst": "1.0\n===\n" + "- a change\n" * 500}
    selection = chosen(tmp_path, files, "say in CHANGELOG.rst what tax_of is for", "CHANGELOG.rst")
    assert ("CHANGELOG.rst", 1, "needed") in {(want.path, want.line, want.need) for want in selection.wants}
    assert {want.end for want in selection.wants if want.path == "CHANGELOG.rst" and want.line} == {40}


# --- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '  File "/work/p/src/a.py", line 3, in f\n  File "lib/b.py", line 7, in g',
            [("lib/b.py", 7), ("src/a.py", 3)],
        ),
        ("src/a.py:3: in f\n    g()\nlib/b.py:7: KeyError", [("lib/b.py", 7), ("src/a.py", 3)]),
        ("src/a.py:3: in f\n\nlib/b.py:7: in g", [("src/a.py", 3), ("lib/b.py", 7)]),
        ("FAILED tests/test_a.py::TestX::test_y - x", [("tests/test_a.py", 0)]),
        ("tests.test_a.TestX::test_y\n(no place)", [("tests/test_a.py", 0)]),
        ("b.py:7: wrong", [("lib/b.py", 7)]),
        ("main.rs:7:2: error", []),
        ('File "/usr/lib/python3/a.py", line 3, in f', []),
        ("same.py:7: two of them", []),
        ("at 10:30: nothing.py:1", []),
    ],
)
def test_places(text: str, expected: list[tuple[str, int]]) -> None:
    files = ["src/a.py", "lib/b.py", "tests/test_a.py", "x/same.py", "y/same.py"]
    assert [(place.path, place.line) for place in places_in(text, files)] == expected


def test_a_function_is_kept_with_its_place() -> None:
    assert places_in('File "a.py", line 2, in f', ["a.py"]) == (Place(path="a.py", line=2, function="f"),)


# --- choosing ---------------------------------------------------------------------------------------------------------


def test_a_failing_test_leads_to_the_functions_below_it(tmp_path: Path) -> None:
    selection = chosen(tmp_path, SHOP, "make the tests pass", failure=FAILED)
    assert selection.paths[0] == "tests/test_invoice.py"
    places = [(want.path, want.line) for want in selection.wants]
    assert ("src/shop/rounding.py", 5) in places
    assert ("src/shop/rounding.py", 1) not in places
    assert "src/shop/parcel.py" not in selection.paths
    assert "tests/test_parcel.py" not in selection.paths


def test_the_end_of_a_traceback_comes_first(tmp_path: Path) -> None:
    trace = (
        'File "tests/test_invoice.py", line 6, in test_total\nFile "src/shop/invoice.py", line 10, in total\n'
        'File "src/shop/tax.py", line 7, in tax_of\nTypeError: x'
    )
    selection = chosen(tmp_path, SHOP, "it crashes", failure=trace)
    assert selection.paths[:3] == ("src/shop/tax.py", "src/shop/invoice.py", "tests/test_invoice.py")


def test_of_a_long_test_file_that_is_named_the_failing_tests_are_shown(tmp_path: Path) -> None:
    long = SHOP["tests/test_invoice.py"] + "".join(f"\n\ndef test_{n}():\n    assert {n} < 300\n" for n in range(300))
    files = {**SHOP, "tests/test_invoice.py": long}
    selection = chosen(tmp_path, files, "mend tests/test_invoice.py", "tests/test_invoice.py", failure=FAILED)
    wants = [want for want in selection.wants if want.path == "tests/test_invoice.py"]
    assert {want.line for want in wants if want.line} == {1, 4, 6}
    assert not any(want.partly for want in wants)


def test_of_a_file_of_thousands_of_lines_the_failing_test_is_shown(tmp_path: Path) -> None:
    """Projects in one module, and the tests of such, go beyond 200 kB."""
    filler = "".join(f"def test_{number}():\n    assert {number} == int('{number}')\n\n\n" for number in range(5_000))
    files = {"sums.py": "def add(a, b):\n    return a - b\n", "test_sums.py": f"{filler}{SUM_TEST}"}
    assert len(files["test_sums.py"]) > 240_000
    failure = "test_sums.py::test_add\ntest_sums.py:20002: in test_add\n    assert add(1, 2) == 3\nE   assert -1 == 3"
    selection = chosen(tmp_path, files, "the tests fail", failure=failure)
    assert ("test_sums.py", 20001) in {(want.path, want.line) for want in selection.wants}


SUM_TEST = "def test_add():\n    assert add(1, 2) == 3\n"


def test_a_constant_that_a_failing_test_names_is_needed(tmp_path: Path) -> None:
    pattern = (
        'import re\n\nclass A:\n    def one(self):\n        return 1\n\nPRICE = re.compile(\n    "x"\n)\nOTHER = 2\n'
    )
    test = "from shop.price import PRICE\n\n\ndef test_price():\n    assert PRICE.match('1')\n"
    files = {**SHOP, "src/shop/price.py": pattern, "tests/test_price.py": test}
    failure = "tests/test_price.py::test_price\ntests/test_price.py:5: in test_price\nE   assert None"
    selection = chosen(tmp_path, files, "make the tests pass", failure=failure)
    needed = [(want.path, want.line, want.end) for want in selection.wants if want.need == "needed" and want.end]
    assert needed == [("src/shop/price.py", 7, 9)]


def test_of_what_is_near_only_what_failing_tests_executed_fills_the_room(tmp_path: Path) -> None:
    many = "".join(f"def near_{number}():\n    return {number}\n\n\n" for number in range(40))
    calls = "".join(f"    near_{number}()\n" for number in range(40))
    test = f"from many import *\n\n\ndef test_all():\n{calls}    assert one() == 2\n"
    files = {"many.py": many, "test_many.py": test}
    workspace, index = opened(tmp_path, files)
    ran = frozenset(("many.py", 4 * number + 2) for number in range(20))
    clues = Clues(task="mend it", failure="test_many.py:45: in test_all\nE   assert 1 == 2", runs=[(True, ran)])
    without, known = (
        {want.line for want in select(index, workspace.list_files(), given).wants if want.path == "many.py"}
        for given in (replace(clues, runs=()), clues)
    )
    assert {4 * number + 1 for number in range(20)} <= known < without


def test_named_files_and_what_they_import(tmp_path: Path) -> None:
    selection = chosen(tmp_path, SHOP, "tidy up", "src/shop/invoice.py")
    assert selection.paths[0] == "src/shop/invoice.py"
    assert {"src/shop/tax.py", "src/shop/rounding.py"} <= set(selection.paths)


@pytest.mark.parametrize(
    "task", ["`to_cents` cuts", "to_cents() cuts", "why does to_cents cut?", "amounts need rounding"]
)
def test_what_the_task_calls_by_name(task: str, tmp_path: Path) -> None:
    assert chosen(tmp_path, SHOP, task).paths[0] == "src/shop/rounding.py"


def test_a_method_is_named_with_its_class(tmp_path: Path) -> None:
    twice = "\n\nclass Parcel:\n    def __init__(self, weight):\n        self.weight = weight\n"
    files = {**SHOP, **{f"src/shop/m{number}.py": f"class M{number}:\n{twice}" for number in range(8)}}
    wants = chosen(tmp_path, files, "Invoice.__init__ should copy its lines").wants
    assert (wants[0].path, wants[0].line) == ("src/shop/invoice.py", 6)


@pytest.mark.parametrize(
    "task",
    [
        "rename weigh to heavy",
        "give `weigh` a second argument, the unit",
        "weigh() should take a unit, kilograms if none",
    ],
)
def test_uses_of_a_symbol_that_is_to_change_come_before_what_it_uses(task: str, tmp_path: Path) -> None:
    uses = {
        f"src/shop/use{number}.py": "from shop.parcel import weigh\n\n\ndef used(x):\n    return weigh(x)\n"
        for number in range(20)
    }
    far = {"src/shop/scale.py": "".join(f"def scale{n}(x):\n    return x\n\n\n" for n in range(40))}
    body = "    return (" + " + ".join(f"scale{n}(x)" for n in range(40)) + ")\n"
    parcel = "from shop.scale import *\n\n\ndef weigh(x):\n" + body
    selection = chosen(tmp_path, {**SHOP, **uses, **far, "src/shop/parcel.py": parcel}, task)
    needed = {want.path for want in selection.wants if want.need == "needed"}
    assert len(needed & {*uses}) > 10
    first = [want.path for want in selection.wants][:12]
    assert "src/shop/scale.py" not in first


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("the executable subcommand is lost", "execute_sub_command"),
        ("executing a sub command", "run_subcommand"),
        ("what the parsers say of dependencies", "parse_dependency"),
    ],
)
def test_a_name_is_found_by_the_words_it_is_made_of(task: str, name: str, tmp_path: Path) -> None:
    names = [name, *(f"part_of_{letter}" for letter in "abcdefgh")]
    workspace, index = opened(tmp_path, {"main.py": "\n\n".join(f"def {each}():\n    return 1\n" for each in names)})
    view = index.view(workspace.list_files())
    found = seeds(view, task=task, files=[], failure=FailureClues())
    assert {view.facts[path].blocks[number].name for path, number in found} == {name}


def test_a_task_that_leads_nowhere_lists_all(tmp_path: Path) -> None:
    selection = chosen(tmp_path, SHOP, "please")
    assert selection.wants == ()
    assert set(selection.ranked) == set(SHOP)


def test_a_constant_of_a_module_is_followed(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import LIMITS\n\n\ndef use():\n    return LIMITS\n",
        "b.py": "LIMITS = {}\n",
        "c.py": "x = 1\n",
    }
    assert chosen(tmp_path, files, "`use` is wrong").ranked == ("a.py", "b.py")


def test_circular_imports_end(tmp_path: Path) -> None:
    files = {
        "a.py": "import b\n\n\ndef one():\n    return b.two()\n",
        "b.py": "import a\n\n\ndef two():\n    return a.one()\n",
        "c/__init__.py": "from c import *\nfrom . import c\n",
    }
    workspace, index = opened(tmp_path, files)
    view = index.view(workspace.list_files())
    rank = ranks(view, seeds(view, task="`one`", files=[], failure=FailureClues()))
    assert {path for path, _ in rank} == {"a.py", "b.py"}
    assert sum(rank.values()) <= 1.0
    assert view.imports("a.py") == ("b.py",)
    assert view.imports("c/__init__.py") == ()


def test_a_file_with_a_syntax_error_still_tells_what_it_defines(tmp_path: Path) -> None:
    files = {"a.py": "from b import two\n\n\ndef one(:\n    return two()\n", "b.py": "def two():\n    return (\n"}
    assert chosen(tmp_path, files, "fix", failure='File "a.py", line 4').paths == ("a.py", "b.py")


def test_a_test_that_is_made_while_tests_are_collected_leads_by_its_words(tmp_path: Path) -> None:
    """Nothing in the sources defines it, and the plugin that it names was not executed: it was not shown."""
    workspace, index = opened(tmp_path, {**SHOP, "tests/test_all.py": "from tests import load\n\nload('parcel')\n"})
    clues = Clues(task="the tests fail", failing=("tests/test_all.py::TestParcel1::test_weigh_label[a::b]",))
    assert select(index, workspace.list_files(), clues).ranked[0] == "src/shop/parcel.py"


def test_a_module_that_failing_tests_are_called_after_is_shown_though_they_did_not_execute_it(tmp_path: Path) -> None:
    workspace, index = opened(tmp_path, {**SHOP, "tests/test_all.py": "from tests import load\n\nload('parcel')\n"})
    failing = tuple(f"tests/test_all.py::Test{name}::test_label_2" for name in ("Parcel1", "Parcel2"))
    runs = [(True, [("src/shop/tax.py", 7)]), (False, [("src/shop/tax.py", 8)])]
    wants = select(index, workspace.list_files(), Clues(task="fix it", failing=failing, runs=runs)).wants
    assert any(want.path == "src/shop/parcel.py" and want.need == "needed" for want in wants)


def test_a_class_that_lacks_an_attribute_is_shown_with_what_else_uses_that(tmp_path: Path) -> None:
    files = {
        "scopes.py": "class ClassScope:\n    kind = 1\n\n\nclass FunctionScope:\n    pass\n",
        "check.py": "def handle(scope):\n    scope.unused += 1\n\n\ndef report(scope):\n    return scope.unused\n",
        "test_check.py": "import check\n\n\ndef test_it():\n    check.handle(1)\n",
    }
    failure = "check.py:2: in handle\nE   AttributeError: 'ClassScope' object has no attribute 'unused'"
    workspace, index = opened(tmp_path, files)
    runs = [(True, [("check.py", 2)]), (False, [("check.py", 1)])]
    wants = select(index, workspace.list_files(), Clues(task="fix it", failure=failure, runs=runs)).wants
    assert {("scopes.py", 1), ("check.py", 5)} <= {(want.path, want.line) for want in wants if want.need == "needed"}


def test_with_a_failing_method_come_its_overrides_and_what_makes_its_attributes(tmp_path: Path) -> None:
    base = (
        "class Table:\n    def __init__(self):\n        self.parts = {}\n\n    def unused(self):\n        pass\n\n"
        "    def drop(self, key):\n        return self.parts[key]\n"
    )
    files = {
        "base.py": base,
        "more.py": "from base import Table\n\n\nclass Wide(Table):\n    def drop(self, key):\n        return key\n",
        "test_base.py": "from base import Table\n\n\ndef test_it():\n    assert Table().drop(1)\n",
    }
    failure = "test_base.py:5: in test_it\nbase.py:9: in drop\nE   KeyError: 1"
    workspace, index = opened(tmp_path, files)
    runs = [(True, [("base.py", 9)]), (False, [("base.py", 6)])]
    wants = select(index, workspace.list_files(), Clues(task="fix it", failure=failure, runs=runs)).wants
    needed = {(want.path, want.line) for want in wants if want.need == "needed"}
    assert {("base.py", 2), ("more.py", 5)} <= needed


def test_what_is_vendored_comes_after_all_that_is_not(tmp_path: Path) -> None:
    """The failing test was the first to execute much of it, so that this seemed to tell more than anything else."""
    long = "    a = 1\n" * 60
    vendored = {"src/shop/_vendor/big.py": f"def big():\n{long}    return a\n"}
    workspace, index = opened(tmp_path, {**SHOP, **vendored})
    ran = [("src/shop/_vendor/big.py", line) for line in range(2, 62)]
    runs = [(True, [*ran, ("src/shop/tax.py", 7)]), *[(False, [("src/shop/tax.py", 7)])] * 50]
    wants = select(index, workspace.list_files(), Clues(task="`big` is wrong", failure=FAILED, runs=runs)).wants
    near = [want.path for want in wants if want.need == "needed" and want.line]
    assert near.index("src/shop/tax.py") < near.index("src/shop/_vendor/big.py")


def test_decorators_belong_to_what_they_decorate(tmp_path: Path) -> None:
    """What a test was given by its parameters was taken for what the test before it is about."""
    test = (
        "import a\n\n\nclass TestA:\n    def test_one(self):\n        assert a.one()\n\n"
        "    @mark(\n        [a.two()],\n    )\n    @skip\n    def test_two(self, x):\n        assert x\n"
    )
    functions = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    workspace, index = opened(tmp_path, {"a.py": functions, "tests/test_a.py": test})
    view = index.view(workspace.list_files())
    led = {name: set(mentions(view, node)) for name in ("test_one", "test_two") for node in view.defined(name)}
    assert led == {"test_one": {("a.py", 1)}, "test_two": {("a.py", 2)}}


def test_names_that_are_everywhere_lead_nowhere(tmp_path: Path) -> None:
    files = {f"m{number}.py": "def run(self):\n    return self.run()\n" for number in range(30)}
    workspace, index = opened(tmp_path, {**files, "main.py": "def start(x):\n    return x.run()\n"})
    view = index.view(workspace.list_files())
    assert mentions(view, ("main.py", 1)) == {}
    assert chosen(tmp_path, {}, "`start` hangs").paths == ("main.py",)


def test_a_bounded_number_of_files_is_wanted(tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(60)]
    files = {f"{name}.py": f"def do_{name}():\n    return 1\n" for name in names}
    main = "".join(f"import {name}\n" for name in names) + "".join(f"{name}.do_{name}()\n" for name in names)
    selection = chosen(tmp_path, {**files, "main.py": main}, "fix main.py", "main.py")
    assert len(selection.paths) == MAX_FILES + 1


def order(selection: Selection) -> list[tuple[str, int]]:
    return list(dict.fromkeys((want.path, want.line) for want in selection.wants))


def test_what_a_step_names_is_asked_for_and_comes_first(tmp_path: Path) -> None:
    workspace, index = opened(tmp_path, SHOP)
    files = workspace.list_files()
    for step, place in (
        ("mend `Invoice.total`", ("src/shop/invoice.py", 9)),
        ("src/shop/tax.py:6: the rate", ("src/shop/tax.py", 6)),
    ):
        selection = select(index, files, Clues(task="fix it", named=(), step=step, failure=FAILED))
        assert (selection.wants[0].path, selection.wants[0].line) == place
        assert selection.wants[0].need == "asked"


def test_small_named_files_come_before_tests_and_these_before_what_they_use(tmp_path: Path) -> None:
    found = order(chosen(tmp_path, SHOP, "fix src/shop/tax.py", "src/shop/tax.py", failure=FAILED))
    places = [("src/shop/tax.py", 0), ("tests/test_invoice.py", 4), ("src/shop/invoice.py", 9)]
    assert [found.index(place) for place in places] == sorted(found.index(place) for place in places)


def test_a_failing_test_brings_its_fixtures_and_set_up(tmp_path: Path) -> None:
    files = {
        "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef basket():\n    return [1]\n",
        "tests/test_a.py": (
            "class TestA:\n    def setUp(self):\n        self.x = 1\n\n    def test_it(self, basket):\n"
            "        assert basket == [2]\n\n    def test_other(self):\n        pass\n"
        ),
    }
    workspace, index = opened(tmp_path, files)
    failing = ["tests/test_a.py::TestA::test_it[1-2]"]
    selection = select(index, workspace.list_files(), Clues(task="fix it", named=(), failing=failing))
    needed = [(want.path, want.line) for want in selection.wants if want.need == "needed"]
    assert needed[:3] == [("tests/test_a.py", 5), ("tests/test_a.py", 2), ("tests/conftest.py", 5)]


def test_what_failing_tests_alone_executed_comes_before_what_is_only_mentioned(tmp_path: Path) -> None:
    files = {
        "src/a.py": "def near(x):\n    return far(x)\n\n\ndef far(x):\n    pass\n\n\ndef hidden(x):\n    pass\n",
        "tests/test_a.py": "from a import near\n\n\ndef test_it():\n    assert near(1) == 2\n",
    }
    workspace, index = opened(tmp_path, files)
    runs = [(True, {("src/a.py", 2), ("src/a.py", 10)}), (False, {("src/a.py", 2)})]
    failing = ["tests/test_a.py::test_it"]
    selection = select(index, workspace.list_files(), Clues(task="fix it", named=(), failing=failing, runs=runs))
    sources = [line for path, line in order(selection) if path == "src/a.py" and line]
    assert sources == [1, 9, 5]


def test_a_method_leads_to_what_its_own_class_and_its_bases_define(tmp_path: Path) -> None:
    files = {
        "base.py": "class Base:\n    def save(self):\n        return 1\n",
        "other.py": "class Other:\n    def save(self):\n        return 2\n",
        "a.py": (
            "from base import Base\nfrom other import Other\n\n\nclass A(Base):\n"
            "    def run(self):\n        return self.save()\n"
        ),
    }
    workspace, index = opened(tmp_path, files)
    assert set(mentions(index.view(workspace.list_files()), ("a.py", 2))) == {("base.py", 2)}


def test_what_a_model_thinks_of_is_needed_where_nothing_fails(tmp_path: Path) -> None:
    files = {
        "a.py": "def run():\n    pass\n",
        "bin/tool": "#!/bin/sh\necho\n",
        "test_a.py": "def test_run():\n    pass\n",
    }
    workspace, index = opened(tmp_path, files)
    for guessed, needed in ((("bin/tool",), True), ((), False)):
        clues = Clues(task="it needs --latest", named=("a.py",), guessed=guessed, also=("bin/tool",))
        wants = select(index, workspace.list_files(), clues).wants
        assert any(want.need == "needed" for want in wants if want.path == "bin/tool") is needed


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", 0),
        ("tools/a.go", 0),
        ("bin/tool", 0),
        ("tests/a.py", 1),
        ("a/test_x.py", 1),
        ("a/cart_spec.rb", 1),
        ("src/CartTest.php", 1),
        ("src/cart.hh", 0),
        ("README.md", 1),
        ("docs/conf.py", 1),
        ("examples/a.py", 1),
        ("locale/de/a.po", 2),
        (".meta/example.py", 2),
        ("a/.hidden.py", 2),
        ("vendor/a.py", 2),
        ("a/x_pb2.py", 2),
        ("uv.lock", 2),
    ],
)
def test_sources_come_before_what_is_beside_them_and_what_nobody_wrote(path: str, expected: int) -> None:
    assert standing(path) == expected


def test_lines_that_a_diff_changes() -> None:
    diff = "--- a/src/a.py\n+++ b/src/a.py\n@@ -7,7 +7,8 @@\n-x\n+y\n@@ -40 +41 @@\n"
    assert [place.line for place in places_in(edited_lines(diff), ["src/a.py"])] == [43, 10]


# --- bounds and bad input ---------------------------------------------------------------------------------------------


def test_of_too_many_files_the_near_ones_are_looked_into(tmp_path: Path) -> None:
    files = {f"p{number}/m.py": "x = 1\n" for number in range(9)}
    workspace, index = opened(tmp_path, {**files, "p7/n.py": "y = 1\n"}, max_files=2)
    assert set(index.view(workspace.list_files(), ["p7/m.py"]).facts) == {"p7/m.py", "p7/n.py"}


def test_a_file_is_looked_into_again_only_when_it_changed(tmp_path: Path) -> None:
    workspace, index = opened(tmp_path, SHOP)
    first = index.view(workspace.list_files())
    assert index.view(workspace.list_files()) is first
    path = tmp_path / "src/shop/parcel.py"
    path.write_text("def new():\n    return 1\n")
    os.utime(path, ns=(1, 1))
    second = index.view(workspace.list_files())
    assert [block.name for block in second.facts["src/shop/parcel.py"].blocks] == ["", "new"]
    assert second.facts["src/shop/tax.py"] is first.facts["src/shop/tax.py"]


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    workspace, index = opened(tmp_path, {"a.py": "x = 1\n", "long.py": "y = 1\n" * 200_000, "gone.py": ""})
    (tmp_path / "binary.py").write_bytes(b"\x00\xff\xfe\x00")
    (tmp_path / "out.py").symlink_to("/etc/passwd")
    files = [*workspace.list_files(), "out.py"]
    (tmp_path / "gone.py").unlink()
    assert "out.py" not in index.view(files).facts
    assert set(index.view(files).facts) <= {"a.py", "binary.py"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".env", True),
        ("deploy/.env.production", True),
        (".env.example", False),
        ("keys/server.pem", True),
        ("id_rsa", True),
        ("id_rsa.pub", False),
        (".aws/config", True),
        ("environment.py", False),
        ("secrets.yaml", True),
        ("secrets.py", False),
        ("src/key.py", False),
    ],
)
def test_files_that_may_hold_secrets(path: str, expected: bool) -> None:
    assert may_hold_secrets(path) is expected

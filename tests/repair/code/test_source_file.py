"""Places in the text, edits, and what compiles."""

from __future__ import annotations

import ast

import pytest

from codur.repair.code.source_edits import Edit, apply_edits, overlap
from codur.repair.code.source_file import compiles, parse_source
from tests.repair.support import source_of


def edit(start: int, end: int, text: str = "", path: str = "main.py") -> Edit:
    return Edit(path=path, start=start, end=end, text=text)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([edit(2, 4), edit(4, 6)], False),
        ([edit(2, 5), edit(4, 6)], True),
        ([edit(2, 5), edit(4, 6, path="other.py")], False),
        ([edit(2, 2), edit(2, 2)], True),
        ([edit(4, 4), edit(2, 4)], False),
    ],
)
def test_overlap(edits: list[Edit], expected: bool) -> None:
    assert overlap(edits) is expected


def test_edits_are_made_in_any_order() -> None:
    assert apply_edits("a < b and c", [edit(0, 1, "x"), edit(10, 11, "y"), edit(4, 5, "long")]) == "x < long and y"


def test_overlapping_edits_are_an_error() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", [edit(0, 2, "x"), edit(1, 3, "y")])


def test_every_node_is_found_in_a_text_with_wide_characters() -> None:
    source = source_of('größe = "🎈ß" + name  # ü\nif größe:\n\tprint(größe, "é", [1, 2])\n')
    found = [source.code(node) for node in ast.walk(source.tree) if isinstance(node, ast.expr) and source.trusted(node)]
    strings = ['"🎈ß" + name', '"🎈ß"', 'print(größe, "é", [1, 2])', '"é"']
    assert sorted(found) == sorted(["größe", "größe", "größe", "name", "print", "[1, 2]", "1", "2", *strings])
    assert source.indent_unit == "\t"


def test_nodes_inside_f_strings_are_trusted_only_where_the_text_agrees() -> None:
    source = source_of('x = f"{a + 1:>{width}} {b!r}"\ny = f"""\n{a}\n  {c}"""\n')
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.BinOp) and source.trusted(node):
            assert ast.dump(ast.parse(source.code(node), mode="eval").body) == ast.dump(node).replace("Store", "Load")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", True),
        ("x = (", False),
        ("return 1", False),
        ("x = '\\d'", True),
        ("x = 1\0", False),
        ("(" * 300, False),
    ],
)
def test_compiles_without_a_warning(text: str, expected: bool) -> None:
    assert compiles(text, "main.py") is expected
    assert (parse_source("main.py", text) is not None) is expected

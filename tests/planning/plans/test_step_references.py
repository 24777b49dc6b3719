"""References in the arguments of a plan's steps."""

from __future__ import annotations

import pytest

from codur.planning.plans.step_references import MAX_INSERTED, Output, UnresolvedReference, filled, referred

OUTPUTS = {
    "find": Output(text="a.py\nb.py", data={"paths": ["a.py", "b.py"], "total": 2, "first": {"path": "a.py"}}),
    "word": Output(text="hello"),
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${word}", "hello"),
        ("say ${word}!", "say hello!"),
        ("${find.paths}", ["a.py", "b.py"]),
        ("${find.paths[1]}", "b.py"),
        ("${find.first.path}", "a.py"),
        ("${find.total}", 2),
        ("in ${find.total} files: ${find.paths}", 'in 2 files: ["a.py", "b.py"]'),
        ("$${word} stays", "${word} stays"),
        ("$${word}", "${word}"),
        ("no $ {word} here, nor $word", "no $ {word} here, nor $word"),
        (["${word}", 3, {"deep": "${find.paths[0]}"}], ["hello", 3, {"deep": "a.py"}]),
        (7, 7),
        (None, None),
    ],
)
def test_a_reference_becomes_what_it_names(value: object, expected: object) -> None:
    assert filled({"x": value}, OUTPUTS.get) == {"x": expected}


def test_what_is_put_in_is_not_looked_at_again() -> None:
    outputs = {"a": Output(text="${b}"), "b": Output(text="secret")}
    assert filled({"x": "<${a}>", "y": "${a}"}, outputs.get) == {"x": "<${b}>", "y": "${b}"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("${nobody}", r"\$\{nobody\} names no finished step"),
        ("${find.size}", "there is no size; there are paths, total, first"),
        ("${find.paths[2]}", "there are 2 items"),
        ("${find.total.x}", "the output has no such part"),
        ("${word.text}", "the output has no such part"),
    ],
)
def test_a_reference_that_names_nothing_is_told(value: str, words: str) -> None:
    with pytest.raises(UnresolvedReference, match=words):
        filled({"x": value}, OUTPUTS.get)


def test_what_is_too_long_is_not_put_in() -> None:
    outputs = {"log": Output(text="x" * (MAX_INSERTED + 1))}
    with pytest.raises(UnresolvedReference, match="too long"):
        filled({"x": "${log}"}, outputs.get)


def test_the_steps_that_arguments_refer_to() -> None:
    assert referred({"x": "${b} ${a.c[1]} $${no}", "y": ["${b}", {"z": "${d}"}], "n": 1}) == ("b", "a", "d")

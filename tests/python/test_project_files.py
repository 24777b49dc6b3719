"""What can be read of a project's TOML."""

from __future__ import annotations

import pytest

from codur.python.project_files import toml_of


@pytest.mark.parametrize(
    "text",
    [
        "a = [\n" + "1.5, " * 300 + "\n]\n",
        'a = """\n' + "A word. " * 300 + '\n"""\n',
        "# " + "." * 300 + "\na = 1\n",
        'a = [\n"' + "x.y." * 200 + '"\n]\n',
    ],
    ids=["numbers", "prose", "a ruler", "a text"],
)
def test_many_dots_in_values_are_read(text: str) -> None:
    assert toml_of(text)


@pytest.mark.parametrize("part", ["a", '"a b"', "'a'"])
def test_a_name_of_very_many_parts_is_not_read(part: str) -> None:
    assert toml_of(" . ".join([part] * 20_000) + " = 1\n") is None
    assert toml_of("[" + ".".join([part] * 20_000) + "]\n") is None
    assert toml_of(".".join([part] * 90) + " = 1\n")

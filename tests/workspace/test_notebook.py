"""Notebooks, which tools read and edit as their cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox
from codur.workspace import text
from codur.workspace.notebook import text_of
from tests.tools.conftest import toolbox_on

IMAGE = {
    "output_type": "display_data",
    "data": {"image/png": "iVBOR" * 9000, "text/plain": ["<Figure>"]},
    "metadata": {},
}
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "could not convert '-'", "traceback": ["\x1b[31m..."]}


def code(source: str, *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": list(outputs),
        "source": lines,
        **more,
    }


CELLS = [
    {"cell_type": "markdown", "id": "a1", "metadata": {"tags": ["x"]}, "source": ["# Sales\n", "of 2024"]},
    code("import pandas as pd\nsales = pd.read_csv('sales.csv')", id="b2"),
    code("sales.plot()\n", IMAGE, id="c3"),
    code("sales.price.astype(float)", ERROR, id="d4"),
]


def notebook(cells: list[dict[str, Any]], indent: int | None = 1) -> str:
    form = {"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(form, indent=indent, ensure_ascii=False) + "\n"


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return toolbox_on(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "analysis.ipynb"
    path.write_text(notebook(CELLS))
    return path


def test_it_is_read_as_its_cells_with_the_beginning_of_their_outputs(file: Path, toolbox: Toolbox) -> None:
    said = toolbox.call("read_file", {"path": "analysis.ipynb"}).text
    first, _, rest = said.partition("\n")
    assert "outputs" in first
    assert rest == (
        "# %% [markdown] 1\n# Sales\nof 2024\n# %% [code] 2\nimport pandas as pd\nsales = pd.read_csv('sales.csv')\n"
        "# %% [code] 3\nsales.plot()\n\n#> <Figure>\n# %% [code] 4\nsales.price.astype(float)\n"
        "#> ValueError: could not convert '-'\n"
    )


@pytest.mark.parametrize("indent", [None, 1, 2])
def test_only_the_cell_that_is_edited_differs(indent: int | None, file: Path, toolbox: Toolbox) -> None:
    file.write_text(notebook(CELLS, indent))
    edit = {"path": "analysis.ipynb", "old": "sales.price.astype(float)", "new": "sales.price.replace('-', 'é')"}
    assert toolbox.call("replace_in_file", edit).ok
    mended = {**CELLS[3], "source": ["sales.price.replace('-', 'é')"], "outputs": [], "execution_count": None}
    assert file.read_text() == notebook([*CELLS[:3], mended], indent)


def test_a_cell_that_is_edited_ends_as_it_did(file: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("replace_in_file", {"path": "analysis.ipynb", "old": "sales.plot()", "new": "sales.hist()"}).ok
    assert json.loads(file.read_text())["cells"][2]["source"] == ["sales.hist()\n"]


def test_cells_are_added_moved_and_taken_away(file: Path) -> None:
    before = file.read_bytes()
    shown = text.decode(file.name, before).text
    head, *cells = shown.split("# %% ")
    again = json.loads(
        text.encode(file.name, "# %% ".join([head, cells[1], "\nprint(1)\n\n", "[markdown]\nEnd\n", cells[0]]), before)
    )
    kinds = [(cell["cell_type"], "".join(cell["source"]).rstrip()) for cell in again["cells"]]
    assert kinds == [
        ("code", "".join(CELLS[1]["source"])),
        ("code", "print(1)"),
        ("markdown", "End"),
        ("markdown", "# Sales\nof 2024"),
    ]
    assert again["cells"][0] == CELLS[1]
    assert all(cell["id"] for cell in again["cells"])
    assert again["metadata"] == {"kernelspec": {"name": "python3"}}


def test_what_is_not_changed_stays_to_the_byte(file: Path) -> None:
    before = file.read_bytes()
    assert text.encode(file.name, text.decode(file.name, before).text, before) == before


def test_a_new_one_is_made_of_its_cells_or_of_json(tmp_path: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("write_file", {"path": "new.ipynb", "content": "# %% [markdown]\nHello\n# %%\nprint(1)\n"}).ok
    made = json.loads((tmp_path / "new.ipynb").read_text())
    assert [cell["cell_type"] for cell in made["cells"]] == ["markdown", "code"]
    assert (made["nbformat"], made["cells"][1]["source"]) == (4, ["print(1)"])
    assert toolbox.call("write_file", {"path": "new.ipynb", "content": notebook(CELLS)}).ok
    assert (tmp_path / "new.ipynb").read_text() == notebook(CELLS)


@pytest.mark.parametrize("raw", ["{", "[]", "{}", '{"nbformat": 3, "cells": []}', notebook([code("x\n# %% a cell")])])
def test_what_is_no_such_notebook_is_read_as_it_is(raw: str) -> None:
    assert text_of(raw) is None
    assert text.decode("a.ipynb", raw.encode()).text == raw
    assert text.encode("a.ipynb", f"{raw} ", raw.encode()) == f"{raw} ".encode()

"""Notebooks, which tools read and edit as their cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from codur.tools.toolbox import Toolbox
from codur.workspace import text
from codur.workspace.notebook import text_of
from codur.workspace.problems import FileError
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
        "# %% [markdown] 1\n# Sales\nof 2024\n# %% [code] 2, In[1]\nimport pandas as pd\n"
        "sales = pd.read_csv('sales.csv')\n"
        "# %% [code] 3, In[1]\nsales.plot()\n\n#=> <Figure>\n# %% [code] 4, In[1]\nsales.price.astype(float)\n"
        "#=> ValueError: could not convert '-'\n"
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
    head, *cells = re.split("^# %% ", shown, flags=re.MULTILINE)
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


@pytest.mark.parametrize("raw", ["{", "[]", "{}", '{"nbformat": 3, "cells": []}', '{"nbformat": 4, "cells": [{}]}'])
def test_what_is_no_such_notebook_is_read_as_it_is(raw: str) -> None:
    assert text_of(raw) is None
    assert text.decode("a.ipynb", raw.encode()).text == raw
    assert text.encode("a.ipynb", f"{raw} ", raw.encode()) == f"{raw} ".encode()


@pytest.mark.parametrize("source", ["x\n# %% a cell", "#=> 3"])
def test_one_whose_cells_could_not_be_told_apart_is_json_to_read_and_to_write(source: str) -> None:
    raw = notebook([code(source)])
    assert text.decode("a.ipynb", raw.encode()).text == raw
    other = notebook([code("x")])
    assert text.encode("a.ipynb", other, raw.encode()) == other.encode()
    with pytest.raises(FileError, match="no notebook"):
        text.encode("a.ipynb", "# %%\nx\n", raw.encode())


@pytest.mark.parametrize(
    "more",
    [{"outputs": None}, {"outputs": ["x"]}, {"outputs": [{"data": 1}]}, {"source": 3}, {"source": []}, {"id": None}],
)
@pytest.mark.parametrize("minor", [None, "5", 2, 5])
def test_what_a_notebook_should_not_have_does_no_harm(more: dict[str, Any], minor: Any) -> None:
    form = {"cells": [{**code("x = 1"), **more}], "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    raw = json.dumps(form).encode()
    shown = text.decode("a.ipynb", raw).text
    assert text.encode("a.ipynb", shown, raw) == raw
    added = json.loads(text.encode("a.ipynb", f"{shown}# %% [code]\ny = 2\n", raw)) if shown.startswith("#") else {}
    assert [cell["source"] for cell in added.get("cells", ())[1:]] in ([["y = 2"]], [])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("indent", ["\t", "  "])
def test_line_ends_mark_and_indent_stay(newline: str, bom: bytes, indent: str) -> None:
    form = json.loads(notebook(CELLS))
    before = bom + f"{json.dumps(form, indent=indent, ensure_ascii=False)}\n".replace("\n", newline).encode()
    shown = text.decode("a.ipynb", before).text
    form["cells"][1] |= {"source": ["import pandas as pd\n", "sales = None"], "outputs": [], "execution_count": None}
    after = bom + f"{json.dumps(form, indent=indent, ensure_ascii=False)}\n".replace("\n", newline).encode()
    assert text.encode("a.ipynb", shown.replace("pd.read_csv('sales.csv')", "None"), before) == after


def test_a_line_that_looks_like_a_mark_is_none(file: Path) -> None:
    before = file.read_bytes()
    shown = text.decode(file.name, before).text.replace("sales.plot()", "# %%time\n#> 3\nsales.plot()")
    again = json.loads(text.encode(file.name, shown, before))
    assert "".join(again["cells"][2]["source"]) == "# %%time\n#> 3\nsales.plot()\n"


def test_cells_that_are_alike_have_ids_of_their_own(file: Path) -> None:
    before = file.read_bytes()
    shown = text.decode(file.name, before).text
    for _ in range(2):
        again = text.encode(file.name, f"{shown}# %% [code]\nprint(1)\n# %% [code]\nprint(1)\n", before)
        before, shown = again, text.decode(file.name, again).text
    ids = [cell["id"] for cell in json.loads(before)["cells"]]
    assert len(set(ids)) == len(ids) == 8


def test_what_is_inserted_takes_nothing_of_the_cell_that_it_stands_before() -> None:
    cells = [code("a = 1", id="a1"), code("n = 1", id="n2", metadata={"tags": ["parameters"]}), code("c = 1", id="c3")]
    raw = notebook(cells).encode()
    shown = text.decode("a.ipynb", raw).text
    edited = shown.replace("# %% [code] 2, In[1]\nn = 1", "# %% [code]\nimport os\n# %% [code] 2\nn = 2")
    again = json.loads(text.encode("a.ipynb", edited, raw))["cells"]
    assert [cell["id"] for cell in again][2:] == ["n2", "c3"]
    assert [cell["metadata"] for cell in again] == [{}, {}, {"tags": ["parameters"]}, {}]


@pytest.mark.parametrize(("newlines", "escaped"), [(True, False), (False, True)])
def test_compact_json_and_escapes_stay(newlines: bool, escaped: bool) -> None:
    form = json.loads(notebook([code("x = 'é'", id="a"), code("y = '\ud83d'" if escaped else "y", id="b")]))
    how: dict[str, Any] = {"ensure_ascii": escaped, **({} if newlines else {"separators": (",", ":")})}
    raw = json.dumps(form, **how).encode()
    shown = text.decode("a.ipynb", raw).text
    form["cells"][0] |= {"source": ["x = 'ü'"], "outputs": [], "execution_count": None}
    assert text.encode("a.ipynb", shown.replace("'é'", "'ü'"), raw) == json.dumps(form, **how).encode()


def test_json_that_is_no_notebook_is_not_written_over_one(file: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("write_file", {"path": "analysis.ipynb", "content": '{"cells": [}'}).code == "invalid"
    assert file.read_text() == notebook(CELLS)


def test_a_patch_does_not_move_one(file: Path, toolbox: Toolbox) -> None:
    patch = (
        "diff --git a/analysis.ipynb b/b.ipynb\nrename from analysis.ipynb\nrename to b.ipynb\n--- a/analysis.ipynb\n"
        "+++ b/b.ipynb\n@@ -2,2 +2,2 @@\n # %% [markdown] 1\n-# Sales\n+# Shops\n"
    )
    assert "move_file" in toolbox.call("apply_patch", {"patch": patch}).text
    assert file.read_text() == notebook(CELLS)

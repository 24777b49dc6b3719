"""Edits of real sources: everything but the definition stays, and the result means what was asked for."""

from __future__ import annotations

import ast
import sysconfig
import tempfile
import textwrap
import warnings
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codur.tools.code.definitions import Definition, definitions, parse
from tests.tools.conftest import toolbox_on

NAMES = ("textwrap", "functools", "contextlib", "shlex", "bisect", "queue", "enum")
SOURCES = {name: (Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text("utf-8") for name in NAMES}
FOUND = {name: definitions(parse(name, text)) for name, text in SOURCES.items()}


def shape(text: str) -> str:
    """What the code means, without places."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(text))


def own_code(lines: list[str], item: Definition) -> str:
    return "\n".join(lines[item.start - 1 : item.end])


def call(item: Definition) -> tuple[str, dict[str, str]]:
    if item.kind == "class":
        return "replace_class", {"name": item.qualname}
    if item.kind == "function":
        return "replace_function", {"name": item.qualname}
    owner, _, name = item.qualname.rpartition(".")
    return "replace_method", {"class_name": owner, "method_name": name}


CHOICE = st.sampled_from([(name, index) for name in NAMES for index in range(len(FOUND[name]))])
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(CHOICE, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_definition_put_in_its_own_place(choice: tuple[str, int], newline: str, indented: bool) -> None:
    """A definition's own code, as it stands or dedented, changes nothing but the white space at line ends."""
    source, item = SOURCES[choice[0]], FOUND[choice[0]][choice[1]]
    code = own_code(source.split("\n"), item)
    tool, arguments = call(item)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.py"
        path.write_bytes(source.replace("\n", newline).encode())
        text = code if indented else textwrap.dedent(code)
        result = toolbox_on(Path(folder)).call(tool, {"path": "m.py", **arguments, "code": text})
        after = path.read_bytes().decode()
    same = [other for other in FOUND[choice[0]] if other.qualname == item.qualname]
    assert result.ok or (result.code == "many_matches" and len(same) > 1), result.text
    if indented:
        assert after == source.replace("\n", newline)
    else:
        assert shape(after.replace(newline, "\n")) == shape(source)


@FEW
@given(CHOICE, st.sampled_from(["\n", "\r\n"]), st.sampled_from([2, 3, 4, 8]))
def test_a_new_body_leaves_all_other_lines(choice: tuple[str, int], newline: str, step: int) -> None:
    """After an edit, the lines before and after the definition are as they were to the byte."""
    source, item = SOURCES[choice[0]], FOUND[choice[0]][choice[1]]
    if item.kind == "class" or sum(other.qualname == item.qualname for other in FOUND[choice[0]]) > 1:
        return
    one, two = " " * step, " " * step * 2
    code = f"def {item.name}(*a):\n{one}'''Doc\n\n{one}more'''\n{one}for x in a:\n{two}yield (x,\n{two}   1)\n"
    tool, arguments = call(item)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.py"
        path.write_bytes(source.replace("\n", newline).encode())
        result = toolbox_on(Path(folder)).call(tool, {"path": "m.py", **arguments, "code": code})
        after = path.read_bytes().decode()
    assert result.ok, result.text
    lines, new = source.split("\n"), after.split(newline)
    assert new[: item.line - 1] == lines[: item.line - 1]
    rest = len(lines) - item.end
    assert new[len(new) - rest :] == lines[item.end :]
    body = textwrap.dedent("\n".join(new[item.line - 1 : len(new) - rest]))
    assert ast.unparse(ast.parse(body)) == ast.unparse(ast.parse(code)).replace(f"\n{one}more", "\n    more")

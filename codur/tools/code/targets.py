"""Which definition of a file a name means."""

import ast
from collections.abc import Sequence
from typing import TypeVar

from codur.tools.code.definitions import PYTHON_SUFFIXES, Defined, Definition, dotted, names_of
from codur.tools.code.new_code import GivenCode, NewCode
from codur.tools.tool import ToolError

D = TypeVar("D", bound=Defined)


def functions(path: str, found: Sequence[D], name: str) -> list[D]:
    """Functions of that name: on the top level, else inside others; a dotted name may also be a method's.

    Raises:
        ToolError: `not_found` with the names there are.
    """
    if "." in (name := dotted(name)):
        named = [item for item in found if item.qualname == name and item.kind in {"function", "method"}]
    else:
        same = [item for item in found if item.name == name and item.kind == "function"]
        named = [item for item in same if item.top] or same
    if named:
        return named
    owner = next(
        (item.qualname.rpartition(".")[0] for item in found if item.name == name and item.kind == "method"), ""
    )
    if owner:
        raise ToolError("not_found", f"{name} is a method of {owner} in {path}; use replace_method")
    raise ToolError("not_found", f"no function named {name} in {path}; {names_of(found, 'function')}")


def classes(path: str, found: Sequence[D], name: str) -> list[D]:
    """Classes of that name; a dotted one is looked for from the top level.

    Raises:
        ToolError: `not_found` with the names there are.
    """
    classes = [item for item in found if item.kind == "class"]
    name = dotted(name)
    named = [item for item in classes if item.qualname == name] or [item for item in classes if item.name == name]
    if not named:
        raise ToolError("not_found", f"no class named {name} in {path}; {names_of(found, 'class')}")
    return named


def methods(path: str, found: Sequence[D], class_name: str, name: str) -> list[D]:
    """Methods of a class; where methods may stand outside of it, the class itself need not be in the file.

    Raises:
        ToolError: `not_found` with the names there are.
    """
    label, every = f"{dotted(class_name)}.{name}", [item for item in found if item.kind == "method"]
    if path.endswith(PYTHON_SUFFIXES):
        owners = {item.qualname for item in classes(path, found, class_name)}
        every = [item for item in every if item.qualname.rpartition(".")[0] in owners]
        named = [item for item in every if item.name == name]
    else:
        named = [item for item in every if f".{item.qualname}".endswith(f".{label}")]
    if not named:
        raise ToolError("not_found", f"no method named {label} in {path}; {names_of(every)}")
    return named


def one(path: str, given: GivenCode, candidates: Sequence[Definition], code: NewCode) -> Definition:
    """The one that is meant: the only one, or the only one with the decorators that the new code has.

    Code without decorators can also mean the one implementation beside `@overload` declarations.

    Raises:
        ToolError: `many_matches` with their lines and decorators.
    """
    if len(candidates) == 1:
        return candidates[0]
    wanted = tuple(ast.unparse(item) for item in code.node.decorator_list)
    same = [item for item in candidates if item.decorators == wanted]
    implementations = [item for item in candidates if not _is_overload(item)]
    if len(same) == 1 and (wanted or len(implementations) == 1):
        return same[0]
    places = ", ".join(
        f"line {item.line}{''.join(f' @{text:.60}' for text in item.decorators)}" for item in candidates[:8]
    )
    raise ToolError(
        "many_matches",
        f"{path} defines {given.kind} {given.label} {len(candidates)} times ({places}); give the decorators of the one "
        "that is meant, or use replace_in_file",
    )


def _is_overload(item: Definition) -> bool:
    return any(text.rpartition(".")[2] == "overload" for text in item.decorators)

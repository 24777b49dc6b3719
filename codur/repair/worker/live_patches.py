"""How a candidate is made in a program that is loaded: new code for the functions there are, assignments made anew.

An edit inside one function becomes new code for the function objects that there are (also methods, closures,
generators and coroutines); an edit of a default or of an assignment at the top of a module or class is carried out
anew. Whatever else a candidate changes is told as such and is judged in another way.
"""

from __future__ import annotations
import __future__

import ast
import functools
import gc
import os
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Callable

from .memory_sources import Sources, lines_of

_UNFIT = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Their statements run once, where they stand; those of loops run with values that are gone.
_BLOCKS = (ast.If, ast.Try, ast.With)

Undo = Callable[[], None]
"""Makes a change undone."""
Change = Callable[[], Undo]


def unchanged() -> Undo:
    """The program as it is."""
    return lambda: None


class NotPatched(Exception):
    """The change cannot be made in a program that is loaded; the text says why."""


class Unit:
    """A function that no other function encloses, or a simple statement outside of functions.

    Attributes:
        name: the function's; empty for a statement.
        heads: the lines that open what encloses it, with their indentation.
        owners: the names of the classes that enclose it, outermost first.
    """

    def __init__(self, module: Module, node: ast.stmt, heads: tuple[str, ...], owners: tuple[str, ...]) -> None:
        self.node, self.heads, self.owners = node, heads, owners
        self.name = node.name if isinstance(node, _FUNCTIONS) else ""
        decorators = getattr(node, "decorator_list", [])
        # `co_firstlineno` counts decorators, and functions are found by it.
        self.first = min([node.lineno, *(each.lineno for each in decorators)])
        self.start = module.starts[self.first - 1]
        self.end = module.starts[node.end_lineno or node.lineno]  # with the rest of its last line
        self.code_start = module.offset(node.lineno, node.col_offset)
        self.body = self.end
        if isinstance(node, _FUNCTIONS):
            inner = node.body[0]
            own_line = inner.lineno > node.lineno
            self.body = module.starts[inner.lineno - 1] if own_line else module.offset(inner.lineno, inner.col_offset)


class Module:
    """A file of the workspace as text and tree, read when its first candidate comes."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        # as `ast` counts lines: `splitlines` knows more ends of lines
        self.lines = [f"{line}\n" for line in text.split("\n")]
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(text)
        self.units = list(self.found(self.tree.body, (), ()))

    def offset(self, line: int | None, column: int | None) -> int:
        """The place of a node in the text; `ast` counts columns in bytes."""
        text = self.lines[(line or 1) - 1]
        if not text.isascii():
            column = len(text.encode()[: column or 0].decode(errors="ignore"))
        return self.starts[(line or 1) - 1] + (column or 0)

    def found(self, body: list[ast.stmt], heads: tuple[str, ...], owners: tuple[str, ...]) -> Iterator[Unit]:
        for node in body:
            indent = self.lines[node.lineno - 1][: node.col_offset]
            if isinstance(node, ast.ClassDef):
                yield from self.found(node.body, (*heads, f"{indent}class {node.name}:\n"), (*owners, node.name))
            elif isinstance(node, _BLOCKS):
                for name in ("body", "orelse", "finalbody"):
                    yield from self.found(getattr(node, name, []), (*heads, f"{indent}if 1:\n"), owners)
                for handler in getattr(node, "handlers", []):
                    # Any block of the same depth does: only the unit inside is taken from what is compiled.
                    yield from self.found(handler.body, (*heads, f"{indent}if 1:\n"), owners)
            else:
                yield Unit(self, node, heads, owners)

    def unit(self, start: int, end: int) -> Unit:
        """The one that holds all of an edit. Raises NotPatched: there is none."""
        for unit in self.units:
            if unit.code_start <= start and end <= unit.end:
                return unit
        raise NotPatched("it changes more than one function or statement")


class Patches:
    """What the loaded program is made of, and the changes that a candidate makes in it."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.modules: dict[str, Module] = {}
        self.functions: dict[tuple[str, int, str], list[types.FunctionType]] = {}
        self.caches: list[Any] = []
        self.ran: set[types.CodeType] = set()
        self.known: set[str] = set()

    def note(self, frame: Any, event: str, argument: Any) -> None:
        """Called for each function that runs while the project is loaded: what it did then stays as it is."""
        self.ran.add(frame.f_code)

    def made(self, edit: list[Any] | None) -> Change | str:
        """What a fork calls to make an edit, or why it cannot be made; nothing is changed for the program as it is."""
        if edit is None:
            return unchanged
        path, start, end, text = edit
        try:
            return self.prepared(os.path.join(self.sources.root, path), start, end, text)
        except NotPatched as reason:
            return str(reason)

    def is_stale(self, edit: list[Any] | None) -> bool:
        """Whether a failure proves nothing: what an edit changes has had effects that its change does not undo."""
        if edit is None:
            return False
        path, start, end, _ = edit
        module = self.module(os.path.join(self.sources.root, path))
        unit = module.unit(start, end)
        if not isinstance(unit.node, _FUNCTIONS):
            return True
        codes = [each.__code__ for each in self.live(module, unit)]
        while codes:
            code = codes.pop()
            if code in self.ran:
                return True
            codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        return False

    def look(self) -> None:
        """Note the functions that there are now."""
        paths: dict[str, str] = {}
        # All functions that there are, not those a module's names lead to: decorated ones, closures and methods of
        # instances are only found so.
        for each in gc.get_objects():
            if type(each) is types.FunctionType:
                code = each.__code__
                path = paths.get(code.co_filename)
                if path is None:
                    path = paths[code.co_filename] = os.path.realpath(code.co_filename)
                if path in self.sources.files:
                    self.functions.setdefault((path, code.co_firstlineno, code.co_name), []).append(each)
            elif type(each) is functools._lru_cache_wrapper:  # it holds results of the code before the change
                self.caches.append(each)

    def module(self, path: str) -> Module:
        if path not in self.modules:
            try:
                text = "".join(lines_of(self.sources.files[path]))
                self.modules[path] = Module(path, text)
            except (*_UNFIT, KeyError) as error:
                raise NotPatched("its file cannot be read") from error
        return self.modules[path]

    def prepared(self, path: str, start: int, end: int, text: str) -> Change:
        """What a fork calls to make the change. Raises NotPatched: it cannot be made."""
        module = self.module(path)
        unit = module.unit(start, end)
        whole = f"{module.text[unit.start : start]}{text}{module.text[end : unit.end]}\n"
        tree = self.parsed(module, unit, whole)
        body: Any = tree.body
        for _ in unit.heads:
            body = body[0].body
        if len(body) != 1:
            raise NotPatched("it makes several statements of one, or none")
        if not isinstance(unit.node, _FUNCTIONS):
            return self.statement(module, unit, body)
        if start < unit.body:
            return self.defined(module, unit, tree)
        return self.replaced(module, unit, self.compiled(module, tree))

    def parsed(self, module: Module, unit: Unit, text: str) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Within its classes: names with two underscores are mangled by the class around them.
                tree = compile("".join(unit.heads) + text, module.path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except _UNFIT as error:
            raise NotPatched("it does not compile by itself") from error
        assert isinstance(tree, ast.Module)
        return ast.increment_lineno(tree, unit.first - 1 - len(unit.heads))

    def compiled(self, module: Module, tree: ast.Module) -> types.CodeType:
        flags = 0
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for each in node.names:
                    flags |= getattr(__future__, each.name).compiler_flag
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code: types.CodeType = compile(tree, module.path, "exec", flags, dont_inherit=True)
                return code
        except _UNFIT as error:
            raise NotPatched("it does not compile by itself") from error

    # --- functions ----------------------------------------------------------------------------------------------------

    def replaced(self, module: Module, unit: Unit, code: types.CodeType) -> Change:
        """New code for a function and those in it."""
        changes = [
            (function, new)
            for old, new in self.paired(self.live(module, unit)[0].__code__, self.inner(unit, code))
            for function in self.functions.get((module.path, old.co_firstlineno, old.co_name), [])
        ]
        for function, new in changes:
            # Code finds these by their place in the function's closure; the interpreter refuses another number and
            # would mix up another order.
            if function.__code__.co_freevars != new.co_freevars:
                raise NotPatched("it uses other names of the function around it")

        def change() -> Undo:
            before = [(function, "__code__", function.__code__) for function, _ in changes]
            for function, new in changes:
                function.__code__ = new
            return lambda: set_all(before)

        return change

    def live(self, module: Module, unit: Unit) -> list[types.FunctionType]:
        found = self.functions.get((module.path, unit.first, unit.name))
        if not found:
            raise NotPatched("the function is not there when the tests are loaded")
        return found

    def inner(self, unit: Unit, code: types.CodeType) -> types.CodeType:
        """The function's code in that of the text that encloses it."""
        for name in (*unit.owners, unit.name):
            found = [each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name]
            if not found:
                raise NotPatched("the function is gone")
            code = found[-1]
        return code

    def paired(self, old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
        """A code and those in it, each with its new one."""
        yield old, new
        olds, news = ([each for each in code.co_consts if isinstance(each, types.CodeType)] for code in (old, new))
        if [each.co_name for each in olds] == [each.co_name for each in news]:
            for one, other in zip(olds, news):
                yield from self.paired(one, other)
        elif any(
            self.functions.get((os.path.realpath(each.co_filename), each.co_firstlineno, each.co_name)) for each in olds
        ):
            raise NotPatched("functions in it are in use")

    def defined(self, module: Module, unit: Unit, tree: ast.Module) -> Change:
        """The function defined anew, for its defaults and arguments."""
        live = self.live(module, unit)
        for node in ast.walk(tree):
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                node.decorator_list = []  # what they made is kept: the function inside is changed
        code = self.compiled(module, tree)

        def change() -> Undo:
            # a copy: defining it must not exchange the module's own name
            space: dict[str, Any] = dict(live[0].__globals__)
            exec(code, space)
            first, *others = (*unit.owners, unit.name)
            made: Any = space[first]
            for name in others:
                made = vars(made)[name]
            parts = ("__code__", "__defaults__", "__kwdefaults__")
            before = [(function, name, getattr(function, name)) for function in live for name in parts]
            for function, name, _ in before:
                setattr(function, name, getattr(made, name))
            return lambda: set_all(before)

        if self.inner(unit, code).co_freevars != live[0].__code__.co_freevars:
            raise NotPatched("it uses other names of the function around it")
        return change

    # --- statements outside of functions ------------------------------------------------------------------------------

    def statement(self, module: Module, unit: Unit, body: list[ast.stmt]) -> Change:
        """An assignment carried out anew, with those after it that use what it assigns."""
        loaded = next((each for each in list(sys.modules.values()) if is_file(each, module.path)), None)
        owner: Any = loaded
        for name in unit.owners:
            owner = getattr(owner, name, None)
        # Carried out anew it must set the same names, or undoing would leave one behind.
        if not assigned(unit.node) == assigned(body[0]) != [] or owner is None:
            raise NotPatched("it is no assignment, or it is not loaded")
        following = self.following(module, unit)
        names = {name for node in (unit.node, *following) for name in assigned(node)}
        codes = [self.compiled(module, ast.Module(body=each, type_ignores=[])) for each in (body, following)]

        def change() -> Undo:
            before = {name: vars(owner)[name] for name in sorted(names) if name in vars(owner)}
            space = {**vars(loaded), **vars(owner)}
            for code in codes:
                exec(code, space)
            places = [(*place, old, space[name]) for name, old in before.items() for place in holders(owner, name, old)]
            set_all((holder, key, new) for holder, key, _, new in places)
            return lambda: set_all((holder, key, old) for holder, key, old, _ in places)

        return change

    def following(self, module: Module, unit: Unit) -> list[ast.stmt]:
        """The assignments after one that use what it assigns, or what they assign in turn."""
        names, found = set(assigned(unit.node)), []
        for other in module.units:
            used = {each.id for each in ast.walk(other.node) if isinstance(each, ast.Name)}
            if other.start >= unit.end and other.owners == unit.owners and assigned(other.node) and names & used:
                names.update(assigned(other.node))
                found.append(other.node)
        return found


def assigned(node: ast.stmt) -> list[str]:
    """The names that a plain assignment assigns; none if it is something else."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    plain = all(isinstance(each, ast.Name) for each in targets) and getattr(node, "value", None) is not None
    return [each.id for each in targets if isinstance(each, ast.Name)] if plain else []


def is_file(module: Any, path: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file) == path


def set_all(values: Iterable[tuple[Any, str, Any]]) -> None:
    """Set attributes: of which object, their names and values."""
    for holder, name, value in values:
        setattr(holder, name, value)


def holders(owner: Any, name: str, value: Any) -> Iterator[tuple[Any, str]]:
    """Where a name's value is found, also in the modules that took it from there."""
    yield owner, name
    if isinstance(owner, types.ModuleType) and value is not None and not isinstance(value, (bool, int, str)):
        # others are too common to be told by identity
        for module in list(sys.modules.values()):
            if module is not owner:
                yield from (
                    (module, key) for key, each in list(getattr(module, "__dict__", {}).items()) if each is value
                )

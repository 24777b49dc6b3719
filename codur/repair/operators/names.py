"""Operators on names: misspelt ones, missing imports and `self.`, the wrong variable or expression of the function."""

import ast
import difflib
import sys
from collections.abc import Iterator
from functools import lru_cache

from codur.lazy import regex
from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import called_plainly, first_line, is_called, is_read
from codur.repair.code.scopes import BUILTINS, nearest
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import FunctionNode, Source, fact
from codur.repair.operators.attributes import attributes_of

_MOST_VARIABLES, _MOST_OTHERS, _MOST_EXPRESSIONS = 20, 5, 12
_LARGEST = 14
"""So many nodes an expression may have that is put in the place of another one."""
_CONFUSED = (
    ("str", "bytes"),
    ("int", "float"),
    ("list", "tuple"),
    ("set", "frozenset"),
    ("KeyError", "IndexError"),
    ("KeyError", "AttributeError"),
    ("KeyError", "ValueError"),
    ("ValueError", "TypeError"),
)
"""Classes that are easily taken for one another."""
Asked = ast.Name | ast.Attribute | ast.Tuple
Replaced = ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.BinOp
_HOMES = {
    "collections": "ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple",
    "itertools": "accumulate chain combinations count cycle groupby islice pairwise permutations product repeat"
    " starmap takewhile dropwhile tee zip_longest",
    "functools": "cache cached_property lru_cache partial reduce singledispatch total_ordering wraps",
    "typing": "Any Callable Dict Generic Iterable Iterator List Literal Mapping NamedTuple Optional Protocol Sequence"
    " Set Tuple Type TypeVar TypedDict Union cast overload",
    "dataclasses": "asdict astuple dataclass field fields replace",
    "datetime": "date datetime time timedelta timezone tzinfo",
    "math": "ceil cos exp floor gcd hypot inf isclose isfinite isinf isnan isqrt log log10 nan pi prod sin sqrt tan",
    "os.path": "abspath basename dirname exists expanduser isabs isdir isfile join normpath realpath relpath splitext",
    "pathlib": "Path PurePath PurePosixPath",
    "contextlib": "ExitStack closing contextmanager nullcontext redirect_stdout suppress",
    "copy": "copy deepcopy",
    "decimal": "Decimal InvalidOperation ROUND_HALF_EVEN ROUND_HALF_UP",
    "fractions": "Fraction",
    "enum": "Enum Flag IntEnum auto unique",
    "operator": "add attrgetter itemgetter methodcaller mul sub",
    "random": "choice choices randint sample shuffle",
    "string": "Template ascii_letters ascii_lowercase ascii_uppercase digits punctuation",
    "textwrap": "dedent fill indent shorten wrap",
    "time": "monotonic perf_counter sleep strftime time",
    "abc": "ABC ABCMeta abstractmethod",
    "bisect": "bisect bisect_left bisect_right insort",
    "heapq": "heapify heappop heappush heapreplace merge nlargest nsmallest",
    "io": "BytesIO StringIO",
    "json": "JSONDecodeError dumps loads",
    "statistics": "mean median mode stdev variance",
    "types": "MappingProxyType ModuleType SimpleNamespace",
}
"""What is mostly imported by its name from the standard library."""
_QUOTED = regex(r"'([A-Za-z_]\w*)'")


def name_corrected(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError: the closest name in scope."""
    if not _unknown(context, node):
        return
    known = [*context.scopes.visible(node), *sorted(name for name in BUILTINS if not name.startswith("_"))]
    for rank, name in enumerate(difflib.get_close_matches(node.id, [each for each in known if each != node.id], n=3)):
        yield context.replace(node, name, says=f"misspells `{name}`", weight=0.7**rank)


def import_added(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError: an import of the standard library's module of that name, if it is used so, and of the name itself."""
    if not _unknown(context, node):
        return
    is_module = isinstance(context.source.parent(node), ast.Attribute) and node.id in sys.stdlib_module_names
    statements = [f"import {node.id}"] * is_module
    statements += [f"from {home} import {node.id}" for home, names in _HOMES.items() if node.id in names.split()]
    for rank, statement in enumerate(statements):
        yield context.insert(_import_offset(context), f"{statement}\n", f"needs `{statement}`", weight=0.7**rank)


def _import_offset(context: Context) -> int:
    """Where an import goes: behind the docstring and `from __future__` imports, before the first other statement."""
    for statement in context.source.tree.body:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not docstring and not future:
            return context.source.line_start(first_line(statement))
    return 0


def _unknown(context: Context, node: ast.Name) -> bool:
    """Whether the failure says that this very name is not defined."""
    undefined = context.failure.of("NameError", "UnboundLocalError")
    return is_read(node) and any(_QUOTED.findall(raised.message)[:1] == [node.id] for raised in undefined)


def self_added(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """NameError in a method: `NAME` → `self.NAME` if the class has such an attribute or method."""
    inside, function = context.source.enclosing_class(node), context.source.function(node)
    if inside is None or function is None or not _unknown(context, node):
        return
    if [each.arg for each in function.args.args[:1]] == ["self"] and node.id in attributes_of(context.source, inside):
        yield context.replace(node, f"self.{node.id}", says="lacks `self.`")


def variable_replaced(context: Context, node: ast.Name) -> Iterator[Proposal]:
    """A variable gives way to another one of the same function; names used nearby and alike come first."""
    if not is_read(node):
        return
    variables = context.scopes.variables(node)
    anything = isinstance(context.source.parent(node), ast.Tuple)  # which takes values of any kind
    others = [name for name in variables if name != node.id and (anything or _interchangeable(context, node, name))]
    if node.id not in variables or not others:
        return
    others = nearest(context.source, node, node.id, others, _MOST_VARIABLES)
    near = context.source.names(context.source.statement(node))
    share = len(others) ** -0.5
    for name in others:
        weight = share * (1.0 if name in near or _alike(node.id, name) else 0.7)
        yield context.replace(node, name, says=f"should use `{name}` in place of `{node.id}`", weight=weight)


@lru_cache(maxsize=4096)
def _alike(first: str, second: str) -> bool:
    return difflib.SequenceMatcher(None, first, second).ratio() > 0.6


def _interchangeable(context: Context, node: ast.Name, name: str) -> bool:
    """Whether nothing shows that the two variables hold values of different kinds."""
    kinds = {context.kinds.of(node), context.kinds.named(node, name)}
    return None in kinds or len(kinds) == 1


def comprehension_names(context: Context, node: ast.expr) -> set[str]:
    """The variables of the comprehensions around a node."""
    found: set[str] = set()
    for above in context.source.ancestors(node):
        if isinstance(above, FunctionNode):
            break
        for generator in getattr(above, "generators", ()):
            found |= {each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)}
    return found


def target_replaced(context: Context, node: ast.Assign | ast.AugAssign) -> Iterator[Proposal]:
    """`a = …`, `a += …` → `b = …`, `b += …`: the value goes to another variable."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        return
    kind, own = context.kinds.named(node, target.id), target.id.casefold()
    others = [name for name in context.scopes.variables(node) if name != target.id]
    for rank, name in enumerate(sorted(others, key=lambda name: name.casefold() != own)[: _MOST_OTHERS + 1]):
        other = context.kinds.named(node, name)
        if None in (kind, other) or kind == other:
            says = f"should change `{name}`, not `{target.id}`"
            yield context.whole(target, name, says, 2.0 if name.casefold() == own else 0.85**rank)


# --- classes that a test or an `except` asks for ----------------------------------------------------------------------


def class_added(context: Context, node: Asked) -> Iterator[Proposal]:
    """`isinstance(a, B)` → `isinstance(a, (B, C))`, `except B` → `except (B, C)`; a tuple of them gets one more."""
    present = _asked(context, node)
    for name, weight in _other_classes(context, node, present) if present else ():
        text = f"({', '.join([*present, name])})"
        yield context.whole(node, text, f"should ask for `{name}` too", weight)


def _asked(context: Context, node: Asked) -> list[str]:
    """The classes that a node stands for which a test or an `except` asks for; none for other nodes."""
    parent = context.source.parent(node)
    tests = called_plainly(parent) in ("isinstance", "issubclass")
    tested = tests and isinstance(parent, ast.Call) and parent.args[1:] == [node]
    if not tested and not isinstance(parent, ast.ExceptHandler):
        return []
    return [context.code(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]


def _other_classes(context: Context, node: Asked, present: list[str]) -> list[tuple[str, float]]:
    """Classes that may be asked for too, the likely ones first: what was raised, what is easily confused, relatives."""
    families = _bases(context.source)
    bases = {base for name in present for base in families.get(name, ())}
    relatives = [name for name, own in families.items() if not bases.isdisjoint(own)]
    confused = [other for group in _CONFUSED if not {*group}.isdisjoint(present) for other in group]
    caught = isinstance(context.source.parent(node), ast.ExceptHandler)
    raised = [each.kind for each in context.failure.raised if caught and each.kind in BUILTINS | families.keys()]
    weights = dict.fromkeys(relatives, 0.7) | dict.fromkeys(confused, 0.8) | dict.fromkeys(raised, 1.5)
    others = [(name, weight) for name, weight in weights.items() if name not in present]
    ranked = sorted(others, key=lambda pair: -pair[1])[:_MOST_OTHERS]
    return [(name, weight * 0.9**rank) for rank, (name, weight) in enumerate(ranked)]


@fact
def _bases(source: Source) -> dict[str, list[str]]:
    """The classes of a file and their bases."""
    classes = source.nodes(source.tree, ast.ClassDef)
    return {each.name: [source.code(base) for base in each.bases if source.code(base) != "object"] for each in classes}


# --- expressions in the place of others -------------------------------------------------------------------------------


def expression_replaced(context: Context, node: Replaced) -> Iterator[Proposal]:
    """An expression gives way to another one that the function already has, of a kind that fits."""
    parent = context.source.parent(node)
    owns = isinstance(parent, ast.Attribute) and parent.value is node
    if not is_read(node) or owns or isinstance(parent, ast.Expr | ast.Starred) or is_called(parent, node):
        return
    kind, code, given = context.kinds.of(node), context.code(node), 0
    for other, text, near in _expressions(context, node):
        both_names = isinstance(node, ast.Name) and isinstance(other, ast.Name)
        known = None not in (kind, context.kinds.of(other))
        if both_names or text in code or (known and kind != context.kinds.of(other)):
            continue
        given += 1
        yield context.replace(node, text, weight=near * (1.0 if known else 0.6))
        if given == _MOST_EXPRESSIONS:
            return


def _expressions(context: Context, node: ast.expr) -> list[tuple[ast.expr, str, float]]:
    """Expressions of the function that mean something where the node stands, those of the same statement first."""
    source = context.source
    here = source.within(source.statement(node) or node)
    above = set(source.ancestors(node))
    names = {*context.scopes.variables(node), *comprehension_names(context, node)}
    found: dict[str, tuple[ast.expr, str, float]] = {}
    for piece, text, used in _pieces(source, source.scope(node)):
        near = 1.0 if piece in here else 0.5
        if piece not in above and used <= names and (text not in found or found[text][2] < near):
            found[text] = (piece, text, near)
    return sorted(found.values(), key=lambda each: -each[2])


@fact
def _pieces(source: Source, scope: ast.AST) -> tuple[tuple[ast.expr, str, frozenset[str]], ...]:
    """The small expressions of a scope that are read, with the names they use; functions called do not count."""
    found: list[tuple[ast.expr, str, frozenset[str]]] = []
    for node in source.nodes(scope, ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp):
        inner = list(ast.walk(node))
        effects = any(isinstance(each, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr) for each in inner)
        if not is_read(node) or effects or len(inner) > _LARGEST or not source.trusted(node):
            continue
        functions = {id(each.func) for each in inner if isinstance(each, ast.Call)}
        used = frozenset(each.id for each in inner if isinstance(each, ast.Name) and id(each) not in functions)
        arguments = node.args if isinstance(node, ast.Call) else []
        if used or (arguments and all(isinstance(each, ast.Constant) for each in arguments)):
            found.append((node, source.code(node), used))
    return tuple(found)

"""Definitions in source texts other than Python's, by tree-sitter, which is loaded when one is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module  # noqa: TID251 - lazy: only for files of other languages, by their table
from posixpath import splitext
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from codur.lazy import regex
from codur.structs import Struct, field
from codur.tools.code.grammars import BY_SUFFIX, DECLARATIONS, Grammar

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

Kind = Literal["function", "method", "class", "module"]
_WRAPPERS = frozenset(
    "export_statement lexical_declaration variable_declaration expression_statement type_declaration"
    " ambient_declaration template_declaration".split()
)
"""Nodes that hold nothing but a definition and belong to it, if it is alone in them."""
_BESIDE = frozenset({"template_parameter_list", "requires_clause"})
"""Nodes beside a definition in a wrapper that belong to it."""
_ATTACHED = frozenset("comment line_comment block_comment attribute_item decorator".split())
"""Nodes that belong to the definition below them."""
_MARKS = _ATTACHED | {"annotation", "marker_annotation", "attribute_list", "attribute_declaration"}
_BODIES = ("body", "value", "right", "type", "declarator", "declaration", "block")
_AFTER_HEAD = frozenset({"comment", ";", "end"})
"""Children of a definition that ends with `end` (Ruby's) which are not its head."""
_NAMES = frozenset("name constant simple_symbol operator setter operator_name destructor_name".split())
"""Nodes that are names, beside those that are called identifiers."""
_NAME = regex(r"[^\W\d]\w*")
_TEST_MARK = regex(
    r"(?<!\w)@(?:\w*T|t)est\b|#\[[\w:]*test\b|#\[(?:[\w\\]*\\)?Test\b|^\s*\[(?:Test(?:Method|Case\w*)?|Fact|Theory)\b",
    re.MULTILINE,
)
_QUALIFIED = frozenset({"scope_resolution", "qualified_identifier", "nested_namespace_specifier"})
_ARGUMENTS = regex(r"\s*<[^()]*>(?=\s*::)")
_SIGNATURE_CHARS = 300


class Place(Struct):
    """One definition, of whatever language; all have a `signature` (what introduces it, as one line), too, and a `doc`
    (the first line of its docstring; empty if it has none).
    """

    name: str
    qualname: str  # the names of the classes and functions around it and its own, with dots
    kind: Kind  # a `method` is a function directly in a class; a `module` is a namespace, or a group of tests
    line: int  # 1-based line of `def` or `class`, or of what comes first after annotations
    start: int  # 1-based first line; decorators, and comments above it where they belong to it, included
    end: int  # 1-based last line
    top: bool  # whether no function or class is around it


class SyntaxDefinition(Place):
    """A definition, and what else its tree tells."""

    signature: str
    inside: int = -1  # the number of the innermost definition around it; -1 for none
    bases: tuple[str, ...] = ()  # of a class, the names that its head and its embedded fields mention
    own: str = ""  # what a method calls its own object
    test: bool = False  # it is marked as a test
    doc: str = ""


def grammar_of(path: str) -> Grammar | None:
    """The grammar of a file, if one is known; nothing is imported."""
    return BY_SUFFIX.get(DECLARATIONS if path.endswith(DECLARATIONS) else splitext(path)[1])


def family_of(path: str) -> str:
    """What files have in common that see each other's names; empty for Python and what is not known."""
    grammar = grammar_of(path)
    return grammar.family if grammar is not None else ""


def _tree_sitter() -> ModuleType:
    return import_module("tree_sitter")


@cache
def _loaded(grammar: Grammar) -> tuple[Language, Query]:
    language = _tree_sitter().Language(getattr(import_module(grammar.package), grammar.function)())
    return language, _tree_sitter().Query(language, grammar.query)


class _Mark(Struct, frozen=False, kw_only=False):
    """A definition that a query found."""

    node: Node
    name: Node
    kind: Kind
    test: bool
    owner: str
    own: str
    bases: list[str] = field(default_factory=list)


class Syntax:
    """A source text as its grammar reads it; a text with mistakes is read as far as that goes."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        language, query = _loaded(grammar)
        # Bytes, since the places that tree-sitter gives are counted in them.
        self._source = text.encode("utf-8", "replace")
        self._root = _tree_sitter().Parser(language).parse(self._source).root_node
        self._matches: list[tuple[int, dict[str, list[Node]]]] = _tree_sitter().QueryCursor(query).matches(self._root)

    @cached_property
    def definitions(self) -> Sequence[SyntaxDefinition]:
        """All of them, those around others first."""
        marks = sorted(self._marks(), key=lambda mark: (mark.node.start_byte, -mark.node.end_byte))
        ends = [mark.node.end_byte for mark in marks]
        around = [_innermost(number, marks[number].node.start_byte, ends) for number in range(len(marks))]
        starts = [mark.node.start_byte for mark in marks]
        for _, found in self._matches:
            for base in found.get("base", ()):
                inner = max((n for n, s in enumerate(starts) if s < base.start_byte < ends[n]), default=None)
                if inner is not None:
                    marks[inner].bases.append(_text(base))
        made: list[SyntaxDefinition] = []
        for mark, inside in zip(marks, around, strict=True):
            made.append(self._definition(mark, inside, made))
        return made

    @property
    def constants(self) -> Mapping[str, int]:
        """Names that are given outside of functions, with their lines (1-based)."""
        nodes = [node for _, found in self._matches for node in found.get("constant", ())]
        return {_plain(node): node.start_point[0] + 1 for node in reversed(nodes)}

    @property
    def imports(self) -> tuple[str, ...]:
        """What is imported, as it is written."""
        return tuple(_text(node).strip("\"'`<>") for _, found in self._matches for node in found.get("import", ()))

    @property
    def mistakes(self) -> Sequence[int]:
        """Lines (1-based) that the grammar does not understand."""
        found, waiting = [], [self._root] if self._root.has_error else []
        while waiting:
            node = waiting.pop()
            if node.is_error or node.is_missing:
                found.append(node.start_point[0] + 1)
            waiting += [child for child in node.children if child.has_error or child.is_missing]
        return sorted(found)

    def uses(self, name: str) -> Iterator[int]:
        """The lines (1-based) on which a name stands in code, not in texts or comments."""
        for match in re.finditer(rb"(?<![\w$])%b(?![\w$])" % re.escape(name.encode()), self._source):
            node = self._root.descendant_for_byte_range(match.start(), match.end())
            if node is not None and ("identifier" in node.type or node.type in _NAMES):
                yield node.start_point[0] + 1

    def _marks(self) -> Iterator[_Mark]:
        """What the query found, each node once: the first of its patterns says what it is."""
        seen: set[int] = set()
        for _, found in sorted(self._matches, key=lambda match: match[0]):
            kinds: tuple[Kind, ...] = ("function", "class", "module")
            kind = next((kind for kind in kinds if kind in found), None)
            if kind is None or "name" not in found or (node := found[kind][0]).id in seen:
                continue
            seen.add(node.id)
            owner, own = (_text(found[mark][0]) if mark in found else "" for mark in ("owner", "self"))
            yield _Mark(_whole(node), found["name"][0], kind, "test" in found, owner, own)

    def _definition(self, mark: _Mark, inside: int, made: Sequence[SyntaxDefinition]) -> SyntaxDefinition:
        outer = made[inside] if inside >= 0 else None
        name, owners = _plain(mark.name), [mark.owner] if mark.owner else []
        # What a group of tests is about (Ruby's `describe A::B`) is the text that names it.
        is_text = mark.name.parent is not None and mark.name.parent.type == "argument_list"
        if mark.name.type in _QUALIFIED and not is_text:
            *owners, name = _ARGUMENTS.sub("", name).split("::")
        around = mark.owner or ".".join([*([outer.qualname] if outer is not None else []), *owners])
        in_class = owners or (outer is not None and outer.kind == "class")
        code = _first_code(mark.node)
        head = self._source[mark.node.start_byte : _body_start(mark.node)].decode("utf-8", "replace")
        plain = self._source[code.start_byte : _body_start(mark.node)].decode("utf-8", "replace")
        if "string" in mark.name.type:
            before = self._source[code.start_byte : mark.name.start_byte].decode("utf-8", "replace")
            plain = before + _text(mark.name) + (")" if "(" in before else "")
        elif mark.kind != "function":
            plain = plain.partition("{")[0]
        first = _first_attached(mark.node, self._source)
        above = self._source[first.start_byte : mark.node.start_byte].decode("utf-8", "replace")
        words = [word for word in _NAME.findall(plain) if word != name] if mark.kind == "class" else []
        text = " ".join(plain.split()).removesuffix("=>").removesuffix(" do").rstrip(" {=")
        return SyntaxDefinition(
            name=name,
            qualname=f"{around}.{name}" if around else name,
            kind="method" if in_class and mark.kind == "function" else mark.kind,
            line=code.start_point[0] + 1,
            start=first.start_point[0] + 1,
            end=_last_row(mark.node) + 1,
            top=not around,
            signature=(text if name in text else f"{text} {name}")[:_SIGNATURE_CHARS],
            inside=inside,
            bases=tuple(dict.fromkeys((*words, *mark.bases))),
            own=mark.own,
            test=mark.test or _TEST_MARK.search(above + head) is not None,
        )


def _innermost(number: int, start: int, ends: Sequence[int]) -> int:
    """The last definition before `number` that has not ended at `start`; -1 if there is none."""
    return next((other for other in range(number - 1, -1, -1) if ends[other] > start), -1)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _plain(node: Node) -> str:
    """A name without what makes it a text or a symbol."""
    return _text(node).removeprefix(":") if node.type == "simple_symbol" else _text(node).strip("\"'`")


def _whole(node: Node) -> Node:
    """The definition with the statement that it is all of."""
    while (parent := node.parent) is not None and parent.type in _WRAPPERS:
        if any(child.type not in _ATTACHED | _BESIDE and child.id != node.id for child in parent.named_children):
            break
        node = parent
    return node


def _first_attached(node: Node, source: bytes) -> Node:
    """The first of the comments, attributes and decorators directly above a definition; else the definition."""
    while (above := node.prev_sibling) is not None and above.type in _ATTACHED:
        alone = not source[source.rfind(b"\n", 0, above.start_byte) + 1 : above.start_byte].strip()
        if not alone or node.start_point[0] - _last_row(above) > 1:
            break
        node = above
    return node


def _first_code(node: Node) -> Node:
    """The first token of a definition that is no annotation of it."""
    while node.children:
        node = next((child for child in node.children if child.type not in _MARKS and not _only_marks(child)), node)
        if not node.children or all(child.type in _MARKS for child in node.children):
            break
    return node


def _only_marks(node: Node) -> bool:
    return node.type == "modifiers" and all(child.type in _MARKS for child in node.children)


def _body_start(node: Node) -> int:
    """Where the head of a definition ends, in bytes."""
    waiting = [node]
    while waiting:
        each = waiting.pop(0)
        body = each.child_by_field_name("body") or each.child_by_field_name("accessors")
        if each.children and each.children[-1].type == "end":
            return next(child.start_byte for child in each.children if child == body or child.type in _AFTER_HEAD)
        if body is not None:
            return body.start_byte
        near = [each.child_by_field_name(name) for name in _BODIES]
        if each.type == "call_expression":  # of one that makes a function of another, that one's
            near = [call for call in each.children_by_field_name("arguments") for call in call.named_children]
        inner = [child for child in each.named_children if child.type in {"variable_declarator", "type_spec"}]
        waiting += [child for child in (*near, *inner, *_wrapped(each)) if child is not None]
    return node.end_byte


def _wrapped(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in _MARKS] if node.type in _WRAPPERS else []


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row

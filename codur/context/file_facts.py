"""What a source defines and mentions: of Python read from its lines, of other languages from their syntax.

For Python regular expressions, not a syntax tree: a repository of thousands of files has to be looked through in a few
seconds, and a file with a syntax error, perhaps the one that is to be mended, still tells what it defines.
"""

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

from codur.context.file_order import standing
from codur.lazy import regex
from codur.structs import Struct
from codur.tools.code.syntax_trees import Syntax, SyntaxDefinition, grammar_of

MODULE = ""
"""The name of what is outside of all definitions."""
_DEFINITION = regex(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)", re.MULTILINE)
_CONSTANT = regex(r"^([^\W\d]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_OUTDENTED = regex(r"^[^\s#)\]}]", re.MULTILINE)
_NAME = regex(r"[^\W\d]\w{2,}")
_IMPORT = regex(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
_BASES = regex(r"[ \t]*class[ \t]+\w+[ \t]*\(([^()]*)")
_DELEGATE = regex(r"\b(?:self|cls|super\([^()]*\))\.([^\W\d]\w*)")
_COMMENT = regex(r"#[^\n]*")


class Block(Struct):
    """A function, a method, the head of a class, or what is outside of all definitions (`MODULE`)."""

    name: str  # without the classes around it
    owner: str  # the class around it, or empty
    line: int  # 1-based line of `def` or `class`
    mentions: frozenset[str]  # identifiers of three letters or more in it, comments and texts included
    bases: tuple[str, ...] = ()  # of the head of a class, the last names of its bases
    # what it takes from its own object or class: names after `self.`, `this.`, `super().` and the like
    delegates: frozenset[str] = frozenset()
    test: bool = False  # it is a test


class Facts(Struct):
    """What a file defines and mentions."""

    blocks: tuple[Block, ...]  # the module's own block first, then the others in their order
    constants: Mapping[str, range]  # names that are assigned at the top of the module, with the lines (1-based)
    # of Python, dotted names that its imports may stand for; those of relative imports begin with dots. Of other
    # languages, what is imported as it is written.
    imports: tuple[str, ...]


def facts_of(path: str, text: str) -> Facts:
    """What the text of a file shows, as far as its language is known."""
    grammar = grammar_of(path)
    return _facts_of_python(path, text) if grammar is None else _facts_of_syntax(path, text, Syntax(grammar, text))


def _facts_of_python(path: str, text: str) -> Facts:
    beside = standing(path) > 0
    blocks: list[Block] = []
    outside: list[str] = []
    position = 0
    for begin, start, end, line, owner, name in _spans(text):
        outside.append(text[position:begin])
        out = _OUTDENTED.search(text, start + 1, end)
        inner = out.start() if out else end
        body = text[start:inner]
        head = _BASES.match(body)
        words = (word.strip().rpartition(".")[2] for word in (head[1].split(",") if head else ()))
        bases = tuple(filter(str.isidentifier, words))
        delegates = frozenset(map(sys.intern, _DELEGATE.findall(body))) if owner else frozenset()
        blocks.append(
            Block(
                name=name,
                owner=owner,
                line=line,
                mentions=_mentions(text[begin:inner]),
                bases=bases,
                delegates=delegates,
                test=beside and name.startswith("test"),
            )
        )
        position = inner
    outside.append(text[position:])
    rest = "\n".join(outside)
    module = Block(name=MODULE, owner="", line=1, mentions=_mentions(rest))
    return Facts(
        blocks=(module, *blocks),
        constants=_constants(text, set(_CONSTANT.findall(rest))),
        imports=tuple(dict.fromkeys(_imports(text))),
    )


def _facts_of_syntax(path: str, text: str, syntax: Syntax) -> Facts:
    found = syntax.definitions
    parts: dict[int, int] = {-1: -1}  # what is inside of a function is a part of that
    for number, item in enumerate(found):
        whole = item.inside >= 0 and (item.inside not in parts or found[item.inside].kind in {"function", "method"})
        if not whole:
            parts[number] = number
    lines = text.split("\n")
    homes = [-1] * (len(lines) + 1)
    for number in list(parts)[1:]:
        homes[found[number].start - 1 : found[number].end] = [number] * (found[number].end - found[number].start + 1)
    bodies: dict[int, list[str]] = {number: [] for number in parts}
    for home, line in zip(homes, lines, strict=False):
        bodies[home].append(line)
    texts = {number: "\n".join(body) for number, body in bodies.items()}
    blocks = [_block(path, found, number, texts[number]) for number in list(parts)[1:]]
    module = Block(name=MODULE, owner="", line=1, mentions=_mentions(texts[-1]))
    return Facts(
        blocks=(module, *sorted(blocks, key=lambda block: block.line)),
        constants={sys.intern(name): range(line, line + 1) for name, line in syntax.constants.items()},
        imports=tuple(dict.fromkeys(syntax.imports)),
    )


def _block(path: str, found: Sequence[SyntaxDefinition], number: int, body: str) -> Block:
    item = found[number]
    own = rf"|{re.escape(item.own)}" if item.own else ""
    own = rf"\b(?:(?:this|self|Self|super{own})(?:\?\.|\.|->|::)#?|(?:static|parent)::)"
    delegates = re.findall(rf"{own}([^\W\d]\w*)", body)
    # A namespace is no class: what is in it has no owner, as if it stood in a file of its own.
    in_class = item.kind == "class" and item.inside >= 0 and found[item.inside].kind != "module"
    around = item.qualname.rpartition(".")[0] if in_class or item.kind == "method" else ""
    return Block(
        # Ruby's `empty?` and `name=` are mentioned as words are, without their signs.
        name=sys.intern(item.name.rstrip("?!=") or item.name),
        owner=sys.intern(around.rpartition(".")[2]),
        line=item.line,
        mentions=_mentions(body),
        bases=item.bases,
        delegates=frozenset(map(sys.intern, delegates)) if around else frozenset(),
        test=item.test or (item.name.lower().startswith("test") and standing(path) > 0 and item.kind != "class"),
    )


def _spans(text: str) -> Iterator[tuple[int, int, int, int, str, str]]:
    """Where its decorators begin, start, end, line, class around it and name of each definition.

    One inside a function is a part of that.
    """
    kept: list[tuple[int, int, int, str, str]] = []
    around: list[tuple[int, str, str]] = []
    line, counted = 1, 0
    for match in _DEFINITION.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        indent = len(match[1].expandtabs())
        while around and around[-1][0] >= indent:
            around.pop()
        inside = around[-1] if around else None
        around.append((indent, match[2], match[3]))
        if inside is None or inside[1] == "class":
            begin = _decorated(text, kept[-1][1] if kept else 0, match.start(), match[1])
            kept.append((begin, match.start(), line, inside[2] if inside else "", match[3]))
    for number, (begin, start, line, owner, name) in enumerate(kept, 1):
        end = kept[number][0] if number < len(kept) else len(text)
        yield begin, start, end, line, sys.intern(owner), sys.intern(name)


def _decorated(text: str, first: int, start: int, indent: str) -> int:
    """Where the decorators of a definition begin, which may take several lines; its start if it has none."""
    begin, at = start, start
    while at > first:
        above = text.rfind("\n", 0, at - 1) + 1
        line = text[above:at]
        if line.startswith(f"{indent}@"):
            begin = above
        elif line.strip() and not line.startswith((f"{indent} ", f"{indent}\t", f"{indent})", f"{indent}]")):
            break
        at = above
    return begin


def _constants(text: str, names: Collection[str]) -> dict[str, range]:
    """The lines on which names are assigned first."""
    found: dict[str, range] = {}
    line, counted = 1, 0
    for match in _CONSTANT.finditer(text) if names else ():
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match[1] in names and match[1] not in found:
            after = _OUTDENTED.search(text, match.end())
            lines = text[match.start() : after.start() if after else len(text)].rstrip().count("\n") + 1
            found[sys.intern(match[1])] = range(line, line + lines)
    return found


def _mentions(text: str) -> frozenset[str]:
    return frozenset(map(sys.intern, _NAME.findall(text)))


def _imports(text: str) -> Iterator[str]:
    for source, names, plain in _IMPORT.findall(text):
        if plain:
            yield from (part.split()[0] for part in plain.split(",") if part.strip())
            continue
        yield source
        for part in _COMMENT.sub("", names).strip("()").split(","):
            words = part.split()
            if words and words[0] != "*":
                yield f"{source}{'' if source.endswith('.') else '.'}{words[0]}"

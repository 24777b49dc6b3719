"""Requests that make, change, move and delete files."""

from __future__ import annotations

import ast
import re
import warnings
from functools import partial

from codur.errors import WorkspaceError
from codur.planning.patterns.named_paths import SOURCE_SUFFIXES, Mention, suffix_of
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, say, say_missing
from codur.structs import replace

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def _copy(found: Found) -> Settled | None:
    return _to_target("copy_file", "Copy", found)


def _move(found: Found) -> Settled | None:
    return _to_target("move_file", "Move", found)


def _to_target(tool: str, verb: str, found: Found) -> Settled | None:
    source: Mention = found["FILE"]
    if source.path is None or not source.exact:
        return say_missing(source, found.names) if source.missing else None
    target = _free_target(source.path, found)
    if target is None or (tool == "move_file" and found.names.workspace.is_protected(source.path)):
        return None
    return call(tool, f"{verb} {source.path} to {target}.", source=source.path, target=target)


def _free_target(source: str, found: Found) -> str | None:
    """Where the file goes: an existing directory or a new file's name; None if something would be in the way."""
    workspace = found.names.workspace
    if "DIR" in found:
        target = f"{found['DIR']}/{source.rpartition('/')[2]}".removeprefix("/")
    else:
        target = found["NEW"]
        if "." in source.rpartition("/")[2] and "." not in target.rpartition("/")[2]:
            return None
    return None if workspace.exists(target) or workspace.is_protected(target) else target


def _write(found: Found) -> Settled | None:
    token: Token = found["TEXT"]
    source = suffix_of(found["NEW"])
    if source in SOURCE_SUFFIXES and token.kind == "quote" and not (source == "py" and _is_program(token.text)):
        return None  # `write "hello world" to hello.py` may ask for a program that says so
    return _make(found["NEW"], token, found)


def _is_program(text: str) -> bool:
    """Whether it can only be meant as Python: it sets, imports, defines or calls something."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in quoted text is no warning for the user
            body = ast.parse(text).body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return bool(body) and all(
        isinstance(node, _STATEMENTS) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def _write_content(found: Found) -> Settled | None:
    return _make(found["NEW"], found["TEXT"], found)


def _write_empty(found: Found) -> Settled | None:
    return _make(found["NEW"], Token("quote", ""), found)


def _make(path: str, token: Token, found: Found) -> Settled | None:
    """Make a file that is not there yet; what is there is not replaced on a rule's word."""
    workspace = found.names.workspace
    has_name = "." in path.rpartition("/")[2]
    if not has_name or "\\" in token.text or workspace.exists(path) or workspace.is_protected(path):
        return None
    return call("write_file", f"Make {path}.", path=path, content=token.text)


def _append(found: Found) -> Settled | None:
    mention, token = found["FILE"], found["TEXT"]
    usable = mention.exact and "\\" not in token.text and not found.names.workspace.is_protected(mention.path)
    if not usable:
        return None
    return call("append_file", f"Add to the end of {mention.path}.", path=mention.path, content=token.text)


def _add(found: Found) -> Settled | None:
    """`add` says where only for plain text; in code the place is the question."""
    return None if suffix_of(found["FILE"].name) in SOURCE_SUFFIXES else _append(found)


def _delete(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.missing:
        return say_missing(mention, found.names)
    if not mention.exact or mention.path is None or found.names.workspace.is_protected(mention.path):
        return None
    return call("delete_file", f"Delete {mention.path}.", path=mention.path)


def _replace(found: Found) -> Settled | None:
    """In a program a quoted text that is there once: which of several is meant is a question, and what a word means.
    In any other file also a word, in all its places. What a part of a word is, is a question in both.
    """
    mention: Mention = found["FILE"]
    pieces: tuple[Token, Token] = (found["PIECE"], found["PIECE2"])
    old, new = (piece.text for piece in pieces)
    workspace = found.names.workspace
    if not mention.exact or mention.path is None or workspace.is_protected(mention.path):
        return None
    if any("\\" in text or "\n" in text for text in (old, new)) or old == new or not old.strip():
        return None
    is_source = suffix_of(mention.path) in SOURCE_SUFFIXES
    if is_source and any(piece.kind == "word" for piece in pieces):
        return None  # `replace print with logging in app.py` asks for more than other words
    try:
        places = _places(workspace.peek_text(mention.path), old)
    except WorkspaceError:
        return None  # a file that cannot be read as text is somebody else's question
    if not places or (places > 1 and is_source):
        return None
    what = "a text" if places == 1 else f"{places} places of a text"
    several = {"all": True} if places > 1 else {}
    return call("replace_in_file", f"Replace {what} in {mention.path}.", path=mention.path, old=old, new=new, **several)


def _places(text: str, piece: str) -> int:
    """How often `piece` is in the text as whole words; 0 if it is also there as a part of one, or overlaps itself."""
    starts = [found.start() for found in re.finditer(f"(?={re.escape(piece)})", text)]
    ends = [start + len(piece) for start in starts]
    apart = all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    within = any(_joined(text, start) or _joined(text, end) for start, end in zip(starts, ends, strict=True))
    return len(starts) if apart and not within else 0


def _joined(text: str, at: int) -> bool:
    """Whether a word goes on from before this place to after it."""
    return all(char.isalnum() or char == "_" for char in text[max(at - 1, 0) : at + 1]) and 0 < at < len(text)


# --- commands of a shell ----------------------------------------------------------------------------------------------


def _command(tool: str, found: Found) -> Settled | None:
    """`cp` or `mv` of one file. Where it cannot go, the tool says: beyond the workspace, on a file that is there."""
    source, target = found["FILE"], found["PATH"]
    if source.path is None or not source.exact:
        return say_missing(source, found.names) if source.missing else None
    if target.endswith("/") and found.names.directory(target) is None:
        return say(f"There is no directory {target} in this workspace.", "not_achieved")
    return call(tool, f"{tool.partition('_')[0].title()} {source.path} to {target}.", source=source.path, target=target)


def _remove(found: Found) -> Settled | None:
    """As a shell does it nothing could be taken back, so whoever types `rm` is asked once more."""
    mention: Mention = found["FILE"]
    if mention.path is None or not mention.exact:
        return say_missing(mention, found.names) if mention.missing else None
    asks = not found.names.workspace.is_protected(mention.path)
    return replace(call("delete_file", f"Delete {mention.path}.", path=mention.path), asks=asks)


_THE_TEXT = "[the] [text|string|word|line]"
_EVERY = (
    "(all|every|each|all [of] [the] (occurrences|instances|mentions) of|(every|each) (occurrence|instance|mention) of)"
)
_THAT_HOLDS = "(that|which) (contains|holds|has)"
_TO_NEW = "(to|into|in|as) [a|the] [new] [text] [file] [called|named] NEW"
_MAKE_NEW = "(create|make|write|add) [a|the] [new] [text] [file] [called|named] NEW"

RULES = (
    Rule(
        name="copy a file",
        phrases=(
            "(copy|duplicate) [the] [file] FILE (to|into|as) [the] [folder|directory] DIR [folder|directory]",
            "(copy|duplicate) [the] [file] FILE (to|into|as) [a] [new] [file] [called|named] NEW",
            "(make|create) a copy of [the] [file] FILE (called|named|as|in|at|to|under the name) NEW",
        ),
        build=_copy,
        writes=True,
    ),
    Rule(
        name="move a file",
        phrases=(
            "(move|rename) [the] [file] FILE (to|into|in) [the] [folder|directory] DIR [folder|directory]",
            "(move|rename) [the] [file] FILE (to|into|as) NEW",
        ),
        build=_move,
        writes=True,
    ),
    Rule(
        name="write a file",
        phrases=(
            f"(write|save|put|store) [the] [text|line|content|following] [:] TEXT {_TO_NEW}",
            f"(write|save|put) [this|the following] [text|content|line] {_TO_NEW} [:] TEXT",
            f"{_MAKE_NEW} (with|containing|{_THAT_HOLDS}|that says) TEXT",
            f"{_MAKE_NEW} [,] and (write|put|save|store) TEXT (in|into|to|inside) it",
        ),
        build=_write,
        writes=True,
    ),
    Rule(
        name="make a file with a given content",
        phrases=(
            f"{_MAKE_NEW} (with [the|this|following|the following] (content|contents|text)|with this|containing"
            f"|{_THAT_HOLDS}) [:] TEXT",
            f"{_MAKE_NEW} whose (content|contents) (is|are) [:] TEXT",
        ),
        build=_write_content,
        writes=True,
    ),
    Rule(
        name="make an empty file",
        phrases=("(create|make|add) [an] empty [text] [file] [called|named] NEW", "touch NEW"),
        build=_write_empty,
        writes=True,
    ),
    Rule(
        name="append to a file",
        phrases=(
            "append [the] [line|text] [:] TEXT (to|at) [the] [end of] [the] [file] FILE",
            "append to [the] [file] FILE [:] TEXT",
            "append to [the] end of [the] [file] FILE [:] TEXT",
            "(put|insert|write) [the] [line|text] TEXT (to|at) the [very] end of [the] [file] FILE",
            "add [the] [line|text] TEXT as [the|a] [new] last line (of|to|in) [the] [file] FILE",
            "add [the] [line|text] TEXT (to|at) the end of [the] [file] FILE",
        ),
        build=_append,
        writes=True,
    ),
    Rule(
        name="add to a file",
        phrases=("add [the] [line|text] TEXT to [the] [file] FILE",),
        build=_add,
        writes=True,
    ),
    Rule(
        name="replace a text",
        phrases=(
            f"replace [{_EVERY}] {_THE_TEXT} PIECE (with|by) {_THE_TEXT} PIECE [everywhere] in [the] [file] FILE",
            f"change {_THE_TEXT} PIECE (to|into) {_THE_TEXT} PIECE in [the] [file] FILE",
            f"in [the] [file] FILE [,] change {_THE_TEXT} PIECE (to|into) {_THE_TEXT} PIECE",
            f"in [the] [file] FILE [,] replace [{_EVERY}] {_THE_TEXT} PIECE (with|by) {_THE_TEXT} PIECE",
        ),
        build=_replace,
        writes=True,
    ),
    Rule(
        name="delete a file",
        phrases=("(delete|remove|erase|get rid of) [the|my] [file] [called|named] FILE [file]",),
        build=_delete,
        writes=True,
    ),
)

COMMANDS = (
    Rule(name="cp", phrases=("cp FILE PATH",), build=partial(_command, "copy_file"), writes=True),
    Rule(name="mv", phrases=("mv FILE PATH",), build=partial(_command, "move_file"), writes=True),
    Rule(name="rm", phrases=("rm FILE",), build=_remove, writes=True),
)
"""The only commands of a shell that are carried out, by the tools; every other command line is passed on."""

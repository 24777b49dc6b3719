"""Requests that make, change, move and delete files."""

import re
from functools import partial

from codur.checks.entry import is_document, text_of
from codur.lazy import late
from codur.planning.patterns.named_paths import SOURCE_SUFFIXES, Mention, suffix_of
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, missing, say
from codur.structs import replace
from codur.tools import code
from codur.tools.tool import ToolError

ast = late("ast")

_SETTING = r"</?{0}|[{{;][ \t]*{0}[ \t]*:|{0}(?:[\"']?[ \t]*=(?!=)|[\"'][ \t]*:|[ \t]*:(?![\d/:]))"
"""A word as the name of a setting: `X:`, `X =`, `"X":`, a property, an attribute, a tag."""


def _to_target(tool: str, found: Found) -> Settled | None:
    source: Mention = found["FILE"]
    if source.path is None or not source.exact:
        return missing(source, found.names)
    target = _free_target(source.path, found)
    if target is None or (tool == "move_file" and found.names.workspace.is_protected(source.path)):
        return None
    return _transfer(tool, source.path, target)


def _transfer(tool: str, source: str, target: str) -> Settled:
    return call(tool, f"{tool.partition('_')[0].title()} {source} to {target}.", source=source, target=target)


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
        body = code.definitions.parse("", text).body
    except ToolError:
        return False
    statements = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return bool(body) and all(
        isinstance(node, statements) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def _make(path: str, token: Token, found: Found) -> Settled | None:
    """Make a file that is not there yet; what is there is not replaced on a rule's word."""
    workspace = found.names.workspace
    has_name = "." in path.rpartition("/")[2]
    if not has_name or "\\" in token.text or workspace.exists(path) or workspace.is_protected(path):
        return None
    return call("write_file", f"Make {path}.", path=path, content=token.text)


def _append(found: Found) -> Settled | None:
    mention, token = found["FILE"], found["TEXT"]
    if not mention.exact or "\\" in token.text or found.names.workspace.is_protected(mention.path):
        return None
    return call("append_file", f"Add to the end of {mention.path}.", path=mention.path, content=token.text)


def _add(found: Found) -> Settled | None:
    """`add` says where only for plain text; in code the place is the question."""
    return None if suffix_of(found["FILE"].name) in SOURCE_SUFFIXES else _append(found)


def _delete(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.path is None or not mention.exact:
        return missing(mention, found.names)
    if found.names.workspace.is_protected(mention.path):
        return None
    return call("delete_file", f"Delete {mention.path}.", path=mention.path)


def _replace(found: Found) -> Settled | None:
    """In a program a quoted text that is there once: which of several is meant is a question, and what a word means.
    In any other file also a word, in all its places. What a part of a word is, is a question in both.
    """
    if "FILE" not in found or "FILE2" in found:
        return None
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
    text = text_of(workspace, mention.path)
    places = _places(text, old)  # none in a file that is no text
    # Who says `change port to 9090` of `port: 8080` means the value.
    is_prose = is_document(mention.path) or mention.path.endswith(".txt")
    is_name = pieces[0].kind == "word" and not is_prose and re.search(_SETTING.format(re.escape(old)), text)
    if not places or (places > 1 and is_source) or is_name:
        return None
    what = "a text" if places == 1 else f"{places} places of a text"
    several = {"all": True} if places > 1 else {}
    return call("replace_in_file", f"Replace {what} in {mention.path}.", path=mention.path, old=old, new=new, **several)


def _places(text: str, piece: str) -> int:
    """How often `piece` is in the text as whole words; 0 if it is also there as a part of one, or overlaps itself."""
    anywhere = re.findall(f"(?={re.escape(piece)})", text)
    whole = re.findall(rf"(?:(?<!\w)|(?=\W)){re.escape(piece)}(?:(?!\w)|(?<=\W))", text)
    return len(whole) if len(whole) == len(anywhere) else 0


# --- commands of a shell ----------------------------------------------------------------------------------------------


def _command(tool: str, found: Found) -> Settled | None:
    """`cp` or `mv` of one file. Where it cannot go, the tool says: beyond the workspace, on a file that is there."""
    source, target = found["FILE"], found["PATH"]
    if source.path is None or not source.exact:
        return missing(source, found.names)
    if target.endswith("/") and found.names.directory(target) is None:
        return say(f"There is no directory {target} in this workspace.", "not_achieved")
    return _transfer(tool, source.path, target)


def _remove(found: Found) -> Settled | None:
    """As a shell does it nothing could be taken back, so whoever types `rm` is asked once more."""
    mention: Mention = found["FILE"]
    if mention.path is None or not mention.exact:
        return missing(mention, found.names)
    asks = not found.names.workspace.is_protected(mention.path)
    return replace(call("delete_file", f"Delete {mention.path}.", path=mention.path), asks=asks)


RULES = (
    Rule("copy a file", partial(_to_target, "copy_file"), writes=True),
    Rule("move a file", partial(_to_target, "move_file"), writes=True),
    Rule("write a file", _write, writes=True),
    Rule("make a file with a given content", lambda found: _make(found["NEW"], found["TEXT"], found), writes=True),
    Rule("make an empty file", lambda found: _make(found["NEW"], Token("quote", ""), found), writes=True),
    Rule("append to a file", _append, writes=True),
    Rule("add to a file", _add, writes=True),
    Rule("replace a text", _replace, writes=True),
    Rule("delete a file", _delete, writes=True),
)
COMMANDS = (
    Rule("cp", partial(_command, "copy_file"), writes=True),
    Rule("mv", partial(_command, "move_file"), writes=True),
    Rule("rm", _remove, writes=True),
)
"""The only commands of a shell that are carried out, by the tools; every other command line is passed on."""

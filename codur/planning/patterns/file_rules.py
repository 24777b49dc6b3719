"""Requests that read, list, make, move and delete files."""

from __future__ import annotations

from codur.errors import WorkspaceError
from codur.planning.patterns.paths import SOURCE_SUFFIXES, Mention, suffix_of
from codur.planning.patterns.rules import Found, Rule, Settled, call, on_file, only_given, say_missing
from codur.planning.patterns.text import Token, word_set

_SHOW = "(show|display|print|print out|cat|read|open|view|output|dump|give|see) [me|us]"
_CONTENT = "(content|contents|text|source|source code|code)"
_THE_FILE = f"[the] [whole|entire|full|complete] [{_CONTENT} of] [the] [file] FILE [file]"
_LINES = "(line|lines) (RANGE|NUM [(-|–|to|through|until|till) [line] NUM])"
_HERE = (
    "[here|(in|of|inside) (this|the) [current|working] (folder|directory|project|repo|repository|workspace|codebase)"
    "|in here|in my project|there]"
)
_IN_DIR = "[the] [folder|directory|dir] DIR [folder|directory]"

_THINGS = word_set("test tests spec specs examples scripts classes functions modules commits branches users data")


def _read(found: Found) -> Settled | None:
    lines = found["FILE"].lines or (None, None)
    return on_file(found["FILE"], found.names, lambda path: _read_lines(path, *lines))


def _read_some(found: Found) -> Settled | None:
    first, last = found.get("RANGE") or (found["NUM"], found.get("NUM2", found["NUM"]))
    return on_file(found["FILE"], found.names, lambda path: _read_lines(path, first, last))


def _read_head(found: Found) -> Settled | None:
    count = found.get("NUM") or found.get("DASHNUM") or 10
    return on_file(found["FILE"], found.names, lambda path: _read_lines(path, 1, count))


def _read_lines(path: str, first: int | None, last: int | None) -> Settled | None:
    if first is not None and last is not None and not 1 <= first <= last:
        return None
    what = f"Show {path}" if first is None else f"Show {path}, lines {first} to {last}"
    return call("read_file", f"{what}.", path=path, **only_given(start_line=first, end_line=last))


def _list(found: Found) -> Settled | None:
    path, pattern = found.get("DIR", ""), found.get("GLOB") or found.get("KIND")
    if pattern and pattern.startswith(("/", "..")):
        return None
    return call("list_files", f"List files in {path or 'the workspace'}.", **only_given(path=path, pattern=pattern))


def _list_plain(found: Found) -> Settled | None:
    """`list tests` may ask for the tests themselves, as with every directory named after what is in it."""
    return None if found["DIR"].rpartition("/")[2].casefold() in _THINGS else _list(found)


def _tree(found: Found) -> Settled | None:
    path = found.get("DIR", "")
    return call("file_tree", f"Show the tree of {path or 'the workspace'}.", **only_given(path=path))


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
    if suffix_of(found["NEW"]) in SOURCE_SUFFIXES and token.kind == "quote":
        return None  # `write "hello world" to hello.py` may ask for a program that says so
    return _make(found["NEW"], token, found)


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
    """Only a text that is in the file once; which of several is meant, and what a part of a word is, is a question."""
    mention: Mention = found["FILE"]
    old, new = found["TEXT"].text, found["TEXT2"].text
    workspace = found.names.workspace
    if not mention.exact or mention.path is None or workspace.is_protected(mention.path):
        return None
    if any("\\" in text or "\n" in text for text in (old, new)) or old == new or not old.strip():
        return None
    try:
        text = workspace.peek_text(mention.path)
    except WorkspaceError:
        return None  # a file that cannot be read as text is somebody else's question
    if not _occurs_once(text, old):
        return None
    return call("replace_in_file", f"Replace a text in {mention.path}.", path=mention.path, old=old, new=new)


def _occurs_once(text: str, piece: str) -> bool:
    """Whether `piece` is in the text once, and there as whole words."""
    start = text.find(piece)
    if start < 0 or text.find(piece, start + 1) >= 0:
        return False
    before, after = text[:start][-1:], text[start + len(piece) :][:1]
    return not ((_in_word(before) and _in_word(piece[0])) or (_in_word(after) and _in_word(piece[-1])))


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_THE_TEXT = "[the] [text|string|word|line]"
_TO_NEW = "(to|into|in|as) [a|the] [new] [text] [file] [called|named] NEW"
_MAKE_NEW = "(create|make|write|add) [a|the] [new] [text] [file] [called|named] NEW"

RULES = (
    Rule(
        name="show a file",
        phrases=(
            f"{_SHOW} {_THE_FILE}",
            f"{_SHOW} [the] {_CONTENT} (in|from) [the] [file] FILE",
            "(what is|what's|whats) (in|inside) [the] [file] FILE",
            f"(what is|what's|what are) the {_CONTENT} of [the] [file] FILE",
            "what does [the] [file] FILE contain",
            "let me (see|read|view) [the] [file] FILE",
            "(zeig|zeige|lies|öffne) [mir] [die] [datei] FILE [an]",
            "(montre|montre-moi|affiche|lis|ouvre) [moi] [le] [fichier] FILE",
            "(muestra|muéstrame|muestrame|lee|abre) [el] [archivo|fichero] FILE",
            "(toon|lees|open) [me] [het] [bestand] FILE",
        ),
        build=_read,
        takes_lines=True,
    ),
    Rule(
        name="show lines of a file",
        phrases=(
            f"{_SHOW} [the] [file] FILE [,|:] [from|at|on|only] {_LINES}",
            f"{_SHOW} [the] [file] FILE [,|:] (from|between) line NUM (to|and) [line] NUM",
            f"[{_SHOW}] [the] [only] {_LINES} (of|from|in) [the] [file] FILE",
        ),
        build=_read_some,
    ),
    Rule(
        name="show the beginning of a file",
        phrases=(
            f"[{_SHOW}] [the] first NUM lines (of|from|in) [the] [file] FILE",
            "head FILE",
            "head (-n NUM|DASHNUM) FILE",
        ),
        build=_read_head,
    ),
    Rule(
        name="list files",
        phrases=(
            f"(list|show|display|print|give|see) [me|us] [all] [of] [the|my|our] [project] files {_HERE}",
            f"(list|show|display) [me|us] [the] (folder|directory|project|workspace) [content|contents|files] {_HERE}",
            f"(list|show|display) [me|us] [all] [the] (content|contents|files) (in|of|under|inside|from) {_IN_DIR}",
            f"(list|show|display) [me|us] [all] [of] [the|my] (KIND|GLOB) files {_HERE}",
            f"(list|show|display) [me|us] [all] [of] [the|my] (KIND|GLOB) files (in|under|inside|from) {_IN_DIR}",
            "(list|ls) GLOB",
            "list (everything|all) in DIR",
            f"(what|which) [KIND] files (are|exist|do we have|do i have|are there|are here|can you see) {_HERE}",
            f"(what|which) [KIND] files (are|are there|exist) (in|under|inside) {_IN_DIR}",
            "(what is|what's) (in|inside) (this|the) [current] (folder|directory|workspace|project)",
            "(what is|what's) (in|inside) [the] (folder|directory) DIR",
            "(what is|what's) (in|inside) [the] DIR [folder|directory]",
            "(ls|dir|list)",
            f"ls {_IN_DIR}",
            "list [the] (folder|directory|dir) DIR",
            "list [the] DIR (folder|directory)",
            "(liste|zeige|zeig) [mir] [alle] [die] dateien [auf|an]",
            "(liste|affiche|montre|montre-moi) [moi] [tous] [les] fichiers",
            "(lista|muestra|muéstrame) [todos] [los] (archivos|ficheros)",
            "(toon|lijst) [me] [alle] [de] bestanden",
        ),
        build=_list,
    ),
    Rule(name="list a directory", phrases=("list DIR",), build=_list_plain),
    Rule(
        name="show the tree",
        phrases=(
            "[show|print|display|give|draw] [me|us] [the|a] [file|files|directory|folder|project|workspace] tree"
            f" {_HERE}",
            "[show|print|display|give] [me|us] [the] (directory|folder|project|file|repo|repository)"
            f" (structure|layout) {_HERE}",
            f"[show|print|display] [me|us] [the] [file|directory|folder] tree (of|for|in|under) {_IN_DIR}",
            "tree DIR",
        ),
        build=_tree,
    ),
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
            f"{_MAKE_NEW} (with|containing) TEXT",
        ),
        build=_write,
        writes=True,
    ),
    Rule(
        name="make a file with a given content",
        phrases=(
            f"{_MAKE_NEW} (with [the|this|following|the following] (content|contents|text)|with this|containing)"
            " [:] TEXT",
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
            f"replace {_THE_TEXT} TEXT (with|by) {_THE_TEXT} TEXT in [the] [file] FILE",
            f"in [the] [file] FILE [,] replace {_THE_TEXT} TEXT (with|by) {_THE_TEXT} TEXT",
        ),
        build=_replace,
        writes=True,
    ),
    Rule(
        name="delete a file",
        phrases=("(delete|remove|erase|get rid of) [the] [file] FILE [file]",),
        build=_delete,
        writes=True,
    ),
)

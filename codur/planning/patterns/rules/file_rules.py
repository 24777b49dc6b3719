"""Requests that read and list files."""

from __future__ import annotations

from functools import partial

from codur.planning.patterns.prompt_tokens import word_set
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, on_file, only_given

_SHOW = "(show|display|print|print out|type out|cat|read|read out|open|open up|view|output|dump|give|see) [me|us]"
_SCREEN = "[to me|here|on screen|(to|on|in) (the|my) (screen|terminal|console|output)|to (stdout|screen)]"
_CONTENT = "(content|contents|text|source|source code|code)"
_THE_FILE = f"[the] [whole|entire|full|complete] [{_CONTENT} of] [the] [file] [called|named] FILE [file]"
_LINES = "(line|lines) (RANGE|NUM [(-|–|to|through|until|till) [line] NUM])"
_HERE = (
    "[here|(in|of|inside) (this|the) [current|working] (folder|directory|project|repo|repository|workspace|codebase)"
    "|in here|in my project|there]"
)
_IN_DIR = "[the] [folder|directory|dir] DIR [folder|directory]"

_DIRECTORIES = "(directories|folders|dirs|subdirectories|subfolders)"
_THINGS = word_set("test tests spec specs examples scripts classes functions modules commits branches users data")


def _read(found: Found) -> Settled | None:
    lines = found["FILE"].lines or (None, None)
    return on_file(found["FILE"], found.names, lambda path: _read_lines(path, *lines))


def _read_some(found: Found) -> Settled | None:
    first, last = found.get("RANGE") or (found["NUM"], found.get("NUM2", found["NUM"]))
    return on_file(found["FILE"], found.names, lambda path: _read_lines(path, first, last))


def _read_head(found: Found, default: int = 10) -> Settled | None:
    count = found.get("NUM") or found.get("DASHNUM") or default
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


def _directories(found: Found) -> Settled | None:
    path = found.get("DIR", "")
    return call("list_dirs", f"List the directories in {path or 'the workspace'}.", **only_given(path=path))


def _tree(found: Found) -> Settled | None:
    path = found.get("DIR", "")
    return call("file_tree", f"Show the tree of {path or 'the workspace'}.", **only_given(path=path))


RULES = (
    Rule(
        name="show a file",
        phrases=(
            f"{_SHOW} {_THE_FILE} {_SCREEN}",
            f"(can|could|may) (i|we) (see|view) {_THE_FILE}",
            "(can|could|may) (i|we) (have|take|get) a look at [the] [file] FILE",
            f"(i want|i wish|i would like|i'd like) to (see|view|read) {_THE_FILE}",
            "(zeig|zeige) [mir|uns] [mal] den inhalt (von|der datei) FILE",
            f"{_SHOW} [the] {_CONTENT} (in|from) [the] [file] FILE",
            "[show me|tell me|let me see] (what is|what's|whats) (in|inside) [the] [file] FILE",
            f"(what is|what's|what are) the {_CONTENT} of [the] [file] FILE",
            "what does [the] [file] FILE (contain|say|hold)",
            f"what {_CONTENT} does [the] [file] FILE (have|contain)",
            f"let me (see|read|view) {_THE_FILE}",
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
            f"[{_SHOW}] [the] [file] FILE [,|:] [from|at|on|only] {_LINES}",
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
        name="show the first line of a file",
        phrases=(f"[{_SHOW}] [the|only the] (first|top) line (of|from|in) [the] [file] FILE",),
        build=partial(_read_head, default=1),
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
        name="list directories",
        phrases=(
            f"(list|show|display) [me|us] [all] [of] [the|my|our] [project] {_DIRECTORIES} [{_HERE}|(in|of|under) DIR]",
            f"(what|which) {_DIRECTORIES} (are|exist|are there|are here|do we have) [{_HERE}|(in|of|under) DIR]",
        ),
        build=_directories,
    ),
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
)

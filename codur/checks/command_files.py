"""Which files a check's command rests on: what judges is protected, and the program that is judged is not.

The rule, for files that the command names:

- tests, code with a name in which a word begins with check, verify, test or lint, or that begins with validate, and
  data called like tests judge;
- so does what a script calls that the command runs, by the same names;
- so do a script that a shell runs or that is started by its path (`sh X`, `bash X`, `./X`), expected output, what is
  redirected into a program, settings given with an option such as `--config`, and the Makefile or `package.json` of
  `make` and `npm`;
- the program that is judged stays editable: what `python X` runs under any other name, a script whose output is
  compared (`./X | diff - expected.txt`), the workspace's program started by its path (`./main.py`), and the only Python
  file beside the tests, unless the prompt names other files, or its name begins with such a word, other files are there
  and no challenge is to be solved.

The prompt has the last word: a file that it asks to edit is not protected (`expectation.files_to_edit`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath

from codur.checks.entry import MAKEFILES, TEST_SUPPORT, is_code, is_document, is_pytest_file, is_test_file, text_of
from codur.lazy import regex
from codur.structs import Struct
from codur.workspace.workspace import Workspace

_WORDS = regex(r"[\s;|&<>()'\"=]+")
_RUNNER = regex(r"\b(?:pytest|unittest|test)\b")
_PARTS = regex(r"(\|\|?|&&|(?<![<>])&(?!>)|;|\n|[<$]\(|[()`])")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "source", "."})
_PREFIX = regex(r"\w+=\S*|!|\{|time|env|exec|command|nice|if|then|else|do|while|timeout|-\S*|\d+[smh]?")
_COMPARES = regex(r"\b(?:diff|cmp|comm)\b")
_LOOKS, _VALIDATES = r"check(?!out|point|sum)|verif|lint", r"validat(?:e|or)(?!s)"
CHECKER = regex(rf"{_LOOKS}|{_VALIDATES}", re.IGNORECASE)  # what the only Python file is called then
_JUDGE = regex(rf"(?:.*[_.-])?(?:{_LOOKS}|test)|{_VALIDATES}", re.IGNORECASE)
_TEST_DATA = regex(r"tests?(?![a-z])", re.IGNORECASE)
_EXPECTED = regex(r"(?:expected|golden|reference|wanted)|.*\.(?:expected|golden|ref|ans)$", re.IGNORECASE)
_INPUT = regex(r"(?<!<)<\s*([^\s<>(&]+)")
_OUTPUT = regex(r"(?<![2&])>>?\s*([^\s<>&]+)")
_CONFIG = regex(r"(?:-c|-f|--(?:make)?(?:config|rc|settings|file)[\w-]*)[\s=]+([^\s=]+\.(?:ini|cfg|toml|mk|rc))\b")
_INCLUDES = regex(r"^[ \t]*(?:-?include|sinclude|source|\.)[ \t]+([^\n#&|]+)", re.MULTILINE)
_MOST_INCLUDED = 100  # makefiles include each other in circles
RUNS_MAKE = regex(r"\bg?make\b")
RUNS_NPM = regex(r"\b(?:npm|npx|yarn|pnpm|bun)\b")
_ACTS = frozenset(
    "apply clean delete deploy destroy dev distclean down drop fix install migrate prod prune publish purge push"
    " release remove reset rm seed serve start uninstall up upload watch write".split()
)


def name_parts(name: str) -> set[str]:
    """The words of the name of a target, a script or a file, or of a command."""
    return set(re.split(r"[-_:./\s]", name.lower()))


def acts(name: str) -> bool:
    """Whether a name or a command tells of more than a look, or of a program that does not end."""
    return not name_parts(name).isdisjoint(_ACTS)


class _Part(Struct):
    """One simple command: its words, and whether its output is what is compared."""

    words: tuple[str, ...]
    compared: bool
    captured: bool


def files_of_command(
    workspace: Workspace, command: str, *, tests: Sequence[str], entry: str | None, alone: str = ""
) -> list[str]:
    """The files that the command rests on, by the rule above.

    Args:
        tests: all tests of the workspace and the code that they rest on.
        entry: the workspace's program, if there is a clear one.
        alone: the only Python file that is no test, where it is what is judged.
    """
    named = [path for word in _WORDS.split(command) for path in _tests_named(workspace, word, tests)]
    own_tests = [path for path in named if is_test_file(path)]
    # Only the tests that it names judge; the others may be what the task is about.
    if own_tests:
        named += [path for path in tests if basename(path) in TEST_SUPPORT or not is_pytest_file(path)]
    elif _RUNNER.search(command):
        named += tests
    judging = [path for path in _judging(workspace, command, entry) if path != alone]
    # What a script starts by its path may be what is judged.
    scripts = [text_of(workspace, path) for path in judging if path.endswith((".sh", ".bash"))]
    called = (word for text in scripts for part in _parts(text) for word in _judges(part))
    judging += [path for path in map(normpath, called) if path != alone and workspace.is_file(path)]
    read = [*judging, *_declarations(workspace, command)]
    return [*named, *read, *_included(workspace, read)]


def _tests_named(workspace: Workspace, word: str, tests: Sequence[str]) -> list[str]:
    """Tests and expected output that one word of a command stands for: a path, a module or a directory."""
    path = word.partition("::")[0].removeprefix("./").rstrip("/")
    if not path:  # a separator at the word's end
        return []
    if workspace.is_dir(path):
        return [item for item in tests if item.startswith(f"{path}/")]
    module = path.replace(".", "/")
    names = (path, f"{module}.py", f"{dirname(module)}.py", f"{dirname(dirname(module))}.py")
    defining = (name for name in names if is_test_file(name) or _EXPECTED.match(basename(name)))
    return [name for name in defining if workspace.is_file(name)]


def _judging(workspace: Workspace, command: str, entry: str | None) -> Iterator[str]:
    outputs = {normpath(word) for word in _OUTPUT.findall(command)}
    for part in _parts(command):
        for word in (*_judges(part), *_scripts(part)):
            path = normpath(word)
            # What is judged must stay editable, or no task could be done.
            program = path == entry and path.endswith(".py") and not _JUDGE.match(basename(path))
            if workspace.is_file(path) and not program:
                yield path
    for word in (*_INPUT.findall(command), *_CONFIG.findall(command)):
        path = normpath(word.strip("'\""))
        if path not in outputs and workspace.is_file(path):
            yield path


def _judges(part: _Part) -> Iterator[str]:
    """Files whose name says that they judge."""
    if part.compared:
        return
    for before, word in zip(("", *part.words), part.words, strict=False):
        path = f"{word.replace('.', '/')}.py" if before == "-m" else word
        name = basename(path)
        if (_JUDGE if is_code(name) or "." not in name else _TEST_DATA).match(name) and not is_document(path):
            yield path


def _scripts(part: _Part) -> Iterator[str]:
    """The script that the command runs with a shell, or starts by its path."""
    words = list(part.words)
    while words and _PREFIX.fullmatch(words[0]):
        words.pop(0)
    if not words or part.compared or part.captured:
        return
    if words[0] in _SHELLS or basename(words[0]) in _SHELLS:
        yield from [word for word in words[1:] if not word.startswith("-")][:1]
    elif "/" in words[0]:
        yield words[0]


def _parts(command: str) -> Iterator[_Part]:
    # Quotes are taken for blanks: too many words are named then, which protects too much rather than too little.
    pieces = _PARTS.split(command.replace("'", " ").replace('"', " "))
    compares = bool(_COMPARES.search(command))
    for place in range(0, len(pieces), 2):
        text = pieces[place]
        before = pieces[place - 1] if place else ""
        after = pieces[place + 1] if place + 1 < len(pieces) else ""
        piped = after == "|" and bool(_COMPARES.search(" ".join(pieces[place + 2 :])))
        written = compares and any(word != "/dev/null" for word in _OUTPUT.findall(text))
        substituted = compares and before == "<("
        words = tuple(re.sub(r"[<>]+", " ", text).split())
        yield _Part(words=words, compared=piped or written or substituted, captured=before in {"$(", "`"})


def _included(workspace: Workspace, paths: Iterable[str]) -> list[str]:
    """What makefiles include and shell scripts source, and what these do in turn."""
    found: list[str] = []
    waiting = list(paths)
    while waiting and len(found) < _MOST_INCLUDED:
        path = waiting.pop()
        # A binary file, such as a program that is started by its path, includes nothing.
        text = "" if path.endswith(".py") else text_of(workspace, path)
        for words in _INCLUDES.findall(text):
            for word in words.split():
                name = re.sub(r"^\$\{?[\w@<^()%#*/]+\}?/", "", word.strip("\"';"))
                near = (normpath(join(dirname(path), name)), normpath(name))
                new = [each for each in near if workspace.is_file(each) and each not in found]
                found += new
                waiting += new
    return found


def _declarations(workspace: Workspace, command: str) -> Iterator[str]:
    """The files that say what `make` and `npm` do."""
    directories = ["", *(word for word in _WORDS.split(command) if word and workspace.is_dir(word))]
    names = (
        *(MAKEFILES if RUNS_MAKE.search(command) else ()),
        *(["package.json"] if RUNS_NPM.search(command) else ()),
    )
    yield from (join(directory, name) for directory in directories for name in names)

"""Programs in other languages than Python: which of a directory's is run, and by what."""

import re
import shlex
from collections.abc import Sequence
from posixpath import basename, dirname, splitext

from codur.checks.entry import MAX_PARSED, is_test_file, text_of
from codur.lazy import regex
from codur.structs import Struct
from codur.workspace.workspace import Workspace

_USUAL = frozenset({"main", "index", "app"})


class _Language(Struct):
    """How programs of a language are run."""

    endings: tuple[str, ...]
    acts: re.Pattern[str]  # what a file has that does something when it is run
    # of the shell; `{main}` is the program's file, `{all}` all of the language beside it, `{name}` its name alone
    command: str
    is_built: bool = False


_BUILT = 'to=$(mktemp -d) && {} && "$to/program"'
_CALLS = regex(
    r"^(?:if\s*\(?(?:require\.main|__FILE__)"
    r"|(?!(?:function|def|sub|local|if|switch|else|catch)\b|\w+\s*\(\)\s*\{)"
    r"(?:(?:for|while|foreach|until)\b|\(|(?:await\s+)?[\w.:$]+\s*\(|\.\.?/|\.\s|\$\w+->"
    r"|(?:puts|print\w*|echo|say|cat|awk|sed|sort|source|main)\b))",
    re.MULTILINE,
)
"""A line at the left margin that does something."""
_MAIN = regex(r"^(?:[\w:]+\s+)*main\s*\(", re.MULTILINE)
_STAYS = regex(r"\b(?:document|window)\.|\.listen\(|\bcreateServer\(|\bListenAndServe\w*\(|\bsleep\s+infinity\b")
"""In a page, or a server: it does not end by itself."""
_LANGUAGES = (
    _Language(endings=(".js", ".mjs", ".cjs"), acts=_CALLS, command="node {main}"),
    _Language(endings=(".sh", ".bash"), acts=_CALLS, command="bash {main}"),
    _Language(endings=(".rb",), acts=_CALLS, command="ruby {main}"),
    _Language(endings=(".pl",), acts=_CALLS, command="perl {main}"),
    _Language(endings=(".php",), acts=_CALLS, command="php {main}"),
    _Language(endings=(".lua",), acts=_CALLS, command="lua {main}"),
    _Language(endings=(".go",), acts=regex(r"^func main\(", re.MULTILINE), command="go run {all}", is_built=True),
    _Language(
        endings=(".java",),
        acts=regex(r"\bstatic\s+void\s+main\s*\("),
        command='to=$(mktemp -d) && javac -d "$to" {all} && java -cp "$to" {name}',
        is_built=True,
    ),
    _Language(
        endings=(".c",),
        acts=_MAIN,
        command=_BUILT.format('cc -o "$to/program" {all} -lm'),
        is_built=True,
    ),
    _Language(
        endings=(".cc", ".cpp", ".cxx"),
        acts=_MAIN,
        command=_BUILT.format('c++ -o "$to/program" {all}'),
        is_built=True,
    ),
    _Language(
        endings=(".rs",),
        acts=regex(r"\bfn\s+main\s*\("),
        command=_BUILT.format('rustc -o "$to/program" {main}'),
        is_built=True,
    ),
)
_SCRIPTS = (".sh", ".bash")
_SCRIPTS_OR_TEXT = regex(r"\.(?:sh|bash|txt|md|rst|csv|json|ya?ml|in|out)$|^[^.]+$")
_PACKAGE = regex(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


class OtherProgram(Struct):
    """A program, and the command of the shell that builds and runs it in the workspace's top directory."""

    path: str
    command: str
    is_built: bool

    def argv(self, args: Sequence[str]) -> tuple[str, ...]:
        """What is run, with these arguments: by a shell, which tells of what is not installed."""
        command = " ".join((self.command, *map(shlex.quote, args)))
        # Of a script that ends so, the script has called what is not there.
        return tuple(shlex.split(command)) if command.startswith("bash ") else ("sh", "-c", command)


def other_program(
    workspace: Workspace, listing: Sequence[str], directory: str, named: Sequence[str]
) -> OtherProgram | None:
    """The program of a directory that is run: a named one, the only one, or one of a usual name; None if unclear."""
    beside = [path for path in listing if dirname(path) == directory and not is_test_file(path)]
    if sum(_language(path) is not None for path in beside) > MAX_PARSED and not set(named).intersection(beside):
        return None
    acting = [path for path in beside if (language := _language(path)) and _acts(workspace, path, language)]
    scripts = [path for path in beside if path.endswith(_SCRIPTS)]
    # A script beside sources in another language builds or starts them.
    known = [path for path in acting if path not in scripts or all(map(_SCRIPTS_OR_TEXT.search, beside))]
    chosen = [path for path in acting if path in named] or known
    if len(chosen) > 1:
        chosen = [path for path in chosen if splitext(basename(path))[0].casefold() in _USUAL]
    language = _language(chosen[0]) if len(chosen) == 1 else None
    if language is None:
        return None
    path, name = chosen[0], splitext(basename(chosen[0]))[0]
    package = _PACKAGE.search(text_of(workspace, path)) if path.endswith(".java") else None
    if package and directory:  # what it imports is found from another directory
        return None
    parts = [each for each in beside if each.endswith(language.endings) and each not in acting]
    command = language.command.format(
        main=shlex.quote(_safe(path)),
        all=shlex.join(map(_safe, [path, *parts])),
        name=shlex.quote(f"{package[1]}.{name}" if package else name),
    )
    if path.endswith(".java") and not parts:  # which class it is, `java` finds out
        command = f"java {shlex.quote(_safe(path))}"
    if path.endswith(".go") and workspace.is_file("go.mod"):  # it says which files belong together
        command = f"go run {shlex.quote(f'./{directory}')}"
    return OtherProgram(path=path, command=command, is_built=language.is_built)


def _safe(path: str) -> str:
    """A path that is not taken for an option."""
    return f"./{path}" if path.startswith("-") else path


def _language(path: str) -> _Language | None:
    return next((language for language in _LANGUAGES if path.endswith(language.endings)), None)


def _acts(workspace: Workspace, path: str, language: _Language) -> bool:
    text = text_of(workspace, path)
    return bool(language.acts.search(text)) and not _STAYS.search(text)

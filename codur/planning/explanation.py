"""What can be told of a source file without a model: what it defines and calls, and how it is run and checked."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename, dirname

from codur.checks.entry import look, text_of
from codur.parsing.bounded_text import listed
from codur.structs import Struct
from codur.tools.code.definitions import PYTHON_SUFFIXES, Defined, definitions_in, parse
from codur.tools.code.python_outline import dependencies_of
from codur.tools.flow.code_outputs import Dependencies
from codur.types import Check
from codur.workspace.workspace import Workspace

_NOTE = "This was read from the file without a model; what the code means beyond its own words needs one."
_MAX_DEFINED = 60
_MAX_NAMED = 12
_MAX_READ = 2_000  # files that are looked into for who imports the one in question
_IMPORTS = r"^[ \t]*(?:(?:from|import)\b.*\b{0}\b|{0}(?: as \w+)?,?[ \t]*$)"
"""A line that may import a module: only files with one are parsed."""
_LONGEST = 160
_OPTION_MAKERS = frozenset({"add_argument", "option", "argument"})  # what declares an option, in argparse and click
_SWITCHES = frozenset({"store_true", "store_false", "count", "store_const", "version", "help"})
_DOES: Mapping[str, str] = {
    "print": "prints",
    "sys.stdout.write": "prints",
    "input": "reads standard input",
    "sys.stdin": "reads standard input",
    "open": "opens files",
    "read_text": "reads files",
    "read_bytes": "reads files",
    "write_text": "writes files",
    "write_bytes": "writes files",
    "os.environ": "reads environment variables",
    "os.getenv": "reads environment variables",
    "sys.argv": "takes the words of its command line from sys.argv",
    "subprocess": "starts programs",
    "os.system": "starts programs",
    "socket": "uses the network",
    "urllib.request": "uses the network",
    "requests": "uses the network",
    "httpx": "uses the network",
}
"""What code does outside of itself, by names in it: whole ones, their beginnings or their last parts."""


def explanation(path: str, workspace: Workspace, check: Check | None) -> str:
    """The file explained, in several lines, with the check that would judge a change of it.

    ToolError if the file cannot be parsed or its language is not known here, WorkspaceError if it cannot be read.
    """
    text = workspace.read_text(path).text
    found = definitions_in(path, text)
    checked = [f"It is checked by: {check.label} ({check.source})"] if check and check.kind != "syntax" else []
    if path.endswith(PYTHON_SUFFIXES):
        tree, facts = parse(path, text), dependencies_of(workspace, path)
        head = [*_says(path, text, tree), "", *_run(path, tree, workspace), ""]
        last = [*_does(tree), *_imports(facts), *(checked or ["No test and no expected output was found for it."])]
        defined = _defined(found, _calls(tree, found, facts))
    else:
        head, last, defined = [f"{path} ({len(text.splitlines())} lines)", ""], checked, _defined(found, {})
    return "\n".join([*head, *defined, "", *last, *([""] if last else []), _NOTE])


def _says(path: str, text: str, tree: ast.Module) -> list[str]:
    said = [line.strip() for line in (ast.get_docstring(tree) or "").splitlines() if line.strip()]
    if not said:
        return [f"{path} ({len(text.splitlines())} lines) says nothing of itself."]
    return [f"{path}: {said[0]}", *said[1:_MAX_NAMED]]


# --- how it is run ----------------------------------------------------------------------------------------------------


class _Option(Struct):
    """A declared option; it has no names if it is known by its place, and no value if it is a switch."""

    names: Sequence[str]
    value: str
    help: str
    required: bool

    @property
    def usage(self) -> str:
        """As it stands on a command line."""
        words = " ".join(filter(None, (*self.names[-1:], self.value)))
        return words if self.required or not self.names else f"[{words}]"

    @property
    def shown(self) -> str:
        return " ".join(filter(None, (", ".join(self.names), self.value)))


def _run(path: str, tree: ast.Module, workspace: Workspace) -> list[str]:
    # Files that import this one
    stem = basename(dirname(path)) if basename(path) == "__init__.py" else basename(path).rpartition(".")[0]
    imports = re.compile(_IMPORTS.format(re.escape(stem)), re.MULTILINE)
    others = (other for other in workspace.list_files(pattern="*.py", limit=_MAX_READ) if other != path)
    near = (other for other in others if imports.search(text_of(workspace, other)))
    users, module = [other for other in near if path in look(workspace, other).imports], look(workspace, path)
    used = f"It is imported by {listed(users, _MAX_NAMED)}." if users else "No file imports it by its name."
    if not module.guarded and (users or not module.script):
        return [f"It is no program of its own. {used}"]
    options = list(_options(tree))
    named = [option for option in options if option.names]
    placed = [option for option in options if not option.names]
    width = max((len(option.shown) for option in options), default=0)
    calls = list(dict.fromkeys(_called_at_top(tree)))
    return [
        " ".join(["Run as: python", _place(path, tree), *(option.usage for option in (*named, *placed))]),
        *(f"  {option.shown:{width}}  {option.help}".rstrip() for option in (*placed, *named)),
        *([f"When it is run, it calls {listed(calls, _MAX_NAMED)}."] if calls else []),
        *([used] if users else []),
    ]


def _place(path: str, tree: ast.Module) -> str:
    """The words after `python`: a part of a package is run as a module."""
    near = any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
    module = dirname(path) if basename(path) == "__main__.py" else path.removesuffix(".py") if near else ""
    return f"-m {module.removeprefix('src/').replace('/', '.')}" if module else path


def _options(tree: ast.Module) -> Iterator[_Option]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name) and node.args):
            continue
        names = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if _dotted(node.func).rpartition(".")[2] not in _OPTION_MAKERS or len(names) < len(node.args):
            continue
        given = {item.arg: item.value.value for item in node.keywords if isinstance(item.value, ast.Constant)}
        dashed = [name for name in names if name.startswith("-")]
        switch = bool(dashed) and (given.get("action") in _SWITCHES or given.get("is_flag") is True)
        value = "" if switch else str(given.get("metavar") or names[-1].lstrip("-").replace("-", "_").upper())
        default = f"(default: {given['default']!r})" if given.get("default") is not None and not switch else ""
        told = " ".join(filter(None, (str(given.get("help") or ""), default)))
        yield _Option(names=dashed, value=value, help=told, required=given.get("required") is True)


def _called_at_top(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.Expr | ast.If | ast.For | ast.While | ast.With | ast.Try):
            called = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            names = (_dotted(node.func) for node in reversed(called))
            yield from (name for name in names if name.strip(".") == name != "")


# --- what is in it ----------------------------------------------------------------------------------------------------


def _defined(found: Sequence[Defined], calls: Mapping[str, Sequence[str]]) -> list[str]:
    around = {item.qualname for item in found if item.kind in {"class", "module"}}
    shown = [item for item in found if item.top or item.qualname.rpartition(".")[0] in around]
    lines = ["It defines:" if shown else "It defines nothing."]
    for item in shown[:_MAX_DEFINED]:
        indent = "  " * (item.qualname.count(".") + 1)
        signature = item.signature if len(item.signature) <= _LONGEST else f"{item.signature[:_LONGEST]}…"
        lines.append(f"{indent}{signature}  (lines {item.start}-{item.end}){f': {item.doc}' if item.doc else ''}")
        if calls.get(item.qualname):
            lines.append(f"{indent}  calls {listed(calls[item.qualname], _MAX_NAMED)}")
    return [*lines, *([f"  … {len(shown) - _MAX_DEFINED} more"] if len(shown) > _MAX_DEFINED else [])]


def _calls(tree: ast.Module, found: Sequence[Defined], facts: Dependencies) -> dict[str, list[str]]:
    """What of this file and of the workspace's other files each definition calls."""
    local = {name: item.path for item in facts.imports if item.path for name in item.names or (item.module,)}
    calls = {name: list(called) for name, called in facts.calls.items()}
    spans = {(item.line, item.end): item.qualname for item in found if item.kind != "class"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = spans.get((node.lineno, node.end_lineno or node.lineno), node.name)
            named = (_dotted(part.func) for part in ast.walk(node) if isinstance(part, ast.Call))
            places = ((name, local.get(name) or local.get(name.rpartition(".")[0])) for name in named)
            calls.setdefault(owner, []).extend(dict.fromkeys(f"{name} ({place})" for name, place in places if place))
    return calls


def _does(tree: ast.Module) -> list[str]:
    """What the code does outside of itself, and the exceptions that it raises by name."""
    names = {_dotted(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)} - {""}
    done = {
        words
        for key, words in _DOES.items()
        if any(name == key or name.startswith(f"{key}.") or name.endswith(f".{key}") for name in names)
    }
    raises = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    errors = (_dotted(error.func if isinstance(error, ast.Call) else error) for error in raises)
    raised = [name for name in dict.fromkeys(errors) if name.rpartition(".")[2][:1].isupper()]
    known = [words for words in dict.fromkeys(_DOES.values()) if words in done]
    known += [f"raises {listed(raised, _MAX_NAMED)}"] if raised else []
    return [f"It {', '.join(known[:-1])}{' and ' if known[:-1] else ''}{known[-1]}."] if known else []


def _imports(facts: Dependencies) -> list[str]:
    told = [
        f"{', '.join(item.names)} from {item.path or item.module}" if item.names else item.path or item.module
        for item in sorted(facts.imports, key=lambda item: item.kind != "local")
        if item.module != "__future__"
    ]
    return [f"It imports {listed(list(dict.fromkeys(told)), _MAX_NAMED)}."] if told else []


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as text; of what hangs on something else than a name, the last part."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            before = _dotted(value)
            return f"{before}.{name}" if before else f".{name}"
    return ""

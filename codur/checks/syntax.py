"""The least that can be said of files: whether they parse. Of Python, JSON, TOML and YAML; nothing is executed."""

import ast
import json
import re
import warnings
from collections.abc import Sequence
from fnmatch import filter as matching

from codur.checks.entry import is_code, is_document, is_test_file
from codur.checks.signature import signature_of
from codur.lazy import late, regex
from codur.parsing.bounded_text import listed
from codur.python.project_files import MANY_PARTS
from codur.types import Check, Verdict
from codur.workspace.workspace import FileChange, Workspace

tomllib, yaml = late("tomllib"), late("yaml")

NOT_FOUND = "no expected output and no tests were found"
NOT_ALLOWED = "not checked: running programs is not allowed (tools.allow_run is off)"
DATA, _PYTHON = (".json", ".toml", ".yaml", ".yml"), ".py"
_MOST_BYTES, _MOST_DEPTH, _NAMED = 1_000_000, 200, 3
_NOT_STRICT = regex(
    r"(?:.*/)?(?:[jt]sconfig[\w.-]*\.json|\.?devcontainer\.json|\.\w+rc\.json)|.*(?:bad|broken|corrupt|invalid|malformed).*"
)
"""Files that are called JSON and hold comments, as is the custom; and examples of what is wrong."""
_LINE = regex(r"\bline (\d+)")
_GLOB = regex(r"[\w./-]*\*[\w./*-]*\w")
_TO_PARSE = regex(
    r"(?:\b(?:not|none|never|fails? to|cannot)|n't)\b[^.\n]{0,60}?\bparse[sd]?\b|\b(?:pars(?:e|ing)|syntax) error"
    r"|\b(?:repair|fix|mend|correct)\b[^.\n]{0,30}? syntax\b|\b(?:invalid|not valid|malformed) (?:json|ya?ml|toml)\b"
    r"|\bjson\.tool\b",
    re.IGNORECASE,
)
_TEMPLATE = regex(rb"\{[{%]|<%")


def to_parse(prompt: str, named: Sequence[str], workspace: Workspace) -> tuple[str, ...]:
    """The files of data that a request, which names no code, says do not parse."""
    if not _TO_PARSE.search(prompt) or any(map(is_code, named)):
        return ()
    globs = (path for glob in _GLOB.findall(prompt) for path in matching(workspace.list_files(), glob))
    found = (path for path in dict.fromkeys((*named, *globs)) if path.endswith(DATA) and workspace.is_file(path))
    return tuple(
        path for path in found if not workspace.hides(path) and syntax_problem(workspace.read_bytes(path), path)
    )


def syntax_verdict(workspace: Workspace, check: Check | None, *, alone: bool, sandbox: str) -> Verdict:
    """Parse the files that have to parse, and what was changed of data; of Python, too, if nothing runs (`alone`)."""
    demanded = check.parses if check else ()
    must = [*demanded, *([check.entry] if alone and check and check.entry else [])]
    kinds = (*DATA, _PYTHON) if alone else DATA
    changes = [change for change in workspace.changes() if change.path.endswith(kinds) and change.after is not None]
    seen = {path: syntax_problem(workspace.read_bytes(path), path) for path in must if workspace.is_file(path)}
    seen |= {path: f"{path}: there is no such file" for path in demanded if not workspace.is_file(path)}
    seen |= {change.path: syntax_problem(change.after or b"", change.path) for change in changes}
    spoiled = {change.path for change in changes if seen[change.path] and _is_spoiled(change)}
    told = [path for path, problem in seen.items() if problem and (path in must or path in spoiled)]
    if told:
        error = "\n\n".join(seen[path] or "" for path in told)
        return Verdict(
            status="failed",
            check=f"syntax of {listed(told, _NAMED)}",
            error=error,
            signature=signature_of(kind="syntax", error=error, failing=tuple(told)),
            progress=1 - len(told) / len(seen),
            sandbox=sandbox,
        )
    if check and check.kind == "syntax" and demanded and all(seen[path] == "" for path in demanded):
        return Verdict(status="passed", check=check.label, progress=1.0, sandbox=sandbox)
    why = NOT_FOUND if check is None else check.source if check.kind == "syntax" else NOT_ALLOWED
    changed = workspace.changed_files()
    if changed and why == NOT_FOUND and all(map(is_document, changed)):
        return Verdict(status="no_check", note="only documents were changed", progress=0.0, sandbox=sandbox)
    parsed = [change.path for change in changes if seen[change.path] == ""]
    verb = "parses" if len(parsed) == 1 else "parse"
    note = f"{why}; {listed(parsed, _NAMED)} {verb}, nothing else was looked at" if parsed else why
    # Never `passed`: that files parse says nothing of what they do.
    return Verdict(status="no_check", note=note, progress=0.0, sandbox=sandbox)


def _is_spoiled(change: FileChange) -> bool:
    """Whether a file does not parse for the change: data did before, or is new and neither template nor a test's."""
    before, after = change.before, change.after or b""
    if change.path.endswith(_PYTHON):
        return True
    if _NOT_STRICT.fullmatch(change.path) or (_TEMPLATE.search(after) and not _TEMPLATE.search(before or b"")):
        return False
    return not is_test_file(change.path) if before is None else syntax_problem(before, change.path) == ""


def syntax_problem(data: bytes, path: str) -> str | None:
    """What is wrong with a file, as a traceback would say it; empty if it parses, None if it is not looked at."""
    try:
        if path.endswith(_PYTHON):
            with warnings.catch_warnings(action="ignore"):
                ast.parse(data, filename=path)
        elif len(data) > _MOST_BYTES or not path.endswith(DATA):
            return None
        elif path.endswith(".json"):
            json.loads(data)
        elif not path.endswith(".toml"):
            _read_yaml(data)
        elif not MANY_PARTS.search(text := data.decode()):
            tomllib.loads(text)
    except SyntaxError as error:
        return f'File "{path}", line {error.lineno}\n{type(error).__name__}: {error.msg}'
    except ValueError as error:
        said = " ".join(str(error).split())
        line = f", line {_LINE.findall(said)[-1]}" if _LINE.search(said) else ""
        return f'File "{path}"{line}\n{type(error.__cause__ or error).__name__}: {path}: {said}'
    except RecursionError:
        return None
    return ""


def _read_yaml(data: bytes) -> None:
    """Read all documents, whatever their tags stand for. ValueError: they are no YAML."""
    depth, anchors = 0, set[str]()
    try:
        for event in yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_DEPTH:  # which takes very long
                return
            if isinstance(event, yaml.AliasEvent) and event.anchor not in anchors:
                raise yaml.MarkedYAMLError(problem=f"no anchor {event.anchor}", problem_mark=event.start_mark)
            anchors.add(getattr(event, "anchor", None) or "")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise ValueError(f"{getattr(error, 'problem', None) or error}{place}") from error

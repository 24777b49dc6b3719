"""What is known of a request about code: the check that applies, the program, and the files that it is about."""

import re
from posixpath import dirname

from codur.checks.entry import is_test_code, text_of
from codur.checks.find_check import OF_COMMAND, OF_REQUEST, CheckRequest, find_check, find_entry
from codur.checks.stated_output import forbids_tests
from codur.context.file_order import standing
from codur.context.index import RepositoryIndex
from codur.lazy import regex
from codur.planning.patterns.classify import Classification, means_everywhere, verbs
from codur.planning.patterns.named_paths import SOURCE_SUFFIXES, suffix_of
from codur.planning.patterns.phrases import words
from codur.planning.patterns.request import MAX_CANDIDATES, Request
from codur.planning.renaming import renamed
from codur.structs import replace
from codur.tools.git.git_history import uncommitted
from codur.types import CODE_TASKS, Check, Discovery

SMALL_WORKSPACE = 8
"""Up to this many source files, those that the program imports belong to the files in question."""
_MADE = r"\b(?:into|create|creating|new|called|named|write|add|extract|split|move|put)\b[^.;\n]{{0,80}}{}"
"""A name after one of these words is that of a file to be made."""
_RENAMED = regex(
    r"\b(?:rename|renaming)\s+(?:the\s+)?(?:\w+\s+){0,2}[`'\"]?(?:\w+(?:\.|::|#))*([^\W\d]\w*)(?:\(\))?[`'\"]?"
    r"\s+(?:to|into|as)\s+[`'\"]?[^\W\d]",
    re.IGNORECASE,
)
"""A name that is to be another one."""
_CHECK_CHARS = 100_000  # of a prompt, this much is searched for an expected output


def discover_code(request: Request, found: Classification) -> Discovery:
    """The kind and the files, the check that applies, the program, and the sources it imports. UsageError if
    `expect_file` does not exist, or a file that defines the check is wrong.
    """
    discovery = request.discovery(found)
    # Whether the source that is to be changed is not there; another one must not be taken in its place
    text = request.task.prompt[:_CHECK_CHARS]
    absent = any(
        suffix_of(name) in SOURCE_SUFFIXES and not re.search(_MADE.format(re.escape(name)), text, re.IGNORECASE)
        for name in request.missing
    )
    if absent and not request.files and found.task_type != "code_generation" and not request.task.check_command:
        return discovery
    workspace = request.names.workspace
    named = request.files or _modules(request)
    check = _check(request, named)
    entry = check.entry if check is not None and check.entry else find_entry(workspace, named)
    entry = entry if entry is not None and workspace.is_file(entry) else None
    if entry and check is not None and check.kind in {"tests", "command"} and entry not in named:
        # A module of a library, or of documents, that can be run as well is not what a task about tests is about.
        inside = standing(entry) > 0 or workspace.is_file(f"{dirname(entry)}/__init__.py")
        entry = None if inside else entry
    parses = check.parses if check is not None else ()
    files = _involved(request, *named, *parses, *([entry] if entry else [])) or _tested_files(request, check)
    tests = _tests_to_edit(request, check) if check is not None else ()
    if check is not None and tests:
        check = check.without(tests)
    if check is not None and check.source in {OF_REQUEST, OF_COMMAND}:
        discovery = replace(discovery, task_type="code_fix", confidence=1.0)
    return replace(discovery, files=files, entry=entry, check=check, edits_tests=tests)


def _tests_to_edit(request: Request, check: Check) -> tuple[str, ...]:
    """The tests of the check that may be changed: all, if the user said so; else those that use what is renamed."""
    tests = tuple(filter(is_test_code, check.protected))
    if request.task.may_edit_tests:
        return tests
    prompt = request.task.prompt[:_CHECK_CHARS]
    if forbids_tests(prompt):
        return ()
    names = [found[1] for found in _RENAMED.finditer(prompt)] if means_everywhere(prompt) else [renamed(prompt)]
    return tuple(path for path in tests if any(name and _mentions(request, path, name) for name in names))


def _mentions(request: Request, path: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text_of(request.names.workspace, path)) is not None


def _involved(request: Request, *known: str) -> tuple[str, ...]:
    """The known files, then the sources that they import, directly or not, if the workspace is small."""
    sources = request.names.sources
    found = list(dict.fromkeys(known))
    if len(sources) <= SMALL_WORKSPACE:
        files = list(dict.fromkeys((*found, *sources)))
        view = RepositoryIndex(request.names.workspace, max_files=len(files)).view(files)
        for path in found:  # which grows meanwhile
            if path.endswith(".py"):
                found += [far for far in view.imports(path) if far not in found]
    return tuple(found)


def _tested_files(request: Request, check: Check | None) -> tuple[str, ...]:
    """What the tests import, for a request that names no file ("make the tests pass")."""
    if check is None or (check.kind != "tests" and check.source != OF_COMMAND):
        return ()
    tests = tuple(path for path in check.protected if path.endswith(".py"))
    return tuple(path for path in _involved(request, *tests) if path not in tests)


def _check(request: Request, files: tuple[str, ...]) -> Check | None:
    workspace, launcher = request.names.workspace, request.launcher
    wanted = CheckRequest(
        prompt=request.task.prompt[:_CHECK_CHARS],
        files=files,
        command=request.task.check_command,
        expect_file=request.task.expect_file,
        made=request.task.made,
        changed=lambda: uncommitted(workspace.root, launcher) if launcher else (),
    )
    return find_check(workspace, request.settings.verification, wanted)


def _modules(request: Request) -> tuple[str, ...]:
    """Sources whose name without suffix is a word of the prompt ("fix the parser"), if no file is named.

    Among more than a few sources only as code, as what is to be mended, or as one ("the parser module"): in "it lists
    my whole library" no file is meant. A verb names one only as the object of another, after an article, or as code:
    not in "mkdocs build crashes".
    """
    known, said, few = verbs(), set[str](), len(request.names.sources) <= SMALL_WORKSPACE
    keys = ["", "", *(token.key for token in request.text.tokens), ""]
    for token, far, before, after in zip(request.text.tokens, keys, keys[1:], keys[3:], strict=False):
        article = before in words("determiners")
        is_object = known.get(before) in CODE_TASKS or (article and known.get(far) in CODE_TASKS)
        meant = is_object or "_" in token.key or after in words("called a module")
        named = (article or token.key not in known) if few else meant
        if token.kind == "code" or (token.kind == "word" and (named or is_object)):
            said.add(token.text.casefold() if token.kind == "code" else token.key)
    said -= words("no modules")
    stems = ((path, path.rpartition("/")[2].partition(".")[0].casefold()) for path in request.names.sources)
    found = tuple(path for path, stem in stems if len(stem) >= 3 and stem in said)
    return found if len(found) <= MAX_CANDIDATES else ()

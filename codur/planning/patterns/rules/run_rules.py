"""Requests that run a program or the tests, and ask for nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codur.planning.patterns.named_paths import Mention
from codur.planning.patterns.prompt_tokens import Token, word_set
from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, on_file

_RUN = "(run|execute|start|launch)"
_TESTS = "(tests|test suite|testsuite|unit tests|test cases|unittests|pytest)"
_TEST_NAME = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_PLAIN_ARGUMENT = re.compile(r"[\w.,:=/+@%\-]+")
_SURE_ARGUMENT = re.compile(r"-[\w\-]+(?:=[\w.,:/+@%\-]*)?|\d[\w.]*|\w+=[\w.,:/+@%\-]*|[\w\-/]*[./][\w./\-]+")
_TALK = word_set(
    "and then but or so to if until while because it its this that them fix see check tell show explain why what how"
    " when where which who please again is are the for with from in into on of as after before debug make"
)
_MAX_ARGUMENTS = 20
_PROGRAM_NAMES = ("app.py", "script.py", "program.py", "project.py", "application.py")
"""Files that "run the app" and the like may mean by name."""


def _run(found: Found) -> Settled | None:
    return on_file(found["FILE"], found.names, lambda path: _program(path, ()))


def _run_with(found: Found) -> Settled | None:
    arguments = _arguments(found["ARGS"], sure=False)
    return on_file(found["FILE"], found.names, lambda path: _program(path, arguments) if arguments else None)


def _run_command(found: Found) -> Settled | None:
    arguments = _arguments(found["ARGS"], sure=True)
    return on_file(found["FILE"], found.names, lambda path: _program(path, arguments) if arguments else None)


def _run_options(found: Found) -> Settled | None:
    """`with input.csv` may mean standard input; `with --debug` can only be an option."""
    return _run_command(found) if all(token.text.startswith("-") for token in found["ARGS"]) else None


def _arguments(tokens: Sequence[Token], *, sure: bool) -> tuple[str, ...]:
    """The command-line arguments; none if a word may be talk, or (if `sure`) is not plainly an argument."""
    form = _SURE_ARGUMENT if sure else _PLAIN_ARGUMENT
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        if token.kind in {"quote", "code"}:
            continue
        if token.kind != "word" or not form.fullmatch(token.text) or _is_talk(token, after):
            return ()
    return tuple(token.text for token in tokens) if len(tokens) <= _MAX_ARGUMENTS else ()


def _is_talk(token: Token, after: Token | None) -> bool:
    """A word of a sentence; `a` only before a longer word, for it may be an argument itself."""
    article = token.key in {"a", "an"} and after is not None and after.text.isalpha() and len(after.text) > 2
    return token.key in _TALK or article


def _program(path: str, arguments: tuple[str, ...]) -> Settled | None:
    if not path.endswith(".py"):
        return None
    if _TEST_NAME.fullmatch(path):
        return None if arguments else _pytest(path)
    shown = " ".join((path, *arguments))
    extra = {"args": arguments} if arguments else {}
    return call("run_python_file", f"Run {shown}.", path=path, **extra)


def _pytest(path: str) -> Settled:
    extra = {"paths": (path,)} if path else {}
    return call("run_pytest", f"Run the tests{f' in {path}' if path else ''}.", **extra)


def _run_tests(found: Found) -> Settled | None:
    under = found.get("DIR", "")
    prefix = f"{under}/" if under else ""
    tests = (path for path in found.names.listing if path.startswith(prefix) and _TEST_NAME.fullmatch(path))
    return _pytest(under) if any(tests) else None


def _run_test_file(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    return on_file(mention, found.names, lambda path: _pytest(path) if _TEST_NAME.fullmatch(path) else None)


def _run_entry(found: Found) -> Settled | None:
    from codur.checks.discover import find_entry  # noqa: PLC0415 - lazy: the other rules do without

    entry = find_entry(found.names.workspace, ())
    rivals = [name for name in _PROGRAM_NAMES if name != entry and found.names.workspace.is_file(name)]
    return _program(entry, ()) if entry and not rivals else None


RULES = (
    Rule(
        name="run a program",
        phrases=(
            f"{_RUN} [the] [file|script|program|python file|python script] FILE [file|script|program]",
            "[run|execute] (python|python3) FILE",
            "(führe) FILE aus",
            "(starte|exécute|lance|ejecuta|corre) FILE",
        ),
        build=_run,
    ),
    Rule(
        name="run a program with arguments",
        phrases=(
            f"{_RUN} [the] [file|script|program] FILE with [the] [command line|command-line]"
            " (args|arguments|arg|argument|parameters|parameter|options) [:] ARGS",
        ),
        build=_run_with,
    ),
    Rule(
        name="run a command line",
        phrases=(f"{_RUN} FILE ARGS", "[run|execute] (python|python3) FILE ARGS"),
        build=_run_command,
    ),
    Rule(
        name="run a program with options",
        phrases=(f"{_RUN} FILE with [the] [option|options|flag|flags] ARGS",),
        build=_run_options,
    ),
    Rule(
        name="run the tests",
        phrases=(
            f"{_RUN} [all] [of] [the|my|our|these] [unit|python|project] {_TESTS}",
            f"{_RUN} [all] [of] [the|my] {_TESTS} (in|from|under|of) [the] [folder|directory] DIR [folder|directory]",
            "[python|python3] [-m] pytest [-q|-v] [DIR]",
            "(run|execute) pytest [in|on] DIR",
            "(do|does) [all] [of] [the|my|our] (tests|test suite) pass",
            "(check|see) (if|whether) [all] [the|my|our] (tests|test suite) (pass|passes)",
            "führe die tests aus",
            "(lance|exécute) les tests",
            "(ejecuta|corre) (los tests|las pruebas)",
            "(voer de tests uit|draai de tests)",
        ),
        build=_run_tests,
    ),
    Rule(
        name="run a test file",
        phrases=(
            f"{_RUN} [all] [the] {_TESTS} (in|from|of) [the] [file] FILE",
            "[run|execute] [python|python3] [-m] pytest [-q|-v] FILE",
        ),
        build=_run_test_file,
    ),
    Rule(
        name="run the program",
        phrases=(f"{_RUN} (it|this|the|my|this) [main] (program|app|application|project|script)",),
        build=_run_entry,
    ),
)

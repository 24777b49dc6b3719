"""Requests that run a program or the tests, and ask for nothing else."""

import re
from collections.abc import Sequence

from codur import checks
from codur.planning.patterns.named_paths import Mention
from codur.planning.patterns.phrases import words
from codur.planning.patterns.prompt_tokens import Token
from codur.planning.patterns.rules.rule import Build, Found, Rule, Settled, call, missing

_TEST_NAME = r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py"
_PLAIN_ARGUMENT = r"[\w.,:=/+@%\-]+"
_SURE_ARGUMENT = r"-[\w\-]+(?:=[\w.,:/+@%\-]*)?|\d[\w.]*|\w+=[\w.,:/+@%\-]*|[\w\-/]*[./][\w./\-]+"
_MAX_ARGUMENTS = 20
_PROGRAM_NAMES = ("app.py", "script.py", "program.py", "project.py", "application.py")
"""Files that "run the app" and the like may mean by name."""


def _run_command(found: Found) -> Settled | None:
    return _run_file(found, _arguments(found["ARGS"], _SURE_ARGUMENT))


def _run_options(found: Found) -> Settled | None:
    """`with input.csv` may mean standard input; `with --debug` can only be an option."""
    return _run_command(found) if all(token.text.startswith("-") for token in found["ARGS"]) else None


def _arguments(tokens: Sequence[Token], form: str) -> tuple[str, ...] | None:
    """The command-line arguments; None if a word may be talk, or is of another form."""
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        if token.kind in {"quote", "code"}:
            continue
        if token.kind != "word" or not re.fullmatch(form, token.text) or _is_talk(token, after):
            return None
    return tuple(token.text for token in tokens) if len(tokens) <= _MAX_ARGUMENTS else None


def _is_talk(token: Token, after: Token | None) -> bool:
    """A word of a sentence; `a` only before a longer word, for it may be an argument itself."""
    article = token.key in {"a", "an"} and after is not None and after.text.isalpha() and len(after.text) > 2
    return token.key in words("talk") or article


def _run_file(found: Found, arguments: tuple[str, ...] | None) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.path is None:
        return missing(mention, found.names)
    return None if arguments is None else _program(mention.path, arguments)


def _program(path: str, arguments: tuple[str, ...]) -> Settled | None:
    if not path.endswith(".py"):
        return None
    if re.fullmatch(_TEST_NAME, path):
        return None if arguments else _pytest(path)
    extra = {"args": arguments} if arguments else {}
    return call("run_python_file", f"Run {' '.join((path, *arguments))}.", path=path, **extra)


def _pytest(path: str) -> Settled:
    extra = {"paths": (path,)} if path else {}
    return call("run_pytest", f"Run the tests{f' in {path}' if path else ''}.", **extra)


def _run_tests(found: Found) -> Settled | None:
    under = found.first("DIR", default="")
    tests = (path for path in found.names.listing if re.fullmatch(_TEST_NAME, path))
    if any(path.startswith(f"{under}/" if under else "") for path in tests):
        return _pytest(under)
    return None if under else call("run_check", "Run the tests.")


def _run_declared(tool: str) -> Build:
    """Runs what a tool's file declares under a name that tells that it looks."""

    def build(found: Found) -> Settled | None:
        asked = f"fix {tool} {found['NAME']}"
        command = checks.suites.named_command.named_command(found.names.workspace, asked)
        return call("run_check", f"Run {command}.", command=command) if command else None

    return build


def _read_data(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.path is None:
        return missing(mention, found.names)
    if not mention.path.endswith(checks.syntax.DATA) or found.names.workspace.hides(mention.path):
        return None
    return call("run_check", f"Parse {mention.path}.", path=mention.path)


def _run_test_file(found: Found) -> Settled | None:
    mention: Mention = found["FILE"]
    if mention.path is None:
        return missing(mention, found.names)
    return _pytest(mention.path) if re.fullmatch(_TEST_NAME, mention.path) else None


def _run_entry(found: Found) -> Settled | None:
    entry = checks.find_check.find_entry(found.names.workspace, ())
    rivals = [name for name in _PROGRAM_NAMES if name != entry and found.names.workspace.is_file(name)]
    return _program(entry, ()) if entry and not rivals else None


COMMANDS = (
    Rule("run the check", lambda _: call("run_check", "Run the check.")),
    Rule("run a target of make", _run_declared("make")),
    Rule("run a script of npm", _run_declared("npm run")),
)
"""Commands that only look, as the project declares them."""
RULES = (
    Rule("run a program", lambda found: _run_file(found, ())),
    Rule("run a program with arguments", lambda found: _run_file(found, _arguments(found["ARGS"], _PLAIN_ARGUMENT))),
    Rule("run a command line", _run_command),
    Rule("run a program with options", _run_options),
    Rule("run the tests", _run_tests),
    Rule("run a test file", _run_test_file),
    *COMMANDS,
    Rule("read a file of data", _read_data),
    Rule("run the program", _run_entry),
)

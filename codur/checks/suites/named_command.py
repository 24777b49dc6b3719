"""The command that a request says fails, or is to pass: a target of make, a script of a package, one that checks."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from posixpath import dirname, join, normpath

from codur.checks.command_files import acts, name_parts
from codur.checks.entry import MAKEFILES, text_of
from codur.checks.linters import is_linter
from codur.lazy import regex
from codur.python.declared_commands import declared_command
from codur.workspace.workspace import Workspace

_NAME = r"[^\W_][\w.:-]*\w"
_DIRECTORY = r"[\w.@-]+(?:/[\w.@-]+)*/?"
_COMMAND = (
    rf"(?:cd (?P<cd>{_DIRECTORY}) && )?"
    rf"(?:g?make (?:(?:-C ?|--directory[ =])(?P<below>{_DIRECTORY}) )?(?P<target>{_NAME})"
    rf"|(?:npm|pnpm|yarn|bun) (?:--prefix[ =](?P<prefix>{_DIRECTORY}) )?(?:run )?(?P<script>{_NAME})"
    rf"(?: (?:-w|--workspace)[ =](?P<package>{_DIRECTORY}))?"
    r"|pre-commit run(?: -[\w-]+)*"
    r"|(?:python3? |node )(?P<program>[\w./-]{0,200}?(?:check|lint|valid|verif)[\w-]{0,99}\.(?:py|js|mjs))"
    r"|(?:bash |sh |\./)(?P<file>[\w./-]{0,200}?(?:check|lint|test|valid|verif)[\w-]{0,99}\.(?:sh|bash))"
    r"|python3? -m json\.tool (?P<read>[\w./-]*\w))"
)
_FILE = r"[\w./-]{0,200}[./][\w./-]{0,200}"
_BARE_LINTER = (
    r"(?:ruff check|ruff format --check|black --check|flake8|mypy|pyright|eslint|prettier --check|tsc)"
    rf"(?P<given>(?: (?:--?[\w-]+(?:=\S+)?|{_FILE}(?<!\.)|\.|\w[\w,-]*\b))+?)"
)
_QUOTED = (
    rf"(?:the |our |my )?(?:(?P<quote>[`'\"]?)(?P<command>{_COMMAND})(?P=quote)|`(?P<linter>[^`\n]+)`"
    rf"|(?P<bare>{_BARE_LINTER}))"
)
_PLEASE = r"\s*(?:please |(?:can|could|would) you )?"
_PASSES = r"(?:pass(?:es)?|succeeds?|works?|runs?|green|clean|happy|quiet|exits? with (?:status )?(?:0|zero))\b"
_END = r"(?= *(?:$|[.,;:!?)\n]|(?:again|now|and|but|so|with|without|in|on|for|under)\b))"
_MEND = r"(?:fix|mend|repair|correct|solve|resolve)"
_FAILS = (
    r"(?:(?:now|always|still|also) )?(?:fails?\b|failed\b|warns\b|complains\b|is (?:failing|red|broken)\b"
    r"|(?:does not|doesn't|doesnt) (?:pass|work|succeed)\b"
    r"|(?:exits?|ends?) with (?:status |code |an error|[1-9]|non-?zero))"
    r"(?![^.;\n]*\b(?:another|elsewhere|expected|fine|ignore|known|later|separate\w*|unrelated)\b)"
)
_FORMS = (
    regex(
        rf"{_PLEASE}(?:make|get|have|let|ensure) (?:sure )?(?:that )?{_QUOTED} (?:to |be |is )*{_PASSES}{_END}",
        re.IGNORECASE,
    ),
    regex(
        rf"{_PLEASE}{_MEND} (?:(?:the|all|any|what|everything|errors?|failures?|findings?|warnings?|problems?|issues?"
        rf"|of|from|in|that|by) )*{_QUOTED}(?: (?:finds|reports|says|complains about))?(?= *(?:$|[.;,:\n]))",
        re.IGNORECASE,
    ),
    regex(
        rf"{_PLEASE}{_QUOTED} (?:{_FAILS}|(?:must|has to|should) (?:be )?{_PASSES}{_END})",
        re.IGNORECASE,
    ),
)
"""How a request begins that is about a command; what says so in passing is about something else."""
_LATER = regex(
    r"(?:(?P<told>\(|\b(?:but|because|since|as) )|[.;,:\n]\s{0,9}|\b(?:then|until|and|so that) )"
    rf"(?P<run>(?:then )?(?:please )?run )?(?:then )?{_QUOTED}"
    rf"(?:(?(told)(?!)) (?:(?:should|must|has to|then|now|be|is) )*{_PASSES}{_END}| (?!failed)(?P<fails>{_FAILS})"
    r"|(?(told)\)(?= *(?:$|[.;,!\n]))|(?(run) (?:again|(?:to|and) (?:be|check|make|see))|(?!))))",
    re.IGNORECASE,
)
"""What is to pass in the end, fails, or is to be run: said after what is to be done, or in brackets."""
_SPOKEN_OF = regex(r"\b(?:called|describe|document|explain|how|instead|like|mention|rename|say|why)\b", re.IGNORECASE)
"""Before brackets: what stands in them is only named."""
_BARE = regex(
    rf"{_PLEASE}(?:make|get|have) (?:the |our )?[`'\"]?(?P<name>{_NAME})[`'\"]?"
    rf" (?:target |script )?(?:to |be |is )*(?:pass(?:es)?|succeeds?|green|clean|happy)\b{_END}",
    re.IGNORECASE,
)
""""Make lint pass", where `lint` is declared."""
_CHECKS = frozenset(
    "all audit build check checks ci compile coverage docs doc e2e eslint examples flake8 i18n integration links lint"
    " linter lints mypy pylint pyright qa quality ruff smoke spec style test tests texts translations tsc type types"
    " typecheck typing unit validate verify vet".split()
)
"""Parts of a target's name of which one tells that it looks."""
_NO_MORE = regex(
    r"[\s.,;:!`'\"]*(?:(?:please|then|and|so|now) )*(?:(?:fix|mend|repair|solve) (?:it|this|that))?[\s.!]*",
    re.IGNORECASE,
)
_WORD = regex(r"([\w./-]+)")
_LOOKS = regex(r"lint|style|typ(?:e|ing)|format|mypy|ruff|flake8|pyright|tsc|eslint|pre-commit", re.IGNORECASE)


def is_about_command(prompt: str) -> bool:
    """Whether a request begins with a command that fails or is to pass, whether there is such a one or not."""
    return any(form.match(prompt) for form in _FORMS)


def mends_first(prompt: str) -> bool:
    """Whether a request is about a fault or a test before it says which command is to pass in the end."""
    found = _LATER.search(prompt)
    if found is None:
        return False
    # What fails by itself is the fault.
    faults = r"tests?|test_\w+|bugs?|crash\w*|raises?|(?<!what is )wrong\w*"
    if not (found["fails"] or found["told"]):
        faults += rf"|{_MEND}|fails?"
    return bool(re.search(rf"\b(?:{faults})\b", prompt[: found.start()], re.IGNORECASE))


def spoken_command(prompt: str) -> str:
    """The target, script or hook that a request says fails, is to pass or to be run, whether there is such a one."""
    said = (found["command"] for found in _named(prompt, told=True) if not found[0].endswith("fail"))  # "make it fail"
    return next(filter(None, said), "")


def _named(prompt: str, *, told: bool = False) -> Iterator[re.Match[str]]:
    """Where a command is named so; `told`: not where its name may be an order ("make it work")."""
    yield from filter(None, (form.match(prompt) for form in _FORMS))
    for found in _LATER.finditer(prompt):
        run = found["fails"] or found["run"] or (found["told"] and not _SPOKEN_OF.search(prompt, 0, found.start()))
        if run or not (told or found["told"]):
            yield found


def named_command(workspace: Workspace, prompt: str) -> str:
    """The command that a request is about, if the workspace declares it and it looks at something; else empty."""
    for found in _named(prompt):
        said = found.groupdict()
        command = said["command"] or said["linter"] or _linter(workspace, found, prompt)
        if (said["package"] or said["prefix"]) and "npm " not in f" {command}".replace(" pnpm ", " "):
            continue  # others have these options for something else
        if command and _is_declared(workspace, said):
            return f"{command[:1].lower()}{command[1:]}"  # "Make lint fails": the sentence begins with it
    if bare := _BARE.match(prompt):
        name = bare["name"]
        named = ({"command": f"make {name}", "target": name}, {"command": f"npm run {name}", "script": name})
        return next((each["command"] for each in named if _is_declared(workspace, each)), "")
    return ""


def _linter(workspace: Workspace, found: re.Match[str], prompt: str) -> str:
    """A linter's command with the place that is named beside it, else with all; empty if a word of it is no place."""
    words = re.sub(r" (?:for|in|on)(?= )", "", found["given"]).split()
    named = not {"-m", "-p"}.isdisjoint(words)  # a module or a project
    if not named:
        words = [
            word if workspace.exists(word) or not workspace.is_file(f"{word}.py") else f"{word}.py" for word in words
        ]
    places = {word for word in words if _is_place(workspace, word)}
    known = places | {after for option, after in pairwise(words) if option.startswith("-")}
    if not all(word.startswith("-") or word in known for word in words):
        return ""
    if not named and not places:
        place = re.match(r" (?:for|in|on) ([\w./-]*\w)", prompt[found.end() :])
        rest = [] if found["bare"].startswith("tsc") else ["."]
        words += [place[1]] if place is not None and _is_place(workspace, place[1]) else rest
    return " ".join((found["bare"].removesuffix(found["given"]), *words))


def _is_place(workspace: Workspace, word: str) -> bool:
    return bool(re.fullmatch(_FILE, word)) or workspace.exists(word)


def _is_declared(workspace: Workspace, said: Mapping[str, str | None]) -> bool:
    if linter := said.get("linter") or said.get("bare"):
        return " " in linter and is_linter(linter)  # its name alone says less than its settings
    at = _directory(workspace, said)
    if at is None:
        return False
    if target := said.get("target"):
        rule = re.compile(rf"^{re.escape(target)}\s*:(?!=)", re.MULTILINE)
        makefiles = [text_of(workspace, join(at, name)) for name in MAKEFILES]
        # Where a file or a directory is called so, make says that it is up to date.
        if workspace.exists(join(at, target)) and not any(
            re.search(rf"^\.PHONY\s*:.*\b{re.escape(target)}\b", text, re.MULTILINE) for text in makefiles
        ):
            return False
        return _is_check(target) and any(map(rule.search, makefiles))
    if script := said.get("script"):
        return _is_check(script) and script in _scripts(workspace, at)
    if data := said.get("read"):
        return workspace.is_file(data)
    path = (said.get("file") or said.get("program") or ".pre-commit-config.yaml").removeprefix("./")
    return workspace.is_file(join(at, path)) and not acts(path)


def _directory(workspace: Workspace, said: Mapping[str, str | None]) -> str | None:
    """Where a command is declared, from the workspace's top (empty for that); None if there is no such place."""
    places = [place for name in ("cd", "below", "prefix", "package") if (place := said.get(name))]
    at = normpath(join("", *places)) if places else ""
    package = said.get("package")
    if package and not workspace.is_file(join(at, "package.json")):  # it is named as its own file has it
        files = workspace.list_files(pattern="package.json")
        return next((dirname(path) for path in files if _package(workspace, path).get("name") == package), None)
    if at in {"", "."}:
        return ""
    return at if not at.startswith(("/", "..")) and workspace.is_dir(at) else None


def program_of(command: str) -> str:
    """The program or script of the workspace that a command runs to judge; empty if it is none."""
    said = _said(command)
    return (said.get("program") or said.get("file") or "").removeprefix("./")


def recipe_of(workspace: Workspace, command: str) -> str:
    """What a target of make or a script of a package runs, as it is written; empty if the command is neither.

    Of one in a directory below the top, files are named as they are from the top, and so is what declares it.
    """
    said = _said(command)
    at, found = _directory(workspace, said) or "", ""
    if target := said.get("target"):
        rule = re.compile(rf"^{re.escape(target)}\s*:(?!=)[^\n]*\n((?:\t[^\n]*(?:\n|\Z))*)", re.MULTILINE)
        recipes = (rule.search(text_of(workspace, join(at, name))) for name in MAKEFILES)
        found = "".join(re.sub(r"^\t[@+-]*", "", match[1], flags=re.MULTILINE) for match in recipes if match)
    elif script := said.get("script"):
        found = str(_scripts(workspace, at).get(script, ""))
    if not at:
        return found
    words = (word if not workspace.is_file(path := normpath(join(at, word))) else path for word in _WORD.split(found))
    return f"{command.split()[0]} {at}\n{''.join(words)}"


def _said(command: str) -> Mapping[str, str | None]:
    found = re.fullmatch(_COMMAND, command, re.IGNORECASE)
    return found.groupdict() if found is not None else {}


def _is_check(name: str) -> bool:
    return not name_parts(name).isdisjoint(_CHECKS) and not acts(name)


def says_no_more(prompt: str) -> bool:
    """Whether a request is only that a command fails or is to pass."""
    found = next((found for form in (*_FORMS, _BARE) if (found := form.match(prompt))), None)
    # What warns may pass.
    return found is not None and "warn" not in found[0] and _NO_MORE.fullmatch(prompt[found.end() :]) is not None


def looks_only(workspace: Workspace, command: str) -> bool:
    """Whether a declared command is one of a linter, a formatter that changes nothing or a type checker."""
    tool, *rest = shlex.split(command)
    declared = declared_command(tool, rest, workspace.root)
    commands = declared.commands if declared is not None else ()
    said = _said(command)
    name = said.get("target") or said.get("script") or command  # not what a directory is called
    return bool(commands and all(is_linter(shlex.join(words)) for words in commands)) or bool(_LOOKS.search(name))


def _scripts(workspace: Workspace, at: str) -> Mapping[str, object]:
    found = _package(workspace, join(at, "package.json")).get("scripts")
    return found if isinstance(found, dict) else {}


def _package(workspace: Workspace, path: str) -> Mapping[str, object]:
    try:
        found = json.loads(text_of(workspace, path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

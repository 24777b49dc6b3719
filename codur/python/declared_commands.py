"""The commands that a project's files declare for tox, nox, hatch, pdm and make. Nothing is run."""

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.lazy import late, regex
from codur.python.project_files import (
    assigned_values,
    called_name,
    literal,
    parsed,
    read_ini,
    read_text,
    read_toml,
    table,
    words,
)
from codur.structs import Struct

if TYPE_CHECKING:
    import configparser
else:
    configparser = late("configparser")

_PIECE = regex(r"""[^\s"'\\$`;&|<>()*?~#]|'[^']*'|"[^"$`\\]*"|(?<=\S)[~#]""")
_SUBSTITUTION = regex(r"\{(posargs|args)(?::([^{}]*))?\}")
_HERE = regex(r"\{(?:toxinidir|tox_root|root)\}")
_TEST_SESSIONS = ("tests", "test", "unit", "unit_tests", "pytest", "py", "dev")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_ASSIGNED = regex(r"^(\w+)\s*(?:\?|:{1,2})?=\s*(.*)$", re.MULTILINE)
_USED = regex(r"\$[({](\w+)[)}]")


class Declared(Struct):
    """What a tool would run."""

    file: str  # the file that says so, relative to the workspace
    commands: tuple[list[str], ...]  # the commands in words, those that could not be read left out
    env: tuple[tuple[str, str], ...] = ()  # variables that it sets for them
    cwd: str = ""  # the directory that it runs them in; empty for the workspace's top


def simple_words(command: str) -> list[str]:
    """The words of a command in which nothing but plain quotes has a meaning for the shell; else none."""
    text = command.strip()
    if "\n" in text or any(piece.startswith(("~", "#")) for piece in text.split()) or not _is_simple(text):
        return []
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _is_simple(text: str) -> bool:
    place = 0
    while place < len(text):
        match = _PIECE.match(text, place)
        if match is None and not text[place].isspace():
            return False
        place = match.end() if match else place + 1
    return True


def declared_command(tool: str, arguments: Sequence[str], root: Path) -> Declared | None:
    """What a tool would run for its arguments, by the files of a workspace; None if that is not known."""
    reader = _READERS.get(tool)
    return reader(list(arguments), root) if reader else None


def _passed_on(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """A tool's own arguments, and those after `--` that it hands on."""
    if "--" not in arguments:
        return list(arguments), []
    place = list(arguments).index("--")
    return list(arguments[:place]), list(arguments[place + 1 :])


def _option(arguments: Sequence[str], *names: str) -> str:
    """The value of an option in one of its spellings; empty if it is not given."""
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else next(iter(arguments[place + 1 : place + 2]), "")
        if len(names[0]) == 2 and word.startswith(names[0]) and not word.startswith("--"):
            return word[2:]
    return ""


# --- tox --------------------------------------------------------------------------------------------------------------


def _tox(arguments: list[str], root: Path) -> Declared | None:
    own, passed = _passed_on(arguments)
    names = _option(own, "-e", "--env").split(",")
    file, parser = _tox_settings(root)
    if not file:
        return _tox_toml(names[0], passed, root)
    sections = [f"testenv:{name}" for name in names if name] + ["testenv"]
    commands = _lines(_setting(parser, sections, "commands"))
    env = dict(_pair(line) for line in words(_setting(parser, sections, "setenv", "set_env")) if "=" in line)
    return Declared(
        file=file,
        commands=tuple(filter(None, (_tox_words(line, passed) for line in commands))),
        env=tuple((name, value) for name, value in env.items() if "{" not in value),
        cwd=_HERE.sub("", _setting(parser, sections, "changedir", "change_dir")).strip("/"),
    )


def _tox_settings(root: Path) -> tuple[str, configparser.RawConfigParser]:
    if (root / "tox.ini").is_file():
        return "tox.ini", read_ini(root / "tox.ini")
    parser = read_ini(root / "setup.cfg")
    if parser.has_section("testenv"):
        return "setup.cfg", parser
    legacy = table(read_toml(root / "pyproject.toml"), "tool", "tox").get("legacy_tox_ini")
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    if isinstance(legacy, str):
        try:
            parser.read_string(legacy)
        except configparser.Error:
            return "", parser
    return ("pyproject.toml" if parser.has_section("testenv") else ""), parser


def _tox_toml(name: str, passed: list[str], root: Path) -> Declared | None:
    for file, keys in (("tox.toml", ()), ("pyproject.toml", ("tool", "tox"))):
        settings = table(read_toml(root / file), *keys)
        commands = table(settings, "env", name).get("commands") or table(settings, "env_run_base").get("commands")
        if isinstance(commands, list):
            texts = [shlex.join(_toml_words(item, passed)) for item in commands if isinstance(item, list)]
            return Declared(file=file, commands=tuple(filter(None, (_tox_words(text, passed) for text in texts))))
    return None


def _toml_words(command: list[Any], passed: list[str]) -> list[str]:
    """The words of one command; a table among them stands for what is handed on, or its default."""
    found: list[str] = []
    for item in command:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict) and item.get("replace") == "posargs":
            found += passed or words(item.get("default"))
    return found


def _setting(parser: configparser.RawConfigParser, sections: Iterable[str], *names: str) -> str:
    for section in sections:
        for name in names:
            value = parser.get(section, name, fallback=None)
            if value:
                return value
    return ""


def _pair(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), _HERE.sub(".", value).strip().removeprefix("./") or "."


def _lines(text: str) -> list[str]:
    """Lines, those that end with a backslash joined with what follows."""
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _tox_words(line: str, passed: list[str]) -> list[str]:
    """The words of one line of commands; none if it has substitutions that are not known here."""
    line = re.sub(r"^[\w!{},.-]+:\s+", "", line).lstrip("-!@ ")
    line = _HERE.sub(".", _substituted(line, passed))
    kept = [word for word in line.split() if not re.match(r"--?[\w-]+=\S*\{env\w*\}", word)]
    return [] if any("{" in word for word in kept) else simple_words(" ".join(kept))


def _substituted(line: str, passed: Sequence[str]) -> str:
    return _SUBSTITUTION.sub(lambda match: shlex.join(passed) or match[2] or "", line)


# --- nox --------------------------------------------------------------------------------------------------------------


def _nox(arguments: list[str], root: Path) -> Declared | None:
    """The commands of one session: the one that is named, else one that is called after tests, else the first."""
    own, passed = _passed_on(arguments)
    wanted = (_option(own, "-s", "--session", "--sessions") or _option(own, "-e")).partition("-")[0]
    tree = parsed(read_text(root / "noxfile.py"))
    if tree is None:
        return None
    sessions = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef) and _is_session(item)}
    names = [wanted] if wanted else [*_TEST_SESSIONS, *sessions]
    function = next((sessions[name] for name in names if name in sessions), None)
    if function is None:
        return None
    known = assigned_values((*tree.body, *function.body))
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and called_name(node) == "run"]
    env = {k: v for call in calls for item in call.keywords if item.arg == "env"
           for k, v in (literal(item.value, known) or {}).items()}  # fmt: skip
    commands = tuple(filter(None, (_call_words(call, passed, known) for call in calls)))
    return Declared(file="noxfile.py", commands=commands, env=tuple((str(k), str(v)) for k, v in env.items()))


def _is_session(function: ast.FunctionDef) -> bool:
    return any("session" in ast.unparse(decorator) for decorator in function.decorator_list)


def _call_words(call: ast.Call, passed: Sequence[str], known: Mapping[str, ast.expr]) -> list[str]:
    """The words of `session.run(...)`; none if one of them is not written out."""
    found: list[str] = []
    for argument in call.args:
        if isinstance(argument, ast.Starred) and "posargs" in ast.unparse(argument):
            default = argument.value.values[-1] if isinstance(argument.value, ast.BoolOp) else None
            found += passed or [str(item) for item in (default is not None and literal(default, known)) or ()]
            continue
        value = literal(argument.value if isinstance(argument, ast.Starred) else argument, known)
        if value is None:
            return []
        found += [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
    return found


# --- hatch, pdm, make -------------------------------------------------------------------------------------------------


def _hatch(arguments: list[str], root: Path) -> Declared | None:
    file = "hatch.toml" if (root / "hatch.toml").is_file() else "pyproject.toml"
    settings = read_toml(root / file) if file == "hatch.toml" else table(read_toml(root / file), "tool", "hatch")
    match arguments:
        case ["test", *rest]:
            own = [word for word in rest if word not in {"--", "-a", "--all", "-c", "--cover", "-r", "-p"}]
            default = words(table(settings, "envs", "hatch-test").get("default-args")) or ["tests"]
            return Declared(file=file, commands=(["pytest", *(own or default)],))
        case ["run", name, *passed]:
            env, _, script = name.rpartition(":")
            scripts = table(settings, "envs", env or "default", "scripts")
            return _script(scripts.get(script), passed, file)
    return None


def _pdm(arguments: list[str], root: Path) -> Declared | None:
    if arguments[:1] == ["run"]:
        arguments = arguments[1:]
    if not arguments:
        return None
    scripts = table(read_toml(root / "pyproject.toml"), "tool", "pdm", "scripts")
    script = scripts.get(arguments[0])
    return _script(script.get("cmd") if isinstance(script, dict) else script, arguments[1:], "pyproject.toml")


def _script(value: object, passed: Sequence[str], file: str) -> Declared | None:
    """A script that is one command or a list of them; what is handed on is put in its place, or at the end."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        return None
    lines = [item for item in items if isinstance(item, str)]
    commands = []
    for line in lines:
        has_place = _SUBSTITUTION.search(line)
        text = _substituted(line, passed) if has_place else " ".join([line, shlex.join(passed)])
        commands.append(simple_words(_HERE.sub(".", text)))
    return Declared(file=file, commands=tuple(filter(None, commands)))


def _make(arguments: list[str], root: Path) -> Declared | None:
    """The recipe of a target, if it is one command."""
    file = next((name for name in _MAKEFILES if (root / name).is_file()), "")
    targets = [word for word in arguments if "=" not in word]
    if not file or len(targets) != 1 or targets[0].startswith("-"):
        return None
    text = read_text(root / file).replace("\\\n", " ")
    recipe = re.search(rf"^{re.escape(targets[0])}\s*::?(?!=)[^\n]*\n((?:\t[^\n]*(?:\n|\Z))+)", text, re.MULTILINE)
    lines = _lines(recipe[1]) if recipe else []
    if len(lines) != 1:
        return None
    values = dict(_ASSIGNED.findall(text)) | dict(word.split("=", 1) for word in arguments if "=" in word)
    line = lines[0].lstrip("@-+ ")
    for _ in range(3):
        line = _USED.sub(lambda match: values.get(match[1], ""), line)
    found = simple_words(line)
    return Declared(file=file, commands=(found,)) if found else None


_READERS: dict[str, Callable[[list[str], Path], Declared | None]] = {
    "tox": _tox, "nox": _nox, "hatch": _hatch, "pdm": _pdm, "make": _make, "gmake": _make,
}  # fmt: skip

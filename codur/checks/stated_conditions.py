"""The conditions under which tests run: files that decide how, and how many ran. A fix changes neither."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from codur.checks.command_files import RUNS_MAKE, RUNS_NPM, acts
from codur.checks.entry import MAKEFILES, is_test_code
from codur.checks.pristine import MAX_BYTES
from codur.checks.stated_output import files_to_edit
from codur.checks.suites.junit import TestCounts
from codur.lazy import regex
from codur.python.project_files import toml_of
from codur.types import Check
from codur.workspace.workspace import Workspace

WHOLE = frozenset(
    {"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "sitecustomize.py", "usercustomize.py"}
)
"""Files that change how tests run, whatever is in them."""
_OF_RUNNERS = regex(
    r"\.npmrc|\.yarnrc(?:\.yml)?|(?:jest|vitest|karma|ava|playwright)\.(?:config|conf|setup|workspace)\.\w+"
    r"|\.mocharc(?:\.\w+)?|\.rspec(?:-local)?|phpunit\.xml(?:\.dist)?|CTestCustom\.c(?:make|test)|go\.work"
    r"|(?:.*/)?\.(?:cargo|mvn|bundle)/\w+(?:\.\w+)?"
)
"""The same for the runners of other languages: by name, the last ones by the directory as well."""
_DECIDING_LINES = {
    "Cargo.toml": regex(r"^.*(?:autotests|harness|\[\[test\]\]|\btest\s*=).*$", re.MULTILINE),
    "CMakeLists.txt": regex(
        r"^.*(?:WILL_FAIL|_REGULAR_EXPRESSION|SKIP_RETURN_CODE|\bDISABLED\b|(?i:function|macro)\s*\(\s*_*add_test\b).*$",
        re.MULTILINE,
    ),
    "pom.xml": regex(r"^.*(?:skipTests|testFailureIgnore|maven\.test|<(?:test)?[eE]xcludes?>).*$", re.MULTILINE),
    "build.gradle": (
        _GRADLE := regex(r"^.*(?:ignoreFailures|\benabled\b|\bexclude|\bfilter\b|onlyIf).*$", re.MULTILINE)
    ),
    "build.gradle.kts": _GRADLE,
    "_test.go": regex(r"^.*\bTestMain\b.*$", re.MULTILINE),
}
"""Lines that say how tests run, of files that also say other things, by the end of their names."""
_PACKAGE = "package.json"
SECTIONED = frozenset({"pyproject.toml", "setup.cfg", "tox.ini", _PACKAGE})
"""Files that also say other things."""
_SHADOWED = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "exceptiongroup", "unittest", "doctest"})
"""Modules that the test run must not take from the workspace."""
_ROOTS = frozenset({"src", "lib"})
_SHADOWS = tuple(path for name in sorted(_SHADOWED) for path in (f"{name}.py", f"{name}/__init__.py"))
_SECTION = regex(r"^[ \t]*\[+\s*(?:tool\s*[:.]\s*)?[\"']?pytest\b[^\n]*\n?(?:(?![ \t]*\[)[^\n]*\n?)*", re.MULTILINE)
_SCRIPT_WORDS = regex(r"[\w:./*-]+")
_FREE = frozenset(
    "author bin browser bugs bundleDependencies contributors dependencies description devDependencies engines exports"
    " files funding homepage imports keywords license main maintainers module name optionalDependencies overrides"
    " packageManager peerDependencies private repository resolutions scripts sideEffects type types version".split()
)
"""What of a package does not decide; of its scripts those do not that act, and that none that looks calls."""
_RULE = regex(r"([\w-]+(?: +[\w-]+)*) *:(?:[\w ./-]|\$[({]\w+[)}])*(?:\n\t.*)*")
_VARIABLE = regex(
    r"((?!TMPDIR)\w*(?:BIN|DIR|IMAGE|INSTALL|PREFIX|REGISTRY|SHARE|SUDO|TAG|VERSION)) *[?:]?="
    r"(?:[^$\n]|\$[({]\w+[)}])*",
    re.IGNORECASE,
)
"""Of a makefile: what changes nothing but what a target does that has this name, or uses it."""
_WHOLE = regex(r"^(?:\s*(?:define\b|export\s*$|\.EXPORT_ALL|(?:if|else).*\n\t)|[^\s:][^:\n]*\n\t)", re.MULTILINE)
"""With these a line may belong to what stands far above it, and each variable may count."""
_NOISE = regex(r"^\s*(?:[#;].*)?$")  # comments and empty lines, which may change
_MOVES = regex(r"\.[cm]?[jt]sx?$|^(?:plan != count|test exited without ending|\.end\(\) )")
"""Names of what failed that need not come back: an example at a line, a file that could not be loaded, and what tape
says of a test as a whole."""
_FORBIDDEN = r"(?i)(?:\bnot|n't|n’t|\bnever|\bwithout|\bno)\b(?:[^.;!?]|\.(?=\w))*{}"


class Conditions:
    """What decides how a check's tests run, as it was when the check was guarded, and how many ran in the first run."""

    def __init__(self) -> None:
        self._parts: dict[str, object] = {}
        self._first: dict[tuple[str, ...], TestCounts] = {}  # of the first run that failed and told how many ran
        self._without: set[tuple[str, ...]] = set()
        self._red: set[tuple[str, ...]] = set()

    def keep(self, check: Check, workspace: Workspace) -> None:
        """Remember the deciding files around the check's files as they are now; also that one is absent."""
        if check.kind != "output":
            for path in _places(check):
                # What is absent is remembered, too: a new `conftest.py` decides as much as a changed one.
                if _is_read(path, check):
                    self._parts.setdefault(path, _part(path, _bytes(workspace, path)))

    def copy(self, workspace: Workspace) -> Conditions:
        """The same for a copy of the workspace; files that were not copied (ignored ones) are not missed there."""
        other = Conditions()
        other._parts = {
            path: part
            for path, part in self._parts.items()
            if part is None or _part(path, _bytes(workspace, path)) is not None
        }
        other._first, other._without, other._red = dict(self._first), set(self._without), set(self._red)
        return other

    def changed(self, check: Check, workspace: Workspace, before: Mapping[str, bytes | None]) -> dict[str, str]:
        """Deciding files that are not what they were (`before`, where not remembered): path → why that matters."""
        if check.kind == "output":
            return {}
        found = {}
        paths = dict.fromkeys([*self._parts, *filter(_decides, before), *_packages(check, before)])
        for path in (path for path in paths if _is_read(path, check)):
            old = self._parts[path] if path in self._parts else _part(path, before[path])
            new = _part(path, _bytes(workspace, path))
            if isinstance(old, dict) and isinstance(new, dict) and "scripts" in old:
                new = {**new, "scripts": _run_by_known(old["scripts"], new.get("scripts", {}))}
            if old != new:
                what = "made" if old is None else "removed" if new is None else "changed"
                found[path] = f"{path} was {what}, which changes how tests run"
        return found

    def remember(self, check: Check, counts: TestCounts | None, *, passed: bool) -> None:
        """Take note of a run; the first failing one tells how many tests there are."""
        (self._red.discard if passed else self._red.add)(_run_of(check))
        if counts is not None and counts.ran is not None and not passed:
            # The first failing run alone: what an edit adds must not raise the bar, and a passing run may be the one
            # with fewer tests.
            self._first.setdefault(_run_of(check), counts)

    def forget(self, check: Check) -> None:
        """Take the next run of a check for its first: it is of other tests."""
        self._first.pop(_run_of(check), None)

    def known(self, check: Check) -> bool:
        """Whether an earlier failing run reported its tests."""
        return _run_of(check) in self._first

    def failed(self, check: Check) -> tuple[str, ...]:
        """The tests that failed in the first run that did, as the runner names them."""
        return self._first[_run_of(check)].failing if self.known(check) else ()

    def is_red(self, check: Check) -> bool:
        """Whether the run before failed."""
        return _run_of(check) in self._red

    def fewer(self, check: Check, counts: TestCounts | None, workspace: Workspace) -> str:
        """Why fewer tests than in an earlier failing run prove nothing, or an empty text.

        Nothing is said if an existing test was changed: only the prompt can allow that, and it may ask to remove tests.
        """
        earlier = (self._first[_run_of(check)].ran or 0) if self.known(check) else 0
        now = counts.ran if counts is not None else None
        told = set(counts.passing) if counts is not None else set()
        untold = [name for name in self.failed(check) if name not in told and not _MOVES.search(name)]
        if (now is None or now >= earlier) and not (told and untold):  # nothing was told: other rules judge that
            return ""
        if any(change.before is not None and is_test_code(change.path) for change in workspace.changes()):
            return ""
        if now is None or now >= earlier:
            return f"{untold[0]} failed before, and is not among the tests that pass now"
        return f"{earlier} tests ran before, {now} run now"

    def why_none(self, check: Check, workspace: Workspace) -> str:
        """Why a run without tests comes from the edit, or an empty text (there were none in the first place)."""
        if _run_of(check) in self._without and not self.known(check):
            return ""
        before = {change.path: change.before for change in workspace.changes()}
        reason = next(iter(self.changed(check, workspace, before).values()), "")
        reason = reason or self.fewer(check, TestCounts(passed=0, total=0, ran=0), workspace)
        if not reason:
            self._without.add(_run_of(check))
        return reason


def _run_of(check: Check) -> tuple[str, ...]:
    """What tells a check's runs from others: with a made test more count, without those that failed before fewer."""
    return (*check.argv, check.entry or "", *check.left_out)


def allowed_by(prompt: str, path: str) -> bool:
    """Whether a prompt speaks of a deciding file, and not to forbid its change."""
    if PurePosixPath(path).name in MAKEFILES:  # its name is said in passing: "make lint in the Makefile passes"
        return path in files_to_edit(prompt, (path,))
    name = re.escape(PurePosixPath(path).name)
    return bool(re.search(name, prompt)) and not re.search(_FORBIDDEN.format(name), prompt)


def _decides(path: str) -> bool:
    item = PurePosixPath(path)
    top = item.parts[item.parts[0] in _ROOTS and len(item.parts) > 1]  # below `src` a module shadows as well
    shadows = top.removesuffix(".py") in _SHADOWED and item.suffix == ".py"
    of_runner = _OF_RUNNERS.fullmatch(item.name) or _OF_RUNNERS.fullmatch(path)
    return item.name in WHOLE | SECTIONED or shadows or bool(of_runner or _lines_of(path))


def decides_in_part(check: Check, prompt: str) -> set[str]:
    """Which of a check's files only decide by a part, which is compared: what else a package or a makefile says may
    be changed."""
    if acts(" ".join(check.argv)):  # such a script decides here
        return set()
    partly = {path for path in check.protected if Path(path).name in {_PACKAGE, *MAKEFILES} and _is_read(path, check)}
    partly -= {path for path in partly if re.search(_FORBIDDEN.format(re.escape(Path(path).name)), prompt)}
    return partly.intersection(_places(check.without(partly)))


def _is_read(path: str, check: Check) -> bool:
    """Whether a file counts: a package where its scripts are run, any other one."""
    return PurePosixPath(path).name != _PACKAGE or bool(RUNS_NPM.search(" ".join(check.argv)))


def _lines_of(path: str) -> re.Pattern[str] | None:
    """What tells the deciding lines of a file; None if there is no such thing."""
    return next((lines for end, lines in _DECIDING_LINES.items() if path.endswith(end)), None)


def _packages(check: Check, before: Iterable[str]) -> list[str]:
    """Packages that are imported in place of a test module of the same name."""
    hidden = {f"{path.removesuffix('.py')}/__init__.py" for path in check.protected if path.endswith(".py")}
    return [path for path in before if path in hidden]


def _places(check: Check) -> list[str]:
    """Where deciding files count: at the top and in the directories above the check's files."""
    directories = {parent for path in check.protected for parent in PurePosixPath(path).parents}
    near = [directory / name for directory in sorted(directories) for name in sorted(WHOLE | SECTIONED)]
    top = [*sorted(WHOLE | SECTIONED), *_SHADOWS, *(MAKEFILES if RUNS_MAKE.search(" ".join(check.argv)) else ())]
    return list(dict.fromkeys([*top, *map(str, near)]))


def _bytes(workspace: Workspace, path: str) -> bytes | None:
    place = workspace.root / path
    try:
        if not place.is_file():
            return None
        with place.open("rb") as stream:
            # A bounded part: settings are small, and a sparse file can claim any size.
            return stream.read(MAX_BYTES)
    except OSError:  # unreadable for the test run as well
        return None


def _part(path: str, data: bytes | None) -> object:
    """What of a file decides how tests run; None if nothing does."""
    name, lines = Path(path).name, _lines_of(path)
    if data is not None and lines is not None:
        return lines.findall(data.decode("utf-8", errors="replace")) or None
    if data is None or name not in {*SECTIONED, *MAKEFILES}:
        return data
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    if name in MAKEFILES:
        return _of_makefile(text)
    return _of_package(text) if name == _PACKAGE else _table(text) if name == "pyproject.toml" else _sections(text)


def _of_package(text: str) -> object:
    """What may not be changed of a package, all of it if it is broken."""
    try:
        found = json.loads(text)
        scripts = dict(found.get("scripts", {}))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return text
    deciding = [name for name in scripts if not acts(name)]
    for name in deciding:  # which grows meanwhile
        called = {each for word in _SCRIPT_WORDS.findall(str(scripts[name])) for each in fnmatch.filter(scripts, word)}
        deciding += sorted(called.difference(deciding))
    rest = {name: found[name] for name in found.keys() - _FREE}
    return {"scripts": {name: scripts[name] for name in deciding}, **rest}


def _run_by_known(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """Scripts without those that are new and that none which was there calls, by a pattern too, or runs with itself."""
    words = [word for text in old.values() for word in _SCRIPT_WORDS.findall(str(text))]
    known = {name for name in new if name in old or re.sub("^(?:pre|post)", "", name) in old}
    known.update(name for word in words for name in fnmatch.filter(new, word))
    return {name: text for name, text in new.items() if name in known}


def _of_makefile(text: str) -> object:
    """What may not be changed of a makefile: all but targets that act, and that nothing else names, and their paths."""
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1 ", text)
    text = "\n".join(line for line in joined.split("\n") if not re.match(r"\s*(?:#|$)", line))
    if _WHOLE.search(text):
        return text
    blocks = re.split(r"\n(?!\t)", text)
    free = {block: names for block in blocks if (names := _acting(block))}
    deciding, phony = [], set[str]()
    waiting = [block for block in blocks if block not in free]
    while waiting:  # which grows meanwhile
        block = waiting.pop()
        if block.startswith(".PHONY"):
            phony.update(block.partition(":")[2].split())
            continue
        deciding.append(block)
        said = {*re.findall(r"[\w-]+", block), *re.findall(r"\w+", block)}
        waiting += [each for each, names in free.items() if not said.isdisjoint(names)]
        free = {each: names for each, names in free.items() if said.isdisjoint(names)}
    rest = [block.rstrip() for block in blocks if block in deciding]
    first = next((block for block in blocks if _RULE.fullmatch(block)), "")  # what `make` alone makes
    return rest, phony.difference(*free.values()), first if first in free else ""


def _acting(block: str) -> set[str]:
    """The names of a rule whose targets all act, or of a variable for where something goes; else none."""
    if variable := _VARIABLE.fullmatch(block):
        return {variable[1]}
    rule = _RULE.fullmatch(block)
    names = set(rule[1].split()) if rule is not None else set[str]()
    return names if all(map(acts, names)) else set()


def _table(text: str) -> object:
    """`[tool.pytest…]`, in whichever way TOML writes it; of a broken file, its lines."""
    found = toml_of(text)
    if found is None:
        return _sections(text)
    tool = found.get("tool")
    return tool.get("pytest") if isinstance(tool, dict) else None


def _sections(text: str) -> str | None:
    found = [line.rstrip() for match in _SECTION.finditer(text) for line in match[0].split("\n")]
    return "\n".join(line for line in found if not _NOISE.match(line)) or None

"""How a candidate's fork runs tests with pytest: a whole session, or only the test functions of one that is known.

It stands alone (standard library and the pytest of the workspace's Python): `worker_program` gets its text.

The light way calls plain test functions in their order and lets pytest tell their failures. It is taken for tests
with plain fixtures alone, without marks (other than parametrisation) and classes with set-up, if no hook of a
`conftest.py` takes part in their run; whatever else turns up in it (a skip, an import that fails, a deep recursion)
sends the candidate to a whole session.
"""

from __future__ import annotations

import ast
import sys
import traceback
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

OUT = "report.xml"
WRONG_USAGE = 4
_MOST_PLACES = 300
PLAIN_DEPTH = 5
"""Frames below pytest's main hook when it runs as `python -m pytest`."""


class Tests:
    """A test run with pytest."""

    learning = False
    limit_s = 0.0

    def __init__(self, task: dict[str, Any], sources: Any, guard: Any, temporary: str) -> None:
        self.sources, self.guard = sources, guard
        self.inside = sys.modules["_repair_worker_inside"]
        self.conftests = sys.modules["_repair_worker_conftest"].Conftests(sources.files, sources.root)
        self.room_part = sys.modules["_repair_worker_room"]
        self.problem = ""
        self.arguments = [each.replace("{report}", f"{temporary}/{OUT}") for each in task["arguments"]]
        self.tests = set(task.get("tests", ()))
        self.reported = any("{report}" in each for each in task["arguments"])
        self.plan: dict[str, Any] | None = None
        self.told: dict[str, Any] = {}
        self.room = 0
        self.codes: dict[str, Any] = {}
        self.load_conftests: Callable[[], None] = lambda: None
        self.pure = False
        self.config: Any = None
        sys.path[0], sys.argv = task["path"], list(task["argv"])
        try:
            import pytest  # noqa: F401 - lazy: only the workspace's Python may have it
            from _pytest.assertion import rewrite
        except ImportError:
            self.problem = "its Python has no pytest"
            return
        self.rewrite = rewrite
        self.rewriting = rewrite._rewrite_test
        rewrite._rewrite_test = self.rewritten  # type: ignore[assignment]
        if self.conftests.load_once or self.conftests.load_later:
            self.configure()

    def configure(self) -> None:
        """Load settings and plugins once, and a `conftest.py` unless it loads what candidates change."""
        from _pytest.config import PytestPluginManager, _prepareconfig

        usual = PytestPluginManager._set_initial_conftests
        if self.conftests.load_later:
            PytestPluginManager._set_initial_conftests = self.noted(usual)  # type: ignore[method-assign]
        self.config = _prepareconfig(list(self.arguments), [self])
        PytestPluginManager._set_initial_conftests = usual  # type: ignore[method-assign]
        self.capture = self.config.pluginmanager.getplugin("capturemanager")
        self.capture.stop_global_capturing()
        if set(self.inside.outside(self.sources)[1]) - set(self.conftests.trees):
            self.problem = "its settings load the workspace's own modules"

    def noted(self, usual: Callable[..., None]) -> Callable[..., None]:
        """A function that keeps for later what it is asked to do."""

        def note(*arguments: Any, **named: Any) -> None:
            self.load_conftests = lambda: usual(*arguments, **named)

        return note

    def adopt(self, learnt: dict[str, Any]) -> None:
        """Take over what a normal run told: the code of test modules, and the plan of the light way."""
        from pathlib import Path

        if self.config is not None:
            for path in learnt["rewritten"]:
                if path not in self.codes:
                    self.codes[path] = self.rewriting(Path(path), self.config)
            if learnt["plan"] and self.plan is None:
                self.plan, self.room = learnt["plan"], learnt["room"]
                try:
                    self.light = sys.modules["_repair_worker_light"].Light(self)
                except (ImportError, AttributeError, TypeError):  # not in this version of pytest: only sessions
                    self.plan = None
                self.pure = self.are_pure([*learnt["inside"], *learnt["rewritten"]])

    def are_pure(self, paths: Sequence[str]) -> bool:
        """Whether the program and its tests may share a process with other candidates."""
        files = self.sources.files
        names = {path[len(self.sources.root) + 1 :].partition("/")[0].removesuffix(".py") for path in files}
        run = {path: self.conftests.for_candidates(path, files[path]) for path in paths if path in files}
        return bool(self.room_part.is_pure(run, names))

    def may_share(self, files: Mapping[str, bytes], way: str) -> bool:
        """Whether a candidate may, which imports nothing that the program does not."""
        lines, root = self.room_part.import_lines, self.sources.root
        return (
            way == "light"
            and self.pure
            and all(lines(data) <= lines(self.sources.files[f"{root}/{path}"]) for path, data in files.items())
        )

    def rewritten(self, path: Any, config: Any) -> Any:
        """The code of a test module with its assertions rewritten; test modules are the same for all candidates."""
        self.told.setdefault("rewritten", []).append(str(path))
        return self.codes.get(str(path)) or self.rewriting(path, config)

    # --- the ways -----------------------------------------------------------------------------------------------------

    def ways(self, wanted: str) -> Iterator[str]:
        if self.plan is not None and wanted != "full":
            yield "light"
        yield "full"

    def work(self, way: str) -> Callable[[int], int]:
        return self.run_light if way == "light" else self.run_full

    def run_light(self, report: int) -> int:
        self.guard.start(report)
        status = 0
        with self.inside.Caught() as caught:
            status = self.light.run(self.limit_s, lambda told: self.inside.tell(report, told))
        if caught.error is not None:
            self.inside.tell(report, {"again": "".join(traceback.format_exception_only(caught.error))})
        return int(status)

    def run_full(self, report: int) -> int:
        """In the fork: a whole session; gives pytest's exit status."""
        self.told = {"rewritten": [], "modules": [], "inside": []}
        self.report = report
        self.guard.start(report)
        status: Any = 1
        with self.inside.Caught() as caught:
            status = self.session()
        status = self.inside.finish(int(status) if caught.error is None else self.ended(caught.error))
        if self.learning:
            self.inside.tell(report, self.told)
        return int(status)

    def session(self) -> Any:
        sys.setrecursionlimit(sys.getrecursionlimit() + max(0, self.inside.depth() - PLAIN_DEPTH))
        if self.config is None:
            import pytest

            return pytest.main(list(self.arguments), plugins=[self])
        from _pytest.config import ConftestImportFailure

        self.capture.start_global_capturing()
        self.capture.suspend_global_capture()
        try:
            self.load_conftests()
        except ConftestImportFailure:
            return WRONG_USAGE  # a plain process tells the rest
        try:
            return self.config.hook.pytest_cmdline_main(config=self.config)
        finally:
            self.config._ensure_unconfigure()

    def ended(self, error: BaseException) -> int:
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            return error.code & 0xFF
        self.inside.show(error)
        return 1

    # --- what a whole session tells -----------------------------------------------------------------------------------

    def pytest_runtest_logfinish(self) -> None:
        """Called by pytest after each test. What is loaded later only tells the results, and a large fork is slow."""
        if self.learning:
            self.told["modules"], self.told["inside"] = self.inside.outside(self.sources)

    def pytest_pyfunc_call(self) -> None:
        """Called by pytest from where it calls a test function: how deep that may go."""
        if self.learning and not self.told.get("room"):
            self.told["room"] = sys.getrecursionlimit() - self.inside.depth()
            self.inside.tell(self.report, {"room": self.told["room"]})

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Called by pytest with the tests that it found."""
        if self.tests:
            items[:] = [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & self.tests]

    def pytest_collection_finish(self, session: Any) -> None:
        """Called by pytest when it knows its tests. It is told at once, as one of them may never end."""
        if not self.learning:
            return
        self.told["modules"], self.told["inside"] = self.inside.outside(self.sources)
        if self.config is not None and self.reported and self.conftests.are_quiet and not session.testsfailed:
            items = [_planned(item, self.conftests.trees) for item in session.items]
            if items and all(items) and not session.config.option.maxfail:
                modules = {item.module.__name__: str(item.path) for item in session.items}
                self.told["plan"] = {"items": items, "modules": modules, "path": list(sys.path)}
                self.told["plan"]["conftests"] = self.loaded_conftests()
        self.inside.tell(self.report, self.told)

    def loaded_conftests(self) -> dict[str, str]:
        """Names and paths of those that each candidate loads anew."""
        if not self.conftests.load_later:
            return {}
        found = {path: self.config.pluginmanager.get_plugin(path) for path in self.conftests.trees}
        return {module.__name__: path for path, module in found.items() if module is not None}


class Places:
    """Where the statements of unchanged sources begin and end, which takes pytest long to find out.

    Args:
        code: the module of pytest that asks.
    """

    def __init__(self, code: Any) -> None:
        self.usual: Any = getattr(code, "getstatementrange_ast", None)
        self.known: dict[tuple[int, int], Any] = {}
        if self.usual is not None:
            self.source = code.Source
            code.getstatementrange_ast = self.find

    def learn(self, tree: Any, lines: list[str]) -> None:
        """Find out about a source that stays."""
        if self.usual is None:
            return
        source = self.source("".join(lines))
        numbers = sorted({node.lineno - 1 for node in ast.walk(tree) if isinstance(node, ast.Assert)})
        for number in numbers[:_MOST_PLACES]:
            self.known[id(tree), number] = self.usual(number, source, astnode=tree)

    def find(self, number: int, source: Any, assertion: bool = False, astnode: Any = None) -> Any:
        """As pytest's own function."""
        found = self.known.get((id(astnode), number))
        return self.usual(number, source, assertion, astnode) if found is None else found


def _planned(item: Any, conftests: Collection[str]) -> dict[str, Any] | None:
    """What is needed to call a test function without pytest; None if it needs pytest."""
    import pytest
    from _pytest.junitxml import mangle_test_address

    marks = list(item.iter_markers())
    callspec = getattr(item, "callspec", None)
    direct = callspec.params if callspec is not None else {}
    indices = _indices(marks, direct)
    plain_class = item.cls is None or not any(hasattr(item.cls, name) for name in _SET_UP)
    if (
        type(item) is not pytest.Function
        or not plain_class
        or indices is None
        or any(mark.name != "parametrize" or mark.kwargs.get("indirect") for mark in marks)
        or any(hasattr(item.module, name) for name in _SET_UP)
        or not isinstance(item.function, types.FunctionType)
    ):
        return None
    plain = sys.modules["_repair_worker_fixtures"]
    try:
        fixtures = plain.planned(item, direct, conftests)
    except plain.NotPlain:
        return None
    names = mangle_test_address(item.nodeid)
    return {
        "fixtures": fixtures,
        "arguments": list(item._fixtureinfo.argnames),
        "module": item.module.__name__,
        "class": item.cls.__qualname__ if item.cls is not None else "",
        "function": item.originalname,
        "indices": indices,
        "classname": ".".join(names[:-1]),
        "name": names[-1],
    }


def _indices(marks: Sequence[Any], values: Mapping[str, Any]) -> dict[str, int] | None:
    """Which of its sets of values each parametrisation takes, by its first name; None if that cannot be told."""
    found: dict[str, int] = {}
    for mark in marks:
        if mark.name != "parametrize" or len(mark.args) != 2 or not isinstance(mark.args[1], (list, tuple, range)):
            return None
        names = names_of(mark)
        for number, each in enumerate(mark.args[1]):
            if all(
                values.get(name, found) is value for name, value in zip(names, values_of(each, names), strict=False)
            ):
                found[names[0]] = number
                break
        else:
            return None
    return found


def names_of(mark: Any) -> list[str]:
    """The arguments that a parametrisation gives."""
    names = mark.args[0]
    return [each.strip() for each in names.split(",") if each.strip()] if isinstance(names, str) else list(names)


def values_of(each: Any, names: Sequence[str]) -> Sequence[Any]:
    """One set of its values."""
    if type(each).__name__ == "ParameterSet":
        return list(each.values)
    return [each] if len(names) == 1 else list(each)


_SET_UP = (
    "setUp setup setup_method teardown_method setup_class teardown_class setup_module teardown_module setUpModule"
    " tearDownModule setup_function teardown_function pytest_plugins pytestmark pytest_generate_tests"
).split()

"""The light way of a test run: plain test functions, called in their order, and their failures told by pytest."""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import inspect
import io
import linecache
import os
import sys
import tokenize
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _pytest import assertion, capture, config, junitxml, outcomes
from _pytest._code import code
from _pytest.assertion import rewrite

from .fork_end import Caught, OutOfTime, Timed, depth
from .memory_sources import lines_of
from .plain_fixtures import Made
from .pytest_plan import arguments_of

_MOST_PLACES = 300
_HUNG = '<failure message="it ran out of time">it ran out of time</failure>'
_REHEARSED = "rehearsal of failures"  # a name for `linecache`; there is no such file
_REHEARSAL = """
def f(x=1): return x
def g(x): return [][x]
def a(): assert f() == 2
def b(): assert f([1, 2]) == [1, 3]
def c(): assert f('a\\nb') == 'a\\nc', "message"
def d(): assert f({"a": 1}) == {"a": 2} and f()
def e(): assert f({1}) == {2} or f() in []
def h(): assert not (f(1.5) < 2.5) is True
def l(): assert f(True) == False
def m(): assert f(None) == 1
def n(): assert f((1, 2)) == (1,)
def o(): assert f("a") == 1
def p(): assert f([1.0]) == None
def q(): assert f() is True
def r(): assert f(0)
def s(): assert f("text") in ["other"] and f()
def i(): g(1)
def j(): raise ValueError("text")
def k():
    try: g(1)
    except IndexError as error: raise KeyError(1) from error
FAILING = (a, b, c, d, e, h, l, m, n, o, p, q, r, s, i, j, k)
"""
# A test module that cannot be read so is one that pytest will complain of; nothing is lost but time.
_UNFIT = (tokenize.TokenError, SyntaxError, ValueError, RecursionError, MemoryError)


class NeedsSession(Exception):
    """The light way cannot tell what pytest would."""


class Places:
    """Where the statements of unchanged sources begin and end, which takes pytest long to find out."""

    def __init__(self) -> None:
        asking: Any = code
        self.usual: Any = getattr(asking, "getstatementrange_ast", None)
        self.known: dict[tuple[int, int], Any] = {}
        if self.usual is not None:
            self.source = asking.Source
            asking.getstatementrange_ast = self.find

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


class Light:
    """Runs the tests of a plan.

    Args:
        tests: what is loaded once: `plan` (the tests, and what each needs), `config`, `sources`, `conftests`, `codes`
            (of test modules by path, with their assertions rewritten), `recursion` (how deep a test may go).
    """

    def __init__(self, tests: Any) -> None:
        self.tests, self.plan, self.config, self.sources = tests, tests.plan, tests.config, tests.sources
        self.printable, self.no_input = junitxml.bin_xml_escape, capture.DontReadFromInput
        self.writer = config.create_terminal_writer(self.config, io.StringIO())
        self.special = (
            outcomes.Skipped,
            outcomes.Exit,
            outcomes.Failed,
            KeyboardInterrupt,
            RecursionError,
            BaseExceptionGroup,
        )
        self.formatter: Any = getattr(code, "ExceptionInfoFormatter", None) or vars(code)["FormattedExcinfo"]
        self.known = inspect.signature(self.formatter).parameters
        verbosity = getattr(self.config, "get_verbosity", lambda: self.config.option.verbose)()  # since pytest 8.0
        self.style = {
            "showlocals": self.config.option.showlocals,
            "style": "short",
            "abspath": False,
            "tbfilter": _shown_frames,
            "truncate_locals": verbosity <= 1,
            "truncate_args": verbosity <= 2,
        }
        self.trees: dict[Path, Any] = {}
        for path in self.plan["modules"].values():
            with contextlib.suppress(*_UNFIT):
                self.trees[Path(path)] = ast.parse(self.sources.files[path])
        self.names: dict[str, set[str]] = {}
        for item in self.plan["items"]:
            first = (item["class"] or item["function"]).partition(".")[0]
            self.names.setdefault(item["module"], set()).add(first)
        self.places = Places()
        self.told: list[str] = []
        # Now and not in each fork: the path is searched once for the modules that every candidate imports.
        self.specs = self.found_already()
        self.rehearse()

    def rehearse(self) -> None:
        """Fill caches before the fork (of sources, regular expressions, imports), by failures told to nobody."""
        sources = {path: self.sources.files[path] for path in self.plan["modules"].values()}
        made = f"{self.sources.root}/{_REHEARSED}"
        for path, data in {**sources, made: _REHEARSAL.encode()}.items():
            lines = lines_of(data)
            # No time of change in the entry: `linecache` then takes it as it is and looks at no file.
            linecache.cache[path] = (len(data), None, lines, path)
            with contextlib.suppress(*_UNFIT):
                list(tokenize.generate_tokens(iter(lines).__next__))
            if Path(path) in self.trees:
                self.places.learn(self.trees[Path(path)], lines)
        tree = ast.parse(_REHEARSAL)
        rewrite.rewrite_asserts(tree, _REHEARSAL.encode(), made, self.config)
        module = types.ModuleType("_repair_rehearsal")
        sys.modules[module.__name__] = module
        # `inspect.getmodule` looks through all loaded modules for a file that it does not know, in every failure.
        inspect.modulesbyfile.update(
            {made: module.__name__}
            | {path: name for name, path in self.plan["modules"].items()}
            | {spec.origin: name for name, spec in self.specs.items()}
        )
        exec(compile(tree, made, "exec"), module.__dict__)
        inspect.getmodule(compile("", f"{made} of places", "exec"))  # looks for the files of all modules
        explaining = self.explained()
        for function in module.__dict__["FAILING"]:
            with Caught() as caught:
                function()
            if caught.error is not None:
                self.failure(caught.error, function)
        explaining.close()
        del self.config.get_terminal_writer

    def found_already(self) -> dict[str, Any]:
        """Where modules of the workspace are found, those of them that pytest does not rewrite."""
        specs = {}
        for path in self.sources.kept:
            name = Path(path).stem
            spec = importlib.machinery.PathFinder.find_spec(name, self.plan["path"])
            if spec is not None and spec.origin == path and path not in self.tests.codes and name not in sys.modules:
                specs[name] = spec
        return specs

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Called by imports, before the other finders."""
        # Only as long as nobody has changed the path, which may come to mean another module.
        return self.specs.get(name) if path is None and sys.path == self.plan["path"] else None

    def explained(self) -> Any:
        """Failed comparisons are explained as long as this generator is not closed."""
        item: Any = types.SimpleNamespace(config=self.config, ihook=self.config.hook)
        self.config.get_terminal_writer = lambda: self.writer  # some versions ask it whether to colour values
        explaining: Any = assertion.pytest_runtest_protocol(item)
        next(explaining)
        return explaining

    def run(self, limit_s: float, tell: Callable[[dict[str, Any]], None]) -> int:
        """Runs the tests, tells the report as JUnit XML, and gives the exit status.

        Args:
            limit_s: processor time of a single test; one that uses it up failed, and the next ones have less.

        Raises:
            NeedsSession: a whole session must tell.
        """
        sys.path[:] = self.plan["path"]
        sys.meta_path.insert(0, self)
        if self.tests.conftests.load_once and self.tests.conftests and not vars(self.config).get("_configured"):
            self.config._do_configure()
        sys.stdin = self.no_input()
        null = os.open(os.devnull, os.O_WRONLY)
        # What tests print is told by nobody here, and pytest would have captured it.
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.close(null)
        timed = self.timed = Timed(limit_s, lambda: self.give_up(tell))
        self.conftests = {path: self.load(name, path) for name, path in self.plan["conftests"].items()}
        modules = {name: self.load(name, path) for name, path in self.plan["modules"].items()}
        for module in modules.values():
            self.same_names(module)
        explaining = self.explained()
        with warnings.catch_warnings(record=True):
            for planned in self.plan["items"]:
                self.told.append(self.call(planned, modules[planned["module"]]))
                # The rest counts as failed: that is the same for all candidates that hang so often.
                if timed.hopeless:
                    break
        explaining.close()
        tell(self.report())
        return 1 if any(self.told) or timed.hung else 0

    def report(self) -> dict[str, Any]:
        """The report; tests that were not reached failed."""
        cases = []
        for number, planned in enumerate(self.plan["items"]):
            told = self.told[number] if number < len(self.told) else _HUNG
            place = f'classname="{self.escaped(planned["classname"])}" name="{self.escaped(planned["name"])}"'
            cases.append(f"<testcase {place}>{told}</testcase>")
        text = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
        report = text.encode("utf-8", "backslashreplace").decode("latin-1")
        # Marked, because with more time the verdict may be another.
        return {"report": report, "hung": True} if self.timed.hung else {"report": report}

    def escaped(self, text: str) -> str:
        """A text as it stands in XML."""
        shown = str(self.printable(text))
        for plain, told in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\r", "&#13;")):
            shown = shown.replace(plain, told)
        return shown

    def give_up(self, tell: Callable[[dict[str, Any]], None]) -> None:
        """End the fork in the middle of a test that does not end."""
        self.timed.hung += 1
        tell(self.report())
        os._exit(1)

    def load(self, name: str, path: str) -> types.ModuleType:
        """Imports a test module, from its rewritten code."""
        module = types.ModuleType(name)
        found = self.tests.codes.get(path)
        if found is None:
            raise NeedsSession("a test module is not known")
        module.__file__ = path
        # Nothing may load it again by its spec: the code is the rewritten one.
        module.__loader__ = module.__spec__ = None
        module.__dict__["__builtins__"] = __builtins__
        module.__package__ = name.rpartition(".")[0]
        if "." in name:
            __import__(module.__package__)
        sys.modules[name] = module
        inspect.modulesbyfile[path] = name
        exec(found[1], module.__dict__)
        return module

    def same_names(self, module: types.ModuleType) -> None:
        """A candidate may change which tests there are: by a name that the test module takes over from it."""
        found = {
            name
            for name, value in module.__dict__.items()
            if name[:4] in ("test", "Test") and (callable(value) or isinstance(value, type))
        }
        if found != self.names[module.__name__]:
            raise NeedsSession("there are other tests")

    def call(self, planned: dict[str, Any], module: types.ModuleType) -> str:
        """Runs one test; gives the failure as XML, or an empty text."""
        owner: Any = module
        for part in filter(None, planned["class"].split(".")):
            owner = getattr(owner, part)
        # By name and in each fork: the module has just been loaded anew.
        function = getattr(owner, planned["function"])
        arguments = arguments_of(function, planned["indices"])
        bound = getattr(owner() if planned["class"] else owner, planned["function"])
        made = Made(arguments)
        if not self.prepared(lambda: made.make(planned["fixtures"], lambda path: self.owner(path, module))):
            return _HUNG
        if self.tests.recursion:
            sys.setrecursionlimit(depth() + self.tests.recursion)
        with Caught() as caught, self.timed:
            # Coroutines, generators and deferred results: pytest or a plugin does something with each of them.
            if bound(**{name: arguments[name] for name in planned["arguments"]}) is not None:
                raise NeedsSession("a test gives something back")
        told = _HUNG if self.timed.late else self.told_of(caught.error, function)
        return told if self.prepared(made.finish) else _HUNG

    def prepared(self, work: Callable[[], None]) -> bool:
        """Makes or finishes the fixtures of a test; False if that ran out of time."""
        with Caught() as caught, self.timed:
            work()
        if isinstance(caught.error, OutOfTime) or self.timed.late:
            return False
        if caught.error is not None:
            raise NeedsSession("a fixture failed") from caught.error
        return True

    def owner(self, path: str, module: types.ModuleType) -> Any:
        """The module of a fixture: the test's own, or that of a `conftest.py`."""
        if not path:
            return module
        return self.conftests.get(path) or self.config.pluginmanager.get_plugin(path)

    def told_of(self, error: BaseException | None, function: Any) -> str:
        """How a test ended, as XML."""
        if error is None:
            return ""
        if isinstance(error, OutOfTime):
            return _HUNG
        if isinstance(error, (NeedsSession, *self.special)):
            raise NeedsSession(type(error).__name__) from error
        return self.failure(error, function)

    def failure(self, error: BaseException, function: Any) -> str:
        """A failed test as pytest reports it with `--tb=short`."""
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code is not function.__code__:
            own = own.tb_next
        if own is None:
            raise NeedsSession("the call itself failed")
        found = code.ExceptionInfo.from_exception(error.with_traceback(own))
        formatter = self.formatter(**{name: value for name, value in self.style.items() if name in self.known})
        formatter.astcache = dict(self.trees)
        told = formatter.repr_excinfo(found)
        crash = getattr(told, "reprcrash", None)
        message = crash.message if crash is not None else ""
        return f'<failure message="{self.escaped(message)}">{self.escaped(str(told))}</failure>'


def _shown_frames(excinfo: Any) -> Any:
    """Frames that are not hidden; the traceback starts at the test already."""
    return excinfo.traceback.filter(excinfo)

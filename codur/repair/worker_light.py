"""The light way of a test run: plain test functions, called in their order, and their failures told by pytest.

It stands alone (standard library and the pytest of the workspace's Python): `worker_program` gets its text.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import sys
import types
import warnings
from pathlib import Path
from typing import Any

_UNFIT = (SyntaxError, ValueError, RecursionError, MemoryError)


class NeedsSession(Exception):
    """The light way cannot tell what pytest would."""


class Light:
    """Runs the tests of a plan."""

    def __init__(self, tests: Any) -> None:
        from _pytest import assertion, capture, junitxml, outcomes  # noqa: PLC0415 - the workspace's pytest
        from _pytest._code import code  # noqa: PLC0415

        self.tests, self.plan, self.config = tests, tests.plan, tests.config
        self.assertion, self.code, self.escaped = assertion, code, junitxml.bin_xml_escape
        self.no_input = capture.DontReadFromInput
        self.special = (
            outcomes.Skipped,
            outcomes.Exit,
            outcomes.Failed,
            KeyboardInterrupt,
            RecursionError,
            BaseExceptionGroup,
        )
        self.formatter = getattr(code, "ExceptionInfoFormatter", None) or vars(code)["FormattedExcinfo"]
        self.known = inspect.signature(self.formatter).parameters
        self.style = {
            "showlocals": self.config.option.showlocals,
            "style": "short",
            "abspath": False,
            "tbfilter": _shown_frames,
            "truncate_locals": self.config.get_verbosity() <= 1,
            "truncate_args": self.config.get_verbosity() <= 2,
        }
        self.trees: dict[Path, Any] = {}
        for path in self.plan["modules"].values():
            with contextlib.suppress(*_UNFIT):
                self.trees[Path(path)] = ast.parse(tests.sources.files[path])
        self.names: dict[str, set[str]] = {}
        for item in self.plan["items"]:
            first = (item["class"] or item["function"]).partition(".")[0]
            self.names.setdefault(item["module"], set()).add(first)
        self.rehearse()

    def rehearse(self) -> None:
        """Fill caches (of `inspect`, of regular expressions) before the fork, by a failure that is told to nobody."""
        for path in self.plan["modules"].values():
            inspect.getmodule(compile("", path, "exec"))
        with self.tests.inside.Caught() as caught:
            _fail()
        if caught.error is not None:
            self.failure(caught.error, _fail)

    def run(self) -> tuple[str, int]:
        """The report as JUnit XML, and how many tests failed.

        Raises:
            NeedsSession: a whole session must tell.
        """
        sys.path[:] = self.plan["path"]
        sys.stdin = self.no_input()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        modules = {name: self.load(name, path) for name, path in self.plan["modules"].items()}
        item: Any = types.SimpleNamespace(config=self.config, ihook=self.config.hook)
        explaining = self.assertion.pytest_runtest_protocol(item)
        next(explaining)
        cases, failing = [], 0
        with warnings.catch_warnings(record=True):
            for planned in self.plan["items"]:
                told = self.call(planned, modules[planned["module"]])
                failing += bool(told)
                place = f'classname="{self.escaped(planned["classname"])}" name="{self.escaped(planned["name"])}"'
                cases.append(f"<testcase {place}>{told}</testcase>")
        return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>", failing

    def load(self, name: str, path: str) -> types.ModuleType:
        """Imports a test module, from its rewritten code."""
        module = types.ModuleType(name)
        found = self.tests.codes.get(path)
        if found is None:
            raise NeedsSession("a test module is not known")
        module.__file__ = path
        module.__loader__ = module.__spec__ = None
        module.__dict__["__builtins__"] = __builtins__
        module.__package__ = name.rpartition(".")[0]
        if "." in name:
            __import__(module.__package__)
        sys.modules[name] = module
        inspect.modulesbyfile[path] = name
        exec(found[1], module.__dict__)
        self.same_names(module)
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
        function = getattr(owner, planned["function"])
        arguments = _arguments(function, planned["indices"])
        bound = getattr(owner() if planned["class"] else owner, planned["function"])
        with self.tests.inside.Caught() as caught:
            if bound(**arguments) is not None:
                raise NeedsSession("a test gives something back")
        if caught.error is None:
            return ""
        if isinstance(caught.error, (NeedsSession, *self.special)):
            raise NeedsSession(type(caught.error).__name__) from caught.error
        return self.failure(caught.error, function)

    def failure(self, error: BaseException, function: Any) -> str:
        """A failed test as pytest reports it with `--tb=short`."""
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code is not function.__code__:
            own = own.tb_next
        if own is None:
            raise NeedsSession("the call itself failed")
        found = self.code.ExceptionInfo.from_exception(error.with_traceback(own))
        formatter = self.formatter(**{name: value for name, value in self.style.items() if name in self.known})
        formatter.astcache = dict(self.trees)
        told = formatter.repr_excinfo(found)
        crash = getattr(told, "reprcrash", None)
        message = crash.message if crash is not None else ""
        return f'<failure message="{self.escaped(message)}">{self.escaped(str(told))}</failure>'


def _fail() -> None:
    raise AssertionError("assert 1 == 2\n +  where 1 = f()")


def _shown_frames(excinfo: Any) -> Any:
    """Frames that are not hidden; the traceback starts at the test already."""
    return excinfo.traceback.filter(excinfo)


def _arguments(function: Any, indices: dict[str, int]) -> dict[str, Any]:
    """The arguments of one parametrised call."""
    found: dict[str, Any] = {}
    for mark in getattr(function, "pytestmark", []):
        names = mark.args[0]
        names = [each.strip() for each in names.split(",") if each.strip()] if isinstance(names, str) else list(names)
        values = list(mark.args[1])[indices[names[0]]]
        values = getattr(values, "values", values) if type(values).__name__ == "ParameterSet" else values
        single = len(names) == 1 and type(list(mark.args[1])[indices[names[0]]]).__name__ != "ParameterSet"
        found.update({names[0]: values} if single else dict(zip(names, values, strict=True)))
    return found

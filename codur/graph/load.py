"""Loads langgraph without what it brings along and no run uses.

First of all LangSmith's client. langchain loads it to send what goes through a graph (of a run: tasks, sources, edits)
to a service, wherever the environment says so, as it does for those who trace other programs. What is not there sends
nothing. `import langgraph.graph, groq` takes 0.57 s of CPU and 74 MiB as it comes, and 0.28 s and 50 MiB so.
"""

import gc
import sys
from collections.abc import Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

from codur.lazy import loaded

_TRACER = "langsmith"
_HTTP = "requests"
"""langchain names an error and a type of it."""
_SERVICE = "langgraph_sdk"
"""A client of langgraph's own service. langgraph needs one module with types of it; the package loads all."""
_ANEW = (_TRACER, _HTTP, _SERVICE, "langgraph", "langchain_core")
_COMMAND_LINE = "httpx._main"
"""A program that httpx has where click is installed. It loads rich and pygments."""


@cache
def load_graph(name: str) -> None:
    """Load the module that imports langgraph, once; for a process that is Codur's own.

    To look for garbage in what it loads, which is none, took a tenth of a run with a model (80 of 900 ms).
    """
    modules: dict[str, Any] = sys.modules
    empty = _EmptyModules({_TRACER, _HTTP} - modules.keys())
    gc.disable()
    try:
        sys.meta_path.insert(0, empty)
        if _SERVICE not in modules and (spec := find_spec(_SERVICE)):
            modules[_SERVICE] = module_from_spec(spec)  # what it would load is not run
        modules.setdefault(_COMMAND_LINE, None)  # whoever imports it is told that there is none
        try:
            loaded(name)
        except (ImportError, AttributeError, TypeError, RuntimeError):  # a version of langgraph that needs more of them
            _forget(name, empty)
            loaded(name)
    finally:
        # What else is in this process (Ray) may need the real one. The tracer is asked for in every run.
        empty.forget(_HTTP)
        gc.freeze()  # what was loaded is not looked at again
        gc.enable()


def _forget(name: str, empty: "_EmptyModules") -> None:
    """Have all of it loaded anew, as it comes."""
    sys.meta_path.remove(empty)
    for module in [*sys.modules]:
        if module.partition(".")[0] in _ANEW or module in {name, _COMMAND_LINE, "codur.graph.build"}:
            del sys.modules[module]


class _EmptyModules(MetaPathFinder, Loader):
    """Gives an empty module for each of these packages and for each of their modules."""

    def __init__(self, packages: set[str]) -> None:
        self._packages = packages

    def forget(self, package: str) -> None:
        """Let the real one be imported from now on."""
        if package in self._packages:
            self._packages.remove(package)
            sys.modules.pop(package, None)

    def find_spec(self, name: str, _: Sequence[str] | None, __: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in self._packages else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class _Empty(ModuleType):
    def __getattr__(self, name: str) -> type["_Nothing"]:
        return _nothing(name)


def _nothing(name: str) -> type["_Nothing"]:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Nothing


class _Named(type):
    def __getattr__(cls, name: str) -> type["_Nothing"]:
        return _nothing(name)


class _Nothing(dict[str, None], metaclass=_Named):
    """Stands for all that such a module defines. What is called gives one: false, and None whatever is asked of it."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def __missing__(self, _: str) -> None:
        return None

    def __enter__(self) -> None:
        """As a context it changes nothing."""

    def __exit__(self, *_: object) -> None:
        """Nor at its end."""

"""Codur: a coding agent for the terminal whose fixes are checked.

What is public is in `__all__`; `docs/PYTHON.md` describes it. It is loaded when it is first asked for.
"""

__version__ = "0.1.0"
__all__ = ["CodurError", "Job", "Options", "RunResult", "TaskOptions", "explain", "repair", "solve", "verify"]

TYPE_CHECKING = False  # not typing's, which `codur --version` would load
if TYPE_CHECKING:
    from codur.api import CodurError, Job, Options, RunResult, TaskOptions, explain, repair, solve, verify


def __getattr__(name: str) -> object:
    """What is public (PEP 562)."""
    if name in __all__:
        from codur import api  # noqa: PLC0415 - lazy: the version needs nothing of it

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""What each command does, under the command's own name, loaded when one is called.

`commands` says `actions.NAME.function`, and so needs none of it to show its help. What goes wrong is raised as a
`CodurError` with its remedy and exit code, which `exit_codes` tells; docstrings name it only where somebody catches it.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.cli.actions import (
        agents,
        batch,
        bisect,
        commit,
        doctor,
        init,
        inspect,
        mcp,
        models,
        plan,
        run,
        runs,
        setting,
        tools,
        trust,
        undo,
    )
    from codur.cli.actions.batch.solve_request import SolveRequest
    from codur.cli.machine import Showing
    from codur.cli.printing import warn
    from codur.patches import RepairRequest
    from codur.session.commit_search import Wanted
    from codur.types import Task

__all__ = ["agents", "batch", "bisect", "commit", "doctor", "init", "inspect", "mcp", "models", "plan", "run", "runs"]
__all__ += ["RepairRequest", "Showing", "SolveRequest", "Task", "Wanted", "setting", "tools", "trust", "undo", "warn"]
__getattr__ = parts_of(
    __name__,
    RepairRequest="codur.patches",
    Showing="codur.cli.machine",
    SolveRequest="codur.cli.actions.batch.solve_request",
    Task="codur.types",
    Wanted="codur.session.commit_search",
    warn="codur.cli.printing",
)

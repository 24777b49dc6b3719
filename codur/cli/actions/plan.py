"""What `codur plan` and `codur run --plan-file` do with plans."""

import os
import shlex
from pathlib import Path

from codur.cli.actions.run import carried_out
from codur.cli.machine import Showing
from codur.cli.printing import say, tell, write
from codur.config import reading
from codur.errors import ConfigError, UsageError
from codur.planning.plans.plan_file import PlanFile, read_plan
from codur.structs import replace
from codur.types import Task


def make(task: Task, *, to: Path | None, force: bool, config: Path | None, showing: Showing) -> int:
    """Make a plan and show it, or write it to the file `to`, which is replaced with `force`; gives the exit code."""
    if to is not None:  # said before a model is paid for the plan
        if to.is_dir():
            raise UsageError(f"{to} is a directory", remedy="Name a file in it.")
        if os.path.lexists(to) and not force:
            raise UsageError(f"{to} is there already", remedy="Name another file, or replace it with --force.")
        if not to.parent.is_dir():
            raise UsageError(f"{to}: there is no directory {to.parent}", remedy="Make it, or name another file.")
    result, shown = carried_out(task, showing, config=config, overrides={})
    if result.outcome == "done" and to is not None:
        try:
            write(to, result.answer, new=not force, remedy="Name a file in a directory that is there and yours.")
        except UsageError:
            say(result.answer)  # it was paid for
            raise
        if not showing.json:
            tell(f"{result.reason or 'the plan'}: {to}")
            tell(f"carry it out with: codur run --plan-file {shlex.quote(str(to))}")
            return result.exit_code
    if showing.kind == "rich" and result.answer:  # to be copied, and so as it is
        say(result.answer)
        result = replace(result, answer="")
    shown.result(result)
    return result.exit_code


def read(path: Path, directory: Path) -> PlanFile:
    """The plan in a file, for a workspace."""
    found = read_plan(reading.yaml_source.read_bytes(path, str(path), kind="plan"), str(path))
    here = directory.resolve()
    if found.workspace and Path(found.workspace).resolve() != here:
        raise ConfigError(
            f"the plan was made for {found.workspace}, not for {here}",
            file=str(path),
            line=found.workspace_line,
            key="workspace",
            remedy="Run it with -C in that directory, or remove the key `workspace` from the file.",
        )
    return found

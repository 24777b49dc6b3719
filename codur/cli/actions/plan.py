"""What `codur plan` and `codur run --plan-file` do with plans."""

import os
import shlex
from pathlib import Path

from codur.cli import machine
from codur.cli.printing import say, tell, unwritable
from codur.config import reading
from codur.errors import ConfigError, UsageError
from codur.planning.plans.plan_file import PlanFile, read_plan
from codur.session.host import limits_of
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import Task


def make(task: Task, *, to: Path | None, force: bool, config: Path | None, showing: machine.Showing) -> int:
    """Make a plan and show it, or write it to a file.

    Args:
        to: the file; None: standard output.
        force: replace the file.

    Returns:
        The exit code.

    Raises:
        UsageError: the file is there already, or it cannot be written.
    """
    if to is not None:
        _require_writable(to, force=force)  # before a model is paid for the plan
    settings = machine.settings_for(Path(task.workspace), config, {}).settings
    shown = showing.output()
    try:
        asked = replace(task, limits=limits_of(settings))
        result = run_task(asked, settings, host=machine.host(), emit=shown.event)
    finally:
        shown.close()
    if result.outcome == "done" and to is not None:
        _write(to, result.answer, force=force)
        if not showing.json:
            tell(f"{result.reason or 'the plan'}: {to}")
            tell(f"carry it out with: codur run --plan-file {shlex.quote(str(to))}")
            return result.exit_code
    if showing.kind == "rich" and result.answer:  # to be copied, and so as it is
        say(result.answer)
        result = replace(result, answer="")
    shown.result(result)
    return result.exit_code


def _require_writable(path: Path, *, force: bool) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a directory", remedy="Name a file in it.")
    if os.path.lexists(path) and not force:
        raise UsageError(f"{path} is there already", remedy="Name another file, or replace it with --force.")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}", remedy="Make it, or name another file.")


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        say(text)  # it was paid for
        raise unwritable(path, error, "Name a file in a directory that is there and yours.") from error


def read(path: Path, directory: Path) -> PlanFile:
    """The plan in a file, for a workspace.

    Raises:
        ConfigError: it is no plan, or it was made for another directory.
    """
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

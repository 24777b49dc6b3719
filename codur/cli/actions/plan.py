"""What `codur plan` and `codur run --plan-file` do with plans."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any

from codur.cli import machine
from codur.config.reading.yaml_source import read_bytes
from codur.errors import ConfigError, UsageError
from codur.planning.plans.plan_file import PlanFile, read_plan
from codur.session.task_run import run_task
from codur.types import Task
from codur.ui.output_formats import show
from codur.ui.sanitise import sanitise


def make(
    prompt: str,
    directory: Path,
    *,
    to: Path | None,
    force: bool,
    config: Path | None,
    json: bool,
    verbose: bool,
    **task: Any,
) -> int:
    """Make a plan and show it, or write it to a file.

    Args:
        to: the file; None: standard output.
        force: replace the file.
        task: further fields of `Task`.

    Returns:
        The exit code.

    Raises:
        UsageError: the file is there already, or it cannot be written.
    """
    if to is not None:
        _require_writable(to, force=force)  # before a model is paid for the plan
    loaded = machine.settings_for(directory, config, {})
    asked = Task(
        prompt=prompt,
        workspace=str(directory.absolute()),
        limits=machine.limits_of(loaded.settings),
        plan_only=True,
        **task,
    )
    shown = machine.output(json=json, json_stream=False, raw=not json and to is None, verbose=verbose)
    try:
        result = run_task(asked, loaded.settings, host=machine.host(), emit=shown.event)
    finally:
        shown.close()
    if result.outcome == "done" and to is not None:
        _write(to, result.answer, force=force)
        if not json:
            text = (
                f"{result.reason or 'the plan'}: {to}\ncarry it out with: codur run --plan-file {shlex.quote(str(to))}"
            )
            show(sanitise(text), sys.stderr)
            return result.exit_code
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
        show(sanitise(text), sys.stdout)  # it was paid for
        raise UsageError(
            f"{path}: cannot be written: {(error.strerror or 'unknown error').lower()}",
            remedy="Name a file in a directory that is there and yours.",
        ) from error


def read(path: Path, directory: Path) -> PlanFile:
    """The plan in a file, for a workspace.

    Raises:
        ConfigError: it is no plan, or it was made for another directory.
    """
    found = read_plan(read_bytes(path, str(path), kind="plan"), str(path))
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

"""What `codur init` writes: a project's settings file, with what was found said beside what it is found for."""

import os
from pathlib import Path

from codur.checks.find_check import CheckRequest, find_check
from codur.cli import machine
from codur.cli.printing import require_yes, say, say_json, write
from codur.config.loader import PROJECT_FILES
from codur.config.settings import Settings
from codur.errors import CodurError, UsageError
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.types import Check, Limits
from codur.workspace.workspace import Workspace

_TEXT = """\
# Codur's settings for this project. They can only narrow what its user allows:
# lower limits, switch permissions off and, once accepted with `codur trust`,
# name the check. Models and keys are each user's own (`codur models`).
# `codur config show` prints all that is in force;
# `codur config set --project KEY VALUE` changes this file.

# What decides that a task is done. {found}
verification:
  # As --check; it counts once you said `codur trust`.
  # command: {command}
  # Seconds that a run of the tests may take.
  # test_timeout_s: 120

# Which files a task may change, as globs; and how many at most (0: no bound).
scope:
  # allow: ["src/**", "tests/**"]
  # deny: ["migrations/**"]
  # max_files: 0

# What a task may spend.
runtime:
  # max_llm_calls: {calls}
  # max_cost_usd: {cost:g}
  # max_runtime_s: {seconds:g}

# Ask before plans are carried out: never, writes or always.
planning:
  # approval: {approval}
"""


def begin(directory: Path, *, yes: bool, json: bool) -> int:
    """Write the settings file of a project, after a question unless `yes`; gives the exit code."""
    workspace = Workspace.open(machine.existing(directory), home=machine.home())
    there = next((name for name in PROJECT_FILES if os.path.lexists(workspace.root / name)), None)
    if there:
        raise UsageError(
            f"{there} is there already",
            remedy="Edit it, or set one value: codur config set --project KEY VALUE",
        )
    settings = machine.settings_for(workspace.root, None, {}).settings
    check = find_check(workspace, settings.verification, CheckRequest())
    path, text = workspace.root / PROJECT_FILES[0], _text(settings, check)
    if not json:
        say(f"check: {check_words(check)}\nmodel: {model_words(settings)}\n\n{text}")
    if not (yes or json):
        require_yes(
            f"Write it to {path.name}?",
            refused="nothing was written",
            unasked="Run `codur init --yes`.",
            declined="Run it again, or write the file yourself.",
        )
    write(path, text, new=True, remedy="Make the directory writable.")
    if json:
        say_json({"file": str(path), "check": check_words(check), "model": model_words(settings)})
    else:
        say(f"written to {path.name}; what it sets counts at once, its check command after `codur trust`")
    return 0


def _text(settings: Settings, check: Check | None) -> str:
    runtime, label = settings.runtime, check.label if check and check.argv else "make test"
    command = " ".join(label.split()).replace("'", "''")  # for a scalar of YAML on one line
    return _TEXT.format(
        found=f"Found here: {check_words(check)}." if check else "Nothing was found here that tells right from wrong.",
        command=f"'{command}'",
        calls=runtime.max_llm_calls,
        cost=runtime.max_cost_usd,
        seconds=runtime.max_runtime_s,
        approval=settings.planning.approval,
    )


def check_words(check: Check | None) -> str:
    """Which check decides, in a few words."""
    return "none found" if check is None else check.label or check.source


def check_found(directory: Path, settings: Settings) -> str:
    """Which check decides in a directory, or why it is no project."""
    try:
        workspace = Workspace.open(directory, home=machine.home())
        return check_words(find_check(workspace, settings.verification, CheckRequest()))
    except CodurError as error:
        return f"none: {error.message}"


def model_words(settings: Settings) -> str:
    """Which model is asked, and why."""
    pool = ModelPool(settings, os.environ, Limits(), PoolOptions())
    choice = pool.profiles.chosen()
    name = choice.default if choice.found else ""
    return f"{name} ({pool.profile(name).model}): {choice.reason}" if name else f"none: {choice.reason}"

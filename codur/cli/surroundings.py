"""What the command line takes from the machine: environment, home, terminal. Nothing below `cli` reads these."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codur.config.loader import LoadedSettings, load_settings
from codur.config.settings import Settings
from codur.session.run import Host
from codur.types import Limits
from codur.ui.output import Output, choose_kind, make_output


def host() -> Host:
    """What the machine gives a run."""
    return Host(environ=dict(os.environ), home=home())


def home() -> Path:
    """The user's home directory; the root directory (refused as a workspace anyway) if there is none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def settings_for(workspace: Path | None, config_file: Path | None, overrides: Mapping[str, Any]) -> LoadedSettings:
    """The settings of all sources.

    Raises:
        ConfigError: one of them is wrong.
    """
    return load_settings(
        workspace=workspace, environ=os.environ, config_file=config_file, overrides=overrides, home=home()
    )


def limits_of(settings: Settings) -> Limits:
    """The run's limits, as the settings say."""
    runtime = settings.runtime
    return Limits(
        max_iterations=runtime.max_iterations,
        max_llm_calls=runtime.max_llm_calls,
        max_tokens=runtime.max_tokens,
        max_cost_usd=runtime.max_cost_usd,
        max_runtime_s=runtime.max_runtime_s,
    )


def output(*, json: bool, json_stream: bool, raw: bool, verbose: bool) -> Output:
    """The output that fits the options and the terminal."""
    kind = choose_kind(
        json=json, json_stream=json_stream, raw=raw, stdout_is_tty=sys.stdout.isatty(), environ=os.environ
    )
    return make_output(kind, stdout=sys.stdout, stderr=sys.stderr, verbose=verbose, color=True)


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns

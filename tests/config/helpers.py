"""What the tests of the settings share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.config.loader import LoadedSettings, UserSources, load_settings
from codur.config.project_rules import TrustOf
from codur.errors import ConfigError


def load(
    folder: Path,
    *,
    project: str | None = None,
    user: str | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    config_file: Path | None = None,
    trust_of: TrustOf | None = None,
) -> LoadedSettings:
    """Load with `folder/home` as home and `folder/work` as workspace, and with the given files in them."""
    home, work = folder / "home", folder / "work"
    (home / ".config" / "codur").mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    if user is not None:
        (home / ".config" / "codur" / "config.yaml").write_text(user, encoding="utf-8")
    if project is not None:
        (work / "codur.yaml").write_text(project, encoding="utf-8")
    return load_settings(
        work, UserSources(environ=environ or {}, home=home, config_file=config_file), overrides or {}, trust_of=trust_of
    )


def refusal(folder: Path, **sources: Any) -> tuple[str, str]:
    """The message and the remedy of the error that `load` ends with; both are one line and the exit code is 2."""
    with pytest.raises(ConfigError) as caught:
        load(folder, **sources)
    error = caught.value
    assert error.exit_code == 2
    assert error.message.isprintable()
    assert error.remedy.isprintable()
    return error.message, error.remedy

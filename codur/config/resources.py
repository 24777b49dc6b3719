"""The files that ship with Codur (settings, prompts, agents).

They lie in the folder `config` of a checkout, and in `codur/_config` of an installed wheel.
"""

from __future__ import annotations

from pathlib import Path

from codur.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent.parent


def resource_path(name: str) -> Path:
    """Where the resource `name` (for example `prompts/coding.md`) lies; it need not exist."""
    installed = _PACKAGE / "_config"
    return (installed if installed.is_dir() else _PACKAGE.parent / "config") / name


def read_resource(name: str) -> str:
    """The text of the resource `name`.

    Raises:
        ConfigError: there is no such file, or it cannot be read as UTF-8 text.
    """
    path = resource_path(name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(
            f"a file of Codur cannot be read: {reason}", file=str(path), remedy="Install Codur again."
        ) from error

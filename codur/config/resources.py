"""The files that ship with Codur (settings, prompts, agents).

They lie in the folder `config` of a checkout, and in `codur/_config` of an installed wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource_path(name: str) -> Path:
    """Where the resource `name` (for example `prompts/coding.md`) lies; it need not exist."""
    installed = _PACKAGE / "_config"
    return (installed if installed.is_dir() else _PACKAGE.parent / "config") / name

"""What `codur config set` does: one value in a settings file, checked before it is written."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from codur.cli import machine
from codur.cli.printing import say, unwritable
from codur.config.loader import PROJECT_FILES, UserSources, candidate_files
from codur.config.reading import setting_types
from codur.config.reading.environment_variables import value_of_text
from codur.config.reading.origin import Source, did_you_mean, dotted
from codur.config.reading.values import check
from codur.config.reading.yaml_edit import with_value
from codur.config.reading.yaml_source import read_bytes
from codur.config.settings import Settings
from codur.errors import ConfigError, UsageError
from codur.store.atomic import write_whole

_NEW_FILE = 0o644


def file_for(directory: Path, config: Path | None, *, project: bool) -> Path:
    """The settings file that is meant, which need not exist: the user's own or `--config`'s; the project's."""
    if project and config is not None:
        raise UsageError("--project and --config cannot be given together", remedy="Leave one of the two out.")
    files = candidate_files(machine.existing(directory), UserSources(environ=os.environ, home=machine.home()))
    if not project:
        return (config or files[-len(PROJECT_FILES) - 1]).expanduser()
    there = next((path for path in files[-len(PROJECT_FILES) :] if os.path.lexists(path)), None)
    return there or files[-len(PROJECT_FILES)]


def set_value(key: str, text: str, file: Path, *, project: bool) -> None:
    """Set a value and say so; a project's file can only narrow."""
    path = _path_of(key)
    value = value_of_text(key, text, path)
    _require_fitting(path, value)
    target = Path(os.path.realpath(file))
    before = read_bytes(target, str(file)).decode("utf-8", "replace") if target.exists() else ""
    after = with_value(before, path, value, name=str(file))
    _require_sound(file, after, key, project=project)
    if after != before:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _NEW_FILE
            write_whole(target, after.encode(), mode=mode)
        except OSError as error:
            raise unwritable(target, error, "Make it writable, or name another file with --config.") from error
    say(f"{file}: {dotted(path)}: {text}{'' if after != before else ' (as it was)'}")


def _path_of(key: str) -> tuple[str, ...]:
    path = tuple(key.split("."))
    if setting_types.kind_at(Settings, path) is None:
        known = [dotted(leaf) for leaf in setting_types.leaves(Settings)]
        last = [name for name in known if name.rpartition(".")[2] == path[-1]]
        near = f"Did you mean {last[0]}?" if last else did_you_mean(key, known, "`codur config show` lists them all.")
        raise UsageError(f"there is no setting {key[:80]}", remedy=near)
    return path


def _require_fitting(path: tuple[str, ...], value: Any) -> None:
    """Refuse a value that the setting cannot have, before the file is read. Raises ConfigError."""
    for name in reversed(path):
        value = {name: value}
    check(Source(name="command line", values=value), Settings)


def _require_sound(file: Path, text: str, key: str, *, project: bool) -> None:
    """Refuse what the settings could not be read with, or what a project's file cannot set."""
    with tempfile.TemporaryDirectory(prefix="codur-config-") as place:
        tried = Path(place) / PROJECT_FILES[0]
        tried.write_text(text, encoding="utf-8")
        try:
            if not project:
                machine.settings_for(None, tried, {})
                return
            loaded = machine.settings_for(Path(place), None, {}, trust_of=lambda *_: "accepted")
        except ConfigError as error:
            said = error.message.replace(str(tried), str(file))
            raise UsageError(f"nothing was written: {said}", remedy=error.remedy) from error
    if said := next((note for note in loaded.notes if key in note), ""):
        raise UsageError(f"nothing was written: {said}", remedy="Set it in your own file: leave --project out.")

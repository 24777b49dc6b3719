"""What `trust` shows, asks and keeps."""

import json as json_module
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.cli import machine
from codur.cli.printing import require_yes, say, say_found, say_json, tell
from codur.config.project_rules import TrustState, needs_acceptance
from codur.config.reading.origin import dotted, leaf_paths
from codur.config.trust_files import (
    ControlFile,
    control_names,
    instruction_files,
    other_instruction_files,
)
from codur.errors import UsageError
from codur.store.trusted_files import digest
from codur.structs import Struct, field, replace
from codur.ui.sanitise import sanitise
from codur.ui.styled_lines import count

_STATES: Mapping[TrustState, str] = {
    "accepted": "accepted as it is",
    "changed": "changed since it was accepted",
    "unknown": "not accepted",
}


class FileReport(Struct):
    """A control file, and what it does."""

    name: str
    kind: str
    state: TrustState
    sha256: str
    counts: Mapping[str, Any] = field(default_factory=dict)  # settings that count anyway
    counts_once_accepted: Mapping[str, Any] = field(default_factory=dict)  # settings that count only then
    ignored: tuple[str, ...] = ()  # a line for each setting that never counts
    text: str = ""  # of instructions, else empty


def consider(directory: Path, config: Path | None, *, accept: bool, json: bool) -> int:
    """Show the control files of a project; ask whether to accept them, if there is somebody to ask.

    Args:
        accept: accept them without asking.
        json: print a JSON object, and do not ask.
    """
    root = Path(os.path.realpath(directory))
    if not root.is_dir():
        raise UsageError(f"there is no directory {directory}", remedy="Name the project's directory.")
    files, reports = _examine(root, config)
    known = all(report.state == "accepted" for report in reports)
    if not json:
        say("\n".join(_lines(root, reports)))
        if not (known or accept):
            require_yes(
                "Accept these files as they are now?",
                refused="the project is not accepted",
                unasked="Look at these files, then run `codur trust --yes`.",
                declined="What counts anyway still does; the rest is ignored.",
            )
            accept = True
    if accept and not known:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        accepted = {file.name: file.content for file in files}
        if damaged := machine.trust_store().accept(root, accepted, when=when):
            tell(f"the list of accepted projects was damaged; it is now {damaged}")
    if json:
        say_json({"directory": str(root), "accepted": accept or known, "files": reports})
    elif accept and not known:
        say("accepted")
    return 0


def revoke(directory: Path, *, json: bool) -> int:
    """Accept nothing of a project any more."""
    was = machine.trust_store().revoke(directory)
    root = os.path.realpath(directory)
    told = f"{root}: {'no longer accepted' if was else 'was not accepted'}"
    say_found({"directory": root, "accepted": False, "was_accepted": was}, [told], as_json=json)
    return 0


def show_accepted(*, json: bool) -> int:
    """Print all accepted projects."""
    projects = machine.trust_store().accepted()
    listed = [{"directory": path, **to_builtins(entry)} for path, entry in projects.items()]
    lines = [_line(f"{path}  {', '.join(entry.files)}  {entry.when}") for path, entry in projects.items()]
    say_found(listed, lines, as_json=json, none="no project is accepted")
    return 0


def _examine(root: Path, config: Path | None) -> tuple[Sequence[ControlFile], Sequence[FileReport]]:
    """A project's control files, and what is told of each."""
    settings_files: list[ControlFile] = []

    def as_if_accepted(_workspace: Path, name: str, content: bytes) -> TrustState:
        settings_files.append(ControlFile(name=name, kind="settings", content=content))
        return "accepted"

    loaded = machine.settings_for(root, config, {}, trust_of=as_if_accepted)
    files = (*settings_files, *instruction_files(root), *other_instruction_files(root))
    return files, [_report(root, file, loaded.project, loaded.notes) for file in files]


def _report(root: Path, file: ControlFile, project: Mapping[str, Any], notes: tuple[str, ...]) -> FileReport:
    state = machine.trust_store().state_of(root, file.name, file.content)
    report = FileReport(name=file.name, kind=file.kind, state=state, sha256=digest(file.content))
    if file.kind != "settings":
        return replace(report, text=file.content.decode("utf-8", "replace"))
    values = dict(leaf_paths(project))
    return replace(
        report,
        counts={dotted(path): value for path, value in values.items() if not needs_acceptance(path)},
        counts_once_accepted={dotted(path): value for path, value in values.items() if needs_acceptance(path)},
        ignored=notes,
    )


def _lines(root: Path, reports: Sequence[FileReport]) -> list[str]:
    if not reports:
        return [_line(f"{root}: nothing to accept: it has none of {', '.join(control_names())}")]
    lines = [f"{root}"]
    for report in reports:
        lines.append(f"{report.name}: {_STATES[report.state]}")
        lines += [f"  {key}: {_value(value)}  (counts anyway)" for key, value in report.counts.items()]
        lines += [
            f"  {key}: {_value(value)}  (counts once accepted)" for key, value in report.counts_once_accepted.items()
        ]
        lines += [f"  {note}" for note in report.ignored]
        told = report.text.splitlines()
        if report.kind == "instructions":
            lines.append(f"  instructions for models, {count(len(told), 'line')}; sent once accepted:")
        if report.kind == "agent_instructions":
            lines.append(f"  instructions for other agents, {count(len(told), 'line')}; they get them once accepted:")
        lines += [f"  | {line}" for line in told]
    return [_line(line) for line in lines]


def _value(value: Any) -> str:
    """The whole value: what is accepted must have been seen."""
    return json_module.dumps(value, ensure_ascii=False, default=str)


def _line(text: str) -> str:
    return sanitise(text, keep_newlines=False)

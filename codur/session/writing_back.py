"""Writes what was verified in a copy into the directory that was copied, as a run that `codur undo` can undo."""

from collections.abc import Mapping

from codur.config.settings import Settings
from codur.errors import WorkspaceError
from codur.events import ignore
from codur.session.host import Host, redactor_of
from codur.session.opening import journal_of, open_workspace
from codur.session.record.run_recording import recording
from codur.store.directory import StateDirectory
from codur.structs import replace
from codur.types import RunResult, Task


def write_back(
    task: Task, files: Mapping[str, bytes | None], originals: Mapping[str, bytes | None], settings: Settings, host: Host
) -> str:
    """Write files, if all of them still are what was copied; gives the run's id, empty if runs are not kept.

    Args:
        files, originals: contents by path inside the directory, and what they were when copied; None for no file.

    Raises:
        WorkspaceError: a file was changed meanwhile, and nothing was written; or one cannot be written.
        WorkspaceBusy: another run works in the directory.
        StateError: the run cannot be recorded.
    """
    state = StateDirectory(host.state) if host.state is not None else None
    root = open_workspace(task, settings, host=host).root
    with (
        recording(task, root, state=state, emit=ignore, redactor=redactor_of(settings, host.environ, root)) as record,
        journal_of(settings, record) as journal,
    ):
        workspace = open_workspace(task, settings, host=host, journal=journal)
        for path, data in originals.items():
            if data != (workspace.read_bytes(path) if workspace.exists(path) else None):
                raise WorkspaceError(f"{path} was changed meanwhile, so nothing was written back")
        for path, data in files.items():
            if data is None:
                workspace.delete(path)
            else:
                workspace.write_bytes(path, data)
        result = RunResult(
            outcome="done",
            exit_code=0,
            workspace=str(root),
            changed_files=workspace.changed_files(),
            diff=workspace.diff(),
        )
        record.end(replace(result, run_id=record.id))
        return record.id

"""One attempt at a challenge, inside the worker: copied, worked on, judged."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from codur.batch.challenge_directory import DEFAULT_PROMPT
from codur.batch.results.challenge_outcome import MAX_PROMPT, is_solved, outcome_of
from codur.batch.results.challenge_record import Attempted, ChallengeResult, result_for
from codur.batch.results.kept_run import EXCHANGE, kept_run
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.batch.worker.copying import copy_files
from codur.config.settings import Settings
from codur.errors import CodurError, InternalError, Refused, UsageError, internal_error, reason_of
from codur.events import Emit
from codur.parsing.bounded_text import bounded
from codur.redaction import REDACTED
from codur.sandbox.backends.probe import choose_backend
from codur.sandbox.processor_turns import Waited
from codur.sandbox.scratch import remove_tree
from codur.session.host import Host, redactor_of
from codur.session.record.exchanges import Exchanges
from codur.session.record.run_result import error_result
from codur.session.task_run import run_task
from codur.structs import replace
from codur.types import RunResult, Task, Usage
from codur.workspace.history.diff import FileChange


def attempt(job: Work, key: str, setup: Setup, host: Host, *, below: Path, emit: Emit) -> Attempted:
    """Work on a copy of a challenge; its own directory is not touched.

    Args:
        key: see `ChallengeResult`.
        host: with what the runs of the worker share, and what stops this one.
        below: where the copy is made; it is removed at the end.
    """
    begun = time.monotonic()
    waited = host.waited or Waited()
    base = result_for(job, key, "error", started=datetime.now(UTC).isoformat(timespec="seconds"))
    task = Task(
        prompt=DEFAULT_PROMPT,
        workspace=str(job.challenge.directory),
        limits=setup.limits,
        check_is_goal=True,
        check_command=job.challenge.check or None,
        agent=job.agent or None,
        offline=setup.offline,
    )

    spent: list[Usage] = []

    def work() -> Attempted:
        if job.challenge.problem:
            raise UsageError(job.challenge.problem, remedy="Check the directory's permissions.")
        prompt = job.challenge.prompt()
        place = Path(mkdtemp(dir=below))
        try:
            copy = place / (job.challenge.directory.name or "root")
            left_out = copy_files(job.challenge, copy)
            asked = replace(task, prompt=prompt, workspace=str(copy))
            result = _kept(asked, job, setup, replace(host, state=None, waited=waited), emit)
            spent.append(result.usage)
            notes = tuple(f"{name}: left out of the copy: not a regular file" for name in left_out)
            result = replace(result, notes=(*result.notes, *notes))
            patch = exact_patch(
                result.diff,
                result.changed_files,
                job.challenge.directory,
                copy,
                redactor_of(setup.settings, host.environ, copy),
            )
            found = outcome_of(result, replace(base, prompt=bounded(prompt, MAX_PROMPT)))
            files = {path: _bytes(copy / path) for path in result.changed_files} if is_solved(result) else {}
            if files:
                found = replace(found, verified=verified_hash(files.items()))
            interrupted = result.outcome == "interrupted"
            return Attempted(result=found, patch=patch, files=files, interrupted=interrupted)
        finally:
            remove_tree(place)

    done = _guarded(work, base, task, spent)
    return replace(done, result=replace(done.result, seconds=round(time.monotonic() - begun - waited.seconds, 3)))


def require_sandbox(settings: Settings, host: Host) -> None:
    """Make sure that the programs of challenges are contained.

    Raises:
        Refused: nothing contains programs here.
    """
    chosen = choose_backend(settings.sandbox.backend, host.environ, cache=host.cache)
    if chosen.backend.name == "none":
        why = chosen.note or "the settings say so (sandbox.backend)"
        raise Refused(
            f"the programs of challenges would run without a sandbox: {why}",
            remedy="See `codur doctor` for how to get one, or add --no-sandbox.",
        )


def _kept(task: Task, job: Work, setup: Setup, host: Host, emit: Emit) -> RunResult:
    """Carry out the run and keep what it did, as the setup says."""
    keeping, redactor = setup.keeping, redactor_of(setup.settings, host.environ, Path(task.workspace))
    listed = replace(task, workspace=str(job.challenge.directory))  # the copy that it works in will be gone
    with kept_run(keeping, job.file, listed, redactor, emit) as kept:
        if kept is None:
            return run_task(task, setup.settings, host=host, emit=emit)
        exchanges = Exchanges(
            record=Path(keeping.below) / job.file / EXCHANGE if keeping.exchange else None,
            show=keeping.exchange or keeping.log or keeping.prompts,
        )
        result = run_task(task, setup.settings, host=replace(host, exchanges=exchanges), emit=kept)
        kept.end(result)
        return result


def verified_hash(files: Iterable[tuple[str, bytes | None]]) -> str:
    """SHA-256 of changed files: of each, in the order of the paths, its path, its length (-1: deleted) and bytes."""
    digest = hashlib.sha256()
    for path, data in sorted(files):
        digest.update(f"{path}\0{-1 if data is None else len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data or b"")
    return digest.hexdigest()


def _guarded(work: Callable[[], Attempted], base: ChallengeResult, task: Task, spent: Sequence[Usage]) -> Attempted:
    """What a piece of work gives; what keeps it from being done costs this challenge alone.

    Args:
        spent: gets what the run has cost, when it ends.
    """
    try:
        return work()
    except InternalError as error:
        usage = error.usage or Usage()
        if isinstance(error.__cause__, OSError):
            return _ended_by(_unworkable(error.__cause__), base, task, usage)
        return _broken(error, base, task, usage)
    except CodurError as error:
        return _ended_by(error, base, task, sum(spent, Usage()))
    except OSError as error:
        return _ended_by(_unworkable(error), base, task, sum(spent, Usage()))
    except Exception as error:  # noqa: BLE001 - the outermost boundary of a challenge
        return _broken(internal_error(error), base, task, sum(spent, Usage()))


def _unworkable(error: OSError) -> UsageError:
    return UsageError(f"cannot be worked on: {reason_of(error)}")


def _broken(error: CodurError, base: ChallengeResult, task: Task, usage: Usage) -> Attempted:
    done = _ended_by(error, base, task, usage)
    return replace(done, result=replace(done.result, status="error"))  # the challenge did not fail: we did


def _ended_by(error: CodurError, base: ChallengeResult, task: Task, usage: Usage) -> Attempted:
    result = replace(error_result(error, task), usage=usage, model_calls=usage.calls)
    return Attempted(result=outcome_of(result, base))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if os.path.lexists(path) else None


_File = tuple[bytes | None, int | None]
_NONE: _File = (None, None)
_CONTEXTS = (3, 2, 1)
"""Lines around a change, as many as hold no secret: one that was taken out matches nothing. `git apply` wants one."""


def exact_patch(diff: str, paths: Sequence[str], before: Path, after: Path, redact: Callable[[str], str]) -> str:
    """A patch that `git apply` turns the one directory's files with into the other's.

    Args:
        diff: of these files, where bytes that are no text are shown as replacement characters.
        paths: of the changed files, relative to both directories.
        redact: takes secrets out of a text. A patch with whole contents would hold them unseen, so then the diff stays;
            one that changes a line with a secret cannot be applied.

    Returns:
        `diff` itself if all of it is text.

    Raises:
        OSError: a file cannot be read.
    """
    files = [(path, _file(before / path), _file(after / path)) for path in paths]
    contents = [data for _, old, new in files for data, _ in (old, new) if data is not None]
    if all(_is_text(data) and not _holds_secret(data, redact) for data in contents):
        return diff
    return "".join(_patch(path, old, new, redact) for path, old, new in files)


def _patch(path: str, old: _File, new: _File, redact: Callable[[str], str]) -> str:
    contents = [data for data, _ in (old, new) if data is not None]
    change = FileChange(path=path, before=old[0], after=new[0], mode_before=old[1], mode_after=new[1])
    if not all(map(_is_text, contents)):
        return redact(change.diff()) if any(_holds_secret(data, redact) for data in contents) else change.binary_diff()
    # By the whole texts: what shows only a part of a secret is not known for one.
    open_lines = {line for data in contents for line in redact(data.decode()).split("\n")}
    for text in map(change.diff, _CONTEXTS):
        if all(line[1:] in open_lines for line in _shown(text)) and redact(text) == text:
            return text
    hidden = {line for line in _shown(change.diff()) if line[1:] not in open_lines}
    lines = change.diff().split("\n")
    return redact("\n".join(f"{line[:1]}{REDACTED}" if line in hidden else line for line in lines))


def _shown(diff: str) -> Iterator[str]:
    """The lines of a diff that are lines of a file."""
    is_file = False
    for line in diff.split("\n"):
        is_file = (is_file or line.startswith("@@")) and not line.startswith("diff --git ")
        if is_file and line[:1] in {" ", "+", "-"}:
            yield line


def _file(path: Path) -> _File:
    return (path.read_bytes(), path.stat().st_mode) if os.path.lexists(path) else _NONE


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _holds_secret(data: bytes, redact: Callable[[str], str]) -> bool:
    text = data.decode("latin-1")
    return redact(text) != text

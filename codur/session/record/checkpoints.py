"""The compiled graph's checkpoints: LangGraph's SQLite saver on a run's own file.

The values are written by `codec` in place of LangGraph's serialiser: a type that is not known is an error, nothing is
executed when it is read, and every text passes the redactor.
"""

import json
import os
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Interrupt

from codur.errors import StateError
from codur.session.record.codec import DamagedRecord, decode, encode
from codur.store.atomic import PRIVATE_FILE, set_aside

_KIND: Final = "codur-json-2"
_QUESTIONS: Final = "codur-questions-2"
_BUSY_MS = 5000  # another process, such as `codur show`, may be reading


class Checkpoints(SqliteSaver):
    """The saver for the compiled graph, which is awaited: a commit takes far less than handing it to a thread."""

    # The base class has no asynchronous methods; LangGraph's saver that has them needs one more package.
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        with _told():
            return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the base class calls it so
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        with _told():
            found = list(self.list(config, filter=filter, before=before, limit=limit))
        for item in found:
            yield item

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As `put`."""
        with _told():
            return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`."""
        with _told():
            self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        with _told():
            self.delete_thread(thread_id)


class _Codec:
    """LangGraph's `SerializerProtocol` over `codec`.

    What the redactor changes is remembered as it was for as long as this process lives: a run that goes on after a
    question carries out what was approved of, while the file holds no secret.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._whole: dict[str, Any] = {}

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        if isinstance(obj, list | tuple) and obj and all(isinstance(item, Interrupt) for item in obj):
            value = [{"id": item.id, "value": self._encoded(item.value)} for item in obj]
            return _QUESTIONS, json.dumps(value).encode("ascii")
        return _KIND, json.dumps(self._encoded(obj)).encode("ascii")

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, value = data
        if kind == _QUESTIONS:
            return tuple(Interrupt(value=self._decoded(item["value"]), id=item["id"]) for item in json.loads(value))
        if kind != _KIND:
            raise DamagedRecord(f"a checkpoint is of kind {kind[:40]!r}, which is not read")
        return self._decoded(json.loads(value))

    def _encoded(self, obj: Any) -> dict[str, Any]:
        # Both forms: the file gets the one without secrets, and this process goes on with the other.
        whole, kept = encode(obj), encode(obj, self._redact)
        if whole == kept:
            return {"value": kept}
        key = secrets.token_hex(8)
        self._whole[key] = whole
        return {"value": kept, "blanked": key}

    def _decoded(self, kept: dict[str, Any]) -> Any:
        return decode(self._whole.get(kept.get("blanked", ""), kept["value"]))


@contextmanager
def checkpoints(
    path: Path | None, *, redact: Callable[[str], str], on_damage: Callable[[str], None]
) -> Iterator[Checkpoints]:
    """The checkpoints of a run; the file is its owner's alone.

    Args:
        path: the file; None keeps them in memory, for as long as this lasts.
        on_damage: told if the file was damaged and set aside; then there are no checkpoints yet.

    Raises:
        StateError: the file cannot be used.
    """
    with _told():
        connection = _opened(path, on_damage) if path else sqlite3.connect(":memory:", check_same_thread=False)
    with closing(connection):
        yield Checkpoints(connection, serde=_Codec(redact))


def _opened(path: Path, on_damage: Callable[[str], None]) -> sqlite3.Connection:
    try:
        return _connected(path)
    # Locked, or the disk is full: the file is sound and must not be set aside.
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:  # not a database, or a broken one
        aside = set_aside(path, time.strftime("%Y%m%dT%H%M%S"))
        for name in (f"{path.name}-wal", f"{path.name}-shm"):
            if path.with_name(name).exists():
                path.with_name(name).rename(aside.with_name(f"{aside.name}{name.removeprefix(path.name)}"))
        on_damage(f"{path} was damaged; it was set aside as {aside.name}")
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    # Made here, because SQLite would make it with the user's usual permissions.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE))
    connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a loss of power, a step
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("quick_check")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _told() -> Iterator[None]:
    """What SQLite says becomes an error with a remedy."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StateError(
            f"the checkpoints of the run cannot be used: {error}",
            remedy="Make room on the disk, or set XDG_STATE_HOME to a directory of your own.",
        ) from error

"""The only place that starts programs.

A program runs in its own session with a bounded environment, output, time, memory, number of processes and file size,
and a temporary directory of its own, in the sandbox of the back end in use. On Linux all that it started ends with it,
whatever session that moved to; elsewhere its process group does.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codur.config.settings import SandboxSettings
from codur.lazy import late
from codur.sandbox import backends
from codur.sandbox import process as running
from codur.sandbox.backend import Chosen, Confined, NoBackend
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.environment import withheld
from codur.sandbox.program_environment import Surroundings
from codur.sandbox.program_limits import limits_of
from codur.sandbox.program_policy import Limits, Policy
from codur.sandbox.scratch import private_directory, temporary_base
from codur.sandbox.tripwire.watch import ProgramObserver, WorkspaceWatch
from codur.structs import Struct, replace

if TYPE_CHECKING:
    from codur.sandbox.process.channel import Channel
    from codur.sandbox.process.child import Process
    from codur.sandbox.process.disk_quota import Quota
    from codur.sandbox.process.output import BoundedOutput
    from codur.sandbox.process.output_stream import Stream
    from codur.sandbox.process.process_result import ProcessResult
    from codur.sandbox.processor_turns import SharedPrograms, Waited
    from codur.sandbox.starter.starter_client import Starter

copy, shutil = late("copy"), late("shutil")

__all__ = ["Launcher", "ProgramObserver"]

_HAS_STARTER: bool = sys.platform == "linux"
_MIB = 1_048_576
_ROOT = Path("/")
_SHARED_MEMORY = Path("/dev/shm")
_NETWORK_FILES = (Path("/etc/resolv.conf"), Path("/etc/hosts"))
"""What is needed to find an address; links to them may lead out of the system's directories."""


class _Program(Struct):
    """A program that is about to be started, with all that it is given."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: Path
    policy: Policy


class Launcher:
    """Starts programs and waits for them; safe to use from several threads.

    Args:
        environ: the user's environment, of which programs see an allow list only.
        cancel: stops a running program when it is set.
        max_output_bytes: bytes kept of each of a program's two outputs.
        python: the interpreter whose directory comes first on the programs' `PATH`, so that `python` means it; or what
            finds it for the first program.
        sandbox: how programs are contained; None does not contain them, but bounds them all the same.
        state_cache: a private directory in which the choice of the back end is remembered.
        quarantine: a directory for what programs make at protected places; None removes it.
        observer: told of every program that may write a workspace, except in the launcher's temporary directories.
        shared: what is shared with other launchers, which have the same settings and environment.
        waited: gets the seconds that programs waited for their turns.
        meanwhile: called once if a back end must be tried, while it is.
        beside: gives what else programs without a network may read, by the directory that they work in.

    Attributes:
        versions: of interpreters, by their path, as far as they were asked for.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        cancel: CancelToken | None = None,
        max_output_bytes: int = 262_144,
        python: str | Callable[[], str] | None = None,
        sandbox: SandboxSettings | None = None,
        state_cache: Path | None = None,
        quarantine: Path | None = None,
        observer: ProgramObserver | None = None,
        shared: SharedPrograms | None = None,
        waited: Waited | None = None,
        meanwhile: Callable[[], object] | None = None,
        beside: Callable[[Path], tuple[Path, ...]] | None = None,
    ) -> None:
        self._cancel = cancel
        self._environ = dict(environ)
        self._temporary = temporary_base(environ)  # before the environment is narrowed, which leaves `TMPDIR` out
        self._python = python
        self._max_output_bytes = max_output_bytes
        self._contained = sandbox is not None
        self._settings = sandbox or SandboxSettings(backend="none")
        self._state_cache = state_cache
        self._watch = WorkspaceWatch(observer, quarantine, contained=self._contained)
        self._lock = threading.RLock()  # the choice of the back end starts a program
        self._backend: Chosen | None = shared.backend if shared else None
        self._shared = shared
        self._waited = waited
        self._meanwhile = meanwhile
        self._beside = beside if sandbox is not None else None
        self._starter: Starter | None = shared.starter if shared else None
        self.versions: dict[str, str] = shared.versions if shared else {}

    @cached_property
    def _surroundings(self) -> Surroundings:
        python = self._python() if callable(self._python) else self._python
        return Surroundings(self._environ, python, self._temporary, contained=self._contained)

    def withheld(self, text: str) -> list[str]:
        """The variables of the user's environment that a text names and that programs do not get, but for secrets."""
        return withheld(self._environ, text)

    @property
    def name(self) -> str:
        """The back end in use: `namespaces`, `bubblewrap`, `landlock`, `seatbelt` or `none`.

        Raises:
            ConfigError: the one that the settings name does not work here, or not as they require.
        """
        return self._chosen().backend.name

    @property
    def note(self) -> str:
        """Why the back end is not a better one, and how to get that; empty if it is the best."""
        return self._chosen().note

    @property
    def hides(self) -> bool:
        """Whether the paths that `run` is told to hide look empty to programs."""
        return self._chosen().backend.hides

    @property
    def has_loopback(self) -> bool:
        """Whether a program can talk to itself, and to what it starts, through sockets of 127.0.0.1 and ::1."""
        return self._chosen().backend.has_loopback

    def __enter__(self) -> Launcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what helps to start programs. It is started again if it is needed again."""
        with self._lock:
            if self._starter is not None and self._shared is None:  # a shared one belongs to who made it
                self._starter.close()

    def prepare(self) -> None:
        """Have what starts programs start, without waiting for it. Raises CodurError: no process can be started."""
        if _HAS_STARTER:
            self._helper().prepare()

    def once_started(self, call: Callable[[], object]) -> None:
        """Have something called beside the start of the next program; at once where nothing tells of that."""
        if _HAS_STARTER:
            self._helper().once_started(call)
        else:
            call()

    def ended_by(self, cancel: CancelToken) -> Launcher:
        """The same launcher, whose programs end with this token instead. It is not to be closed.

        Raises:
            CodurError: programs cannot be started or contained.
        """
        self._chosen()
        if _HAS_STARTER:
            self._helper()  # there is one, and both have it
        # All else is shared on purpose: the starter, the choice of the back end, what is known of workspaces.
        other: Launcher = copy.copy(self)
        other._cancel = cancel
        return other

    def stoppable(self) -> tuple[Launcher, CancelToken]:
        """The same launcher, and a token that ends its programs too. Raises CodurError: as `ended_by`."""
        token = Until(self._cancel or CancelToken(), lambda: 1.0)
        return self.ended_by(token), token

    @contextlib.contextmanager
    def temporary_directory(self) -> Iterator[Path]:
        """An empty private directory outside the workspace, removed at the end."""
        with private_directory(self._temporary) as directory, self._watch.passes_over(Path(directory)):
            yield Path(directory)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        stdin: bytes = b"",
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        max_output_bytes: int | None = None,
        root: Path | None = None,
        read_only: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        writable: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        home: Path | None = None,
        network: bool = False,
        tap: Callable[[bytes], None] | None = None,
    ) -> ProcessResult:
        """Run a program to its end.

        Args:
            argv: the program, looked up on the children's `PATH`, and its arguments.
            stdin: all of its standard input.
            timeout_s: wall time after which it is stopped; 0 or less does not start it.
            env: variables set on top of the allowed ones, as they are.
            max_output_bytes: in place of the launcher's own bound.
            root: the directory that it may write, with all below; `cwd` if None. `/` stands for none.
            read_only: absolute paths in it that it must not change, as far as the back end can prevent that.
            hidden: absolute paths that look empty to it, if the back end `hides`.
            writable: further directories that it may write.
            readable: further paths that it may read.
            home: its home directory, which it may write; None for an empty one that is gone at its end.
            network: it may reach the network.
            tap: gets its standard output as it arrives, in the thread that waits here.

        A program that cannot be started is a result too.

        Raises:
            CodurError: no temporary directory can be made for it, or it cannot be contained.
        """
        words = tuple(argv)
        if self._cancel is not None and self._cancel.cancelled:
            return running.process_result.not_begun(words, cancelled=True)
        # After the token: a run that was cancelled says so, whatever its time.
        if timeout_s <= 0:
            return running.process_result.not_begun(words)
        self.prepare()  # beside what is made for the first program, which takes as long
        kept = self._max_output_bytes if max_output_bytes is None else max_output_bytes
        outputs = (running.output.BoundedOutput(kept, tap), running.output.BoundedOutput(kept))
        # `/` is how a caller says that the program writes nowhere.
        workspace = None if (root or cwd) == _ROOT else (root or cwd)
        with (
            self._turn() as begun,
            self._watch.over(workspace if begun else None, lambda: self.hides) as watched,
            contextlib.ExitStack() as stack,
        ):
            if not begun:
                return running.process_result.not_begun(words, cancelled=True)
            policy = Policy(
                workspace=workspace,
                read_only=(*read_only, *watched.kept),
                hidden=tuple(hidden),
                writable=(*writable, *_if_any(home)),
                readable=(*readable, *(_NETWORK_FILES if network else ())),
                home_hidden=home is None,
                network=network,
            )
            given = {**(env or {}), **({} if home is None else {"HOME": str(home)})}
            result = self._run(self._program(stack, words, cwd, given, policy), outputs, stdin, timeout_s)
            if result.overfull and workspace is not None:
                self._watch.discard(workspace)
        return replace(result, tripped=watched.tripped) if watched.tripped else result

    def find(self, name: str, *, outside: Path) -> str | None:
        """The absolute path of a program on the children's `PATH` or beside Codur's interpreter; None if there is none.

        Args:
            outside: a directory whose programs do not count.
        """
        folders = [*self._surroundings.variables["PATH"].split(os.pathsep), str(Path(sys.executable).parent)]
        for folder in folders:
            found: str | None = shutil.which(name, path=folder)
            # A link elsewhere may lead back into the workspace.
            if found and not Path(os.path.realpath(found)).is_relative_to(outside):
                return os.path.realpath(found)
        return None

    def open_channel(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        cpu_s: float,
        env: Mapping[str, str] | None = None,
        hidden: Sequence[Path] = (),
    ) -> Channel:
        """Start a program that is talked to in frames: as `open_stream`, in its temporary directory only."""
        return running.channel.Channel(
            self.open_stream(argv, cwd=cwd, env=env, hidden=hidden, cpu_s=cpu_s), self._cancel
        )

    def open_stream(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        readable: Sequence[Path] = (),
        root: Path | None = None,
        network: bool = False,
        hidden: Sequence[Path] = (),
        cpu_s: float | None = None,
    ) -> Stream:
        """Start a program that is talked to for as long as wanted. Leaving the stream's context ends it.

        Args:
            argv: the program, looked up on the children's `PATH`, and its arguments.
            cwd: it may read this directory, with all below.
            env: variables set on top of the allowed ones, as they are.
            readable: more paths that it may read.
            root: the directory that it may write, with all below; None for its temporary directory only.
            network: it may reach the network.
            hidden: absolute paths that look empty to it, if the back end `hides`.
            cpu_s: processor seconds that it and each of its children may use; None: as many as they want.

        A program that cannot be started is a stream that has ended.

        Raises:
            CodurError: no temporary directory can be made for it, or it cannot be contained.
        """
        words = tuple(argv)

        def reason(error: OSError | ValueError) -> str:
            return running.process_result.not_started(words, cwd, error).stderr

        with contextlib.ExitStack() as stack:
            stack.callback(lambda: self)  # it outlives its launcher: what started it must not end before it
            kept = stack.enter_context(self._watch.over(root, lambda: self.hides)).kept
            policy = Policy(
                workspace=root, read_only=kept, hidden=tuple(hidden), readable=(cwd, *readable), network=network
            )
            try:
                process = self._kept(self._program(stack, words, cwd, env or {}, policy), cpu_s)
            except (OSError, ValueError) as error:
                return running.output_stream.Stream(None, stack.pop_all(), reason, problem=reason(error))
            return running.output_stream.Stream(process, stack.pop_all(), reason)

    def _program(
        self,
        stack: contextlib.ExitStack,
        words: tuple[str, ...],
        cwd: Path,
        env: Mapping[str, str],
        policy: Policy,
    ) -> _Program:
        """What is to be started, with what all programs may read; what is made for it goes with the stack."""
        temporary = stack.enter_context(private_directory(self._temporary))
        search_path, names = stack.enter_context(self._surroundings.search_path(words))
        within = policy.workspace or cwd
        beside = self._beside(within) if self._beside is not None and not policy.network else ()
        policy = replace(
            policy,
            temporary=Path(temporary),
            readable=(*self._surroundings.readable(words, within), *names, *policy.readable, *beside),
            temporary_bytes=self._settings.temporary_mb * _MIB,
            processes=self._settings.processes,
        )
        variables = {**self._surroundings.variables, "PATH": search_path, "TMPDIR": temporary, **env}
        return _Program(argv=words, env=variables, cwd=cwd, policy=policy)

    def _kept(self, program: _Program, cpu_s: float | None) -> Process:
        """A started program that nobody waits for."""
        # One that is talked to waits most of the time: only the processor time of a single answer says that it hangs.
        limits = replace(limits_of(self._settings, cpu_s or 0.0), wall_s=0.0)
        if cpu_s is None:
            limits = replace(limits, cpu_s=0)
        return self._confined(program, limits, has_input=True)[0]

    def _turn(self) -> contextlib.AbstractContextManager[bool]:
        if self._shared is None:
            return contextlib.nullcontext(enter_result=True)
        return self._shared.turns.turn(self._cancel, waited=self._waited)

    def _run(
        self, program: _Program, outputs: tuple[BoundedOutput, BoundedOutput], stdin: bytes, timeout_s: float
    ) -> ProcessResult:
        begin = time.monotonic()
        quota = self._quota(program.policy)
        try:
            process, wrapped = self._confined(program, limits_of(self._settings, timeout_s), has_input=bool(stdin))
            with running.child.Child(process, outputs, stdin) as child:
                end = child.wait(timeout_s, self._cancel, quota)
        except (OSError, ValueError) as error:
            return running.process_result.not_started(program.argv, program.cwd, error)
        status = running.process_result.status_of_shell(process.status) if wrapped else process.status
        result = running.process_result.ended(program.argv, status, outputs, end, process.limit or quota.told)
        return replace(result, duration_s=time.monotonic() - begin)

    def _quota(self, policy: Policy) -> Quota:
        """What a program may add where it writes.

        A back end that hides gives it temporary and shared memory of its own, which have sizes of their own.
        """
        # Two places that a program without a root of its own shares with all others.
        shared = () if self.hides else (policy.temporary, _SHARED_MEMORY)
        places = (*_if_any(policy.workspace), *policy.writable, *shared)
        return running.disk_quota.Quota(
            places=places, bytes=self._settings.written_mb * _MIB, files=self._settings.new_files
        )

    def _confined(self, program: _Program, limits: Limits, *, has_input: bool) -> tuple[Process, bool]:
        """A started program, and whether its exit status is told as a shell tells it."""
        confined = self._chosen().backend.confine(program.policy, program.argv, program.env, program.cwd)
        try:
            return self._start(confined, limits, has_input=has_input), bool(confined.wrapper)
        finally:
            # Our copies; the starter has its own by now.
            for descriptor in confined.fds:
                os.close(descriptor)

    def _start(self, confined: Confined, limits: Limits, *, has_input: bool) -> Process:
        if _HAS_STARTER:
            return self._helper().start(confined, limits, has_input=has_input)
        return running.child.GroupProcess.start(confined.argv, cwd=confined.cwd, env=confined.env, has_input=has_input)

    def _helper(self) -> Starter:
        from codur.sandbox.starter.starter_client import Starter  # noqa: PLC0415 - lazy: not every run starts a program

        with self._lock:
            if self._starter is None:
                self._starter = Starter()
            return self._starter

    def _for_trial(self) -> Starter:
        starter = self._helper()
        starter.prepare()
        if self._meanwhile is not None:
            starter.once_started(self._meanwhile)
        return starter

    def _chosen(self) -> Chosen:
        with self._lock:
            if self._backend is None:
                self._backend = self._choose() if self._contained else Chosen(backend=NoBackend())
                if self._shared is not None:
                    self._shared.backend = self._backend
            return self._backend

    def _choose(self) -> Chosen:
        chosen = backends.probe.choose_backend(
            self._settings.backend,
            self._environ,
            cache=self._state_cache,
            starter=self._for_trial if _HAS_STARTER else None,
        )
        if self._settings.require == "strict":
            backends.probe.require_whole(chosen)
        return chosen


def _if_any(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)

"""What contains programs: the protocol of the back ends, and the one that contains nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codur.sandbox.program_policy import FileRules, Mount, Policy
from codur.structs import Struct


class Confined(Struct):
    """How a program is started so that it is contained."""

    argv: tuple[str, ...]  # what to execute; the first word is an absolute path or is looked up on the `PATH` of `env`
    env: dict[str, str]  # all of its environment
    cwd: Path  # where to execute it, on the host
    # open descriptors that it inherits under the same numbers (64 or more, so that they are free in a starter); the one
    # who starts it closes its own copies afterwards
    fds: tuple[int, ...] = ()
    landlock: FileRules | None = None  # rules that the starter applies to itself just before it executes the program
    # a filter (bytes of `struct sock_filter`) that the starter applies last; None if there is none, or if what is
    # executed applies it itself
    seccomp: bytes | None = None
    # the starter puts it into a network namespace of its own, which has nothing but a loopback
    own_network: bool = False
    drop_privileges: bool = False  # the starter gives up all capabilities first
    # what makes a root of its own for the program, which then has namespaces of its own: first what all programs see,
    # then what this one does; None for the machine's root
    mounts: tuple[tuple[Mount, ...], tuple[Mount, ...]] | None = None
    # the name of the processes that stand between the starter and the program; they are not asked to end, and give exit
    # status 128 + N, as a shell does, for a program that signal N ended. Empty if there are none.
    wrapper: str = ""


class Backend(Protocol):
    """Contains programs."""

    @property
    def name(self) -> str:
        """`namespaces`, `bubblewrap`, `landlock`, `seatbelt` or `none`."""

    @property
    def hides(self) -> bool:
        """Whether a file of the workspace can be hidden from a program."""

    @property
    def has_loopback(self) -> bool:
        """Whether a program can talk to itself, and to what it starts, through sockets of 127.0.0.1 and ::1."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """What it does not hold here of what docs/SAFETY.md promises; empty if it holds all of it."""

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path, /) -> Confined:
        """How to start a program under a policy.

        Args:
            policy: what it may do.
            argv: the program (a path, or a name for the `PATH` of `env`) and its arguments.
            env: all of its environment, with `PATH`.
            cwd: where it starts; inside what the policy lets it read.

        Raises:
            CodurError: it cannot be contained as the policy says.
        """


class NoBackend:
    """Contains nothing."""

    name = "none"
    hides = False
    has_loopback = True
    gaps = ("programs can read, write and reach all that you can",)

    def confine(self, _: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path, /) -> Confined:
        """The program as it is."""
        return Confined(argv=tuple(argv), env=dict(env), cwd=cwd)


class Chosen(Struct):
    """The back end in use."""

    backend: Backend
    note: str = ""  # one line: why it is not a better one, and how to get that; empty if none holds more

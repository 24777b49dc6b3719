"""Containment by the kernel's namespaces, without a package: what bubblewrap gives, made by `isolation`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from codur.sandbox.backend import Confined
from codur.sandbox.backends.seccomp import NO_FILTER, filter_program
from codur.sandbox.backends.view import own_mounts, system_mounts
from codur.sandbox.program_policy import Policy
from codur.sandbox.starter.starter_protocol import WRAPPER


class NamespacesBackend:
    """Contains programs with namespaces of users, processes, network, mounts, IPC, host name and control groups."""

    name = "namespaces"
    hides = True
    has_loopback = True

    def __init__(self) -> None:
        self._seccomp = filter_program(network=True)
        self._seccomp_shared = filter_program(network=False, shared=True)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Nothing is left open where the machine's system calls are known."""
        return () if self._seccomp is not None else (NO_FILTER,)

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Confined:
        """How to start a program so that it sees and writes only what the policy says.

        Raises:
            CodurError: the workspace is the whole file system.
            OSError: there is no such program or directory.
        """
        return Confined(
            argv=tuple(argv),
            env=dict(env),
            cwd=cwd,
            seccomp=self._seccomp_shared if policy.network else self._seccomp,
            own_network=not policy.network,
            drop_privileges=True,
            mounts=(system_mounts(), tuple(own_mounts(policy, argv[0], env, cwd))),
            wrapper=WRAPPER,
        )

"""Containment by the kernel's namespaces, without a package: what the bubblewrap back end gives, and `isolation` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from codur.sandbox.backend import Confined
from codur.sandbox.policy import Policy
from codur.sandbox.seccomp import filter_program
from codur.sandbox.starter_protocol import WRAPPER
from codur.sandbox.view import own_mounts, system_mounts


class NamespacesBackend:
    """Contains programs with namespaces of users, processes, network, mounts, IPC, host name and control groups."""

    name = "namespaces"
    hides = True
    isolates_network = True
    has_loopback = True
    isolates_processes = True

    def __init__(self) -> None:
        self._seccomp = filter_program(network=True)
        self._seccomp_shared = filter_program(network=False, shared=True)

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

"""Containment by macOS's `sandbox-exec`: a profile that denies what it does not name. Not tested on a Mac yet.

The profile language is Apple's and undocumented; the forms used here are those of the profiles in
`/System/Library/Sandbox/Profiles`. A later rule wins over an earlier one.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES
from codur.errors import UsageError
from codur.sandbox.backend import Confined
from codur.sandbox.program_policy import Policy

SANDBOX_EXEC = Path("/usr/bin/sandbox-exec")

_SYSTEM = tuple(
    """
    /bin /dev /Library /opt /private/etc /private/var/db/dyld /private/var/db/timezone /sbin /System /usr
    """.split()
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper")
_START = """(version 1)
(deny default)
(allow process-exec process-fork process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem ipc-posix-shm)
(allow file-read-metadata)
(deny network*)
(deny mach-priv*)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))"""

_NETWORK = """(allow network-outbound (remote ip))
(allow mach-lookup (global-name "com.apple.dnssd.service") (global-name "com.apple.trustd.agent"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))"""


class SeatbeltBackend:
    """Contains programs with `sandbox-exec`."""

    name = "seatbelt"
    hides = True
    has_loopback = False
    gaps = ("it has not been tested",)

    def confine(self, policy: Policy, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Confined:
        """How to start a program so that it reads and writes only what the policy says.

        Its home is its temporary directory: the real one cannot be read.

        Raises:
            UsageError: a path cannot be written in a profile.
        """
        variables = {**env, "HOME": str(policy.temporary)} if policy.home_hidden else dict(env)
        profile = profile_text(policy)
        return Confined(argv=(str(SANDBOX_EXEC), "-p", profile, "--", *argv), env=variables, cwd=cwd)


def profile_text(policy: Policy) -> str:
    """The profile for a policy. Raises UsageError: a path has control characters or bytes that are no text."""
    writable = [*filter(None, (policy.workspace, *policy.writable)), policy.temporary]
    kept = list(policy.read_only)
    if policy.workspace is not None:
        kept += [policy.workspace / name for name in sorted(PROTECTED_NAMES)]
    rules = [
        _START,
        _NETWORK if policy.network else "",
        _rule("allow file-read*", [*map(Path, _SYSTEM), *policy.readable, *writable]),
        _rule("allow file-write*", writable),
        _rule("allow file-read* file-write-data", map(Path, _DEVICES), kind="literal"),
        _rule("deny file-write*", kept),
        # A directory that could be renamed would take what is kept along.
        _rule("deny file-write-unlink", _between(kept, policy.workspace), kind="literal"),
        _rule("deny file-read-data file-write*", policy.hidden),
    ]
    return "\n".join(rule for rule in rules if rule) + "\n"


def _rule(operation: str, paths: Iterable[Path], *, kind: str = "subpath") -> str:
    # `/tmp` and `/var` are links there, and rules are matched against real paths.
    forms = dict.fromkeys(form for path in paths for form in (str(path), os.path.realpath(path)))
    filters = "".join(f"\n  ({kind} {_quoted(form)})" for form in forms)
    return f"({operation}{filters})" if filters else ""


def _between(kept: Iterable[Path], workspace: Path | None) -> list[Path]:
    """The workspace's directories above what is kept."""
    if workspace is None:
        return []
    above = (parent for path in kept for parent in path.parents)
    return sorted({parent for parent in above if parent.is_relative_to(workspace)})


def _quoted(path: str) -> str:
    # A line break or a quote in a name could close the rule and open another.
    if not path.isprintable():
        raise UsageError(
            f"the directory name {path!r} cannot be used with sandbox-exec",
            remedy="Rename it, or choose another sandbox.backend.",
        )
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

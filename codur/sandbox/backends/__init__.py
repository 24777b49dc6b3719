"""What contains programs, one module each, and which of them this machine has."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.sandbox.backends import bubblewrap, landlock, namespaces, probe, seatbelt, seccomp, trial

__all__ = ["bubblewrap", "landlock", "namespaces", "probe", "seatbelt", "seccomp", "trial"]
__getattr__ = parts_of(__name__)

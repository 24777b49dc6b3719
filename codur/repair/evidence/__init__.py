"""What a failing run tells: the lines that it ran, the values that it saw."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.repair.evidence import tracing

__all__ = ["tracing"]
__getattr__ = parts_of(__name__)

"""Whether a pass means something: the judge must be able to fail, and other inputs must give other outputs."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.checks.confirmation import confirm

__all__ = ["confirm"]
__getattr__ = parts_of(__name__)

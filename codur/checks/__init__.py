"""What decides whether work is done: which check there is, how it is run, what its verdict says.

A new kind of check starts in `find_check`.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.checks import check_programs, checker, describe, find_check, linters, programs, signature, syntax

__all__ = ["check_programs", "checker", "describe", "find_check", "linters", "programs", "signature", "syntax"]
__getattr__ = parts_of(__name__)

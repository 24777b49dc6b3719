"""Tools on source code: outlines, definitions, references, edits."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.tools.code import definitions

__all__ = ["definitions"]
__getattr__ = parts_of(__name__)

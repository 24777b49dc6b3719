"""Tools that read, list, search and change files as text."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.tools.files import patch_text

__all__ = ["patch_text"]
__getattr__ = parts_of(__name__)

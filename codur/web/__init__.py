"""Reading web pages, guarded: only public addresses, bounded in bytes and time."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.web import access

__all__ = ["access"]
__getattr__ = parts_of(__name__)

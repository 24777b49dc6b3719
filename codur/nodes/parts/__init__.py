"""What nodes share: writing updates, judging an attempt, choosing sources, several samples."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.nodes.parts import allowed_by_user

__all__ = ["allowed_by_user"]
__getattr__ = parts_of(__name__)

"""What a batch keeps on disk, and reads again when it goes on."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.batch.results import results_directory

__all__ = ["results_directory"]
__getattr__ = parts_of(__name__)

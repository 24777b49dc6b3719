"""What is to be done, decided before it is done: rules, classification, plans, retries.

Pure but for the calls to models.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.planning import explanation, renaming, replies

__all__ = ["explanation", "renaming", "replies"]
__getattr__ = parts_of(__name__)

"""Settings, agents and prompts: what can be set, where it comes from, what a project may set itself.

A new setting is a field in `settings`.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.config import document, instructions

__all__ = ["document", "instructions"]
__getattr__ = parts_of(__name__)

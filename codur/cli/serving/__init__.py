"""Codur for other programs: a server of the Model Context Protocol, an agent of the Agent Client Protocol.

Both are thin: what is asked for becomes a job of `codur.api`.
"""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.cli.serving import start

__all__ = ["start"]
__getattr__ = parts_of(__name__)

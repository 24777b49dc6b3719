"""Commands on batches of challenges: what they do, in a module of the same name."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.cli.actions.batch import challenge, report, solve

__all__ = ["challenge", "report", "solve"]
__getattr__ = parts_of(__name__)

"""Whole programs and what they load: their output before a change, and extensions that are built of its sources."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.checks.programs import kept_output, native_build

__all__ = ["kept_output", "native_build"]
__getattr__ = parts_of(__name__)

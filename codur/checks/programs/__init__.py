"""Whole programs and what they load: their output before a change, extensions that are built, other languages."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.checks.programs import kept_output, native_build, other_languages

__all__ = ["kept_output", "native_build", "other_languages"]
__getattr__ = parts_of(__name__)

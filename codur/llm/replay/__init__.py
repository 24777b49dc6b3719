"""Exchanges with models written down and played back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.llm.replay import model_recording, replayed

__all__ = ["model_recording", "replayed"]
__getattr__ = parts_of(__name__)

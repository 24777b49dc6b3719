"""The command line: the only package that reads arguments, the environment and the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.cli import app, conversation, machine, plain_words, printing, project_names, told_error

__all__ = ["app", "conversation", "machine", "plain_words", "printing", "project_names", "told_error"]
__getattr__ = parts_of(__name__)

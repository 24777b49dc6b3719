"""Codur: a coding agent for the terminal whose fixes are checked."""

__version__ = "0.1.0"

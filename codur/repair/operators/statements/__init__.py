"""Operators that change, add or remove whole statements."""

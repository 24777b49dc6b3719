"""Operators that change a part of a statement."""

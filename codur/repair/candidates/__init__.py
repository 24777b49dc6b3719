"""Edits that may mend a program: where they come from and in which order they are tried."""

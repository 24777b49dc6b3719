"""Which places of a program are most likely wrong."""

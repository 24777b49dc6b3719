"""Which models there are, and which of them can be asked here."""

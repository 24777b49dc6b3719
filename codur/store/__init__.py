"""Files of Codur's own under the state directory: atomic, locked, bounded."""

"""What contains programs, one module each, and which of them this machine has."""

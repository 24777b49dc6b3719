"""When a request may be sent: what services tell of their limits, and whose turn it is."""

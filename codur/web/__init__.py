"""Reading web pages, guarded: only public addresses, bounded in bytes and time."""

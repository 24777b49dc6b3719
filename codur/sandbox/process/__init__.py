"""One program that runs: its streams, its end, what it may write."""

"""The small process that starts and ends all others, so that none outlives a run."""

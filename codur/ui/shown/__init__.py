"""Results in words, a module for each kind: runs, batches, plans, verdicts."""

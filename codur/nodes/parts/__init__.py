"""What nodes share: writing updates, judging an attempt, choosing sources, several samples."""

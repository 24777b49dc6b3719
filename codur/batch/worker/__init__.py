"""The process that solves challenges for a batch, and how the batch speaks with it."""

"""Commands on batches of challenges: what they take."""

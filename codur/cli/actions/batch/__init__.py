"""Commands on batches of challenges: what they do, in a module of the same name."""

"""Access to files by descriptors, so that no link leads out."""

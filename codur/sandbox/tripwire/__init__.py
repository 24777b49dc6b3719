"""Places that no program may change: saved before, compared after, put back."""

"""What changed, by whom, and how it is put back."""

"""Whether a candidate passes: in warm workers first, in a plain process at last."""

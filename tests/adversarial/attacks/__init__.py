"""The attacks on containment and the useful programs: copied into a workspace and run there as `python -m attack`."""

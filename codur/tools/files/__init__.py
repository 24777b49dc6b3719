"""Tools that read, list, search and change files as text."""

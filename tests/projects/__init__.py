"""Codur on real projects of the package index."""

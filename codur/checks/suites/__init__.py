"""Suites of tests: which there are, how they are called, what they report."""

"""Exchanges with models written down and played back."""

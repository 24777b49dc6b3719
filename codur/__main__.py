"""`python -m codur`."""

"""Servers that speak the Model Context Protocol: their sessions, their tools and resources, and the trust in them."""

"""Agents that are other programs: they work in a copy of the workspace, and nothing of what they say is believed."""

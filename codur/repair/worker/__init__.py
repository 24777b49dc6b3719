"""Programs that judge candidates within the workspace's own Python.

They stand alone: no import of Codur, none of each other.
"""

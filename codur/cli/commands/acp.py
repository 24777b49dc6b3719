"""`codur acp`: `serving` does the work."""

from codur.cli import serving


def acp() -> int:
    """Be the agent of an editor, by the Agent Client Protocol over standard input and output."""
    return serving.start.serve_acp()

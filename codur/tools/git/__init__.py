"""Tools on git, and what else of Codur reads a repository."""

"""The command line: the only package that reads arguments, the environment and the working directory."""

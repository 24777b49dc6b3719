"""Whether a program's output is written into it: a module for each way to do that."""

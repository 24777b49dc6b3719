"""The directory that a run works on: all reading and writing of the user's files goes through `workspace`."""

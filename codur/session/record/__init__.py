"""What is kept of a run, and how a run that was cut off goes on."""

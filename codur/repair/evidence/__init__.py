"""What a failing run tells: the lines that it ran, the values that it saw."""

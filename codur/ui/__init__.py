"""What a person or a machine sees of a run: the one package that writes to the terminal and imports rich."""

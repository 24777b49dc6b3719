"""What the programs of others print, read into one form: a module for each program."""

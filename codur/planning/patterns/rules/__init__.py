"""What requests of known phrases settle on: a module for each kind. A new phrase is a line of `phrases.txt`."""

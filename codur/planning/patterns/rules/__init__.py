"""The phrases that settle a request: a module for each kind. A new phrase is a row there."""

"""What the search knows of a source file: scopes, names, kinds of values, edits."""

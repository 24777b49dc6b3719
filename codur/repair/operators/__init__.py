"""The kinds of edits. `table` lists them; a new one is a function in `expressions` or `statements` and a row there."""

"""Tools on source code: outlines, definitions, references, edits."""

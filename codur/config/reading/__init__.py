"""From YAML and variables to checked values: shapes, limits, references, merging."""

"""Tools that change one value in JSON, YAML, TOML and INI files and leave the rest as it is."""

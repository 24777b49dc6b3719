"""The commands as Typer sees them: names, options, help. Light, as `codur --help` loads all of them."""

"""The console script. `--version` is answered here, before anything is loaded."""

from __future__ import annotations

import sys

from codur import __version__


def main() -> int:
    """Run the command line and give the exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"codur {__version__}\n")
        return 0
    from codur.cli.main import run  # noqa: PLC0415 - lazy: the version needs nothing of it

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""The console script. `--version` is answered here, before anything is loaded."""

from __future__ import annotations

import os
import sys

from codur import __version__


def main() -> int:
    """Run the command line and give the exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - for the whole process
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"codur {__version__}\n")
        return 0
    from codur.cli.main import run  # noqa: PLC0415 - lazy: the version needs nothing of it

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

"""A Python with pytest and nothing else, which the tests find first on their path.

What is installed beside the Python that a machine has on its path differs, and each plugin of pytest is loaded by every
test run within a test: hypothesis alone costs more than the rest of it.
"""

from __future__ import annotations

import compileall
import os
import shutil
import sys
import tempfile
import venv
from importlib.metadata import files, version
from pathlib import Path

_INSTALLED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def executable() -> str:
    """That Python, made unless it is there, beside the environment of the tests; outside of one it is theirs."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    place = Path(sys.prefix) / f"plain-pytest-{version('pytest')}"
    if not place.exists():
        _make(place)
    return str(place / "bin" / "python")


def put_on_path() -> None:
    """Put its directory at the front of `PATH`."""
    directory = str(Path(executable()).parent)
    others = [name for name in os.environ.get("PATH", os.defpath).split(os.pathsep) if name != directory]
    os.environ["PATH"] = os.pathsep.join([directory, *others])


def _make(place: Path) -> None:
    """Make it under another name first, so that what has the name is whole."""
    with tempfile.TemporaryDirectory(dir=place.parent) as parent:
        made = Path(parent) / "made"
        venv.create(made, symlinks=True)
        libraries = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
        for name in _INSTALLED:
            for file in files(name) or ():
                if ".." not in file.parts and file.suffix != ".pyc":  # which is listed where it was never made, too
                    target = made / libraries / file
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(str(file.locate()), target)
        compileall.compile_dir(made, quiet=1)  # nothing is written where programs are contained
        try:
            made.rename(place)
        except OSError:  # another process was faster
            if not place.exists():
                raise

"""What the workspace's own Python is given with `-c`: it imports this package from texts, and runs a part of it.

It stands alone. Requests and answers are frames on its standard input and output: four bytes of length, then a JSON
object in which bytes stand as Latin-1 text. It ends when its standard input does. The requests:

    start: package (module → text), runner (the module that is run), root, files (path → bytes), task → problem
    adopt: what was learnt from a normal run (modules, inside, rewritten), memory → threads
    judge: files (path → bytes), limits (processor, idle and wall time), keep, flood, stdin, learn, instead (what of the
        task is otherwise this time) → what became of the fork
    try: edits (path, start, end, text; or none), needed and others (numbers of tests), test_cpu_s, enough, most_failed,
        and otherwise as `judge` → what became of the fork, and which edits could not be made
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = "_repair_worker"
PR_SET_CHILD_SUBREAPER = 36


class Texts:
    """Imports the modules of the package from their texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = {PACKAGE: "", **{f"{PACKAGE}.{name}": text for name, text in texts.items()}}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(name, loader, is_package=name == PACKAGE) if name in self.texts else None

    def create_module(self, spec: ModuleSpec) -> None:
        """It is made in the usual way."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        exec(compile(self.texts[name], f"<{name}>", "exec", dont_inherit=True), module.__dict__)


def exactly(size: int) -> bytes:
    """Bytes of standard input, and none beyond them: requests follow. The program ends where they do."""
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit()
        data += more
    return data


def main() -> None:
    gc.disable()  # a collection in a fork copies all pages; forks switch it on for what they make themselves
    sys.dont_write_bytecode = True
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start = json.loads(exactly(struct.unpack(">I", exactly(4))[0]))
    texts: Any = Texts(start["package"])
    sys.meta_path.insert(0, texts)
    try:
        runner: Any = __import__(f"{PACKAGE}.{start['runner']}", fromlist=["main"])
    except ModuleNotFoundError as error:
        if error.name != "pytest":
            raise
        answer = json.dumps({"problem": "its Python has no pytest"}).encode("ascii")
        os.write(1, struct.pack(">I", len(answer)) + answer)
        return
    sys.meta_path.remove(texts)  # before anything of the workspace is loaded
    runner.main(start)


if __name__ == "__main__":
    main()

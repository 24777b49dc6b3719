"""A program that runs versions of a program on generated inputs and writes down what they answer.

It stands alone (standard library only, no import of Codur): its text is given to the workspace's own Python with `-c`.

    TASK OUT ROOT

TASK is a file with a JSON object: `entry` (file relative to ROOT), `function` (empty: the program is run as a script),
`inputs` (texts for standard input, or argument lists as literals), `seconds` for one input, `most` seconds for a
version, and `versions`, each of which has the bytes (as Latin-1) of the same files. Each runs in a fork: one
interpreter is started for all of them. OUT and its number becomes a JSON list with one answer for each input: the
printed text or the returned value, shortened, or `!` and what was raised. With the function `>>>`, the examples of the
file's docstrings are tried: an answer for each, `ok` or `!`.

In a warm worker's fork, whose imports have a version's texts, TASK is the object itself, without `versions`, and OUT is
empty: the list becomes the fork's report.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import os
import signal
import sys
import time
import types
from binascii import crc32
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

SHOWN = 80


# No `Exception`: programs that catch everything must not catch their own end.
class TooLong(BaseException):
    """The time for one input is up."""


def shown(text: str) -> str:
    """The text, or its start, its length and a checksum if it is long; to load `hashlib` takes 3 of 12 ms."""
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}… {len(text)} {crc32(text.encode(errors='replace')):08x}"


def give_up(number: int, frame: Any) -> None:
    raise TooLong


def run_script(path: Path, text: str) -> str:
    """What the program prints with this standard input."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    sys.argv = [str(path)]
    printed = sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    sys.modules["__main__"] = module
    try:
        exec(code_of(path), module.__dict__)
    except SystemExit as leave:
        # Status 0 is an end like any other; another one is part of the answer.
        if leave.code:
            raise
    return bytes(printed.buffer.getbuffer()).decode(errors="replace")


def code_of(path: Path) -> Any:
    """As an import compiles it: in a warm worker the version's text is in memory alone."""
    return SourceFileLoader(path.stem, str(path)).get_code(path.stem)


def guarded(call: Any) -> str:
    """The answer of a call, or what it raised."""
    signal.setitimer(signal.ITIMER_REAL, LIMIT[0])
    try:
        return shown(call())
    except TooLong:
        return "!TooLong"
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its answer
        return f"!{type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


LIMIT = [1.0]
PAUSE_S = 0.001


def loaded(entry: Path) -> types.ModuleType:
    """The file as a module; what it prints is lost."""
    module = types.ModuleType(entry.stem)
    module.__file__ = str(entry)
    sys.modules[entry.stem] = module
    sys.stdout = io.StringIO()
    exec(code_of(entry), module.__dict__)
    return module


def tried(module: types.ModuleType) -> list[str]:
    """Whether each example in a module's docstrings comes out as it is written."""
    import doctest  # noqa: PLC0415 - lazy: it loads a debugger, and few programs have examples

    found: list[str] = []
    runner: Any = doctest.DocTestRunner(verbose=False)
    runner.report_success = lambda *_: found.append("ok")
    runner.report_failure = runner.report_unexpected_exception = lambda *_: found.append("!")
    for each in doctest.DocTestFinder().find(module, module.__name__):
        signal.setitimer(signal.ITIMER_REAL, LIMIT[0])
        try:
            runner.run(each, out=lambda text: None)
        except TooLong:
            found.append("!")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def answers(wanted: Any, entry: Path) -> list[str]:
    """What the version that is in place answers."""
    if wanted["function"] == ">>>":
        return tried(loaded(entry))
    if not wanted["function"]:
        return [guarded(lambda given=given: run_script(entry, given)) for given in wanted["inputs"]]
    function = getattr(loaded(entry), wanted["function"])
    return [
        # A fresh copy each time: a function that changes its arguments would change the next answer.
        guarded(lambda given=given: repr(function(*copy.deepcopy(ast.literal_eval(given)))))
        for given in wanted["inputs"]
    ]


def in_fork(work: Any, seconds: float) -> None:
    """Do it in a process of its own, and end that with all that it started, after so many seconds at the latest."""
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            work()
        finally:
            os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.waitpid(pid, os.WNOHANG)[0]:
        time.sleep(PAUSE_S)
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def main(task: str, out: str, root: str) -> None:
    sys.dont_write_bytecode = True
    wanted = json.loads(task if not out else Path(task).read_text(encoding="utf-8"))
    LIMIT[0] = wanted["seconds"]
    signal.signal(signal.SIGALRM, give_up)
    sys.path[0] = root
    entry = Path(root) / wanted["entry"]
    if not out:
        Path(os.environ["TMPDIR"], "report.xml").write_text(json.dumps(answers(wanted, entry)))
        return
    for number, texts in enumerate(wanted["versions"]):
        for path, text in texts.items():
            (Path(root) / path).write_bytes(text.encode("latin-1"))
        told = Path(f"{out}{number}")
        in_fork(lambda told=told: told.write_text(json.dumps(answers(wanted, entry))), wanted["most"])


if __name__ == "__main__":
    main(*sys.argv[1:])

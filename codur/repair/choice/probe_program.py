"""A program that runs a patched program on generated inputs and writes down what it answers.

It stands alone (standard library only, no import of Codur): its text is given to the workspace's own Python with `-c`.

    TASK OUT ROOT

TASK is a JSON object: `entry` (file relative to ROOT), `function` (empty: the program is run as a script), `inputs`
(texts for standard input, or argument lists as literals) and `seconds` for one input. OUT becomes a JSON list with one
answer for each input: the printed text or the returned value, shortened, or `!` and what was raised. With the function
`>>>`, the examples of the file's docstrings are tried: an answer for each, `ok` or `!`.
"""

from __future__ import annotations

import ast
import copy
import doctest
import hashlib
import io
import json
import signal
import sys
import types
from pathlib import Path
from typing import Any

SHOWN = 80


# No `Exception`: programs that catch everything must not catch their own end.
class TooLong(BaseException):
    """The time for one input is up."""


def shown(text: str) -> str:
    """The text, or its start and a digest if it is long."""
    if len(text) <= SHOWN:
        return text
    return f"{text[:SHOWN]}… {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}"


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
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    except SystemExit as leave:
        # Status 0 is an end like any other; another one is part of the answer.
        if leave.code:
            raise
    return bytes(printed.buffer.getbuffer()).decode(errors="replace")


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


def loaded(entry: Path) -> types.ModuleType:
    """The file as a module; what it prints is lost."""
    module = types.ModuleType(entry.stem)
    module.__file__ = str(entry)
    sys.modules[entry.stem] = module
    sys.stdout = io.StringIO()
    exec(compile(entry.read_text(encoding="utf-8"), str(entry), "exec"), module.__dict__)
    return module


class Tally(doctest.DocTestRunner):
    """Tries examples and keeps whether each came out as it is written."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.found: list[str] = []

    def report_success(self, *given: Any) -> None:
        self.found.append("ok")

    def report_failure(self, *given: Any) -> None:
        self.found.append("!")

    def report_unexpected_exception(self, *given: Any) -> None:
        self.found.append("!")


def tried(module: types.ModuleType) -> list[str]:
    """Whether each example in a module's docstrings comes out as it is written."""
    tally = Tally()
    for each in doctest.DocTestFinder().find(module, module.__name__):
        signal.setitimer(signal.ITIMER_REAL, LIMIT[0])
        try:
            tally.run(each, out=lambda text: None)
        except TooLong:
            tally.found.append("!")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return tally.found


def main(task: str, out: str, root: str) -> None:
    wanted = json.loads(Path(task).read_text(encoding="utf-8"))
    LIMIT[0] = wanted["seconds"]
    signal.signal(signal.SIGALRM, give_up)
    sys.path[0] = root
    entry = Path(root) / wanted["entry"]
    if wanted["function"] == ">>>":
        answers = tried(loaded(entry))
    elif wanted["function"]:
        function = getattr(loaded(entry), wanted["function"])
        answers = [
            # A fresh copy each time: a function that changes its arguments would change the next answer.
            guarded(lambda given=given: repr(function(*copy.deepcopy(ast.literal_eval(given)))))
            for given in wanted["inputs"]
        ]
    else:
        answers = [guarded(lambda given=given: run_script(entry, given)) for given in wanted["inputs"]]
    Path(out).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

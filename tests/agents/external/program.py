"""A program that stands for an agent's command line: it speaks a documented protocol and does what its script says.

Run as `program.py SCRIPT.json WORDS…`. The script is a list of steps, each a verb with its arguments. It uses the
standard library alone, as it runs in a sandbox.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def main() -> int:
    script = json.loads(Path(sys.argv[1]).read_text())
    for verb, *arguments in script:
        done = VERBS[verb](*arguments)
        if done is not None:
            return int(done)
    return 0


def write(path: str, text: str) -> None:
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def link(path: str, target: str) -> None:
    Path(path).symlink_to(target)


def say(event: Any) -> None:
    sys.stdout.write((event if isinstance(event, str) else json.dumps(event)) + "\n")
    sys.stdout.flush()


def flood(number: int, text: str) -> None:
    for _ in range(number):
        sys.stdout.write(text)
    sys.stdout.write("\n")
    sys.stdout.flush()


def report(path: str) -> None:
    """Write down what the program can see, into the workspace."""
    seen = {
        "words": sys.argv[2:],
        "stdin": sys.stdin.read(),
        "environ": dict(os.environ),
        "files": sorted(str(item) for item in Path().rglob("*") if item.is_file()),
        "cwd": str(Path.cwd()),
    }
    named = [word for word in sys.argv[2:] if word.endswith("prompt.md")]
    seen["prompt_file"] = Path(named[0]).read_text() if named else ""
    write(path, json.dumps(seen))


def try_to_write(path: str) -> None:
    try:
        write(path, "from an agent")
    except OSError as error:
        say(f"refused: {error.strerror}")


def ask() -> None:
    """Ask for a permission, as one that is not headless would."""
    sys.stdout.write("Allow this? [y/N] ")
    answer = sys.stdin.readline()
    sys.stdout.write(f"answer: {answer!r}\n")


def hang(marker: str = "") -> None:
    """Wait, with a child in a session of its own that has the marker among its words."""
    if marker:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", marker], start_new_session=True)
        say("waiting")
    time.sleep(600)


def connect(port: int) -> None:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        say("connected")
    except OSError:
        say("not connected")


def kill_self() -> None:
    os.kill(os.getpid(), 9)


def remove(path: str) -> None:
    Path(path).unlink()


def leave(code: int) -> int:
    return code


VERBS: dict[str, Any] = {
    "write": write,
    "link": link,
    "say": say,
    "flood": flood,
    "report": report,
    "try_to_write": try_to_write,
    "ask": ask,
    "hang": hang,
    "connect": connect,
    "kill_self": kill_self,
    "remove": remove,
    "exit": leave,
}

if __name__ == "__main__":
    sys.exit(main())

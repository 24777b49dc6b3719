"""A headless Chromium, driven over the DevTools protocol on two pipes: https://chromedevtools.github.io/devtools-protocol/."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_WAIT_S = 300.0
# The browser reads commands from descriptor 3 and writes answers to 4.
_START = (
    "import os, sys; reads, writes = int(sys.argv[1]), int(sys.argv[2]); "
    "os.dup2(reads, 3); os.dup2(writes, 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def find_browser() -> str | None:
    """The browser's path, or None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of a browser.

    Attributes:
        problems: what the page put on the console, and its uncaught errors.
        requests: addresses that it asked for.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._commands = commands
        self._answers = answers
        self._buffer = b""
        self._number = 0
        self._session = ""
        self._loaded = 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command; give its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        before = self._loaded
        self.send("Page.navigate", url=path.as_uri())
        while self._loaded == before:
            self._next()

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def click(self, selector: str) -> None:
        """Click in the middle of an element, as a mouse does."""
        script = (
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            " found.scrollIntoView({block: 'center'}); const box = found.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        x, y = self.run(script)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        codes = {"Enter": 13, "Tab": 9, " ": 32}
        more = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if text:
            more["text"] = text
        self.send("Input.dispatchKeyEvent", type="keyDown", **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", **more)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def screenshot(self, path: Path, *, width: int, dark: bool = False, height: int | None = None) -> None:
        """Take a picture of the page; of all of it, if no height is given."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.size(width, height or 900)
        if height is None:
            self.size(width, int(self.run("document.documentElement.scrollHeight")))
        data = self.send("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def size(self, width: int, height: int) -> None:
        """Give the page a size in CSS pixels."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _WAIT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._answers, 1 << 20) if ready else b""
            if not data:
                raise AssertionError("the browser does not answer")
            self._buffer += data
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.problems.append(json.dumps(told))


@contextmanager
def browser_page(browser: str, profile: Path) -> Iterator[Page]:
    """A page in a browser of its own, with an empty profile."""
    ours_read, theirs_write = os.pipe()
    theirs_read, ours_write = os.pipe()
    given = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 20) for descriptor in (theirs_read, theirs_write)]
    arguments = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", _START, *map(str, given), *arguments],
        pass_fds=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(profile), "LANG": "C.UTF-8"},
        start_new_session=True,
    )
    for descriptor in (*given, theirs_read, theirs_write):
        os.close(descriptor)
    try:
        page = Page(ours_write, ours_read)
        yield page
        page._session = ""
        page.send("Browser.close")
        process.wait(_WAIT_S)
    finally:
        for descriptor in (ours_read, ours_write):
            os.close(descriptor)
        if process.poll() is None:
            process.kill()
            process.wait()

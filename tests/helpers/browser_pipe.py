"""A real headless Chromium, driven over its debugging pipe: no driver package, no port, no network.

`HERMES_BROWSE_CHROMIUM` names the executable; else the usual names on PATH are tried.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
_PATIENCE = 60.0
# The protocol is spoken on descriptors 3 and 4 (content/browser/devtools, --remote-debugging-pipe).
_LAUNCHER = """
import os, sys
read, write = (os.dup(int(each)) for each in sys.argv[1:3])
while min(read, write) < 5:
    read, write = os.dup(read), os.dup(write)
os.dup2(read, 3); os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """The browser to test with, None when there is none."""
    named = os.environ.get("HERMES_BROWSE_CHROMIUM")
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((found for found in map(shutil.which, _NAMES) if found), None)


class Page:
    """One page: commands go out and are waited for, events are kept."""

    def __init__(self, out: int, into: int) -> None:
        self._out = out
        self._into = into
        self._number = 0
        self._session: str | None = None
        self._incoming: Queue[dict[str, Any] | None] = Queue()
        self.events: list[dict[str, Any]] = []
        """All that was reported, oldest first."""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        rest = b""
        while chunk := os.read(self._into, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in messages:
                self._incoming.put(json.loads(message))
        self._incoming.put(None)

    def _next(self) -> dict[str, Any]:
        try:
            message = self._incoming.get(timeout=_PATIENCE)
        except Empty:
            raise AssertionError("the browser does not answer") from None
        assert message is not None, "the browser has ended"
        return message

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol and its result."""
        self._number += 1
        wanted = self._number
        message = {"id": wanted, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == wanted:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def attach(self) -> None:
        """Open the page and listen to all it does."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def open(self, path: Path) -> None:
        """Load a file from disk and wait until it has run."""
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, *, shift: bool = False) -> None:
        """A key as from a keyboard: one letter types itself."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call(
            "Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Text put in where the focus is."""
        self.call("Input.insertText", text=text)

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[Any]:
        """What the browser wrote to its console: refusals of the policy, exceptions."""
        wanted = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [event["params"] for event in self.events if event.get("method") in wanted]


@contextmanager
def opened_browser(executable: str, profile: Path) -> Iterator[Page]:
    """A browser with one page, ended with the block.

    Args:
        executable: From `find_chromium`.
        profile: A folder of its own.
    """
    theirs_in, out = os.pipe()
    into, theirs_out = os.pipe()
    command = [
        executable, "--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--disable-gpu",
        "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")  # Chromium refuses its sandbox to root
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCHER, str(theirs_in), str(theirs_out), *command],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    page = Page(out, into)
    try:
        page.attach()
        yield page
    finally:
        os.close(out)  # its end of the pipe gone, the browser ends
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        page._thread.join(timeout=5)
        os.close(into)

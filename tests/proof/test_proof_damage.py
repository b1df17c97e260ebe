"""Unbreakable: what can be read of a broken store is shown, what cannot is named; nothing crashes,
nothing hangs."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import path_with
from counts import IS_LONG
from damage import corpus
from driver import ESCAPE, LEFT, NO_QUERY, SHORT_FUSE, Driven
from platforms import posix_only

IDEA = "damage"
pytestmark = posix_only
SECONDS = 20
"""A command may take so long; all of them take much less on a whole store."""
COMMANDS = (
    "list --view all --limit 0 --sort size",
    "list --json --sort cost",
    "search ferry --context 1 --json",
    "search title:harbour is:live lantern",
    "search in:reasoning ferry --limit 0",
    "show --everything -- s01",
    "show --json -- s00",
    "lineage -- s01",
    "resume --print -- s01",
    "prune --older-than 1d",
    "stats --by model",
    "export --format jsonl --output - -- s01",
    "trash list",
    "doctor",
    "doctor --json",
)
FEW = (COMMANDS[0], COMMANDS[2], COMMANDS[5])
"""In the fast part."""
ON_SCREEN = (
    "cut to half",
    "b-tree in a ring",
    "no messages",
    "wrong types",
    "cycles of parents",
    "tool calls nested without end",
)
"""Of the stores, opened on a screen in the fast part."""
KEYS = (
    "jj", "G", "g", f"{LEFT}\t", "JKttrv", "}{", "Gg", f"{LEFT}ljj", f"{LEFT}4jjj", "s", f"{LEFT}/ferry",
    "\x1b[B\r", "nN", f"/{NO_QUERY}in:reasoning ferry", f"{NO_QUERY}\r{LEFT}", "p", "p",
)  # fmt: skip
"""What reads a list, transcripts, family trees, a search."""
SCREENS = (
    ("i", "Esc back"), ("W", "what Hermes will delete"), ("P", "take/leave"),
    ("X", "The trash is empty."), ("I", "m measure"), ("H", "look again"),
)  # fmt: skip
"""Keys that open a card or a screen, which may say instead why it does not open; what is then to be
seen."""


@pytest.fixture(scope="module")
def runner():
    """Runs commands in forks."""
    script = str(Path(__file__).with_name("forks.py"))
    pipe = subprocess.PIPE
    env = {**os.environ, "PATH": path_with()}  # doctor would ask Hermes for its version, each time
    with subprocess.Popen(
        [sys.executable, script], env=env, stdin=pipe, stdout=pipe, text=True
    ) as process:
        yield process
        process.stdin.close()


def test_every_command_on_every_broken_store(runner, tmp_path, tell):
    """An exit code of the contract, a sentence where it is none of 0; never a traceback, a signal,
    or no end."""
    tell("crashes, hangs or tracebacks", 0)
    faults = []
    for name, path in corpus(tmp_path, pages=3 if IS_LONG else 0):
        is_read = False
        for command in COMMANDS if IS_LONG else FEW:
            asked = [SECONDS, ["--db", str(path), *command.split()]]
            print(json.dumps(asked), file=runner.stdin, flush=True)
            code, out, err = json.loads(runner.stdout.readline())
            tell("commands run on them")
            is_read |= code == 0 and command != "trash list"  # which reads no store
            where = f"{name}: {command} → {code}\n{err[-600:]}"
            if code not in (0, 3, 4, 5) or "Traceback" in out + err:
                faults.append(where)
            if command == "doctor --json":  # its document is the answer, and tells the problem
                told = any(
                    each["severity"] == "error" and each["text"]
                    for each in json.loads(out)["problems"]
                )
            else:
                told = err.startswith(("hermes-browse", "error: "))
            if code and not told:
                faults.append(f"no sentence: {where}")
            if code == 0 and "--json" in command:
                json.loads(out)
        tell("broken stores")
        tell("of which something could be read", int(is_read))
        shutil.rmtree(path.parent)
    assert not faults, "\n\n".join(faults[:20])


def _looked_at(path, tell):
    """What went wrong when a store was opened, read and left on a screen; empty for nothing."""
    browser = Driven(path, code=SHORT_FUSE, PATH=path_with())  # no Hermes to resume in
    browser.wait_until(lambda it: "is writing" in it.text or not it.child.isalive(), SECONDS * 3)
    if browser.child.isalive():
        tell("browsers opened on them")
        for keys in KEYS if IS_LONG else KEYS[::2]:
            browser.send(keys)
            browser.read(0.15)
        for key, shown in SCREENS if IS_LONG else SCREENS[2:3]:
            browser.send(key)
            end = time.monotonic() + 5
            while shown not in browser.text and time.monotonic() < end and browser.child.isalive():
                browser.read(0.1)
            if shown not in browser.text:
                break  # it may yet come: nobody knows what Escape would leave
            browser.send(ESCAPE)
            browser.wait_until(
                lambda it, shown=shown: shown not in it.text or not it.child.isalive()
            )
            tell("screens and cards opened on them")
        if not browser.child.isalive():
            return f"it went away by itself:\n{browser.text}"
        browser.send("\x03")
        expected = 0
    else:
        tell("refused by a sentence")
        expected = 3
    code = browser.wait_for_end(SECONDS * 3)
    said = browser.raw.decode("utf-8", "replace")
    if code != expected or "Traceback" in said or not browser.is_restored:
        return f"ended with {code}: {said[-600:]!r}"
    if code == 3 and "hermes-browse: " not in said:
        return f"no sentence: {said[-600:]!r}"
    return ""


def test_every_broken_store_on_the_screen(tmp_path, tell):
    """Opened, read through and left: rows or a sentence, the terminal as it was, no traceback, no
    hang."""
    faults = []
    tell("crashes, hangs or tracebacks", 0)
    for name, path in corpus(
        tmp_path, pages=1 if IS_LONG else 0, only=() if IS_LONG else ON_SCREEN
    ):
        try:
            fault = _looked_at(path, tell)
        except AssertionError as error:  # it waited in vain
            fault = str(error)
        if fault:
            faults.append(f"{name}: {fault}")
        tell("broken stores on a screen")
        shutil.rmtree(path.parent)
    assert not faults, "\n\n".join(faults[:20])

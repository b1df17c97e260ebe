"""What is free goes back to the system, and the browser does so when it rests."""

import ctypes
import platform
import sys

import pytest
from platforms import python

from hermes_browse.tui.work import jobs as working

_HOLES = """
from hermes_browse.tui.work.jobs import trim_memory
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
blocks = [bytes(5000) for _ in range(10_000)]
kept = blocks[::100]
del blocks
before = resident()
trim_memory()
print(before - resident(), len(kept))
"""
"""Every hundredth block stays, so that what is free lies between what is not."""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc")
def test_what_lies_between_goes_back():
    """Most of fifty megabytes, though the last block is still in use."""
    told = python(_HOLES)
    assert int(told.split()[0]) > 30_000_000


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_other_libraries_are_left_alone(platform, monkeypatch):
    """Where there is nothing to call nothing is called."""
    opened = []
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: opened.append(name) or object())
    working.trim_memory()
    assert opened == ([None] if platform == "linux" else [])


@pytest.mark.slow
async def test_the_browser_gives_back_when_it_rests(browser, monkeypatch):
    """When a worker lets go of the file, and not before."""
    reads = browser.screen.reads
    given = []
    monkeypatch.setattr(working, "trim_memory", lambda: given.append(reads.holds_store))
    await browser.press("j", "k")
    assert reads.holds_store
    given.clear()
    await browser.wait_until(lambda: bool(given))
    assert given == [False]

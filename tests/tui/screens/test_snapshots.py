"""Looks: each picture is one thing a reviewer should see. Behaviour is tested elsewhere."""

import asyncio
import importlib
import shutil
from pathlib import Path

import pytest
from browsing import NOW, Browser, demo_app
from fake_hosts import FakeConnection, FakeLink, FakeLinks, configured
from looks import LOOKS
from paths import ROOT
from planting import planted_app

from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.remote import RemoteStore
from hermes_browse.tui.screens import doctor
from hermes_browse.tui.text import checkup

SCREENSHOTS = ROOT / "screenshots"


def steps(app_keys, theme):
    """Press keys, waiting for the workers after each."""

    async def run(pilot):
        app = pilot.app
        browser = Browser(app, pilot)
        app.theme = theme
        await browser.settle()
        for key in app_keys:
            await browser.press(key)
        await browser.measure()
        browser.screen.line("status").update("")  # it tells milliseconds
        await pilot.pause()

    return run


_ALIKE = ("all", "automation", "search-title", "search-nothing", "searches", "finding", "sort")
"""Pictures like others of the main screen, whose keys have tests too: `make check` looks at them."""
EACH_LOOK = [
    pytest.param(look, marks=pytest.mark.slow) if look in _ALIKE else look for look in LOOKS
]
SIZES = {
    "120x36-dark": ((120, 36), "hermes-dark"),
    "80x24-light": ((80, 24), "hermes-light"),
    "200x60-dark": ((200, 60), "hermes-dark"),
    "120x36-ansi": ((120, 36), "ansi-dark"),
}
EACH_SIZE = ("120x36-dark", pytest.param("80x24-light", marks=pytest.mark.slow))
"""`make test` looks at every picture in one size, `make check` in both."""


@pytest.fixture
def is_like(size, snap_compare):
    """Compare the picture of an app, in a size and after some keys, with the one that is kept."""
    cells, theme = SIZES[size]
    return lambda app, *keys: snap_compare(app, terminal_size=cells, run_before=steps(keys, theme))


@pytest.mark.parametrize("size", EACH_SIZE)
@pytest.mark.parametrize("look", EACH_LOOK)
def test_look(look, tmp_path, is_like, monkeypatch):
    """The named screen, on the demo store, with the clock stopped, in a folder of every machine."""
    monkeypatch.chdir("/")
    assert is_like(demo_app(tmp_path), *LOOKS[look])


SINCE: dict[str, tuple[str, ...]] = {
    "list": (),
    "screen": ("A",),
    "new-from-here": ("A", "down", "down", "enter"),
    "tags": ("T", *"urgent sea", "enter", "down", "T", *"ur"),
}
"""As `LOOKS`, after a night in which something happened."""


@pytest.mark.parametrize("size", EACH_SIZE)
@pytest.mark.parametrize("look", SINCE)
def test_since(look, tmp_path, is_like):
    """What is new and waits, in the list and on its screen; tags."""
    assert is_like(planted_app(tmp_path), *SINCE[look])


@pytest.mark.parametrize("size", ["200x60-dark", "120x36-ansi"])
def test_main_screen(tmp_path, is_like):
    """On a large terminal, and in the colours of the terminal."""
    assert is_like(demo_app(tmp_path))


@pytest.mark.parametrize("size", EACH_SIZE)
def test_the_very_first_start(tmp_path, is_like):
    """Before the first key."""
    app = demo_app(tmp_path)
    app.is_hint_wanted = True
    assert is_like(app)


@pytest.mark.parametrize("size", EACH_SIZE)
def test_trash(size, is_like, monkeypatch):
    """With a deletion, in a folder and at a time that are the same each time."""
    monkeypatch.setattr("hermes_browse.store.edit.delete.time.time", lambda: NOW)
    monkeypatch.setattr(
        "hermes_browse.store.trash.copying.secrets.token_hex", lambda count: "00" * count
    )
    folder = Path("/tmp") / f"hermes-browse-look-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    keys = ("down", "space", "space", "D", "2", "enter", "X")
    try:
        assert is_like(demo_app(folder), *keys)
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("size", EACH_SIZE)
def test_doctor(tmp_path, is_like, monkeypatch):
    """What does not depend on the machine."""
    kept = ("profile", "holds", "schema", "journal mode", "search index", "retention")
    facts = checkup.facts
    monkeypatch.setattr(doctor, "facts", lambda found: [f for f in facts(found) if f[0] in kept])
    monkeypatch.setattr(checkup, "disk_free", lambda path: 5_000_000_000)
    monkeypatch.setenv("PATH", "")
    assert is_like(demo_app(tmp_path), "H")


@pytest.mark.parametrize("size", EACH_SIZE)
def test_hosts(tmp_path, is_like, monkeypatch):
    """The card that names other machines."""
    app = demo_app(tmp_path)
    links = [FakeLink(Host(name, f"me@{name}"), tmp_path / "state.db") for name in ("vps", "nas")]
    configured(app, tuple(each.host for each in links))
    app.__dict__["links"] = FakeLinks(*links)
    monkeypatch.setattr(RemoteStore, "remote_calls", lambda store: FakeConnection(store.link))
    assert is_like(app, "0")


@pytest.mark.slow
def test_the_pictures_of_the_readme_are_fresh(monkeypatch):
    """`make screenshots` would draw the same."""
    monkeypatch.syspath_prepend(str(SCREENSHOTS))
    make = importlib.import_module("make")
    for name in ("browser", "search", "cleanup"):
        assert asyncio.run(make.draw(name)) == (SCREENSHOTS / f"{name}.svg").read_text(
            encoding="utf-8"
        ), name

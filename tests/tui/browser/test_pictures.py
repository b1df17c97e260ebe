"""Images of messages: known by their first bytes, opened outside through a private file."""

import base64
import json
import stat
import sys
from pathlib import Path

import pytest
from browsing import on_store
from carded import answer_to, open_references
from platforms import script
from store_builder import StoreBuilder

from hermes_browse.store import demo
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.decode import read_image, suffix_of
from hermes_browse.tui.browser.transcript.references import (
    Pictures,
    is_image_file,
)
from hermes_browse.tui.terminal import programs

_SAMPLE = Path(demo.__file__).with_name("home").joinpath("state.jsonl").read_text(encoding="utf-8")
PNG = base64.b64decode(_SAMPLE.partition("data:image/png;base64,")[2].partition("\\")[0])
"""The picture of the sample store."""
GIF = b"GIF89a" + b"\x00" * 20


def url(data, mime="image/png"):
    """A part that embeds an image."""
    address = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": address}}


def picture_store(path, *extra):
    """A message with two images, a text that claims to be one, and whatever else."""
    builder = StoreBuilder(path)
    builder.session("s", title="Pictures")
    parts = [
        {"type": "text", "text": "look"},
        url(PNG),
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": "image/gif",
                "data": base64.b64encode(GIF).decode(),
            },
        },
        url(b"#!/bin/sh\n"),
        *extra,
    ]
    builder.message("s", "user", "\x00json:" + json.dumps(parts))
    return builder.write()


@pytest.mark.parametrize(
    "head, suffix",
    [
        (PNG, ".png"),
        (b"\xff\xd8\xff\xe0", ".jpg"),
        (GIF, ".gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", ".webp"),
        (b"\x00\x00\x00 ftypavif", ".avif"),
        (b"<svg onload='x()'>", ""),
        (b"#!/bin/sh", ""),
        (b"[Desktop Entry]", ""),
        (b"", ""),
    ],
)
def test_an_image_is_known_by_its_first_bytes(head, suffix):
    assert suffix_of(head) == suffix


def test_embedded_images_are_read_as_they_were(tmp_path):
    with Store(picture_store(tmp_path / "state.db")).reader() as reader:
        assert read_image(reader, 1, 0) == PNG
        assert read_image(reader, 1, 1) == GIF
        assert read_image(reader, 1, 7) is None and read_image(reader, 99, 0) is None


@pytest.mark.parametrize("url", ["data:image/png;base64,!", "https://example.org/x.png"])
def test_what_is_no_embedded_image_has_no_bytes(url, tmp_path):
    builder = StoreBuilder(tmp_path / "state.db", "31")
    builder.session("s")
    builder.message("s", "user", [{"type": "image_url", "image_url": {"url": url}}])
    with Store(builder.write()).reader() as reader:
        assert not read_image(reader, 1, 0)


def test_files_are_private_and_gone_at_the_end():
    kept = Pictures()
    path = kept.write(PNG)
    assert path.suffix == ".png" and path.read_bytes() == PNG
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert kept.write(b"#!/bin/sh\n") is None, "what is no image is not written, whatever it claims"
    kept.close()
    assert not path.exists() and not path.parent.exists()
    kept.close()


def test_a_path_is_an_image_where_one_stands(tmp_path):
    good, bad, odd = tmp_path / "a b.PNG", tmp_path / "bad.png", tmp_path / "image.desktop"
    good.write_bytes(PNG)
    bad.write_text("[Desktop Entry]")
    odd.write_bytes(PNG)
    assert is_image_file(str(good))
    for each in (
        str(bad),
        str(odd),
        str(tmp_path / "absent.png"),
        "relative.png",
        str(tmp_path),
        "//host/x.png",
        "\x00.png",
    ):
        assert not is_image_file(each), each


@pytest.mark.slow
async def test_images_are_opened_outside_and_leave_nothing_behind(tmp_path, monkeypatch):
    here = tmp_path / "photo.png"
    here.write_bytes(PNG)
    opened = []
    held = []

    def outside(target):
        opened.append(Path(target))
        held.append(Path(target).read_bytes())
        return True, "handed to viewer"

    monkeypatch.setattr(programs, "open_outside", outside)
    path = picture_store(
        tmp_path / "state.db", {"type": "image_url", "image_url": {"url": f"file://{here}"}}
    )
    async with on_store(path) as browser:
        await open_references(browser, "home")
        shown = browser.text("#references")
        assert "image  png " in shown and "image  gif 26 B" in shown and str(here) in shown
        assert "handed to viewer" in await answer_to(browser, "home", "enter")
        assert "handed to viewer" in await answer_to(browser, "j", "enter")
        assert "not an image known here" in await answer_to(browser, "j", "enter"), (
            "a script that claims to be one"
        )
        assert "no path to copy" in await answer_to(browser, "c")
        await answer_to(browser, "j", "enter")
        assert held == [PNG, GIF, PNG] and opened[2] == here
    assert not opened[0].exists() and here.exists(), "ours are gone, the reader's own stay"


@pytest.mark.skipif(sys.platform != "linux", reason="xdg-open is Linux's")
def test_the_opener_is_started_quietly(tmp_path, monkeypatch, capfd):
    body = f'printf "%s|" "$@" > {tmp_path}/kept\necho noise; echo noise >&2'
    program = script(tmp_path / "xdg-open", body)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert programs.open_outside(f"{tmp_path}/-x.png") == (True, "handed to xdg-open")
    assert (tmp_path / "kept").read_text() == f"{tmp_path}/-x.png|"
    assert capfd.readouterr() == ("", "")
    script(program, "exit 4")
    assert programs.open_outside("https://example.org/?a=b") == (False, "xdg-open did not take it")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert "no program" in programs.open_outside(f"{tmp_path}/x.png")[1]

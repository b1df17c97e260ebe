"""Searches of the past: a private file of what was typed, walked with Up, kept and listed."""

import os
import stat

import pytest
from browsing import on_store

from hermes_browse.tui.browser.search.history import QueryHistory


def _silent(text):
    raise AssertionError(text)


def test_the_file_is_private_and_small(tmp_path):
    path = tmp_path / "state" / "searches.jsonl"
    history = QueryHistory(path, _silent)
    for number in range(230):
        history.add(f"query {number}")
    history.keep("kept one")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and os.listdir(path.parent) == [path.name]
    again = QueryHistory(path, _silent)
    again.load()
    assert len(again.past) == 200 and again.past[0] == "query 229"
    assert again.kept == ("kept one",)


def test_a_search_is_remembered_once(tmp_path):
    history = QueryHistory(tmp_path / "h", _silent)
    for text in ("one", "two", "one", "  ", "three\n"):
        history.add(text)
    assert history.past == ("three", "one", "two")


def test_two_browsers_do_not_take_from_each_other(tmp_path):
    path = tmp_path / "h"
    one, other = QueryHistory(path, _silent), QueryHistory(path, _silent)
    one.add("of one")
    other.add("of the other")
    one.forget("of one")
    third = QueryHistory(path, _silent)
    third.load()
    assert third.past == ("of the other",)


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    said = []
    QueryHistory(tmp_path / "file" / "h", said.append).add("x")
    assert len(said) == 1 and "cannot be remembered" in said[0]


def test_lines_that_are_none_are_left_out(tmp_path):
    (tmp_path / "h").write_bytes(b'"a"\nnonsense\n\xff\n*"k"\n{}\n3\n""\n')
    history = QueryHistory(tmp_path / "h", _silent)
    history.load()
    assert (history.past, history.kept) == (("a",), ("k",))


@pytest.mark.slow
async def test_what_a_key_said_stays_when_the_search_has_ended(fixture_store, answers):
    async with on_store(fixture_store("state-v22")) as browser:
        answers.hold()
        await browser.send("slash", *"auth", "ctrl+s")
        answers.release()
        await browser.settle()
        assert "search kept" in browser.status and browser.screen.results is not None
        await browser.press("down")
        assert "search kept" not in browser.status

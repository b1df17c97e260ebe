"""Long conversations and long titles: printed as they are read, and cut before they are
measured."""

import io
import json
import sys

import pytest
from builders import make_store
from commandline import ask, call

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.tui.cli import main, output


@pytest.fixture
def path(tmp_path):
    """A conversation of 1,000 messages, and two with titles of a megabyte."""
    sessions = [
        {"id": "long"},
        {"id": "one", "title": "x" * 1_000_000},
        {"id": "two", "title": "字" * 1_000_000},
    ]
    messages = [{"session_id": "long", "content": f"number {number}"} for number in range(1_000)]
    messages += [{"session_id": each, "content": "hi"} for each in ("one", "two")]
    return make_store(tmp_path / "state.db", "22", sessions, messages)


@pytest.mark.parametrize("form", ["", "--json", "--markdown"])
def test_show_reads_as_it_prints(path, monkeypatch, form):
    """When the second portion is read, the first one has been printed, and the store is closed in
    between."""
    printed = []
    opened = []
    real_read, real_reader = OpenStore.messages, Store.open
    out = io.StringIO()

    def read(store, ids):
        printed.append(out.getvalue().count("number "))
        return real_read(store, ids)

    def open_store(store):
        opened.append(1)
        return real_reader(store)

    monkeypatch.setattr(OpenStore, "messages", read)
    monkeypatch.setattr(Store, "open", open_store)
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["--db", str(path), "show", "long", *([form] if form else [])]) == 0
    assert printed == [1, 401, 801]  # the name of the conversation is its first message
    assert len(opened) == 3


@pytest.mark.parametrize("is_terminal", [True, False])
def test_json_in_portions_is_the_same_json(monkeypatch, capsys, is_terminal):
    """As if it were printed at once."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    items = [{"a": [1, {"b": "x\ny\x1b"}], "c": {}}, "text", []]
    for found in (items, []):
        whole = {"first": {"k": [1]}, "other": None, "items": found}
        output.print_json(whole)
        at_once = capsys.readouterr().out
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
        output.print_json({"first": {"k": [1]}, "other": None}, "items", iter(found))
        in_portions = capsys.readouterr().out
        assert in_portions == at_once or not found
        assert json.loads(in_portions) == whole
        assert json.loads(at_once) == whole


def test_titles_are_cut_before_rows_are_padded(path):
    """In `list` and `prune`, in a pipe; the document has them whole."""
    for command in (["list"], ["prune", "--older-than", "1d", "--stale-open"], ["lineage", "one"]):
        ended = call("--db", str(path), *command)
        assert ended.code == 0 and len(ended.out) < 10_000, command
        assert len(ended.err) < 10_000, command
    found = ask("--db", str(path), "list")
    assert max(len(each["title"] or "") for each in found["conversations"]) == 1_000_000


@pytest.mark.parametrize(
    "command", [["show", "one"], ["show", "--markdown", "one"], ["search", "hi"], ["stats"]]
)
def test_titles_elsewhere(path, command):
    """A heading is one line, and so is the name above the hits."""
    ended = call("--db", str(path), *command)
    assert ended.code == 0 and len(ended.out) < 20_000

"""The façade of a store, as a script uses it: open, read, change, take back."""

import os
import re
import subprocess
import sys
import time

import pytest
from builders import demo_store
from paths import ROOT

from hermes_browse.store import OpenStore, open_store
from hermes_browse.store.call import CALLS
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.errors import NotFoundError, StoreError
from hermes_browse.store.export.source import Format
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hosts.codec import signature

SCRIPTING = ROOT / "docs" / "scripting.md"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Hermes home with the conversations of the sample store, and an empty trash."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "home"
    folder.mkdir()
    demo_store(folder / "state.db", now=time.time())
    return folder


@pytest.fixture
def store(home):
    with open_store(home) as opened:
        yield opened


def test_the_example_runs(home):
    """Three lines, as they stand in the documentation."""
    (code,) = re.findall(r"```python\n(.*?)```", SCRIPTING.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 3
    environment = {**os.environ, "HERMES_HOME": str(home)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) > 3


def test_what_is_named_is_opened(home, monkeypatch):
    """A file, a home, a location, or nothing: the store that Hermes uses."""
    monkeypatch.setenv("HERMES_HOME", str(home))
    file = home / "state.db"
    for place in (file, str(file), home, str(home), locate_file(file), None):
        with open_store(place) as opened:
            assert opened.source.path == file and opened.state()


def test_it_is_read(store):
    conversations = store.conversations("source:cli")
    assert conversations and {each.source for each in conversations} == {"cli"}
    hit = store.search("the").answer.hits[0]
    assert hit.message_id in [each.id for each in store.transcript(hit.session_id)]
    assert store.lineage(hit.session_id, time.time()).focus == hit.session_id
    (first, *_more) = store.export([hit.session_id], Format.MARKDOWN)
    assert first.startswith("---")
    with pytest.raises(NotFoundError):
        list(store.transcript("nobody"))


def test_it_exports_without_the_values_of_env_files(home, store):
    """It redacts as much as the program itself."""
    ended = store.conversations("is:ended")[0].id
    store.rename(ended, "zucchini-pie")
    (home / ".env").write_text("MY_TOKEN=zucchini-pie\n")
    assert "zucchini-pie" not in "".join(store.export([ended], Format.MARKDOWN))
    assert "zucchini-pie" in "".join(store.export([ended], Format.MARKDOWN, redact=False))


def test_it_is_changed_and_changed_back(store):
    before = {each.id: (each.title, each.archived) for each in store.conversations()}
    ended = store.conversations("is:ended")[0].id

    def now():
        return {each.id: (each.title, each.archived) for each in store.conversations()}

    changes = [store.archive([ended]), store.rename(ended, "another title")]
    assert now()[ended] == ("another title", True)
    for change in reversed(changes):
        store.undo(change)
    assert now() == before
    deleted = store.delete([ended])
    assert ended not in now() and [each.name for each in store.deletions()] == [deleted.bundle.name]
    assert store.restore(deleted.bundle.name).verified and now() == before


def test_it_is_cleaned_up(store):
    """By a plan, whose conversations are archived or moved to the trash."""
    moment = time.time()
    catalog = store.catalog(moment)
    selection = Selection(parse_line("source:cron older:1d", moment))
    plan = store.plan(catalog, selection, moment)
    planned = {each.conversation.id for each in plan.selected}
    assert planned
    assert store.archive_planned(plan).session_ids
    assert planned <= {each.id for each in store.conversations("is:archived")}
    outcome = store.delete_planned(store.plan(catalog, selection, moment))
    deleted = outcome.deleted
    assert planned == set(deleted.bundle.conversations)
    assert not planned & {each.id for each in store.conversations()}


def test_measuring_ends(store, monkeypatch):
    """Also where a host measures nothing that it is asked for."""
    moment = time.time()
    selection = Selection(parse_line("source:cron older:1d", moment))
    plan = store.plan(store.catalog(moment), selection, moment, measure_sizes=False)
    assert plan.unmeasured() and not store.measure_more(plan, {}).unmeasured()
    monkeypatch.setattr(OpenStore, "sizes_of", lambda *_asked: {})
    with pytest.raises(StoreError, match="is not known"):
        store.measure_more(plan, {})


def test_no_call_takes_a_file():
    """What another machine asks by name holds no path, no location and no store, and nothing that
    has no form in JSON."""
    for name in CALLS:
        for kind in signature(name).parameters.values():
            assert not re.search(r"\b(Path|Location|Store|Reader|Iterable)\b", str(kind)), name

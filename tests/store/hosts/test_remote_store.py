"""A store on another machine answers as the same file does here, through the real ssh client."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from effort import slow_but
from paths import fixture
from plays import play, store_of

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.call import read_in_portions
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.errors import (
    NotFoundError,
    StoreError,
    ValueTooLongError,
)
from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.hosts import codec
from hermes_browse.store.hosts.remote import RemoteStore, locate_there
from hermes_browse.store.insights.sums import make_report
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import View

NOW = 1_800_000_000.0


@pytest.fixture
def there(ssh_server, links, tmp_path):
    """Puts a recorded store on a machine, and returns it as this one sees it."""

    def start(schema):
        home = tmp_path / f"v{schema}"
        home.mkdir()
        shutil.copy(fixture(schema), home / "state.db")
        server = ssh_server(home)
        store = open_store(locate_there(links.of(server.host)), links).source
        assert isinstance(store, RemoteStore)
        return store

    return start


def _answers(store):
    """What the list, the transcript, the search, the insights and the clean-up read."""
    catalog = store.catalog(NOW)
    yield list(catalog.sessions.values())
    first = store.first_page(NOW)
    yield first.order(View.CHATS), first.exact
    conversations = store.with_details(
        [catalog.conversation(root) for root in catalog.order(View.ALL)]
    )
    yield conversations
    for each in conversations:
        segments = each.segments
        outline = store.outline(segments, Reading.EVERYTHING)
        yield outline, store.messages([row.id for row in outline.rows])
        yield store.details(each), store.recap(segments), store.seen_at(segments, None)
        yield store.compactions(segments), store.lineage(each.id, NOW)
        yield store.file_changes(each.id, NOW), store.run(each.id, NOW)
        yield [store.prompt_before(each.id, row.id) for row in outline.rows[-3:]]
        yield store.seen_at(segments, None, prompt=True), store.system_prompt(each.id)
        yield store.stored_session(each.id), store.resolve(each.id)
        yield store.stored_messages([row.id for row in outline.rows][:20])
        yield store.raw_message(outline.rows[0].id) if outline.rows else None
    for text in ("the", "a b", "source:cli", "日本", '"the ', "tool:terminal the", "is:archived a"):
        found = store.search(text, catalog, titles=8, now=NOW)
        yield replace(found.answer, elapsed_ms=0.0), found.titles, dict(found.conversations)
        query = parse(text, now=NOW)
        yield store.count_hits(query, catalog, View.ALL, NOW).count
        yield store.suggestions(query, catalog, View.CHATS, NOW)
        yield store.roots(query, catalog, View.ALL, NOW)
    for line in ("older:0d", "older:0d is:automation", "size>1KB", "free:50%"):
        yield store.plan(catalog, Selection(parse_line(line, NOW)), NOW)
    sessions = list(catalog.sessions.values())
    yield store.sizes_of(sessions)
    yield store.space_map(catalog), store.file_space(), store.vocabulary(catalog)
    for of_tools in (False, True):
        facts = store.facts(catalog, of_tools=of_tools, sizes=not of_tools)
        yield make_report(facts, "tool" if of_tools else "day", "all", NOW)
    yield store.coverage(), store.search_health(), store.retention(NOW)
    state = store.state()
    changed = store.increment(catalog, state, NOW)
    yield state, list(changed[0].sessions.values()), changed[1]


@pytest.mark.parametrize("schema", slow_but([11], [11, 14, 22, 31]))
def test_it_answers_as_the_file_does(there, schema):
    store = there(schema)
    path = Path(str(store.path).partition(":")[2])
    with open_store(locate_file(path)) as here, open_store(store) as far:
        for expected, answer in zip(_answers(here), _answers(far), strict=True):
            assert answer == expected


def test_changes_and_runs_travel_whole(tmp_path):
    """Those of edits by Hermes' own tools, with a subagent."""
    path = store_of(play("0.19.0"), tmp_path / "state.db")
    with open_store(path) as here:
        answers = {
            "file_changes": here.file_changes("second", NOW),
            "run": here.run("second", NOW),
            "prompt_before": here.prompt_before("second", 10_000),
        }
    for name, answer in answers.items():
        assert answer == codec.decode(codec.encode(answer), codec.signature(name).answer)
    assert answers["prompt_before"] is not None


def test_what_is_too_large_for_one_answer_comes_in_several():
    """Down to a single row, which is refused."""

    portions = []

    def read(ids):
        if sum(ids) > 20:
            raise ValueTooLongError("This answer is too large to be sent.")
        portions.append(ids)
        return ids

    ids = [*range(10)]
    assert list(read_in_portions(read, ids, 8)) == ids and portions[0] == [0, 1, 2, 3]
    with pytest.raises(ValueTooLongError):
        list(read_in_portions(read, [1, 21], 8))


def test_nothing_here_writes_to_it(there):
    """It is not opened, and no statement is sent there."""
    from hermes_browse.store.edit.flags import archive

    store = there(22)
    for write in (lambda: archive(store, ["any"]), store.open):
        with pytest.raises(StoreError, match="no statement is sent"):
            write()


def test_an_error_of_the_program_there_is_its_sentence(there):
    with pytest.raises(NotFoundError, match=r"^vps: .*no-such-session") as refused:
        open_store(there(22)).archive(["no-such-session"])
    assert refused.value.exit_code == 4


def test_a_resume_brings_a_terminal_there(there):
    store = there(22)
    location = locate_there(store.link)
    with OpenStore(store, location) as opened:
        catalog = opened.catalog(NOW)
        tip = catalog.conversation(catalog.order(View.CHATS)[0]).id
        plan = opened.resume_plan(tip, NOW)
    assert plan.argv[:2] == ("ssh", "-t") and plan.argv[-1].endswith(
        f"resume --yes -- {plan.target}"
    )
    assert plan.host == "vps"

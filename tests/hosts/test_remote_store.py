"""A store on another machine answers as the same file does here, through the real ssh client."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from searching import search
from server import ThrowAwayServer

from hermes_browse.store.cleanup.space_map import read_space_map
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import (
    NotFoundError,
    QueryInterruptedError,
    RefusedError,
    StoreError,
)
from hermes_browse.store.hosts import edits
from hermes_browse.store.hosts.link import Links
from hermes_browse.store.hosts.remote import RemoteStore, locate_there, open_store
from hermes_browse.store.hosts.resume_on_host import plan_on_host
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.messages.transcript import read_messages, read_outline
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View

DATA = Path(__file__).parent.parent / "data"
NOW = 1_800_000_000.0


@pytest.fixture
def there(
    ssh_server: Callable[..., ThrowAwayServer], tmp_path: Path
) -> Iterator[Callable[[str], RemoteStore]]:
    """Puts a recorded store on a machine, and returns it as this one sees it."""
    links = Links()

    def start(shape: str) -> RemoteStore:
        home = tmp_path / shape
        home.mkdir()
        shutil.copy(next(DATA.glob(f"state-{shape}-*.db")), home / "state.db")
        server = ssh_server(home)
        store = open_store(locate_there(links.of(server.host)), links)
        assert isinstance(store, RemoteStore)
        return store

    yield start
    links.close()


def _answers(reader: Reader) -> list[object]:
    """What the list, the transcript, the search and the insights read."""
    catalog = read_catalog(reader, NOW)
    conversations = with_details(
        reader, [catalog.conversation(root) for root in catalog.order(View.ALL)]
    )
    found: list[object] = [conversations]
    for each in conversations:
        outline = read_outline(reader, each.segments, Reading.EVERYTHING)
        found.append((outline, read_messages(reader, outline.rows)))
    for query in ("the", "a b", "source:cli", "日本", '"the '):
        answer = search(reader, parse(query), now=NOW)
        found.append((answer.hits, answer.engine, answer.total, answer.complete, answer.notes))
    return found


@pytest.mark.parametrize(
    "shape",
    [
        "v11",
        pytest.param("v14", marks=pytest.mark.slow),
        pytest.param("v22", marks=pytest.mark.slow),
        "v31",
    ],
)
def test_it_answers_as_the_file_does(there: Callable[[str], RemoteStore], shape: str) -> None:
    store = there(shape)
    with Store(Path(str(store.path).partition(":")[2])).reader() as here:
        expected = _answers(here)
    with store.reader() as reader:
        assert _answers(reader) == expected


def test_its_map_of_bytes_is_that_of_the_file(there: Callable[[str], RemoteStore]) -> None:
    store = there("v31")
    with Store(Path(str(store.path).partition(":")[2])).reader() as here:
        expected = read_space_map(here, read_catalog(here, NOW))
    with store.reader() as reader:
        assert read_space_map(reader, read_catalog(reader, NOW)) == expected
    assert expected.file.file_bytes > 0


def test_flags_titles_and_deletes_go_through_the_program_there(
    there: Callable[[str], RemoteStore],
) -> None:
    store = there("v22")
    file = Store(Path(str(store.path).partition(":")[2]))

    def conversations() -> dict[str, tuple[str | None, bool]]:
        with file.reader() as reader:
            catalog = read_catalog(reader, NOW)
            every = (catalog.conversation(root) for root in catalog.order(View.ALL))
            return {each.id: (each.title, each.archived) for each in every}

    before = conversations()
    tip = next(each for each, (_title, archived) in before.items() if not archived)
    archived = edits.archive(store, [tip])
    assert conversations()[tip][1] and archived.session_ids
    assert edits.undo(store, archived).rows and conversations() == before
    renamed = edits.rename(store, tip, "a new; $(title) 'of' mine")
    assert conversations()[tip][0] == renamed.title == "a new; $(title) 'of' mine"
    edits.undo(store, renamed.change)
    assert conversations() == before
    deleted = edits.delete(store, [tip])
    assert tip in deleted.sessions and tip not in conversations()
    restored = edits.restore(store, Path(), deleted, None, check=True)
    assert restored.verified and conversations() == before


def test_nothing_here_writes_to_it(there: Callable[[str], RemoteStore]) -> None:
    """The write module refuses, and so does the connection there."""
    from hermes_browse.store.edit.flags import archive

    store = there("v22")
    with pytest.raises(RefusedError, match="its own machine"):
        archive(store, ["any"])
    with (
        store.reader() as reader,
        pytest.raises(StoreError, match=r"readonly|not authorized|prohibited"),
    ):
        reader.rows("UPDATE sessions SET title = 'x'")


def test_an_error_of_the_program_there_is_its_sentence(there: Callable[[str], RemoteStore]) -> None:
    with pytest.raises(NotFoundError, match=r"^vps: .*no-such-session") as refused:
        edits.archive(there("v22"), ["no-such-session"])
    assert refused.value.exit_code == 4


def test_a_resume_brings_a_terminal_there(there: Callable[[str], RemoteStore]) -> None:
    store = there("v22")
    with store.reader() as reader:
        catalog = read_catalog(reader, NOW)
        tip = catalog.conversation(catalog.order(View.CHATS)[0]).id
        plan = plan_on_host(store.link, reader, tip)
    assert plan.argv[:2] == ("ssh", "-t") and plan.argv[-1].endswith(
        f"resume --yes -- {plan.target.id}"
    )
    assert plan.host == "vps"


def test_a_question_is_interrupted_from_another_thread(there: Callable[[str], RemoteStore]) -> None:
    import threading

    store = there("v11")
    with store.reader() as reader:
        threading.Timer(0.2, reader.interrupt).start()
        endless = (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        )
        with pytest.raises(QueryInterruptedError):
            reader.rows(endless)
        reader.begin()
        assert reader.value("SELECT 1") == 1

"""What another program deletes while it is exported: a sentence, and no file that is cut short."""

import pytest
from exports import NOW, chat, conversations
from trashing import execute

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.export.files import export_pieces, write_file
from hermes_browse.store.export.redact import Redactor
from hermes_browse.store.export.source import WINDOW, Export, Format

MESSAGES = 3 * WINDOW


@pytest.fixture
def path(tmp_path):
    """A store with a conversation that is read in several windows."""
    rows = [{"content": f"row {number}"} for number in range(MESSAGES)]
    return chat(tmp_path / "state.db", "22", rows)


def pieces_of(path, form, *, part=None, first=()):
    """The pieces of an export; the statements are run after the conversations are chosen."""
    chosen = conversations(path)
    for sql in first:
        execute(path, sql)
    export = Export(open_store(Store(path)), form, Redactor(active=False), NOW, part=part)
    return export_pieces(export, chosen)


@pytest.mark.parametrize("form", list(Format))
def test_messages_deleted_while_they_are_written(path, tmp_path, form):
    def pieces():
        for number, piece in enumerate(pieces_of(path, form)):
            if number == WINDOW // 2:
                execute(path, "DELETE FROM messages")
                execute(path, "DELETE FROM sessions")
            yield piece

    (tmp_path / "to").mkdir()
    with pytest.raises(NotFoundError, match="deleted while"):
        write_file(tmp_path / "to" / "out", pieces())
    assert list((tmp_path / "to").iterdir()) == []


@pytest.mark.parametrize("form", list(Format))
def test_a_session_deleted_before_its_messages_are_listed(path, form):
    """As the last of many conversations may be."""
    first = ["DELETE FROM messages", "DELETE FROM sessions"]
    with pytest.raises(NotFoundError, match="Messages of s are gone: they were deleted while"):
        list(pieces_of(path, form, first=first))


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.HTML])
def test_a_chosen_message_deleted_meanwhile(path, form):
    with pytest.raises(NotFoundError, match="deleted while"):
        list(pieces_of(path, form, part=[1, 2], first=["DELETE FROM messages WHERE id = 2"]))


@pytest.mark.parametrize("form", list(Format))
def test_messages_taken_back_meanwhile_are_no_loss(path, form):
    first = ["UPDATE messages SET active = 0 WHERE id > 200"]
    assert "row 100" in "".join(pieces_of(path, form, first=first))

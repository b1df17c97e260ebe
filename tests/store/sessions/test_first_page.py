"""The first page asks little: few statements, each row once, names of all conversations together. A
preview is the first text of the user that was not taken back; without one what the assistant said,
then anything."""

from unittest.mock import patch

import pytest
from builders import T0, big_store
from statements import noted_statements

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.decode import read_previews, with_names
from hermes_browse.store.sessions import first_page as module
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page, read_neighbourhood
from hermes_browse.store.sessions.models import View

NOW = T0 + 1e6


@pytest.mark.slow
@pytest.mark.parametrize("sessions, messages", [(400, 4_000), (3_000, 30_000)])
def test_a_page_with_its_names_is_a_handful_of_statements(tmp_path, sessions, messages):
    with Store(big_store(tmp_path / "state.db", sessions, messages)).reader() as reader:
        with noted_statements() as statements:
            first = read_first_page(reader, NOW, limit=36)
        assert len(statements) <= 10
        page = [first.conversation(root) for root in first.order()[:36]]
        with noted_statements() as statements:
            named = with_names(reader, page)
        assert len(statements) <= 3
        assert sum(not each.title for each in page) > 5
        assert all(each.title or each.preview for each in named)


def test_no_row_is_read_whole_twice(made):
    """Children of what is known are known themselves, most of them."""
    sessions = [
        {
            "id": f"s{at}",
            "started_at": T0 + at,
            "parent_session_id": f"s{at - 1}" if at % 3 else None,
        }
        for at in range(600)
    ]
    with Store(made("22", sessions, [])).reader() as reader:
        with patch.object(module, "read_sessions", wraps=module.read_sessions) as read:
            first = read_first_page(reader, NOW, limit=20)
        assert not first.exact
        ids = [id for asked in read.call_args_list for id in asked.args[1]]
        assert sorted(ids) == sorted(first.sessions)
        exact = read_catalog(reader, NOW).order()[:20]
        assert first.order()[:20] == exact


def test_a_family_of_thousands_is_read_whole(made):
    """The newest part stands behind 3,100 subagents of the first one."""
    subagents = [
        {"id": f"a{at}", "source": "subagent", "parent_session_id": "p1", "started_at": T0 + at}
        for at in range(3_100)
    ]
    parts = [
        {
            "id": f"p{at}",
            "parent_session_id": f"p{at - 1}" if at > 1 else None,
            "started_at": T0 + 5_000 * at,
            "ended_at": T0 + 5_000 * (at + 1) if at < 3 else None,
            "end_reason": "compression" if at < 3 else None,
        }
        for at in (1, 2, 3)
    ]
    path = made("22", [parts[0], *subagents, *parts[1:]], [])
    with Store(path).reader() as reader:
        conversation = read_neighbourhood(reader, ["p1"], NOW).of_session("p1")
    assert [part.id for part in conversation.segments] == ["p1", "p2", "p3"]


def _long_lives(imported, per_session):
    """Forty chats that have gone on since the spring, then others of years ago that were imported
    under newer ids."""
    begun = {f"used{at}": T0 + at for at in range(40)}
    old = {f"old{number}": T0 - 1e6 - number * 1e4 for number in range(imported // per_session)}
    said = [(f"used{at % 40}", T0 + 5e5 + at * 60) for at in range(400)]
    said += [(id, time + at) for id, time in old.items() for at in range(per_session)]
    sessions = [{"id": id, "started_at": time} for id, time in (begun | old).items()]
    return sessions, [{"session_id": id, "timestamp": time} for id, time in said]


@pytest.mark.parametrize("imported, per_session", [(600, 2), (600, 300), (2000, 2000), (4000, 20)])
def test_the_newest_are_those_by_time(made, imported, per_session):
    """Not those whose messages have the largest ids: what was imported last may be years old."""
    sessions, messages = _long_lives(imported, per_session)
    # Never spoken in.
    sessions += [{"id": f"young{at}", "started_at": T0 + 4e5 + at} for at in range(200)]
    with Store(made("22", sessions, messages)).reader() as reader:
        first = read_first_page(reader, NOW, limit=20)
        assert not first.exact
        assert first.order()[:20] == read_catalog(reader, NOW).order()[:20]
        assert first.order()[0].startswith("used")


BACK = {"active": 0}
ASKED = {"content": "a question"}
SAID = {"role": "assistant", "content": "an answer"}
OUTPUT = {"role": "tool", "content": "only output"}

CASES = {
    "plain": ([ASKED], "a question"),
    "answered first": ([SAID, ASKED], "a question"),
    "answered long": ([SAID] * 10 + [ASKED], "a question"),
    "of a system": ([{"role": "session_meta", "content": "{}"}, ASKED], "a question"),
    "taken back": ([{"content": "never mind"} | BACK] * 5 + [ASKED], "a question"),
    "all taken back": ([ASKED | BACK, {"content": "never mind"} | BACK], "a question"),
    "empty": ([{"content": ""}, ASKED], "a question"),
    "without content": ([{"content": None}, ASKED], "a question"),
    "no user": ([OUTPUT, SAID], "an answer"),
    "nobody": ([{"content": None}, OUTPUT], "only output"),
    "number": ([{"content": 42}], "42"),
    "blob": ([{"content": b"caf\xc3\xa9"}], "café"),
    "not written first": ([ASKED | {"timestamp": T0 + 9}, {"content": "x"}], "a question"),
    "silent": ([], "said after a compression"),
}


def test_each_case_among_others_and_alone(made):
    messages = [
        {"session_id": name, "timestamp": T0, **row}
        for name, (rows, _shown) in CASES.items()
        for row in rows
    ]
    messages.append({"session_id": "tip", "content": "said after a compression"})
    sessions = [{"id": name, "started_at": T0} for name in CASES]
    sessions[-1] |= {"end_reason": "compression", "ended_at": T0 + 4}
    sessions.append({"id": "tip", "parent_session_id": "silent", "started_at": T0 + 5})
    path = made("22", sessions, messages)
    with Store(path).reader() as reader:
        page = read_first_page(reader, T0 + 99, view=View.ALL).select(View.ALL)
        named = {each.root_id: each.preview for each in with_names(reader, page)}
        alone = {each.root_id: read_previews(reader, {"": each.segments})[""] for each in page}
    assert named == alone == {name: shown for name, (_rows, shown) in CASES.items()}

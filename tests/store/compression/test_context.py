"""What the model was given, row by row, against what the real Hermes sent (`playing.py` says how it
was taken down)."""

import json

import pytest
from builders import make_store
from compressed import DATA, case, long_conversation, store_of
from effort import slow_but
from playing import said_by
from pruning import expected
from trashing import execute

from hermes_browse.store.compression import CompactionNote
from hermes_browse.store.compression.history_rows import RowOrigin
from hermes_browse.store.compression.model_context import Contexts
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import NotFoundError
from hermes_browse.store.messages.transcript import read_system_prompt
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import View

NAMES = sorted(path.name for path in DATA.glob("*.json"))

UNKNOWN = {
    # Hermes lost what the model still had in memory: the session between two others is empty (0.16
    # in mid-turn, 0.18).
    "0.16.0-rotation-twice.json": {11, 12},
    "0.18.2-rotation-resumed.json": {5, 6, 7, 8, 9, 13},
    # Killed before the new session had rows: the process, which lived on here, still sent
    # everything.
    "0.19.0-rotation-killed.json": {5},
    # `/compress here` did not store again what it kept, and then the session was loaded from the
    # store.
    "0.19.0-place-partial.json": {7},
    "0.19.0-place-often.json": {16},
    # 0.18 wrote rows once more without a summary, and joined two messages of the user when it loaded
    # the session.
    "0.18.2-place-joined.json": {2, 3, 4, 5, 6, 7, 10, 11, 12},
    "0.18.2-place-short.json": {2},
    # 0.17 loads by time, so that what was carried over comes before the summary once the session
    # was opened anew.
    "0.17.0-rotation-reordered.json": {9, 10, 11, 12, 13, 14},
}
"""Requests whose rows no store tells; each of them has to be called uncertain."""
NO_TRACE = {
    # A rotation that found no way to make the new session leaves nothing in the store, not even the
    # summary.
    "0.19.0-rotation-undone.json": {5, 6, 7, 8},
    # In 0.17 the new session then has no parent: it looks like one that begins by itself.
    "0.17.0-rotation-unlinked.json": {5, 6, 7, 8},
}
"""Requests that nothing in the store tells from others: all that is called certain here and is
not."""


class Played:
    """A recorded case, read."""

    def __init__(self, name, folder):
        self.case = case(name)
        self.path = store_of(folder / "state.db", self.case)
        self.rows = {row["id"]: row for row in self.case["messages"]}
        ids = (row["id"] for row in self.case["sessions"])
        self.contexts = {each: _contexts(self.path, each) for each in ids}

    def texts(self, request):
        """What was sent, the system prompt left out."""
        texts = [self.case["texts"][number] for number in request["sent"]]
        said = [
            said_by(self.rows[each])
            if isinstance(each, int)
            else json.dumps(each, ensure_ascii=False)
            for each in texts
        ]
        return [each for each in said if not each.startswith('["system"')]

    def requests(self):
        """The requests whose answer is stored: number, what was sent, the row of the answer."""
        for number, request in enumerate(self.case["requests"]):
            begins = (f"answer {number}:", f"reading for {number}")
            answers = (row for row in self.rows.values() if row["role"] == "assistant")
            for answer in [row for row in answers if row["content"].startswith(begins)][:1]:
                yield number, self.texts(request), answer

    def context(self, message_id):
        """The context at a message."""
        return self.contexts[self.rows[message_id]["session_id"]].at(message_id)

    def given(self, context):
        """What a context says was sent."""
        return [said_by(self.rows[row.id]) for row in context.rows]


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_the_rows_that_hermes_sent(name, tmp_path):
    """And the system prompt, unless that is called overwritten; no row is lost."""
    played = Played(name, tmp_path)
    found = {row.id for contexts in played.contexts.values() for row in contexts.history.rows}
    assert found == played.rows.keys()
    wrong, uncertain, compared = set(), set(), 0
    with Store(played.path).reader() as reader:
        for number, sent, answer in played.requests():
            context = played.context(answer["id"])
            compared += 1
            if played.given(context) != sent:
                wrong.add(number)
                if not context.is_certain:
                    uncertain.add(number)
            request = played.case["requests"][number]
            is_known = context.is_certain and CompactionNote.PROMPT not in context.notes
            if is_known and name not in NO_TRACE and answer["session_id"] == request["session"]:
                prompt = played.case["texts"][request["sent"][0]][1]
                assert read_system_prompt(reader, context.session_id) == prompt
    assert compared > 6
    assert wrong == UNKNOWN.get(name, set()) | NO_TRACE.get(name, set())
    assert uncertain == UNKNOWN.get(name, set())


@pytest.mark.parametrize("name", sorted({*NAMES} - UNKNOWN.keys() - NO_TRACE.keys()))
def test_what_was_asked_is_first_sent_where_its_context_says(name, tmp_path):
    played = Played(name, tmp_path)
    requests = list(map(played.texts, played.case["requests"]))
    compared = 0
    for row in played.rows.values():
        first = next((texts for texts in requests if said_by(row) in texts), None)
        if row["role"] == "user" and row["content"].startswith("question") and first is not None:
            compared += 1
            assert played.given(played.context(row["id"])) == first, row["id"]
    assert compared > 6


def _contexts(path, session_id="s0"):
    """The contexts of a conversation, by default of the long one."""
    with Store(path).reader() as reader:
        segments = read_neighbourhood(reader, [session_id], 2e9).of_session(session_id).segments
        return Contexts(reader, segments)


def _said(folder, *texts, flags=({},) * 9):
    """The contexts of a conversation of questions and answers in turn, with flags of each."""
    rows = [
        {"session_id": "a", "role": ("user", "assistant")[at % 2], "content": text} | flags[at]
        for at, text in enumerate(texts)
    ]
    return _contexts(make_store(folder / "state.db", "22", [{"id": "a"}], rows), "a")


@pytest.mark.parametrize("in_place", [True, False])
def test_in_a_long_conversation_each_row_says_why_it_was_sent(in_place, tmp_path):
    contexts = _contexts(long_conversation(tmp_path / "state.db", 500, 3, in_place=in_place))
    context = contexts.at(None)
    behind = contexts.at(contexts.history.compactions[0].since[0])
    why = [row.why for row in context.rows]
    assert why[:9] == [RowOrigin.SUMMARY] + [RowOrigin.KEPT] * 8
    assert set(why[9:]) == {RowOrigin.SINCE}
    assert [row.why for row in behind.rows][:4] == [RowOrigin.HEAD] * 3 + [RowOrigin.SUMMARY]
    assert context.is_certain and behind.is_certain and context.size > 0


def test_a_row_carried_over_has_the_context_of_its_original(tmp_path):
    contexts = _contexts(long_conversation(tmp_path / "state.db", 500, 3))
    second = contexts.history.compactions[1]
    kept, repeated = second.kept[-1], second.originals[-1]
    assert repeated is not None
    copy, original = contexts.at(kept), contexts.at(repeated)
    assert (copy.of, copy.rows) == (repeated, original.rows)
    assert CompactionNote.COPY in copy.notes and CompactionNote.COPY not in original.notes


@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_the_newest_context_is_what_hermes_loads(version, fixture_store):
    """Of 0.22 no requests are recorded, only what a session loads, which includes the newest
    answer."""
    said = expected(f"v{version}")["messages"]
    compared = compressed = 0
    with Store(fixture_store(f"state-v{version}")).reader() as reader:
        for conversation in read_catalog(reader, 2e9).select(View.ALL):
            contexts = Contexts(reader, conversation.segments)
            history = contexts.history
            rows = history.rows
            assert len(rows) == len({row.id for row in rows})
            context = contexts.at(None)
            loaded = set(said[conversation.id]["message_ids"]) & {
                row.id for row in rows
            }  # without session_meta
            assert {row.id for row in context.rows} == loaded and context.at is None
            assert not loaded & set(contexts.memory(context).forgotten)
            compared, compressed = compared + 1, compressed + bool(history.compactions)
    assert compared > 40 and compressed > 2


def test_without_a_message_it_is_what_a_resume_sends(tmp_path):
    """Also where a compaction wrote the last rows: not the request before it, whose rows it
    repeats."""
    path = long_conversation(tmp_path / "state.db", 500, 3)
    last = _contexts(path).history.compactions[-1]
    execute(path, "DELETE FROM messages WHERE id >= ?", last.since[0])
    context = _contexts(path).at(None)
    assert (context.at, context.of) == (None, None) and context.is_certain
    assert {row.id for row in context.rows} == {last.summary, *last.kept}
    assert len(last.kept) == 8 and CompactionNote.COPY not in context.notes


@pytest.mark.parametrize(
    "states, live",
    [
        ("ccccrr", []),
        ("ccccLr", [5]),
        ("cLccrL", [2, 6]),
    ],
)
def test_a_resume_sends_the_live_rows_alone(states, live, tmp_path):
    """Also where all since the compaction was taken back, or rows are in no order of Hermes'."""
    meant = {"c": {"active": 0, "compacted": 1}, "r": {"active": 0}, "L": {}}
    flags = [meant[state] for state in states]
    context = _said(tmp_path, *(f"said {at}" for at in range(6)), flags=flags).at(None)
    assert [row.id for row in context.rows] == live and context.is_certain


def test_whether_a_resume_sends_a_background_review_is_not_certain(tmp_path):
    """Old releases stored it; 0.19 leaves it out, with its answer."""
    asked = "Review the conversation above and consider saving to memory."
    context = _said(tmp_path, "hello", "hi", asked, "saved", "thanks", "welcome").at(None)
    assert [row.id for row in context.rows if not row.is_certain] == [3, 4]
    assert not context.is_certain


def test_what_the_user_said_twice_in_a_row_is_not_certain(tmp_path):
    """`/retry` of the command line leaves the first one and its answer live, and sends neither."""
    said = ("hello", "hi", "what now?", "no idea", "what now?", "that", "thanks", "welcome")
    contexts = _said(tmp_path, *said)
    found = [contexts.at(at) for at in range(1, 9)]
    assert [context.is_certain for context in found] == [True] * 4 + [False] * 4
    assert found[-1].notes == (CompactionNote.RETRIED,)
    assert contexts.at(None).is_certain  # it loads both


def test_a_message_of_another_conversation_is_not_found(tmp_path):
    path = long_conversation(tmp_path / "state.db", 100, 1)
    with pytest.raises(NotFoundError):
        _contexts(path).at(10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but(NAMES[::2], NAMES))
def test_what_is_forgotten_stands_in_nothing_that_was_sent(name, tmp_path):
    """Each message is sent, or is repeated by one that is, or counts as forgotten; never two of
    these."""
    played = Played(name, tmp_path)
    for contexts in played.contexts.values():
        for row in contexts.history.rows:
            given = contexts.at(row.id)
            memory = contexts.memory(given)
            forgotten = set(memory.forgotten)
            assert {row.id for row in given.rows} <= memory.known
            assert not memory.known & forgotten and memory.said >= len(forgotten)
            assert not {said_by(played.rows[each]) for each in forgotten} & {*played.given(given)}


def test_what_two_summaries_were_merged_with_is_known(tmp_path):
    """0.18 merges the second one with the first, which has an answer in front."""
    played = Played("0.18.2-place-joined.json", tmp_path)
    context = played.context(28)
    (sent,) = [said for said in played.given(context) if played.rows[17]["content"] in said]
    assert sent.count("PRIOR CONTEXT — for reference only") == 2
    (contexts,) = played.contexts.values()
    assert 17 in contexts.memory(context).known


def test_everything_is_known_before_a_compaction_and_little_after_many(tmp_path):
    contexts = _contexts(long_conversation(tmp_path / "state.db", 300, 4))
    generations = contexts.history.generations
    first, newest = generations[0].rows, generations[-1].rows[-1].id
    assert contexts.memory(contexts.at(first[-1].id)).forgotten == ()
    memory = contexts.memory(contexts.at(newest))
    assert first[5].id in memory.forgotten and len(memory.forgotten) > memory.said / 2

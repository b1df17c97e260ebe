"""A preview is the first text of the user that was not taken back; without one what the assistant
said, then anything."""

from builders import T0, make_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.decode import read_previews, with_names
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.models import View

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


def test_each_case_among_others_and_alone(tmp_path):
    messages = [
        {"session_id": name, "timestamp": T0, **row}
        for name, (rows, _shown) in CASES.items()
        for row in rows
    ]
    messages.append({"session_id": "tip", "content": "said after a compression"})
    sessions = [{"id": name, "started_at": T0} for name in CASES]
    sessions[-1] |= {"end_reason": "compression", "ended_at": T0 + 4}
    sessions.append({"id": "tip", "parent_session_id": "silent", "started_at": T0 + 5})
    path = make_store(tmp_path / "state.db", "22", sessions, messages)
    with Store(path).reader() as reader:
        page = read_first_page(reader, T0 + 99, view=View.ALL).select(View.ALL)
        named = {each.root_id: each.preview for each in with_names(reader, page)}
        alone = {each.root_id: read_previews(reader, {"": each.segments})[""] for each in page}
    assert named == alone == {name: shown for name, (_rows, shown) in CASES.items()}

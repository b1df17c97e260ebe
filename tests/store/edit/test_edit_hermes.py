"""What each Hermes did is the measure of our marks and titles: the same rows, and where we differ it
has a name here."""

import ast

import pytest
from builders import T0, make_store
from pruning import expected
from trashing import add_message, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags
from hermes_browse.store.errors import BrowseError, NotFoundError, RefusedError


def columns(path):
    """Columns of `sessions`."""
    return [row[1] for row in rows(path, "PRAGMA table_info(sessions)")]


MUTATIONS = {
    "archive_chain_root": ("archive", "20260101_090000_aaa001", ""),
    "archive_chain_tip": ("archive", "20260103_090000_aaa003", ""),
    "archive_delegate_parent": ("archive", "20260106_090000_ccc001", ""),
    "archive_reset_parent": ("archive", "20260119_110000_333000", ""),
    "pin_hidden": ("pin", "20260119_091000_111002", ""),
    "rename_clear": ("rename", "20260116_100000_abc002", ""),
    "rename_conflict": ("rename", "20260116_100000_abc002", "Deploy notes #2"),
    "rename_missing": ("rename", "nobody", "x"),
    "rename_tip_to_root_title": ("rename", "20260103_090000_aaa003", "Fix auth bug"),
}
"""What each Hermes did on its own store when the stores were recorded: our function, the session,
the title."""

DIFFERENCES = {
    (
        14,
        "archive_chain_root",
    ): "0.16 marks the one row, which brings the conversation back by its other segments",
    (14, "archive_chain_tip"): "the same",
    (11, "rename_tip_to_root_title"): "0.14 refuses a title that is held by a segment nobody sees",
    (14, "rename_tip_to_root_title"): "the same in 0.16",
}
"""Where we do as the later versions do."""


def marks(path):
    """What the recordings hold of each session: its parent, title and whether it is archived."""
    archived = "archived" if "archived" in columns(path) else "NULL"
    found = rows(path, f"SELECT id, parent_session_id, title, {archived} FROM sessions")
    return {row[0]: list(row[1:]) for row in found}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("version", [11, 14, 22, 31])
def test_what_each_hermes_recorded(fixture_store, version, mutation):
    """Its own call on its own store, and ours: the same rows changed in the same way."""
    said = expected(f"v{version}")["mutations"]
    if mutation not in said:
        pytest.skip("this version knows no such call")
    path = fixture_store(f"state-v{version}")
    what, session, title = MUTATIONS[mutation]
    before = marks(path)
    error = None
    try:
        if what == "rename":
            flags.rename(Store(path), session, title)
        else:
            (flags.pin if what == "pin" else flags.archive)(Store(path), [session])
    except BrowseError as caught:
        error = caught
    after = marks(path)
    ours = {
        key: {"before": before[key], "after": after[key]}
        for key in before
        if before[key] != after[key]
    }
    theirs = said[mutation]
    if (version, mutation) in DIFFERENCES:
        assert ours != theirs["changed"], "no difference any more: take it off the list"
        newer = expected("v22")["mutations"][mutation]["changed"]
        assert ours.keys() == newer.keys()
        return
    assert ours == theirs["changed"]
    match theirs["result"]:
        case {"error": text}:
            assert isinstance(error, RefusedError) and text.rsplit(" ", 1)[1] in str(error)
        case False:
            assert isinstance(error, NotFoundError)
        case _:
            assert error is None


def test_titles_are_cleaned_as_each_hermes_does():
    """All that was recorded; before 0.19 a lone surrogate was kept, and the write failed on it."""
    for version in (11, 14, 22, 31):
        said = expected(f"v{version}")["sanitize_title"]
        assert len(said) > 10
        for typed, cleaned in said.items():
            text = ast.literal_eval(typed)
            title = flags.clean_title(text)
            if isinstance(cleaned, dict):
                assert flags.why_no_title(title) and f"{len(title)} chars" in cleaned["error"]
            elif version >= 22 or "\ud800" not in text:
                assert (title, flags.why_no_title(title)) == (cleaned or "", "")


def test_pins_of_0_22(fixture_store):
    """The whole lineage; what was hidden is shown; archived stays as it is (0.20 leaves hidden
    alone)."""
    path = fixture_store("state-v31")
    chain = [
        f"2026010{day}_aaa00{number}"
        for day, number in (("1_090000", 1), ("1_100000", 2), ("3_090000", 3))
    ]
    change = flags.pin(Store(path), [chain[1]])
    assert set(change.session_ids) == set(chain)
    assert change.sentence == "pinned “Fix auth bug #2”"
    # From its root the subagents of a compressed session go along, as in Hermes.
    assert flags.pin(Store(path), [chain[0]]).session_ids == ("20260101_091500_aaad01",)
    hidden = flags.pin(Store(path), ["20260119_091000_111002"]).rows[0]
    assert (hidden.before, hidden.after) == ({"pinned": 0, "hidden": 1}, {"pinned": 1, "hidden": 0})
    assert flags.unpin(Store(path), ["20260119_091000_111002"]).rows[0].after == {"pinned": 0}


def test_a_pin_in_0_20_shows_nothing(tmp_path):
    """Its own pin does not, and a session it hides may have its reasons."""
    path = make_store(tmp_path / "state.db", "26", [{"id": "a", "hidden": 1, "pinned": 0}])
    assert flags.pin(Store(path), ["a"]).rows[0].after == {"pinned": 1}


def test_what_0_22_archived_by_itself(fixture_store):
    """Archived by a person it stays so: a resume brings back only what Hermes' own sweep put
    away."""
    path = fixture_store("state-v31")
    session = "20260119_160000_888101"
    (row,) = flags.archive(Store(path), [session]).rows
    assert (row.before, row.after) == ({"auto_archived": 1}, {"auto_archived": 0})
    (row,) = flags.unarchive(Store(path), [session]).rows
    assert (row.before, row.after) == ({"archived": 1}, {"archived": 0})


EMPTY = {
    "id": "empty",
    "title": "Ferry",
    "ended_at": T0,
    "end_reason": "cli_close",
}


@pytest.mark.parametrize(
    "shape, holder, yields",
    [
        ("31", {}, True),
        ("31-migrated", {}, True),
        ("26", {}, False),
        ("22", {}, False),
        ("31", {"ended_at": None}, False),
        ("31", {"archived": 1}, False),
        ("31", {"hidden": 1}, False),
        ("31", {"pinned": 1}, False),
        ("31", {"end_reason": "compression"}, False),
    ],
)
def test_an_empty_session_yields_its_title(tmp_path, shape, holder, yields):
    """As in 0.22: ended, nothing in it, in plain sight; older versions refuse, and a pin is a
    reason to refuse too."""
    path = make_store(
        tmp_path / "state.db", shape, [EMPTY | holder, {"id": "mine"}], [{"session_id": "mine"}]
    )
    if yields:
        change = flags.rename(Store(path), "mine", "Ferry")
        assert [(row.session_id, row.after["title"]) for row in change.rows] == [
            ("empty", None),
            ("mine", "Ferry"),
        ]
    else:
        with pytest.raises(RefusedError, match="empty"):
            flags.rename(Store(path), "mine", "Ferry")
    add_message(path, "empty", "", 1.0)
    run(path, "UPDATE sessions SET title = NULL")
    run(path, "UPDATE sessions SET title = 'Ferry' WHERE id = 'empty'")
    with pytest.raises(RefusedError, match="empty"):
        flags.rename(Store(path), "mine", "Ferry")


def test_the_gateways_own_session_keeps_its_name(tmp_path):
    """0.20 and later find it by that."""
    path = make_store(
        tmp_path / "state.db", "31", [{"id": "bot", "title": "Bot Chat", "hidden": 1}]
    )
    with pytest.raises(RefusedError, match="Bot Chat"):
        flags.rename(Store(path), "bot", "Mine")
    other = make_store(tmp_path / "other.db", "31", [{"id": "bot", "title": "Bot Chat"}])
    assert flags.rename(Store(other), "bot", "Mine").rows[-1].after["title"] == "Mine"

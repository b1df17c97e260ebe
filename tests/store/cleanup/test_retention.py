"""The rules of retention against what the real Hermes deleted, closed and kept."""

from types import SimpleNamespace

import pytest
from builders import DAY, make_store
from pruning import NOW, aged, expected, family, opened, said
from trashing import run

from hermes_browse.store.cleanup.retention import Forecast, Retention, retention_rules_at
from hermes_browse.store.hermes.homes import Location

ON = Retention(True, 90, 24, True)
ENABLED = "auto_prune: true"


def outlook(path, setting="", now=NOW):
    """What becomes of the conversations of a store in a home of its own: days and reasons by tip,
    and roots of those that are due at the next start of Hermes."""
    if setting:
        (path.parent / "config.yaml").write_text(f"sessions:\n  {setting}\n", encoding="utf-8")
    with opened(path, now) as (reader, catalog):
        rules = retention_rules_at(reader, Location(path, path.parent), now)
        found = {chain.tip.id: rules.forecast(chain) for chain in catalog.conversations()}
        leaving = rules.deletions(catalog)
    return SimpleNamespace(
        rules=rules,
        catalog=catalog,
        days={tip: forecast.prune_in_days for tip, forecast in found.items()},
        why={tip: forecast.reason for tip, forecast in found.items()},
        due=sorted(each.root_id for each, days, _why in leaving if days == 0),
    )


def of_schema_30(path):
    """The same store with the schema number of 0.21.3 to 0.21.5."""
    run(path, "UPDATE schema_version SET version = 30")
    return path


def test_what_one_start_of_hermes_did(fixture_store):
    """Observed half a year later: 30 ended rows gone, open ones of automation closed; pinned and
    foreign ones were not."""
    found = outlook(fixture_store("state-v31"), now=NOW + 200 * DAY)
    chains = map(found.catalog.conversation, found.due)
    doomed = {segment.id for chain in chains for segment in chain.segments}
    closed = {tip for tip, why in found.why.items() if why.startswith("open: closed")}
    sources = {found.catalog.sessions[each].source for each in closed}
    assert len(doomed) == 30 and sources == {"cli", "acp", "api_server", "kanban", "tool"}
    kept = {"20260119_090000_111001", "20260108_100000_eee002"}
    assert not kept & (doomed | closed)
    assert "20260103_090000_aaa003" in closed


def test_fates(fixture_store):
    """Days left; pins protect, archiving does not; open ones of automation go after being
    closed."""
    found = outlook(fixture_store("state-v31"))
    days, why = found.days, found.why
    assert found.rules.retention == ON and found.rules.pins_hold and found.rules.next_run == NOW
    assert days["20260106_100000_a9e005"] == 0 == days["20260111_090000_ggg001"]
    assert days["20260210_100000_a9e040"] == pytest.approx(90 - (NOW - 1770717600.75) / DAY)
    assert days["20260102_120000_a9e999"] == pytest.approx(89, abs=0.1)  # used a day ago
    for tip, words in (
        ("20260119_090000_111001", "pinned"),
        ("20260108_100000_eee002", "ended sessions only"),
    ):
        assert days[tip] is None and words in why[tip]
    assert days["20260103_090000_aaa003"] == 90
    assert why["20260103_090000_aaa003"].startswith("open: closed")
    gone = set(expected("v31")["mutations"]["prune_90"]["gone"])
    assert {tip for tip, left in days.items() if left == 0} == gone & days.keys()


@pytest.mark.parametrize("name", ["v11", "v14", "v22"])
def test_before_0_20_age_counts_from_the_start(fixture_store, name):
    """Off by default; switched on, it deletes yesterday's chat, as the real prune of that version
    does."""
    path = fixture_store(f"state-{name}")
    assert set(outlook(path).days.values()) == {None}
    found = outlook(path, ENABLED)
    assert not found.rules.pins_hold
    if "prune" in expected(name):
        gone = map(found.catalog.conversation, expected(name)["prune"]["older_90"])
        assert found.due == sorted({chain.root.id for chain in gone})
    assert found.days["20260102_120000_a9e999"] == 0
    assert "its start" in found.why["20260102_120000_a9e999"]
    assert found.days["20260210_100000_a9e040"] != 0
    assert found.days["20260103_090000_aaa003"] == 0  # its first segments, under an open tip


def test_0_20_cut_chains_by_activity(tmp_path):
    """It deleted the ended segments below a live tip (observed, 0.20.1), by their last activity."""
    path = family(tmp_path / "state.db", "26")
    assert set(outlook(path).days.values()) == {None}
    found = outlook(path, ENABLED)
    assert (found.days["tip"], found.days["open"], found.days["old"]) == (0, None, 0)
    assert "parts" in found.why["tip"]


def test_a_pin_protects_only_where_it_surely_does(tmp_path):
    """0.20.4 deleted a pinned one, 0.20.5 did not (run), and their schema is the same: it is told
    as at risk."""
    found = outlook(family(tmp_path / "state.db", "26"), ENABLED)
    assert found.days["pinned"] == 0 and "may not hold" in found.why["pinned"]
    assert not found.rules.pins_hold
    found = outlook(of_schema_30(family(tmp_path / "state30.db", "31")))
    assert found.days["pinned"] is None and "pinned" in found.why["pinned"]
    assert found.rules.pins_hold


def test_a_pin_covers_what_comes_after_it(tmp_path):
    """0.22 spares the later segments of a pinned one; 0.21.5 looks at each row alone (run)."""
    sessions = [
        aged("root", 200, end_reason="compression", pinned=1),
        aged("middle", 190, end_reason="compression", parent_session_id="root"),
        aged("tip", 180, ended=False, parent_session_id="middle"),
        aged("other", 200, end_reason="compression"),
        aged("end", 190, parent_session_id="other"),
    ]
    path = make_store(tmp_path / "state.db", "31", sessions)
    assert outlook(path).due == ["other"]
    assert outlook(of_schema_30(path)).due == ["other", "root"]


def test_0_21_deletes_by_itself_and_cuts_chains(tmp_path):
    """As 0.21.5 did with these rows: on by default, the ended segment goes without its tip, stale
    open ones close."""
    sessions = [
        aged("plain", 200),
        aged("pinned", 200, pinned=1),
        aged("reaped", 200, ended_at=NOW - 10 * DAY, end_reason="startup_orphan_reap"),
        aged("root", 200, end_reason="compression"),
        aged("tip", 200, ended=False, parent_session_id="root"),
        aged("open", 200, ended=False, source="recovered"),
    ]
    found = outlook(of_schema_30(make_store(tmp_path / "state.db", "31", sessions)))
    assert found.rules.retention == ON
    assert found.due == ["plain", "root"] and found.days["open"] == 90


def test_when_an_age_counts_from(tmp_path):
    """A closed orphan ages from its close, or the clean-up that closed it would delete it at once;
    an open one of automation waits to be closed, and as long again to go."""
    closed = NOW - 10 * DAY
    sessions = [
        aged("reaped", 200, ended_at=closed, end_reason="startup_orphan_reap"),
        aged("late", 200, ended_at=closed, end_reason="cli_close"),
        aged("run", 30, source="cron", ended=False),
        aged("chat", 30, source="telegram", ended=False),
    ]
    messages = [said("reaped", 200), said("late", 200)]
    days = outlook(make_store(tmp_path / "state.db", "31", sessions, messages)).days
    assert days["reaped"] == pytest.approx(80) and days["run"] == pytest.approx(150)
    assert days["late"] == 0 and days["chat"] is None


def test_hermes_keeps_an_interval_between_clean_ups(tmp_path):
    """What is due goes at the next one, not before."""
    meta = {"state_meta": [{"key": "last_auto_prune", "value": str(NOW - 6 * 3600)}]}
    path = make_store(tmp_path / "state.db", "31", [aged("old", 200)], tables=meta)
    assert outlook(path).days["old"] == pytest.approx(0.75)
    assert outlook(path, "min_interval_hours: 1").days["old"] == 0


@pytest.mark.parametrize(
    "setting, words",
    [
        ("auto_prune: false", "deletes no sessions"),
        ("auto_prune: soon", "cannot tell whether"),
        ("retention_days: soon", "unknown number of days"),
    ],
)
def test_nothing_is_said_that_is_not_known(tmp_path, setting, words):
    """No days without knowing; the reason instead."""
    found = outlook(make_store(tmp_path / "state.db", "31", [aged("old", 200)]), setting)
    assert found.days["old"] is None and words in found.why["old"]
    assert found.due == []


def test_a_file_hermes_never_opens(tmp_path):
    """A copy by another name is not cleaned up by anyone."""
    path = make_store(tmp_path / "copy.db", "31", [aged("old", 200)])
    with opened(path) as (reader, catalog):
        rules = retention_rules_at(reader, Location(path), NOW)
        assert rules.forecast(catalog.conversation("old")) == Forecast(
            None, "Hermes does not open this file, so it deletes nothing in it"
        )
        assert rules.deletions(catalog) == []

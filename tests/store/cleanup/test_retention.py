"""The rules of retention against what the real Hermes deleted, closed and kept."""

from dataclasses import replace

import pytest
from builders import DAY, make_store
from pruning import NOW, aged, expected, family, opened, said
from trashing import run

from hermes_browse.store.cleanup.retention import Forecast, Retention, retention_rules_at
from hermes_browse.store.hermes.homes import Location

ON = Retention(True, 90, 24, True)


def rules_of(path, now=NOW, config=None):
    """The rules of a store in a home of its own."""
    if config is not None:
        (path.parent / "config.yaml").write_text(config, encoding="utf-8")
    with opened(path, now) as (reader, _):
        return retention_rules_at(reader, Location(path, path.parent), now)


def forecasts(path, rules):
    """By conversation."""
    with opened(path, rules.now) as (_, catalog):
        return {
            chain.tip.id: rules.forecast(catalog.conversation(chain.root.id))
            for chain in catalog.chains()
        }


def due(rules, catalog):
    """Root ids of the conversations that lose segments at the next start of Hermes."""
    return sorted(
        each.root_id for each, forecast in rules.deletions(catalog) if forecast.prune_in_days == 0
    )


def roots_of(catalog, sessions):
    """Root ids of the conversations of some sessions."""
    return sorted({catalog.conversation(each).root.id for each in sessions})


def test_what_one_start_of_hermes_did(fixture_store):
    """Observed half a year later: 30 ended rows gone, 33 open ones closed; pinned, leased and
    foreign ones were not."""
    path, now = fixture_store("state-v31"), NOW + 200 * DAY
    rules = rules_of(path, now)
    with opened(path, now) as (_, catalog):
        conversations, closing = due(rules, catalog), rules.closing(catalog)
        doomed = {
            segment.id for root in conversations for segment in catalog.conversation(root).segments
        }
        sources = {catalog.sessions[each].source for each in closing}
    assert (len(doomed), len(closing)) == (30, 33) and sources == {
        "cli",
        "acp",
        "api_server",
        "kanban",
        "tool",
    }
    kept = {
        "20260119_090000_111001",
        "20260119_170000_888102",
        "20260108_100000_eee002",
        "20260103_090000_aaa003",
    }
    assert kept & set(closing) == {"20260103_090000_aaa003"} and not kept & doomed


def test_fates(fixture_store):
    """Days left; pins protect, archiving does not; open ones of automation go after being
    closed."""
    path = fixture_store("state-v31")
    rules = rules_of(path)
    assert rules.retention == ON and rules.pins_hold and rules.next_run == NOW
    found = forecasts(path, rules)
    left = {key: forecast.prune_in_days for key, forecast in found.items()}
    assert left["20260106_100000_a9e005"] == 0 == left["20260111_090000_ggg001"]
    assert left["20260210_100000_a9e040"] == pytest.approx(90 - (NOW - 1770717600.75) / DAY)
    assert left["20260102_120000_a9e999"] == pytest.approx(89, abs=0.1)  # used a day ago
    assert (
        left["20260119_090000_111001"] is None
        and "pinned" in found["20260119_090000_111001"].reason
    )
    assert (
        left["20260108_100000_eee002"] is None
        and "ended sessions only" in found["20260108_100000_eee002"].reason
    )
    chain = found["20260103_090000_aaa003"]
    assert chain.prune_in_days == 90 and chain.reason.startswith("open: closed")
    gone = set(expected("v31")["mutations"]["prune_90"]["gone"])
    assert {key for key, days in left.items() if days == 0} == gone & left.keys()


@pytest.mark.parametrize("name", ["v11", "v14", "v22"])
def test_before_0_20_age_counts_from_the_start(fixture_store, name):
    """Off by default; switched on, it deletes yesterday's chat, as the real prune of that version
    does."""
    path = fixture_store(f"state-{name}")
    assert all(
        forecast.prune_in_days is None for forecast in forecasts(path, rules_of(path)).values()
    )
    rules = rules_of(path, config="sessions:\n  auto_prune: true\n")
    with opened(path) as (_, catalog):
        assert rules.closing(catalog) == []
        if "prune" in expected(name):
            assert due(rules, catalog) == roots_of(catalog, expected(name)["prune"]["older_90"])
    found = forecasts(path, rules)
    assert (
        found["20260102_120000_a9e999"].prune_in_days == 0
        and "its start" in found["20260102_120000_a9e999"].reason
    )
    assert found["20260210_100000_a9e040"].prune_in_days != 0
    assert (
        found["20260103_090000_aaa003"].prune_in_days == 0
    )  # its first segments, under a tip that is open
    assert not rules.pins_hold


def test_0_20_cut_chains_by_activity(tmp_path):
    """It deleted the ended segments below a live tip (observed, 0.20.1), by their last activity."""
    path = family(tmp_path / "state.db", "26")
    assert all(
        forecast.prune_in_days is None for forecast in forecasts(path, rules_of(path)).values()
    )
    rules = rules_of(path, config="sessions: # ours\n  auto_prune: true\n")
    found = forecasts(path, rules)
    assert found["tip"].prune_in_days == 0 and "parts" in found["tip"].reason
    assert found["open"].prune_in_days is None
    assert found["old"].prune_in_days == 0


def test_a_pin_protects_only_where_it_surely_does(tmp_path):
    """0.20.4 deleted a pinned one, 0.20.5 did not (run), and their schema is the same: it is told
    as at risk."""
    path = family(tmp_path / "state.db", "26")
    rules = rules_of(path, config="sessions:\n  auto_prune: true\n")
    forecast = forecasts(path, rules)["pinned"]
    assert forecast.prune_in_days == 0 and "may not hold" in forecast.reason and not rules.pins_hold
    path = of_schema_30(family(tmp_path / "state30.db", "31"))
    rules = rules_of(path)
    forecast = forecasts(path, rules)["pinned"]
    assert forecast.prune_in_days is None and "pinned" in forecast.reason and rules.pins_hold


def of_schema_30(path):
    """The same store with the schema number of 0.21.3 to 0.21.5."""
    run(path, "UPDATE schema_version SET version = 30")
    return path


def test_a_pin_covers_what_comes_after_it(tmp_path):
    """0.22 spares and does not close the later segments of a pinned one; 0.21.5 looks at each row
    alone (run)."""
    sessions = [
        aged("root", 200, end_reason="compression", pinned=1),
        aged("middle", 190, end_reason="compression", parent_session_id="root"),
        aged("tip", 180, ended=False, parent_session_id="middle"),
        aged("other", 200, end_reason="compression"),
        aged("end", 190, parent_session_id="other"),
    ]
    for number, (gone, closed) in {31: (["other"], []), 30: (["other", "root"], ["tip"])}.items():
        path = make_store(tmp_path / f"{number}.db", "31", sessions)
        rules = rules_of(of_schema_30(path) if number == 30 else path)
        with opened(path) as (_, catalog):
            assert (due(rules, catalog), rules.closing(catalog)) == (gone, closed)


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
    path = of_schema_30(make_store(tmp_path / "state.db", "31", sessions))
    rules = rules_of(path)
    assert rules.retention == ON
    with opened(path) as (_, catalog):
        assert due(rules, catalog) == ["plain", "root"] and rules.closing(catalog) == [
            "open",
            "tip",
        ]


def test_a_closed_orphan_ages_from_its_close(tmp_path):
    """Or the clean-up that closed it would delete it at once."""
    reaped = aged("reaped", 200, ended_at=NOW - 10 * DAY, end_reason="startup_orphan_reap")
    late = aged("late", 200, ended_at=NOW - 10 * DAY, end_reason="cli_close")
    path = make_store(
        tmp_path / "state.db", "31", [reaped, late], [said("reaped", 200), said("late", 200)]
    )
    rules = rules_of(path)
    found = forecasts(path, rules)
    assert found["reaped"].prune_in_days == pytest.approx(80) and found["late"].prune_in_days == 0


def test_a_young_open_one_waits_for_both(tmp_path):
    """Ninety idle days until it is closed, ninety more until it goes."""
    sessions = [
        aged("run", 30, source="cron", ended=False),
        aged("chat", 30, source="telegram", ended=False),
    ]
    path = make_store(tmp_path / "state.db", "31", sessions)
    found = forecasts(path, rules_of(path))
    assert found["run"].prune_in_days == pytest.approx(150)
    assert found["chat"].prune_in_days is None


def test_hermes_keeps_an_interval_between_clean_ups(tmp_path):
    """What is due goes at the next one, not before."""
    meta = {"state_meta": [{"key": "last_auto_prune", "value": str(NOW - 6 * 3600)}]}
    path = make_store(
        tmp_path / "state.db", "31", [aged("old", 200)], [said("old", 200)], tables=meta
    )
    assert forecasts(path, rules_of(path))["old"].prune_in_days == pytest.approx(0.75)
    config = "sessions:\n  min_interval_hours: 1\n"
    assert forecasts(path, rules_of(path, config=config))["old"].prune_in_days == 0


def test_leased_rows_are_not_closed(tmp_path):
    """By the automatic clean-up; an ended conversation is due all the same."""
    lease = {"conversation_id": "run", "holder": "x", "acquired_at": NOW, "expires_at": NOW + 60}
    sessions = [aged("run", 200, source="cron", ended=False), aged("old", 200)]
    path = make_store(
        tmp_path / "state.db", "31", sessions, tables={"session_turn_leases": [lease]}
    )
    with opened(path) as (_, catalog):
        assert rules_of(path).closing(catalog) == [] and due(rules_of(path), catalog) == ["old"]
        assert replace(rules_of(path), busy=frozenset()).closing(catalog) == ["run"]


@pytest.mark.parametrize(
    "config, words",
    [
        ("sessions:\n  auto_prune: false\n", "deletes no sessions"),
        ("sessions:\n  auto_prune: soon\n", "cannot tell whether"),
        ("sessions:\n  retention_days: soon\n", "cannot tell how long"),
    ],
)
def test_nothing_is_said_that_is_not_known(tmp_path, config, words):
    """No days without knowing; the reason instead."""
    path = make_store(tmp_path / "state.db", "31", [aged("old", 200)])
    forecast = forecasts(path, rules_of(path, config=config))["old"]
    assert forecast.prune_in_days is None and words in forecast.reason
    with opened(path) as (_, catalog):
        rules = rules_of(path, config=config)
        assert rules.closing(catalog) == [] == rules.deletions(catalog)


def test_a_file_hermes_never_opens(tmp_path):
    """A copy by another name is not cleaned up by anyone."""
    path = make_store(tmp_path / "copy.db", "31", [aged("old", 200)])
    with opened(path) as (reader, catalog):
        rules = retention_rules_at(reader, Location(path), NOW)
        assert rules.forecast(catalog.conversation("old")) == Forecast(
            None, "Hermes does not open this file, so it deletes nothing in it"
        )
        assert rules.deletions(catalog) == []

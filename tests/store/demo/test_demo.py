"""The sample store: true to Hermes 0.22 in shape, the same at every build, and complete: each feature
is looked for by name; the home it stands in."""

import json
import re
import sqlite3
import stat
import time

import pytest
from builders import DAY, demo_store
from builders import SAMPLED as NOW
from paths import DATA
from trashing import dump, is_sound, rows

from hermes_browse.store.cleanup.retention import retention_rules_at
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import TRIGRAM, VERSION, WORDS, build_home, insert, new_store
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location
from hermes_browse.store.sessions.catalog import read_catalog

HOUR = 3600.0
REAL = DATA / "state-v31-hermes-0.22.2.db"
"""A store that Hermes 0.22 wrote."""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The sample store in its home."""
    home = tmp_path_factory.mktemp("home")
    return Location(build_home(home, now=NOW), home, DEFAULT_PROFILE, demo=True)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The sample store; read it only."""
    path = tmp_path_factory.mktemp("sample") / "state.db"
    demo_store(path, now=NOW)
    return path


@pytest.fixture
def store(sample):
    """A connection to the sample store that leaves no files beside it."""
    connection = sqlite3.connect(f"file:{sample}?immutable=1", uri=True)
    yield connection
    connection.close()


def _layout(path):
    """What stands in the schema, by name: columns of tables, statements of everything else."""
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    found = {}
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master").fetchall():
        plain = " ".join(re.sub(r"--[^\n]*", "", sql or "").split())
        if plain.startswith("CREATE TABLE"):
            found[name] = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        else:
            found[name] = re.sub(r"\s*([(),;=])\s*", r"\1", plain)
    connection.close()
    return found


def test_it_is_laid_out_as_a_fresh_store_of_hermes(store, sample):
    assert _layout(sample) == _layout(REAL)
    assert store.execute("SELECT version FROM schema_version").fetchall() == [(VERSION,)]


@pytest.mark.parametrize("path", [None, REAL])
def test_the_file_is_stamped_with_its_generation(path, sample):
    connection = sqlite3.connect(f"file:{path or sample}?immutable=1", uri=True)
    query = "SELECT value FROM state_meta WHERE key = 'db_file_generation'"
    (generation,) = connection.execute(query).fetchone()
    stamp = connection.execute("PRAGMA application_id").fetchone()
    connection.close()
    assert stamp == (int(generation[:8], 16) & 0x7FFFFFFF,)


def test_the_file_is_whole_private_and_in_wal_mode(sample, tmp_path):
    assert [path.name for path in sample.parent.iterdir()] == ["state.db"]
    assert stat.S_IMODE(sample.stat().st_mode) == 0o600
    copy = tmp_path / "copy.db"
    copy.write_bytes(sample.read_bytes())
    assert is_sound(copy)
    assert rows(copy, "PRAGMA journal_mode") == [("wal",)]
    # The one session whose parent is gone is there on purpose.
    assert [row[0] for row in rows(copy, "PRAGMA foreign_key_check")] == ["sessions"]


def test_without_the_trigram_tokenizer_its_table_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 33, 0))
    demo_store(tmp_path / "state.db", now=NOW)
    names = _layout(tmp_path / "state.db").keys()
    assert WORDS in names
    assert not any(name.startswith(TRIGRAM) for name in names)


def test_an_existing_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        demo_store(path, now=NOW)
    assert path.read_bytes() == b"precious"


def test_a_failed_build_leaves_nothing(tmp_path):
    failing = pytest.raises(sqlite3.OperationalError)
    with failing, new_store(tmp_path / "state.db") as connection:
        insert(connection, "no_such_table", [{"key": 1}])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hour", [0.2, 6.6, 12.0, 23.9])
def test_nothing_lies_in_the_future_at_any_hour(hour, tmp_path):
    now = NOW - NOW % DAY + hour * HOUR
    path = tmp_path / "state.db"
    demo_store(path, now=now)
    ((newest,),) = rows(path, "SELECT max(timestamp) FROM messages")
    ((latest,),) = rows(path, "SELECT max(max(started_at, COALESCE(ended_at, 0))) FROM sessions")
    assert now - 300 < newest < now
    assert latest < now


def test_the_same_moment_gives_the_same_rows_in_any_time_zone(sample, tmp_path, monkeypatch):
    for zone in ("UTC", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        demo_store(tmp_path / f"{zone[:3]}.db", now=NOW)
    monkeypatch.undo()
    time.tzset()
    assert dump(tmp_path / "UTC.db") == dump(tmp_path / "Asi.db")


def test_another_moment_moves_everything_with_it(store, tmp_path):
    """The day of the run stands in the id of a session, and nowhere in what is said."""
    later = tmp_path / "later.db"
    demo_store(later, now=NOW + 40 * DAY)
    query = "SELECT content, round(timestamp - {}, 3) FROM messages ORDER BY id"
    assert rows(later, query.format(NOW + 40 * DAY)) == store.execute(query.format(NOW)).fetchall()


def test_every_profile_is_a_sample_with_conversations_of_its_own(here):
    profiles = here.profiles()
    assert [each.profile for each in profiles] == [DEFAULT_PROFILE, "harbour"]
    assert all(each.demo for each in profiles), (
        "what belongs to one must never reach the user's own trash"
    )
    assert [each.name for each in profiles] == ["demo", "demo · harbour"]
    for each, title in zip(profiles, ("Fix auth bug #3", "Berths for the regatta"), strict=True):
        assert rows(each.path, f"SELECT 1 FROM sessions WHERE title = '{title}'")


def test_hermes_would_delete_something_at_once_and_more_later(here):
    with Store(here.path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        rules = retention_rules_at(reader, here, NOW)
    days = [left for _, left, _why in rules.deletions(catalog)]
    assert days[0] < 1 and sum(each < 100 for each in days) >= 5


def test_jobs_are_named_where_hermes_names_them(here, store):
    jobs = json.loads((here.path.parent / "cron" / "jobs.json").read_text())["jobs"]
    named = {each["id"]: each["name"] for each in jobs}
    runs = store.execute("SELECT id, title FROM sessions WHERE source = 'cron'").fetchall()
    assert {run.split("_")[1] for run, _ in runs} == named.keys()
    assert all(title.startswith(f"{named[run.split('_')[1]]} · ") for run, title in runs)


def test_all_of_it_is_small(here):
    assert sum(each.stat().st_size for each in here.path.parent.rglob("*.db")) < 3_000_000


# Features

COUNTS = {
    "messages in all": ("SELECT count(*) FROM messages", 1500, 1900),
    "sessions in all": ("SELECT count(*) FROM sessions", 130, 160),
    "runs of three jobs": (
        "SELECT 100 * count(DISTINCT substr(id, 1, 17)) + count(*) FROM sessions WHERE id LIKE 'cron_%'", 338, 338,
    ),
    "days covered": ("SELECT (max(started_at) - min(started_at)) / 86400 FROM sessions", 545, 560),
    "untitled of a hundred typed ones": (
        "SELECT 100 * sum(title IS NULL) / count(*) FROM sessions WHERE source NOT IN ('cron', 'subagent')", 25, 50,
    ),
    "models": ("SELECT count(DISTINCT model) FROM sessions", 5, 20),
    "end reasons": ("SELECT count(DISTINCT end_reason) FROM sessions", 12, 40),
    "messages of the longest": (
        "SELECT max(n) FROM (SELECT count(*) AS n FROM messages GROUP BY session_id)", 200, 260,
    ),
    "messengers with a room and a key": (
        "SELECT count(DISTINCT source) FROM sessions WHERE user_id > '' AND "
        "session_key LIKE 'agent:main:' || source || ':' || chat_type || ':%'", 5, 5,
    ),
    "other sources": (
        "SELECT count(DISTINCT source) FROM sessions WHERE source IN ('cli', 'tui', 'acp', 'desktop', 'webhook', "
        "'api_server', 'tool', 'batch', 'subagent')", 9, 9,
    ),
    # Compacted rows leave the counter, rewound rows stay in it (0.19 `archive_and_compact`, `rewind_to_message`).
    "counters that Hermes would not keep": (
        "SELECT count(*) FROM sessions s WHERE s.message_count <> "
        "(SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.compacted = 0)", 0, 0,
    ),
    "longest tool result": ("SELECT max(length(content)) FROM messages WHERE role = 'tool'", 100_000, 150_000),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_the_sample_has_the_size_of_a_real_one(name, store):
    query, least, most = COUNTS[name]
    assert least <= store.execute(query).fetchone()[0] <= most


_SAID = "SELECT 1 FROM messages m WHERE m.content LIKE '%{}%'"
_CHILD = "SELECT 1 FROM sessions c JOIN sessions p ON p.id = c.parent_session_id WHERE "
_MARK = "json_extract(c.model_config, '$.{}') = p.id"

FEATURES = {
    "a chain of three": "SELECT 1 FROM sessions a JOIN sessions b ON b.parent_session_id = a.id "
    "JOIN sessions c ON c.parent_session_id = b.id WHERE a.title = 'Fix auth bug' AND b.title = 'Fix auth bug #2' "
    "AND c.title = 'Fix auth bug #3' AND a.end_reason = 'compression' AND b.end_reason = 'compression' "
    "AND c.ended_at IS NULL",
    "a subagent on it": _CHILD + "p.title = 'Fix auth bug' AND " + _MARK.format("_delegate_from"),
    "nested subagents": _CHILD + "c.source = 'subagent' AND p.source = 'subagent'",
    "an unmarked subagent of older days": _CHILD
    + "c.source = 'cli' AND c.model_config NOT LIKE '%_delegate_from%' AND c.started_at < p.ended_at",
    "a branch by marker, parent going on": _CHILD
    + _MARK.format("_branched_from") + " AND p.end_reason <> 'branched' AND c.title LIKE '%#2'",
    "a branch by end reason": _CHILD + "p.end_reason = 'branched' AND c.started_at >= p.ended_at",
    "racing siblings": "SELECT 1 FROM sessions p WHERE p.end_reason = 'compression' AND "
    "(SELECT count(*) FROM sessions c WHERE c.parent_session_id = p.id AND c.source <> 'subagent') = 2",
    "a reset pair": _CHILD + "p.end_reason = 'session_reset' AND c.session_key = p.session_key AND "
    "c.source = 'telegram' AND " + _MARK.format("_reset_from"),
    "a guessed subagent": "SELECT 1 FROM sessions WHERE parent_session_id IS NULL "
    "AND json_extract(model_config, '$._delegate_from') = '__orphaned__'",
    "a parent that is gone": "SELECT 1 FROM sessions WHERE parent_session_id NOT IN (SELECT id FROM sessions)",
    "an archived single": "SELECT 1 FROM sessions WHERE archived = 1 AND parent_session_id IS NULL "
    "AND end_reason <> 'compression'",
    "an archived chain": _CHILD + "p.end_reason = 'compression' AND p.archived = 1 AND c.archived = 1",
    "a pin": "SELECT 1 FROM sessions WHERE pinned = 1",
    "results of every size": "SELECT min(n) < 10 AND sum(n BETWEEN 100 AND 1000) > 9 "
    "AND sum(n BETWEEN 1000 AND 10000) > 9 AND sum(n > 50000) > 2 "
    "FROM (SELECT length(content) AS n FROM messages WHERE role = 'tool')",
    "empty and ended": "SELECT 1 FROM sessions WHERE message_count = 0 AND ended_at IS NOT NULL",
    "empty and open": "SELECT 1 FROM sessions WHERE message_count = 0 AND ended_at IS NULL",
    "stale open": f"SELECT 1 FROM sessions WHERE ended_at IS NULL AND source = 'cli' AND started_at < {NOW - 14 * DAY}",
    "compacted in place": "SELECT 1 FROM messages old JOIN messages new ON new.session_id = old.session_id "
    "AND new.content = old.content AND new.role = old.role AND new.id > old.id AND new.active = 1 "
    "WHERE old.compacted = 1 AND old.active = 0 "
    "AND EXISTS (SELECT 1 FROM messages s WHERE s.session_id = old.session_id AND s.active = 1 "
    "AND s._compressed_summary = 1 AND s.content LIKE '[CONTEXT COMPACTION%')",
    "a kept row that stands where it stood": "SELECT 1 FROM messages old JOIN messages new ON new.session_id = "
    "old.session_id AND new.display_order = old.id AND new.id > old.id AND new.timestamp = old.timestamp "
    "WHERE old.compacted = 1 AND new.active = 1",
    "rewound": "SELECT 1 FROM messages m JOIN sessions s ON s.id = m.session_id "
    "WHERE m.active = 0 AND m.compacted = 0 AND s.rewind_count = 1",
    "observed": "SELECT 1 FROM messages WHERE observed = 1",
    "gateway bookkeeping": "SELECT 1 FROM messages WHERE role = 'session_meta'",
    "a system row": "SELECT 1 FROM messages WHERE role = 'system'",
    "injected memory": "SELECT 1 FROM messages WHERE api_content LIKE '<memory-context>%' AND api_content <> content",
    "an embedded picture": "SELECT 1 FROM messages WHERE hex(content) LIKE '006A736F6E3A%' "
    "AND instr(CAST(content AS BLOB), CAST('data:image/png;base64,' AS BLOB))",
    "a remote picture": "SELECT 1 FROM messages WHERE hex(content) LIKE '006A736F6E3A%' "
    "AND instr(CAST(content AS BLOB), CAST('https://example.org/pictures' AS BLOB))",
    "reasoning": "SELECT 1 FROM messages WHERE reasoning IS NOT NULL",
    "sealed reasoning": "SELECT 1 FROM messages WHERE codex_reasoning_items LIKE '%encrypted_content%'",
    "two calls in one answer": "SELECT 1 FROM messages WHERE json_array_length(tool_calls) > 1",
    "a result for a call": "SELECT 1 FROM messages a JOIN messages t ON t.session_id = a.session_id "
    "AND t.tool_call_id = json_extract(a.tool_calls, '$[0].id') WHERE json_valid(t.content)",
    "a failing command": _SAID.format('"exit_code": 1'),
    "an error result": _SAID.format('{"error":'),
    "an unknown outcome": "SELECT 1 FROM messages WHERE effect_disposition = 'unknown'",
    "colour in a result": "SELECT 1 FROM messages WHERE role = 'tool' AND instr(content, char(27) || '[32m') > 0",
    "an OSC title": "SELECT 1 FROM messages WHERE instr(content, char(27) || ']0;') > 0",
    "bidi overrides": "SELECT 1 FROM messages WHERE instr(content, char(0x202E)) > 0",
    "markup that is none": "SELECT 1 FROM sessions WHERE title LIKE '%[bold]markup[/]%'",
    "a diff": _SAID.format("diff --git a/"),
    "Python": _SAID.format("```python"),
    "Rust": _SAID.format("```rust"),
    "TypeScript": _SAID.format("```tsx"),
    "SQL": _SAID.format("```sql"),
    "YAML": _SAID.format("```yaml"),
    "a heading": "SELECT 1 FROM messages WHERE content LIKE '## %'",
    "a table": _SAID.format("|---|"),
    "a quote": "SELECT 1 FROM messages WHERE content LIKE '%' || char(10) || '> %'",
    "a link": _SAID.format("https://example.org/"),
    "Chinese": "SELECT 1 FROM sessions WHERE title = '大别山项目周报'",
    "Japanese": _SAID.format("欠航"),
    "Korean": _SAID.format("등대"),
    "Arabic": _SAID.format("توفا"),
    "Hebrew": _SAID.format("ההפלגה"),
    "joined emoji": "SELECT 1 FROM messages WHERE instr(content, '👨' || char(0x200D) || '👩') > 0",
    "a flag": _SAID.format("🇸🇪"),
    "cache tokens and cost": "SELECT 1 FROM sessions WHERE cache_read_tokens > 0 AND cache_write_tokens > 0 "
    "AND reasoning_tokens > 0 AND estimated_cost_usd > 0.1",
    "a model without a price": "SELECT 1 FROM sessions WHERE cost_status = 'included'",
    "a branch of git": "SELECT 1 FROM sessions WHERE source = 'cli' AND cwd IS NOT NULL AND git_branch IS NOT NULL",
    "what the gateway remembers": "SELECT 1 FROM gateway_routing r JOIN sessions s ON r.session_key = s.session_key",
    "usage by model": "SELECT 1 FROM session_model_usage u JOIN sessions s ON s.id = u.session_id "
    "WHERE u.output_tokens = s.output_tokens",
}  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
def test_the_sample_shows(feature, store):
    assert store.execute(f"{FEATURES[feature]} LIMIT 1").fetchall() == [(1,)]

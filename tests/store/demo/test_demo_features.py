"""The sample store shows everything a store can hold: each feature is looked for by name."""

import pytest
from builders import SAMPLED as NOW

DAY = 86_400.0


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

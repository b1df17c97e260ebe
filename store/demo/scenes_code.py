"""Work on code: a chat compacted in place, a review of a diff, several languages, tools that fail."""

from __future__ import annotations

from .chat import begin
from .script import GPT, OPUS, Script

_API, _WEB, _TIDE = "/home/noor/src/skerry-api", "/home/noor/src/skerry-web", "/home/noor/src/tidewatch"


def play(script: Script) -> None:
    """Draft the coding chats."""
    _slow_search(script)
    _tide_parser(script)
    _timetable(script)
    _review(script)


def _slow_search(script: Script) -> None:
    talk = begin(
        script,
        "slow",
        script.ago(days=3, hours=2),
        title="Slow ferry search",
        cwd=_API,
        git_branch="perf/search",
        model=OPUS,
    )
    talk.play("""
you> `GET /search?from=Donsö&to=Vrångö` takes two seconds. It is eleven islands. How.
terminal> curl -s -o /dev/null -w '%{time_total}\\n' 'localhost:8000/search?from=Donsö&to=Vrångö'
2.114
+read_file> api/search.py
def search(db, origin, target, day):
    found = []
    for sailing in db.all("SELECT * FROM sailings WHERE day = ?", day):
        stops = db.all("SELECT * FROM stops WHERE sailing_id = ? ORDER BY position", sailing.id)
        names = [db.one("SELECT name FROM quays WHERE id = ?", stop.quay_id).name for stop in stops]
        if origin in names and target in names and names.index(origin) < names.index(target):
            found.append(sailing)
    return found
hermes> Eleven islands, but 320 sailings a day with nine stops each: that is 1 + 320 + 2,880 queries per search. \
One join does it:

```sql
SELECT DISTINCT s.*
FROM sailings s
JOIN stops a ON a.sailing_id = s.id
JOIN stops b ON b.sailing_id = s.id AND b.position > a.position
JOIN quays qa ON qa.id = a.quay_id AND qa.name = :origin
JOIN quays qb ON qb.id = b.quay_id AND qb.name = :target
WHERE s.day = :day
ORDER BY a.departs_at;
```
you> Do it. And tell me which index it needs.
patch> api/search.py
--- a/api/search.py
+++ b/api/search.py
@@ -1,8 +1,4 @@
-def search(db, origin, target, day):
-    found = []
-    for sailing in db.all("SELECT * FROM sailings WHERE day = ?", day):
-        …
-    return found
+def search(db, origin, target, day):
+    return db.all(SEARCH, origin=origin, target=target, day=day)
terminal> sqlite3 dev.db "EXPLAIN QUERY PLAN $(cat search.sql)"
QUERY PLAN
|--SEARCH s USING INDEX sailings_day (day=?)
|--SEARCH qa USING COVERING INDEX quays_name (name=?)
|--SCAN a
|--SEARCH b USING INTEGER PRIMARY KEY
`--USE TEMP B-TREE FOR DISTINCT
terminal> sqlite3 dev.db "CREATE INDEX stops_sailing ON stops(sailing_id, quay_id, position)" && curl -s -o /dev/null \
-w '%{time_total}\\n' 'localhost:8000/search?from=Donsö&to=Vrångö'
0.009
hermes> 2.1 s → **9 ms**. The plan still scanned `stops`; `stops(sailing_id, quay_id, position)` takes that away.
you> Nice. The tests?
terminal> pytest -q tests/search
......................                                                   [100%]
22 passed in 1.02s
hermes> 22 pass.
""")
    talk.compact(
        """## Active Task
None; search is quick and tested.

## Completed Actions
1. `search()` is one join instead of 3,201 queries: 2.1 s → 9 ms.
2. Index `stops(sailing_id, quay_id, position)`, so far only in dev.db.

## Historical Remaining Work
A migration for the index.""",
        keep=3,
    )
    talk.play("""
you> The index needs a migration, I suppose.
write_file> {"path": "migrations/0041_stops_sailing.sql", "content": "CREATE INDEX CONCURRENTLY IF NOT EXISTS \
stops_sailing ON stops(sailing_id, quay_id, position);\\n"}
{"bytes_written": 96, "dirs_created": false}
hermes> `migrations/0041_stops_sailing.sql`, with `CONCURRENTLY` so that it does not lock the table on the live \
database.
you> And Tova's class trip is on the 11:20, so please do not break Friday.
hermes> Noted. Friday's 11:20 from Saltholmen is in the test data now, under its own name.
""").end("cli_close")


def _tide_parser(script: Script) -> None:
    talk = begin(
        script,
        "tide",
        script.ago(days=9, hours=4),
        title="tidewatch: parse the harbour feed",
        cwd=_TIDE,
        git_branch="main",
        model=GPT,
    )
    talk.play("""
you> tidewatch panics on the new harbour feed. Here is the line it dies on: `2;GBG;1.04;;N`
terminal!> cargo run -- --feed samples/new.csv
thread 'main' panicked at src/feed.rs:22:44:
called `Result::unwrap()` on an `Err` value: ParseFloatError { kind: Empty }
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
think> Fourth field may be empty now. Model it as Option<f32> and stop unwrapping in the parser.
read_file> src/feed.rs
pub struct Reading { pub station: String, pub level: f32, pub surge: f32 }

pub fn parse(line: &str) -> Reading {
    let parts: Vec<&str> = line.split(';').collect();
    Reading { station: parts[1].into(), level: parts[2].parse().unwrap(), surge: parts[3].parse().unwrap() }
}
hermes> The surge field may be empty now. An absent surge is not a surge of zero, so it should be an `Option`, and a \
bad \
line should be an error with its text, not a panic:

```rust
#[derive(Debug, PartialEq)]
pub struct Reading {
    pub station: String,
    pub level: f32,
    pub surge: Option<f32>,
}

pub fn parse(line: &str) -> Result<Reading, FeedError> {
    let mut parts = line.split(';').skip(1);
    let mut next = |name| parts.next().ok_or(FeedError::Missing(name));
    let station = next("station")?.to_owned();
    let level = next("level")?.parse().map_err(|_| FeedError::Number("level"))?;
    let surge = match next("surge")? {
        "" => None,
        text => Some(text.parse().map_err(|_| FeedError::Number("surge"))?),
    };
    Ok(Reading { station, level, surge })
}
```
you> Good, apply it. What does the display show for None?
patch!> src/feed.rs
Could not find a match for old_string in src/feed.rs: the file has CRLF line endings.
terminal> dos2unix src/feed.rs && git diff --stat
 src/feed.rs | 12 ++++++------
patch> src/feed.rs
--- a/src/feed.rs
+++ b/src/feed.rs
@@ -1 +1,5 @@
-pub struct Reading { pub station: String, pub level: f32, pub surge: f32 }
+#[derive(Debug, PartialEq)]
+pub struct Reading {
+    pub station: String,
+    pub level: f32,
+    pub surge: Option<f32>,
+}
terminal> cargo test --quiet
running 31 tests
...............................
test result: ok. 31 passed; 0 failed
hermes> Applied (the file had Windows line endings, which is why the first patch missed). An absent surge shows as \
`–`. \
31 tests pass.
you> Ship it.
terminal> git commit -qam 'feed: a surge may be absent' && cargo install --path . --quiet && tidewatch --once
GBG   +1.04 m   surge –      ▂▃▅▆▇▆▅
hermes> Installed; it reads the live feed.
""").end("cli_close")


def _timetable(script: Script) -> None:
    talk = begin(
        script, "table", script.ago(days=6, hours=7), title="Timetable component", cwd=_WEB, git_branch="feat/timetable"
    )
    talk.play("""
you> I want the timetable to show "in 5 min" and count down without re-rendering the whole list. React, TypeScript.
hermes> Let one clock tick for all rows and let each row subscribe to it, so only the text nodes change:

```tsx
const ticks = new Set<() => void>();
setInterval(() => ticks.forEach((tick) => tick()), 10_000);

const subscribe = (tick: () => void) => {
  ticks.add(tick);
  return () => void ticks.delete(tick);
};

export function Countdown({ at }: { at: number }) {
  const minutes = useSyncExternalStore(subscribe, () => Math.round((at - Date.now()) / 60_000));
  if (minutes < 0) return <s>left</s>;
  return <time dateTime={new Date(at).toISOString()}>{minutes === 0 ? "now" : `in ${minutes} min`}</time>;
}
```

`useSyncExternalStore` re-renders a row only when its *number* changes, so a list of 300 costs nothing for ten seconds \
and a handful of text updates after that.
you> What about screen readers? Ten announcements a minute would be rude.
hermes> Leave the element without `aria-live`. The `dateTime` attribute carries the exact time for those who ask for \
it, \
and nothing is announced unless the user moves there. If a departure is *cancelled*, that one deserves `role="status"`.
you> And in CSS the last minute should pulse, but not for people who dislike motion.
hermes> ```css
time[data-soon] { font-weight: 600; }

@media (prefers-reduced-motion: no-preference) {
  time[data-soon] { animation: pulse 1s ease-in-out infinite alternate; }
}

@keyframes pulse { to { opacity: 0.55; } }
```
you> Run the component tests please.
terminal!> npm test -- timetable --run
 FAIL  src/timetable.test.tsx > counts down
AssertionError: expected 'in 4 min' to be 'in 5 min'
 Test Files  1 failed (1)
think> Math.round of 4.49 minutes gives 4. The test uses 4 min 29 s? Departures should round up: never promise less \
time.
terminal> sed -i 's/Math.round/Math.ceil/' src/Countdown.tsx && npm test -- timetable --run
 Test Files  1 passed (1)
      Tests  9 passed (9)
hermes> It rounded 4:29 down to "in 4 min". For departures I would rather round **up** (`Math.ceil`): you are never \
told \
you have missed a boat that is still there. Nine tests pass.
you> I disagree, people run for boats. But fine.
hermes> Then they arrive with twenty seconds to spare. I can live with that.
""").end("new_session")


def _review(script: Script) -> None:
    talk = begin(script, "review", script.ago(days=2, hours=3.4), cwd=_API, git_branch="main", model=OPUS)
    talk.play("""
you> Review Jonas' branch `refund-rounding` before I merge it. Be picky.
terminal> git diff main...refund-rounding
diff --git a/api/refunds.py b/api/refunds.py
index 51c0d3a..8e2f7b9 100644
--- a/api/refunds.py
+++ b/api/refunds.py
@@ -20,9 +20,12 @@ class Refund:
     def amount(self) -> float:
-        return self.price * self.share
+        share = self.share
+        if share > 1:
+            share = share / 100
+        return round(self.price * share, 2)
@@ -41,3 +44,7 @@ def refund_all(sailing):
     for ticket in sailing.tickets:
-        pay_out(ticket, Refund(ticket.price, 1.0).amount())
+        try:
+            pay_out(ticket, Refund(ticket.price, 1.0).amount())
+        except Exception:
+            log.warning("refund failed")
hermes> Three findings, worst first.

1. **Money gets lost in silence** (`refund_all`). The new `except Exception` turns a failed payout into one log line \
without the ticket. On a cancelled sailing somebody is simply not refunded. Collect the failures and raise them \
together \
at the end.
2. **`share > 1` guesses the unit.** A share of `1` is 100 %, a share of `2` becomes 2 %. Whoever passes percent \
should \
be fixed instead; there is exactly one caller (`admin/forms.py:88`).
3. `round()` on floats rounds halves to even: 12.345 → 12.35 or 12.34 depending on the binary fraction. Prices are in \
öre elsewhere; keep them as integers here too.

The intent is right, and the first hunk has a good test. I would not merge it before 1 is fixed.
you> Agreed. Write it as a comment for him, friendly.
hermes> > Thanks for taking on the rounding, it has bothered everybody. Two things before it goes in: if a payout \
fails in \
`refund_all`, we only log it, and that passenger is never refunded. Could we collect the failures and raise them at \
the \
end? And I think the percent guess belongs in `admin/forms.py:88`, the only place that passes percent. With amounts in \
öre the `round` is not needed at all. Happy to pair on it after lunch.
""").end("cli_close")

"""What runs by itself: two jobs with a dozen runs each, a webhook, an API client, tools and batches."""

from __future__ import annotations

import json

from .chat import Chat, begin
from .script import DEEPSEEK, GEMINI, GPT, HAIKU, SONNET, Script, digits, stamp

RUNS = 12
"""Runs of each job in the sample."""

_HINT = (
    "[IMPORTANT: You are running as a scheduled cron job. The final answer is delivered by itself, so send nothing. "
    'If there is nothing new to report, answer with exactly "[SILENT]" and nothing else.]\n\n'
)
_NEWS = (
    "strike at the shipyard settled", "new gangway at Donsö approved", "diesel up 4 %", "school boat on time all week",
    "harbour fees unchanged", "island council meets on the 14th", "electric ferry trial extended",
    "fog, two cancellations", "summer timetable out", "lighthouse open day", "Styrsö quay repaired", "nothing of note",
)  # fmt: skip


def play(script: Script) -> None:
    """Draft everything nobody typed."""
    for run in range(RUNS):
        _morning(script, run)
        _backup(script, run)
    _webhook(script)
    _api(script)
    _tool(script)
    _batch(script)


def _job(script: Script, job: str, run: int, started: float, prompt: str, model: str) -> Chat:
    """One run; its id is the job's and the moment's, as the scheduler of Hermes spells it."""
    number = digits(job, 12)
    run_id = f"cron_{number}_{stamp(started)}"
    return begin(script, f"{job}-{run}", started, source="cron", model=model, id=run_id).say(_HINT + prompt)


def _morning(script: Script, run: int) -> None:
    talk = _job(
        script, "morning", run, script.at(RUNS - run, 6.5), "Morning paper: wind, boats, and one line of news.", GEMINI
    )
    wind = 3 + run * 5 % 14
    forecast = {"station": "Vinga A", "wind_ms": wind, "gust_ms": wind + 4, "direction": ("SW", "W", "NW")[run % 3]}
    talk.use("web_extract", '{"urls": ["https://example.org/forecast/vinga"]}', json.dumps(forecast))
    cancelled = ["15:10 Vrångö"] if wind > 13 else []
    talk.use("terminal", "skerry status --json", json.dumps({"sailings": 320 - run, "cancelled": cancelled}))
    boats = f"**{cancelled[0]} is cancelled.**" if cancelled else "All boats sail."
    talk.use("web_extract", '{"urls": ["https://example.org/islands/news"]}', f'[{{"title": "{_NEWS[run]}"}}]')
    talk.use("terminal", "khal list today tomorrow", ("07:45 board", "16:00 swimming", "nothing planned")[run % 3])
    if run % 2:
        talk.use("terminal", "notmuch count tag:unread and from:harbour", str(run % 4))
    talk.reply(f"Wind {forecast['direction']} {wind} m/s, gusts {wind + 4}. {boats}\n\n*{_NEWS[run].capitalize()}.*")
    talk.end("cron_complete", after=1.5)


def _backup(script: Script, run: int) -> None:
    talk = _job(
        script, "backup", run, script.at(RUNS - run, 2.0), "Check last night's backup; speak only if it failed.", HAIKU
    )
    failed = run == 7
    log = f"dump skerry {41.2 + run * 0.1:.1f} GB\nupload s3 …"
    talk.use("terminal", "systemctl show backup.service -p Result", "Result=exit-code" if failed else "Result=success")
    if failed:
        talk.use("terminal", "cat /var/log/backup/last", f"{log}\nerror: no space left on device", failed=True)
        talk.use("terminal", "df -h /var/backup | tail -1", "/dev/sdb1  250G  250G  0  100% /var/backup")
        talk.reply(
            "**The backup failed:** `/var/backup` is full (250 GB). Dumps older than 30 days are not being deleted."
        )
    else:
        talk.use("terminal", "cat /var/log/backup/last", f"{log} ok\nverify ok")
        talk.reply("[SILENT]")
    talk.end("cron_complete", after=1.0)


def _webhook(script: Script) -> None:
    event = {"action": "opened", "issue": {"number": 318, "title": "Timetable is empty on old Safari", "user": "mirre"}}
    talk = begin(script, "webhook", script.ago(days=6, hours=1), source="webhook", model=SONNET, user_id="github")
    talk.say("Triage this issue.\n\n```json\n" + json.dumps(event, indent=2) + "\n```")
    talk.play("""
search_files> Array.prototype.at|\\.at\\(
{"total_count": 1, "matches": [{"path": "src/timetable.tsx", "line": 40, "content": "  const last = rows.at(-1);"}]}
hermes> Likely `rows.at(-1)` in `src/timetable.tsx:40`; Safari before 15.4 lacks `Array.prototype.at`. Label: `bug`, \
`web`. \
A one-line fix: `rows[rows.length - 1]`.
""").end("cron_complete", after=1)


def _api(script: Script) -> None:
    client = "c2b7a5f0-58a1-4d0c-9d7e-0f2f9f1c7a11"
    begin(script, "api", script.ago(hours=9), source="api_server", model=GPT, id=client).play("""
system> You answer questions of passengers on skerry.example. Two sentences at most.
you> Kan jag ta med cykel på båten till Donsö?
hermes> Ja, cykeln åker gratis i mån av plats. Mellan 7 och 9 på vardagar är det ofta fullt.
you> Och hund?
hermes> Gärna, i koppel och på akterdäck.
""")


def _tool(script: Script) -> None:
    begin(script, "tool", script.ago(days=1, hours=7), source="tool", model=HAIKU).play("""
you> Title for this chat, at most six words: "The printed timetable for the quays: A3, two columns …"
hermes> Print the timetable
""").end("agent_close", after=0.5)


def _batch(script: Script) -> None:
    for number, (quay, alt) in enumerate(
        (
            ("Saltholmen", "A white ferry at a wooden pier, a tram loop behind it."),
            ("Donsö", "Fishing boats under a red shed; a gangway, half down."),
            ("Vrångö", "A small lighthouse on bare rock, the sea on three sides."),
        )
    ):
        begin(
            script, f"batch-{number}", script.ago(days=44, minutes=30 - number * 9), source="batch", model=DEEPSEEK
        ).play(f"""
you> Write an alt text for the picture `quays/{quay.lower()}.jpg`, one sentence.
vision_analyze> What is on quays/{quay.lower()}.jpg?
{alt}
hermes> {alt}
""").end("agent_close", after=1)

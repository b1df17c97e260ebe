"""Families of every kind: branches, nested subagents, racing siblings, orphans, empty and forgotten chats."""

from __future__ import annotations

from .chat import begin
from .family import branch, collect, compress, delegate
from .script import GEMINI, GPT, HAIKU, OPUS, Script, digits, stamp


def play(script: Script) -> None:
    """Draft the families."""
    _trip(script)
    _prices(script)
    _sweep(script)
    _race(script)
    _orphans(script)
    _empty(script)


def _trip(script: Script) -> None:
    talk = begin(script, "lisbon", script.ago(days=21, hours=3), source="tui", title="Trip to Lisbon", model=GPT)
    talk.play("""
you> Five days in Lisbon in spring, the three of us. Tova is seven and loves trams. Not a museum a day.
hermes> One anchor a day, the rest is wandering:

1. **Alfama and the 28 tram**, early, before it fills.
2. **Oceanário**, half a day, then the cable car along the river.
3. **Sintra** by train: the Moorish castle rather than the palace. Walls to climb.
4. **Belém**: the tower, the custard tarts, the big lawn.
5. Nothing. You will need it.
you> Where do we stay so that a seven-year-old can walk home when she is tired?
web_search> Lisbon quiet neighbourhood flat walk tram 28 family
[{"title": "Estrela and Campo de Ourique with children", "url": "https://example.org/lisbon/estrela"}, \
{"title": "Lisbon's hills, ranked by knees", "url": "https://example.org/lisbon/hills"}]
hermes> **Campo de Ourique.** It is flat (rare there), the 28 ends in it, and the Estrela garden with its playground \
is \
ten minutes away. Alfama is prettier and all stairs.
you> Good. Make me a rough budget.
hermes> | | € |
|---|---:|
| Flights, 3 | 540 |
| Flat, 5 nights | 650 |
| Food | 400 |
| Trams, trains, tickets | 120 |
| Tarts | 25 |
| **Sum** | **1,735** |
""")
    other = branch(talk, "lisbon-train", title="Trip to Lisbon #2")
    other.play("""
you> Variant: no flying. How long by train from Gothenburg?
think> Gothenburg - Copenhagen - Hamburg - Paris - Hendaye/Irun - (night train no longer runs) - Madrid - Lisbon. \
About 3 days.
hermes> Honest answer: **three days each way**. Gothenburg → Hamburg → Paris, a night there; Paris → Hendaye → \
Madrid, a \
night there; Madrid → Lisbon still takes most of a day and two changes since the night train was cut.

With five days off it is all journey. With two weeks it would be the best part of the holiday.
you> Elias would love it. Tova too, honestly. What would it cost?
hermes> About **€ 1,150** for the three of you with Interrail passes (children under 12 ride free) and two hotel nights.
""")
    talk.play("""
you> Flights it is, this year. Book nothing yet, just keep the list.
memory> Lisbon in spring: five days, flat in Campo de Ourique, budget about 1,735 euros; train variant next year
Saved to USER.md
hermes> Kept. I will not book anything.
""").end("tui_close")


def _prices(script: Script) -> None:
    talk = begin(
        script,
        "prices",
        script.ago(days=33, hours=5),
        title="Pricing for the winter season",
        cwd="/home/noor/notes/skerry",
        model=OPUS,
    )
    talk.play("""
you> In winter we sail half as often with a quarter of the passengers. The board wants one price list all year. Help \
me think.
hermes> Three ways to look at it:

- **Cost**: a winter sailing costs about 80 % of a summer one (crew and fuel hardly shrink) and earns a quarter.
- **Who rides**: islanders and school children, on passes. They do not choose *whether*, only *when*.
- **Signal**: a winter surcharge tells islanders they are a burden. One list tells them they live in the city.

I would keep one list and look for the money elsewhere: freight in winter, the two charter boats in summer.
you> The chair will say: then raise all of it by six percent.
hermes> Six percent on single tickets only. Passes stay. Tourists buy singles, and 71 % of them between June and August.
""")
    child = branch(talk, "prices-b", title="Pricing: freight instead", marker=False)
    child.play("""
you> Let us go down the freight road. What could we carry?
hermes> What islanders order anyway and now fetch by themselves: groceries, parcels, building material on pallets. \
Start with **parcels**: no refrigeration, and the school boat at 15:10 sails half empty.
you> Rough numbers?
execute_code> parcels = 38 * 5; print(parcels * 29 * 40 / 100 * 4.3)
9477.2
hermes> About **9,500 kr a month** if four in ten islanders' parcels come with you at 29 kr. Not the six percent, but \
a third \
of it, and nobody pays more for a ticket.
you> That I can present. Thank you.
""").end("cli_close")


def _sweep(script: Script) -> None:
    talk = begin(
        script,
        "sweep",
        script.ago(days=11, hours=8),
        title="Compare ticketing engines",
        cwd="/home/noor/notes/skerry",
        model=OPUS,
    )
    talk.play("""
you> We may replace our ticketing engine. Compare three open-source ones for a small ferry line. Take your time.
think> Broad question: split. One subagent per theme, one of them may split further.
hermes> I will have three subagents look at licences and upkeep, at offline tickets, and at moving our data.
""")
    keep, offline, moving = delegate(
        talk,
        ("sweep-licence", "Compare licence, release rhythm and number of maintainers of the three engines."),
        ("sweep-offline", "Find out which engine can check a ticket without a network, and how."),
        ("sweep-moving", "Estimate the work of moving 412,000 tickets and 9,100 passes; split the task if it helps."),
    )
    keep.play("""
web_search> open source ticketing engine ferry licence maintainers
[{"title": "Fahrt: small operator ticketing", "url": "https://example.org/fahrt"}, \
{"title": "OpenQuay", "url": "https://example.org/openquay"}, {"title": "Billet", "url": "https://example.org/billet"}]
hermes> Fahrt: EUPL, 4 maintainers, monthly. OpenQuay: AGPL, 11 maintainers, quarterly. Billet: MIT, one maintainer, \
last \
release 14 months ago.
""")
    offline.play("""
web_extract!> {"urls": ["https://example.org/billet/docs/offline"]}
HTTP 404 for https://example.org/billet/docs/offline
web_extract> {"urls": ["https://example.org/fahrt/docs/offline"]}
{"results": [{"title": "Offline inspection", "content": "Tickets are signed (Ed25519); inspectors carry the public \
keys."}]}
hermes> Fahrt signs tickets with Ed25519 and inspectors verify them offline. OpenQuay caches a day list. Billet: page \
gone.
""")
    moving.play("hermes> Two halves: tickets and passes. I will have each looked at on its own.")
    halves = delegate(
        moving,
        ("sweep-tickets", "Map our ticket table to the import format of Fahrt and OpenQuay."),
        ("sweep-passes", "Passes carry photos and a school class. Which engine has room for that?"),
    )
    halves[0].play("""
read_file> skerry-api/schema.sql
CREATE TABLE tickets (id TEXT PRIMARY KEY, sailing_id TEXT, price INTEGER, share REAL, bought_at TEXT, used_at TEXT);
hermes> One to one for both, except `share` (refunds), which Fahrt keeps as a second booking. About three days.
""")
    halves[1].play("""
hermes> OpenQuay has holders with attachments; Fahrt has free fields but no photos. About two days, four with photos.
""")
    collect(moving, halves, ["Tickets: three days, refunds need care in Fahrt.", "Passes: two to four days."])
    moving.play("hermes> Five to seven days of work, Fahrt or OpenQuay alike.")
    collect(
        talk,
        [keep, offline, moving],
        [
            "Fahrt and OpenQuay are alive, Billet is one person and quiet.",
            "Fahrt checks tickets offline by signature; OpenQuay by a cached list.",
            "Moving takes five to seven days with either.",
        ],
    )
    talk.play("""
hermes> ### Fahrt, with OpenQuay as the runner-up

| | Fahrt | OpenQuay | Billet |
|---|---|---|---|
| Licence | EUPL | AGPL | MIT |
| Maintainers | 4 | 11 | 1 |
| Offline check | signature | day list | unknown |
| Pass photos | no | yes | no |
| Moving our data | 5–7 days | 5–7 days | – |

Boats lose the network behind Vargö every day, so the signature decides it. Ask Fahrt about photos before you commit.
you> That is a good page for the board. Put it into the notes.
write_file> {"path": "ticketing.md", "content": "# Ticketing engines\\n\\nFahrt, with OpenQuay as the runner-up …"}
{"bytes_written": 1043, "dirs_created": false}
hermes> It is in `ticketing.md`.
""").end("cli_close")


def _race(script: Script) -> None:
    talk = begin(
        script,
        "print",
        script.ago(days=14, hours=4),
        source="desktop",
        title="Print the timetable",
        model=HAIKU,
        cwd="/home/noor/src/skerry-web",
    )
    talk.play("""
you> The printed timetable for the quays: A3, two columns, readable from a metre away by someone's grandmother.
hermes> 18 pt for times, 22 pt bold for the quays, no grey. Two columns: *from town* and *to town*. Footnotes become \
icons: \
a school bag for school days, a sun for summer.
you> Set it in Inter and give me the PDF.
terminal> node print/build.mjs --size a3 && ls -la print/out
-rw-r--r-- 1 noor noor 184220 timetable-a3.pdf
hermes> `print/out/timetable-a3.pdf`, 184 KB.
""")
    summary = "Timetable for the quays, A3, two columns, Inter; print/out/timetable-a3.pdf exists."
    loser = compress(talk, summary, key="print-late")
    winner = compress(talk, summary, title="Print the timetable #2", key="print-live")
    loser.play("you> Two quays are missing at the bottom.").end("ws_orphan_reap")
    winner.play("""
you> Two quays are missing at the bottom.
hermes> They did not fit in the column and were cut. I lowered the leading by a point; all eleven quays are on it now.
you> Perfect. Off to the printer.
""").end("ws_disconnect", after=1800)


def _orphans(script: Script) -> None:
    guessed = begin(script, "guessed", script.ago(days=140), cwd="/home/noor/src/skerry-api", model=HAIKU)
    guessed.marked("_delegate_from", "__orphaned__").play("""
you> which python versions do we test against
terminal> grep -n python-version .github/workflows/*.yml
.github/workflows/ci.yml:14:        python-version: ["3.11", "3.13"]
hermes> 3.11 and 3.13.
""").end("cli_close")
    gone = f"{stamp(script.ago(days=131))}_{digits('gone', 6)}"
    begin(script, "lost", script.ago(days=130.8), parent_session_id=gone, cwd="/home/noor/notes", model=GEMINI).play("""
you> and the second half of the letter to the harbour office?
hermes> "We therefore ask for a shelter on the quay at Styrsö Skäret before next winter: forty children wait there \
every \
school morning, and the wind comes straight from Skagerrak. We would gladly share the cost."
you> keep "gladly", delete "straight"
hermes> Done; the letter is in `harbour-office.md`.
""").end("resumed_other")
    old = begin(script, "old", script.ago(days=128), title="Book club: Moominvalley in November", model=GPT)
    old.play("""
you> Book club on Thursday, Tove Jansson's last Moomin book. Three questions that are not "what does the fog mean".
""")
    reader = delegate(
        old,
        ("old-reader", "Collect what Jansson said about writing Moominvalley in November."),
        source="cli",
        marker=False,
    )
    reader[0].play("hermes> She wrote it in the year her mother died, and called it a book about being left.")
    collect(old, reader, ["Written in the year her mother died."])
    old.play("""
hermes> 1. Nobody in the book knows the family as well as they claim. Who is each of them really waiting for?
2. Fillyjonk cleans, Toft reads, Hemulen builds. What would *you* do in that house?
3. The family never arrives, or does it? What changes if the last page is true?
you> The second. We will be there till midnight.
""").end("cli_close")


def _empty(script: Script) -> None:
    begin(script, "blank", script.ago(days=8, hours=1), cwd="/home/noor").end("cli_close", after=3)
    begin(script, "blank-open", script.ago(hours=7.5), cwd="/home/noor/src/tidewatch")
    begin(
        script,
        "stale",
        script.ago(days=24, hours=2),
        title="Rewrite the README of tidewatch",
        model=GEMINI,
        cwd="/home/noor/src/tidewatch",
        git_branch="docs/readme",
    ).play("""
you> The README of tidewatch explains the code. It should explain why a sailor wants it. Rewrite the first paragraph.
read_file> README.md
# tidewatch
tidewatch is a Rust binary that polls the SMHI open data API and renders a sparkline.
hermes> > **tidewatch** tells you how much water there is under the boat, now and for the next twelve hours, in one \
line of \
your terminal. It needs no account, works with yesterday's forecast when the network is gone, and beeps before it gets \
shallow.
you> "before it gets shallow" – lovely. Now the installation section, short
""")
    talk = begin(
        script, "clock", script.ago(days=19, hours=2), source="acp", model=HAIKU, cwd="/home/noor/src/tidewatch"
    )
    talk.play("""
you> Why do two log lines have the same time here? The laptop just came back from sleep.
hermes> The clock was 40 minutes fast and `systemd-timesyncd` is setting it back.
""")
    talk.skew = -2400.0  # the one clock that steps back: ids go on, timestamps do not
    talk.play("""
terminal> timedatectl | grep -i synchron
System clock synchronized: yes
hermes> Synchronised now. Lines written before the correction carry times that are still to come; order them by id.
you> Ha. So my log was from the future.
hermes> For forty minutes, yes.
""")
    talk.end("idle_timeout")

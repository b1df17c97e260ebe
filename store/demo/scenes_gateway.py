"""Chats that came in through a messenger: a reset pair, groups that are overheard, threads, a vocabulary drill."""

from __future__ import annotations

import json

from .chat import Chat, gateway
from .family import reset
from .script import GEMINI, GPT, HAIKU, SONNET, Script

_NOOR = "81544120"

_ITALIAN = (
    ("the boat", "la barca", "la barca", ""),
    ("the island", "l'isola", "l'isola", ""),
    ("the lighthouse", "il faro", "la lanterna", "**il faro**. *La lanterna* is a lantern, or the one in Genoa."),
    ("the sea is calm", "il mare è calmo", "il mare è calmo", ""),
    (
        "a return ticket",
        "un biglietto di andata e ritorno",
        "un biglietto doppio",
        "**andata e ritorno**, there and back.",
    ),
    ("we leave at noon", "partiamo a mezzogiorno", "partiamo a mezzogiorno", ""),
    (
        "my daughter is seven",
        "mia figlia ha sette anni",
        "mia figlia è sette anni",
        "In Italian you *have* years: **ha**.",
    ),
    ("too much wind", "troppo vento", "troppo vento", ""),
    ("the harbour", "il porto", "il porto", ""),
    ("the harbour master", "il capitano di porto", "il capo di porto", "Close: **il capitano di porto**."),
    ("to row", "remare", "remare", ""),
    ("the anchor", "l'ancora", "ancora", "With the article, **l'ancora**; stress on the first a, or it means *again*."),
    ("the rope", "la corda, la cima on board", "la corda", ""),
    (
        "I get seasick",
        "soffro il mal di mare",
        "sono malato di mare",
        "**Soffro il mal di mare**, but they will understand.",
    ),
    ("the tide", "la marea", "la marea", ""),
    ("high water", "l'alta marea", "acqua alta", "**alta marea**. *Acqua alta* is what Venice has."),
    ("the fisherman", "il pescatore", "il pescatore", ""),
    ("to swim", "nuotare", "nuotare", ""),
    ("the shore", "la riva", "la costa", "Both: *costa* on a map, **riva** under your feet."),
    ("see you tomorrow on board", "a domani a bordo", "a domani a bordo", ""),
)
"""Asked, answer, what Noor said, and the correction where she was wrong."""


def play(script: Script) -> None:
    """Draft the messenger chats."""
    _telegram(script)
    _discord(script)
    _slack(script)
    _whatsapp(script)
    _signal(script)


def _telegram(script: Script) -> None:
    talk = gateway(
        script, "italian", script.ago(days=2, hours=11), "telegram", chat_id=_NOOR, user_id=_NOOR, name="Noor",
        model=HAIKU,
    )  # fmt: skip
    talk.play("""
you> Italian for the tram home. Twenty words about the sea, one at a time, correct me
hermes> Andiamo. **the boat**?
""")
    for number, (_, answer, said, correction) in enumerate(_ITALIAN):
        talk.say(said)
        verdict = correction or ("Sì. " + answer + "." if number % 3 == 0 else "Giusto.")
        following = (
            f"\n\n**{_ITALIAN[number + 1][0]}**?" if number + 1 < len(_ITALIAN) else "\n\nTwelve of twenty. Brava."
        )
        talk.reply(verdict + following)
    talk.play("""
you> /new
""")
    evening = reset(talk, "telegram-evening")
    evening.until(script.ago(hours=20))
    evening.play("""
you> Is there still a boat to Brännö tonight?
web_extract> {"urls": ["https://example.org/timetable/branno"]}
{"results": [{"title": "Saltholmen – Brännö", "content": "20:30, 21:40, 23:05 (Fri, Sat)"}]}
hermes> Yes: **20:30** and **21:40** from Saltholmen. The 23:05 sails on Fridays and Saturdays only.
you> 21:40 then. Wake me if it is cancelled
cronjob> {"action": "create", "schedule": "every 10m", "until": "21:40", "prompt": "Is the 21:40 to Brännö cancelled?"}
{"success": true, "job_id": "0c4f6e1b2a77"}
hermes> I look every ten minutes until 21:40 and write only if it is cancelled.
wait> 1.1
you> On board. Thanks
hermes> Calm sea, home by 22:05.
""")
    _route(script, talk, evening)
    shop = gateway(
        script, "shopping", script.ago(days=29, hours=3), "telegram", chat_id="-100277310", user_id=_NOOR,
        name="Family", kind="group", model=GEMINI,
    )  # fmt: skip
    shop.play("""
seen> [Elias] we are out of oats again
seen> [Elias] and cat food
you> [Noor] @hermes list please, everything since Sunday
hermes> - oats
- cat food
- 3 lemons (invisible ink!)
- batteries AA for the tide clock
seen> [Elias] how does it know about the lemons
you> [Noor] it reads along, you signed up for it
hermes> I can forget the lemons. I would rather not.
""").end("daily", after=30_000)


def _route(script: Script, old: Chat, new: Chat) -> None:
    """What the gateway remembers of a room: which session it goes on in."""
    key = str(new.draft.columns["session_key"])
    entry = {"session_id": new.id, "previous_session_id": old.id, "platform": "telegram"}
    script.add("gateway_routing", scope="", session_key=key, entry_json=json.dumps(entry), updated_at=new.clock)


def _discord(script: Script) -> None:
    talk = gateway(
        script, "discord", script.ago(days=10, hours=2), "discord", chat_id="559120", user_id="99", thread_id="77104",
        name="#tidewatch-help", kind="group", model=SONNET, title="tidewatch on a Raspberry Pi",
    )  # fmt: skip
    talk.play("""
seen> [kallebass] anyone running tidewatch on a pi zero? mine dies after an hour
seen> [mirre] same, since 0.6
seen> [kallebass] 0.5 was fine
you> [noor] @hermes what changed between 0.5 and 0.6 that could eat memory?
terminal> git log --oneline v0.5..v0.6 -- src | cat
b31fa90 render: keep the last frame for diffing
77ce012 feed: reuse the HTTP client
1d0e4c8 history: remember 30 days for the sparkline
terminal> git show 1d0e4c8 --stat | tail -2
 src/history.rs | 61 +++++++++++++++++++++
 1 file changed, 61 insertions(+)
hermes> `1d0e4c8` is my suspect: it remembers 30 days of readings in memory, one *every ten seconds*: 259,200 \
readings a \
station. On a Pi Zero with eleven stations that is about 180 MB.
seen> [mirre] there it is
you> [noor] fix: keep one reading a minute after the first hour. @hermes can you do it?
patch> src/history.rs
--- a/src/history.rs
+++ b/src/history.rs
@@ -31,2 +31,5 @@
     pub fn push(&mut self, reading: Reading) {
+        if self.is_old(&reading) && self.same_minute(&reading) {
+            return;
+        }
         self.readings.push_back(reading);
hermes> Done on the branch `history-thin`; about 5 MB now. @kallebass, could you run it overnight?
wait> 11
seen> [kallebass] nine hours, 14 MB, still alive
hermes> Then it goes into 0.6.1. Thank you for the night shift.
""").end("idle", after=7200)


def _slack(script: Script) -> None:
    talk = gateway(
        script, "slack", script.ago(days=4, hours=7), "slack", chat_id="C04FERRY", user_id="U7NOOR",
        thread_id="1763031200.004519", name="#operations", kind="channel", model=GPT,
    )  # fmt: skip
    talk.play("""
you> Storm warning class 1 for Thursday. Draft the notice for the web page and the quays, and list what operations \
must do.
hermes> **Notice**

> Strong wind is expected on Thursday from 14:00. Sailings to Vrångö may be cancelled at short notice. Please check \
the \
departure board before you leave home.

**Operations**
1. Crew on call from 12:00
2. Gangway at Donsö: the long one
3. Decide on Vrångö at 13:15, publish by 13:30
4. School boat: call the school **before** noon, not after
you> Add the pharmacy run, it is on Thursdays.
hermes> 5. Pharmacy parcels for Vrångö go with the 11:20 instead of the 15:10. I can write to the pharmacy.
you> Please do.
send_message!> {"target": "slack:#pharmacy", "message": "Thursday's parcels sail at 11:20 because of the wind."}
channel_not_found: the bot is not a member of #pharmacy
hermes> I could not post: I am not a member of `#pharmacy`. Invite me there, or forward this:

> Thursday's parcels sail at **11:20** because of the wind. Please have them at Saltholmen by 11:00.
you> Forwarded. Invited you too.
hermes> Seen, I am in.
""").end("suspended", after=3600)


def _whatsapp(script: Script) -> None:
    talk = gateway(
        script, "whatsapp", script.ago(days=13, hours=2), "whatsapp", chat_id="46700123456", user_id="46700123456",
        name="Noor", model=GEMINI,
    )  # fmt: skip
    talk.play("""
you> Sourdough. It is flat as a board again. 500 g flour, 350 water, 100 starter, 10 salt, overnight on the counter
hermes> Overnight at room temperature is probably too long, not too short. At 22 °C your dough peaks after about 7 \
hours and \
then collapses. Two ways:

- start it at 23:00 with **50 g** starter, bake at 7; or
- keep 100 g and put it into the fridge at midnight.
you> Fridge. And the salt?
hermes> Fine. 2 % of the flour is 10 g.
wait> 15
you> IT ROSE
hermes> Of course it did. How is the crumb?
you> Like a sponge, in the good way. Tova ate half of it
hermes> Then write down the fridge. You will ask me again in March.
memory> Sourdough: 100 g starter, fridge from midnight, bake at seven
Saved to USER.md
""").end("session_reset", after=90_000)


def _signal(script: Script) -> None:
    gateway(
        script, "signal", script.ago(days=18, hours=5), "signal", chat_id="+46700123456", user_id="+46700123456",
        name="Noor", model=HAIKU,
    ).play("""
you> What was the name of the engine oil for the old Volvo Penta? Standing in the shop
session_search> Volvo Penta engine oil
[{"session_id": "20250914_101500_5a1b77", "snippet": "…the MD2020 takes 15W-40, mineral, 2.3 litres with the filter…"}]
hermes> **15W-40, mineral**, 2.3 litres with the filter (MD2020). You noted it last autumn.
you> They only have synthetic
hermes> Wait for mineral: the old seals may sweat with synthetic. It is not urgent before the season.
you> 👍
""")  # fmt: skip

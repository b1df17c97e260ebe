"""Chats that go round and round: upgrades, a handbook by chapters, questions for a licence, photos by month."""

from __future__ import annotations

import json

from .chat import Chat, begin, gateway
from .script import GEMINI, GPT, HAIKU, SONNET, Script

_UPGRADES = (
    ("anyio", "4.9.0", "4.12.1", 0),
    ("asyncpg", "0.30.0", "0.31.0", 0),
    ("certifi", "2025.1.31", "2026.1.4", 0),
    ("click", "8.1.8", "8.3.1", 1),
    ("cryptography", "44.0.2", "46.0.3", 0),
    ("fastapi", "0.115.12", "0.128.0", 2),
    ("httpx", "0.28.1", "0.28.1", 0),
    ("jinja2", "3.1.6", "3.1.6", 0),
    ("orjson", "3.10.16", "3.11.5", 0),
    ("pydantic", "2.11.3", "2.12.5", 3),
    ("pyjwt", "2.10.1", "2.10.1", 0),
    ("redis", "5.2.1", "7.1.0", 1),
    ("sentry-sdk", "2.25.1", "2.48.0", 0),
    ("sqlalchemy", "2.0.40", "2.0.45", 0),
    ("starlette", "0.46.2", "0.50.0", 0),
    ("structlog", "25.2.0", "25.5.0", 0),
    ("uvicorn", "0.34.1", "0.40.0", 0),
)
"""Package, old version, new version, tests that fail at first."""

_CAUSES = {
    "click": "`BadParameter` prints its message on two lines now; the test compared one.",
    "fastapi": "a missing body is 422 with another `loc`; two tests looked at `loc[1]`.",
    "pydantic": "dates before 1970 are parsed as UTC now. Three birthdays of very old captains.",
    "redis": "`hset` answers with an integer of its own kind; compare by value.",
}

_CHAPTERS = (
    ("Before you sail", "It is of utmost importance that passengers be seated.", "Please sit down before we cast off."),
    ("Casting off", "The gangway shall be retracted by personnel only.", "Only crew handle the gangway."),
    ("Life jackets", "Life jackets are situated beneath the seating.", "Your life jacket is under the seat."),
    ("Children", "Children must be accompanied at all times.", "Keep small children within arm's reach on deck."),
    ("Dogs", "Canine companions are to be leashed.", "Dogs are welcome on a leash, on the aft deck."),
    ("Bicycles", "Bicycles may be transported subject to capacity.", "Bicycles come along when there is room."),
    ("Wheelchairs", "Mobility-impaired persons should pre-notify.", "Tell us an hour ahead and we bring the ramp."),
    ("Freight", "Goods exceeding 30 kg are deemed freight.", "Over 30 kg it is freight: ask the crew."),
    ("Waves", "Motion sickness may be experienced.", "If you feel sick, look at the horizon, midships."),
    ("Fog", "Reduced visibility may necessitate delays.", "In fog we sail slowly, or not at all."),
    ("Ice", "In icing conditions alternate piers may be utilised.", "With ice we may use another pier: see the board."),
    ("Man overboard", "Immediately notify the nearest crew member.", "Shout, point, and never look away."),
    ("Fire", "Remain calm and await instructions.", "Move away from smoke, then do what the crew says."),
    ("Lost things", "Unclaimed articles are retained for 90 days.", "We keep what you forget for 90 days."),
    ("Complaints", "Grievances may be lodged in writing.", "Tell us what went wrong: a note or a call is enough."),
    ("Thanks", "We appreciate your patronage.", "Thank you for sailing with your neighbours."),
)

_QUESTIONS = (
    ("Two sailing boats, wind from different sides. Who gives way?", "port tack", "port tack", ""),
    ("Same tack. Who gives way?", "the one to windward", "windward", ""),
    ("A motor boat meets a sailing boat. Who gives way?", "the motor boat", "motor", ""),
    (
        "A green light alone at night. What do you see?",
        "its starboard side",
        "its port side",
        "Green is **starboard**.",
    ),
    ("One black ball in the rigging?", "at anchor", "anchored", ""),
    (
        "Two black balls, one above the other?",
        "not under command",
        "aground",
        "Three is aground; two: **not under command**.",
    ),
    ("One short blast?", "I turn to starboard", "starboard", ""),
    ("Five short blasts?", "I doubt what you are doing", "danger", "Roughly. It means: *I do not understand you.*"),
    ("Red buoy, coming from sea. Which side do you leave it on?", "port", "port", ""),
    ("North cardinal mark: where is the safe water?", "north of it", "north", ""),
    ("Its light?", "quick flashing, without a pause", "three flashes", "Three is **east**. North never pauses."),
    ("Fog, you hear a horn ahead. First thing you do?", "slow down", "slow down", ""),
    ("How long is a nautical mile?", "1,852 m", "1852", ""),
    ("5 knots for 90 minutes?", "7.5 nautical miles", "7.5", ""),
    ("Variation 5° east, true course 90°. Magnetic?", "85°", "95", "East is least: **85°**."),
    ("Distance off, a 40 m lighthouse just dips. Eye at 2 m?", "about 16 nautical miles", "no idea", "About **16**."),
    ("Barometer falls 8 hPa in three hours. What comes?", "a gale", "wind", ""),
    ("Mayday is for?", "grave and imminent danger", "danger to life", ""),
    ("And pan-pan?", "urgent, but nobody in danger yet", "urgent", ""),
    ("Channel?", "16", "16", ""),
)

_STRINGS = (
    ("departs.now", "Leaving now", "Avgår nu", ""),
    ("departs.in", "in {n} min", "om {n} min", ""),
    ("departs.left", "left", "har gått", "*avgått* is what the railway says; boats *have gone*."),
    ("cancelled", "cancelled", "inställd", ""),
    (
        "cancelled.wind",
        "cancelled, strong wind",
        "inställd på grund av hård vind",
        "longer by half; the board wraps it.",
    ),
    ("via", "via {quay}", "via {quay}", ""),
    ("direct", "direct", "direkt", ""),
    ("request.stop", "stops on request", "stannar vid behov", "On the quay people say *på signal*. Both?"),
    ("school", "school days only", "endast skoldagar", ""),
    ("full", "full", "fullsatt", ""),
    ("few.left", "few places left", "få platser kvar", ""),
    ("bike", "bicycles", "cyklar", ""),
    ("bike.full", "no more bicycles", "fullt med cyklar", "It reads as *crowded with bicycles*. Which is true."),
    ("ramp", "ramp on board", "ramp ombord", ""),
    ("quiet", "quiet saloon", "tyst salong", ""),
    ("coffee", "coffee on board", "kaffe ombord", "the only string everybody reads."),
    ("error.offline", "You are offline. Times may be old.", "Du är offline. Tiderna kan vara gamla.", ""),
    ("error.retry", "Try again", "Försök igen", ""),
    ("pass.valid", "valid until {day}", "giltigt till och med {day}", ""),
    ("pass.child", "child", "barn", ""),
    ("thanks", "Thank you for sailing with us", "Tack för sällskapet", "Warmer than the English one, on purpose."),
)
"""Keys of the web page, English, Swedish, and a remark."""

_SEASONS = ("Winter", "Spring", "Summer", "Autumn")


def play(script: Script) -> None:
    """Draft the chats."""
    _upgrades(script)
    _handbook(script)
    _licence(script)
    _photos(script)
    _translate(script)


def _upgrades(script: Script) -> None:
    talk = begin(
        script, "upgrade", script.ago(days=5, hours=8), title="Upgrade the dependencies one by one", model=SONNET,
        cwd="/home/noor/src/skerry-api", git_branch="deps",
    )  # fmt: skip
    talk.play("""
you> Upgrade what is outdated, one package per commit, tests after each. If something breaks, say why before you fix it.
""")
    outdated = [{"name": name, "version": old, "latest": new} for name, old, new, _ in _UPGRADES]
    talk.use("terminal", "uv pip list --outdated --format json", json.dumps(outdated))
    for name, old, new, failing in _UPGRADES:
        if old == new:
            talk.reply(f"`{name}` is current.")
            continue
        test = f"uv lock -P {name}=={new} -q && pytest -q"
        if failing:
            talk.use("terminal", test, f"{failing} failed, {579 - failing} passed in 21.40s", failed=True, seconds=24)
            talk.reply(f"**{name} {old} → {new}** breaks {failing}: {_CAUSES[name]}")
            talk.use("patch", f"tests/test_{name}_compat.py", f"@@ -1 +1 @@\n-# {name} {old}\n+# {name} {new}")
        talk.use("terminal", test, "579 passed in 21.12s", seconds=23.5)
        talk.use("terminal", f"git commit -qam 'deps: {name} {new}'", "")
        if name == "fastapi":
            talk.say("Is anyone affected by the 422 change? The app looks at loc, I think.")
            talk.use("search_files", '{"pattern": "\\\\.loc\\\\b", "path": "../skerry-web/src"}', '{"total_count": 0}')
            talk.reply("No. `skerry-web` shows `msg` and never reads `loc`.")
    talk.play("""
hermes> Fourteen packages, fourteen commits, 579 tests after each. The three already current are untouched.
you> Merge it.
terminal> git switch -q main && git merge --no-ff -q deps && git push -q && git log -1 --oneline
3f0a77c Merge branch 'deps'
hermes> Merged as `3f0a77c`.
""").end("cli_close")


def _handbook(script: Script) -> None:
    talk = begin(
        script, "handbook", script.ago(days=38, hours=4), title="Passenger handbook in plain words", model=GPT,
        cwd="/home/noor/notes/skerry/handbook",
    )  # fmt: skip
    talk.play("""
you> The passenger handbook sounds like a law. Go through it chapter by chapter and give me the worst sentence of \
each, \
and how a friendly captain would say it. One at a time; I say ok or no.
hermes> Sixteen chapters. I read each before I quote it.
""")
    for number, (chapter, before, after) in enumerate(_CHAPTERS, 1):
        _chapter(talk, number, chapter, before, after)
    talk.play("""
hermes> All sixteen are in. The handbook is 40 % shorter, and nobody *utilises* anything any more.
you> The captain read it aloud in the mess and they clapped.
hermes> Then it is done.
""").end("cli_close")


def _chapter(talk: Chat, number: int, chapter: str, before: str, after: str) -> None:
    path = f"{number:02}-{chapter.lower().replace(' ', '-')}.md"
    text = f"# {chapter}\n\n{before}\n\nFurther provisions are set out in the conditions of carriage."
    talk.use("read_file", path, text)
    talk.reply(f"**{number}. {chapter}**\n\n> {before}\n\nbetter:\n\n> {after}")
    if number == 12:
        talk.say('Is "never look away" right? It sounds odd.')
        talk.reply(
            "It is the rule that saves people: in waves a head is lost from sight within seconds. One person points."
        )
    talk.say(("ok", "yes", "ok, much better", "ok")[number % 4])
    talk.use("patch", path, f"--- a/{path}\n+++ b/{path}\n@@ -3 +3 @@\n-{before}\n+{after}")


def _licence(script: Script) -> None:
    talk = gateway(
        script, "licence", script.ago(days=1, hours=4), "telegram", chat_id="81544120:exam", user_id="81544120",
        name="Noor", model=HAIKU,
    )  # fmt: skip
    talk.say("Boating licence on Saturday. Ask me twenty, mixed, be strict")
    talk.reply(f"On we go.\n\n{_QUESTIONS[0][0]}")
    right = 0
    for number, (_, answer, said, correction) in enumerate(_QUESTIONS):
        talk.say(said)
        right += not correction
        last = number + 1 == len(_QUESTIONS)
        following = (
            f"\n\n{right} of {len(_QUESTIONS)}. Lights are your weak spot." if last else _QUESTIONS[number + 1][0]
        )
        verdict = f"No. {correction}" if correction else f"Yes, {answer}."
        talk.reply(f"{verdict}\n\n{following.strip()}")
    talk.say("lights again tonight then")


def _photos(script: Script) -> None:
    talk = begin(
        script, "photos", script.ago(days=62, hours=3), source="tui", title="Sort last year's photos", model=GEMINI,
        cwd="/home/noor/pictures",
    )  # fmt: skip
    talk.play("""
you> Sort last year's photos: blurred and doubles into `_out`, the rest by month. Show me numbers, delete nothing.
""")
    total = 0
    for number in range(1, 13):
        count, blurred, doubles = 60 + number * 53 % 190, number * 7 % 23, number * 11 % 31
        total += count
        given = f"photosort --month {number:02} --move-bad _out --json"
        talk.use("terminal", given, json.dumps({"photos": count, "blurred": blurred, "doubles": doubles}), seconds=9)
        if number % 3 == 0:
            season = _SEASONS[number // 3 - 1]
            talk.reply(f"{season} is through; its last month: {count} photos, {blurred} blurred, {doubles} doubles.")
    talk.reply(f"{total} photos, twelve folders. Everything doubtful lies in `_out`; nothing is deleted.")
    talk.play("""
you> Which was the best day?
hermes> By the number you kept: **Midsummer**, 61 of 64. The worst was the day of the fog, 2 of 40.
""").end("tui_close")


def _translate(script: Script) -> None:
    talk = begin(
        script,
        "strings",
        script.ago(days=16, hours=2),
        title="Swedish strings for the web page",
        model=GPT,
        cwd="/home/noor/src/skerry-web",
        git_branch="i18n",
    )
    talk.play("""
you> Give me the Swedish for `en.json`, key by key, I nod. Short: it must fit on a phone and on a wet board.
""")
    talk.use("read_file", "src/i18n/en.json", json.dumps({key: english for key, english, _, _ in _STRINGS}, indent=1))
    for number, (key, english, swedish, remark) in enumerate(_STRINGS):
        talk.reply(f"`{key}` – {english} → **{swedish}**" + (f"\n\n{remark[:1].upper()}{remark[1:]}" if remark else ""))
        talk.say("keep it" if remark else ("ok", "ja", "👍")[number % 3])
    swedish_file = json.dumps({key: swedish for key, _, swedish, _ in _STRINGS}, ensure_ascii=False)
    given = json.dumps({"path": "src/i18n/sv.json", "content": swedish_file}, ensure_ascii=False)
    talk.use("write_file", given, '{"bytes_written": 702, "dirs_created": false}')
    talk.reply("`sv.json` is written, 21 strings. The longest is 30 characters.")
    talk.end("new_session")

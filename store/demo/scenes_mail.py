"""An afternoon of support mail: read, answered, approved, sent, fourteen times."""

from __future__ import annotations

import json

from .chat import begin
from .script import SONNET, Script

_MAILS = (
    ("Agneta", "Wrong quay", "Your app sent me to Köpstadsö instead of Styrsö.",
     "I am sorry. The two stood next to each other in the list; they are grouped by island now.", "send"),
    ("Per-Olof", "Refund?", "The 15:10 was cancelled on Thursday. Do I get my money back?",
     "Yes, all of it. It is on its way to the card you paid with and arrives within three days.", "send"),
    ("Hanna", "School pass", "The pass of my son says 'not valid' at 06:15.",
     "That was our mistake: for an hour each morning valid passes were refused. It is mended since yesterday.", "good"),
    ("R. Lind", "Dogs", "There was a dog on my seat.",
     "Dogs travel on the aft deck. The crew will remind everyone; thank you for telling us.", "a little warmer"),
    ("Yusuf", "Receipt", "I need receipts for all of October for my employer.",
     "Attached is one sheet with all 38 trips and the VAT.", "send"),
    ("Birgitta", "Praise", "The young man on the Vrångö boat carried my shopping home. All the way!",
     "I have read your mail to the whole crew. He blushed.", "ha. send"),
    ("Tomasz", "Bicycle", "Can I take a cargo bike? It is 2.4 m long.",
     "On the 10:00 and the 13:00, yes. On the small boats the gangway is too narrow for it.", "send"),
    ("Island shop", "Pallet", "Two pallets of potting soil for Tuesday?",
     "Tuesday 06:40 from Saltholmen, if they are at the quay by 06:15.", "check with freight first"),
    ("Ellinor", "App in the dark", "It is so bright at night that I cannot see the sea.",
     "There is a dark theme in the next version, which comes on Monday. Until then: the board on the quay.", "send"),
    ("Harbour office", "Light at Donsö", "The light on your pier is out.",
     "Thank you. The electrician comes tomorrow morning; tonight the crew puts up a lantern.", "call them, too"),
    ("Mats", "Delay", "Eleven minutes late, again, the 07:20. My whole week is eleven minutes late.",
     "You are right, and we know why: the tram arrives at 07:21. From Monday the boat leaves at 07:24.", "yes!"),
    ("Lova, 9", "Job", "When I am big I want to be captain. What do I need?",
     "Good eyes, a calm voice, and a licence at eighteen. Until then: come to the bridge on the 13:00, any Saturday.",
     "best one. send"),
    ("Olle", "Lost", "Blue cap, on Sunday, the last boat.",
     "We have three blue caps from Sunday. Yours: with an anchor, or with a moose?", "send"),
    ("Olle", "Re: Lost", "Moose.",
     "It waits for you in the ticket office.", "send"),
)  # fmt: skip
"""Who, subject, what they wrote, the answer, and what Noor said of it."""


def play(script: Script) -> None:
    """Draft the chat."""
    talk = begin(script, "mail", script.ago(hours=25), title="Support mail", model=SONNET, cwd="/home/noor")
    talk.play("""
you> Fourteen support mails. Read one, draft an answer in the language of the island, wait for me, send, next.
terminal> notmuch count tag:support and tag:unread
14
hermes> Fourteen. I begin with the oldest.
""")
    for number, (who, subject, text, answer, said) in enumerate(_MAILS, 1):
        mail = json.dumps({"from": who, "subject": subject, "body": text}, ensure_ascii=False)
        talk.use("terminal", f"notmuch show --format=json support:{number}", mail)
        talk.reply(f"**{who}** – {subject}\n\n> {text}\n\n{answer}")
        talk.say(said)
        talk.use("send_message", json.dumps({"target": f"mail:{number}", "message": answer}), '{"success": true}')
    talk.play("""
hermes> All fourteen are answered. Three things came up twice: cards and refunds, the morning passes, the 07:20.
you> The last one goes to the timetable meeting. Thank you.
""").end("cli_close")

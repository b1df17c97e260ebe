"""The last day or so: short chats of the kind that fill a list, half of them without a title."""

from __future__ import annotations

from .chat import begin
from .script import DEEPSEEK, GEMINI, GPT, HAIKU, LOCAL, OPUS, SONNET, Script


def play(script: Script) -> None:
    """Draft the chats."""
    _work(script)
    _home(script)
    _game(script)


def _work(script: Script) -> None:
    begin(
        script, "flags", script.ago(hours=1.9), title="Feature flag for school passes", model=SONNET,
        cwd="/home/noor/src/skerry-api", git_branch="feat/school-pass",
    ).play("""
you> School passes go live on the first. I want a flag so that only Brännö school sees them before.
search_files> class Flags
{"total_count": 1, "matches": [{"path": "api/flags.py", "line": 6, "content": "class Flags:"}]}
read_file> api/flags.py
class Flags:
    def __init__(self, enabled: set[str]):
        self.enabled = enabled

    def on(self, name: str) -> bool:
        return name in self.enabled
hermes> A flag is on for everyone or nobody today. The smallest change is an optional group:

```python
def on(self, name: str, group: str | None = None) -> bool:
    return name in self.enabled or f"{name}@{group}" in self.enabled
```

`school_pass@branno` then switches it on for one school, and existing calls stay as they are.
you> Small is good. Tests first.
write_file> {"path": "tests/test_flags.py", "content": "def test_a_flag_for_one_group():\\n    flags = \
Flags({'pass@branno'})\\n\
    assert flags.on('pass', 'branno')\\n    assert not flags.on('pass', 'styrso')\\n    assert not flags.on('pass')\\n"}
{"bytes_written": 187, "dirs_created": false}
terminal!> pytest -q tests/test_flags.py
E   TypeError: Flags.on() takes 2 positional arguments but 3 were given
1 failed in 0.21s
patch> api/flags.py
--- a/api/flags.py
+++ b/api/flags.py
@@ -4,2 +4,2 @@
-    def on(self, name: str) -> bool:
-        return name in self.enabled
+    def on(self, name: str, group: str | None = None) -> bool:
+        return name in self.enabled or f"{name}@{group}" in self.enabled
terminal> pytest -q tests/test_flags.py
...                                                                      [100%]
3 passed in 0.19s
hermes> Red, then green. Three tests.
""").end("cli_close")  # fmt: skip
    begin(script, "stats", script.ago(hours=3.2), model=DEEPSEEK, cwd="/home/noor/src/skerry-api").play("""
you> busiest sailing last month, and how full was it
terminal> psql -Atc "select s.name, max(boarded), max(capacity) from sailings s join counts using (id) group by 1 \
order by 2 \
desc limit 3"
Saltholmen 11:20|247|250
Vrångö 16:05|241|250
Saltholmen 09:00|198|250
hermes> The **11:20 from Saltholmen**: 247 of 250. The 16:05 back is right behind it, 241.
you> so people go out for lunch and come back for dinner
hermes> And the 13:00 between them sails with 60. A lunch on board, perhaps.
""").end("cli_close")
    begin(script, "shell", script.ago(hours=4.5), source="acp", model=LOCAL, cwd="/home/noor/dotfiles").play("""
you> zsh: prompt should show the git branch but not be slow in big repos
hermes> ```zsh
autoload -Uz add-zsh-hook
branch() { BRANCH=$(git symbolic-ref --short HEAD 2>/dev/null) }
add-zsh-hook chpwd branch
add-zsh-hook precmd branch
setopt prompt_subst
PROMPT='%F{cyan}%1~%f ${BRANCH:+%F{yellow}$BRANCH%f }%# '
```

`git symbolic-ref` reads one small file. It is `git status` that is slow, and you do not need it for the name.
you> 2 ms. 👌
hermes> Then leave it at that.
""").end("idle_timeout")
    begin(
        script,
        "board",
        script.ago(hours=11),
        title="Board paper: parcels by boat",
        model=OPUS,
        cwd="/home/noor/notes/skerry",
    ).play("""
you> One page for the board: parcels on the 15:10. Facts from the pricing chat, no adjectives.
session_search> parcels 15:10 freight
[{"session_id": "pricing", "snippet": "…9,500 kr a month if four in ten islanders' parcels come with you at 29 kr…"}]
hermes> # Parcels on the 15:10

**Proposal.** From January we carry parcels up to 20 kg on the 15:10, at 29 kr each.

**Why this boat.** It sails half empty; the crew is on board already.

**Income.** 9,500 kr a month if four in ten parcels to the islands come with us.

**Cost.** Shelves, 14,000 kr once. Ten minutes of a deckhand per sailing.

**Risk.** Cancelled sailings delay parcels by a day. We say so on the label.

**Decision asked.** A trial until Easter.
you> Perfect. "By a day" -> "until the next sailing".
hermes> Changed.
""").end("cli_close")
    begin(script, "sql", script.ago(hours=14), model=GPT, cwd="/home/noor/src/skerry-api").play("""
you> difference between `LEFT JOIN … WHERE b.x = 1` and `LEFT JOIN … ON … AND b.x = 1`, one example
hermes> ```sql
-- keeps quays without any sailing on Friday, with NULLs
SELECT q.name, s.id FROM quays q LEFT JOIN sailings s ON s.quay_id = q.id AND s.day = 'fri';

-- drops them: NULL = 'fri' is not true, so it is an inner join in disguise
SELECT q.name, s.id FROM quays q LEFT JOIN sailings s ON s.quay_id = q.id WHERE s.day = 'fri';
```
you> in disguise, noted
""")


def _home(script: Script) -> None:
    begin(script, "soup", script.ago(hours=17), source="tui", model=HAIKU).play("""
you> fennel, two potatoes, cream, half a smoked mackerel. soup?
hermes> Soup, in 25 minutes:

1. Fennel and potatoes in slices, butter, five minutes without colour.
2. 7 dl water, salt, simmer for 12 minutes, blend.
3. A splash of cream, lemon, pepper.
4. Mackerel in flakes **on top**, off the heat. Fennel green over it.
you> Tova says it tastes like the harbour
hermes> I will take that as praise. More lemon, if it was not.
""").end("tui_close")
    begin(script, "boat", script.ago(days=78, hours=6), title="Old wooden boat: what first", model=GPT).play("""
you> We bought a wooden boat, 1962, mahogany on oak, out of the water for two years. What first? Elias wants to paint.
hermes> Not paint. In this order:

1. **Let it tell you.** Tap every plank below the waterline; dull means soft.
2. **Keel bolts.** Draw one. If it comes out thin in the middle, draw them all.
3. **Swell it.** Two years dry opens every seam. Wet sacks for two weeks before you caulk anything.
4. Then the engine, then the electrics.
5. Paint. Elias may choose the colour now, so that he has something.
you> One bolt is out. 9 mm at the ends, 6 in the middle.
hermes> Then all of them. 6 of 9 mm leaves less than half of the strength. Galvanised will do; bronze beside old iron \
nails would make a battery.
you> He chose green.
hermes> A good colour for a boat that stays ashore until May.
""").end("cli_close")
    begin(script, "tax", script.ago(days=104, hours=2), title="Home office deduction", model=GEMINI).play("""
you> Can I deduct a home office in Sweden if I work from home two days a week?
web_search> avdrag arbetsrum hemma Skatteverket krav
[{"title": "Arbetsrum", "url": "https://example.org/skatteverket/arbetsrum"}]
hermes> As an employee, hardly: the room must be set apart, furnished for work only, and necessary because your \
employer \
offers none. Two days a week by choice does not meet that. Your employer may lend you desk and chair without tax, \
though.
you> So: ask for a chair.
hermes> Ask for a good one.
""").end("cli_close")
    begin(script, "sleep", script.ago(days=70, hours=1), model=SONNET).play("""
you> Tova cannot sleep because the foghorn could be a whale. What do I tell her?
hermes> That it could be. And that whales and foghorns say the same thing: *here I am, steer a little to the left.*
you> she wants to know if the whale steers left too
hermes> Always. That is why nobody has ever bumped into one in the fog.
""")


def _game(script: Script) -> None:
    begin(
        script,
        "game",
        script.ago(days=88, hours=4),
        source="desktop",
        title="The lighthouse keeper's riddle",
        model=OPUS,
    ).play("""
you> Make up a text adventure for Tova (7). We type, you tell. Short. Scary only a little.
hermes> You stand before a lighthouse. The door is open. On the step sits a cat with one white paw.
you> pet the cat
hermes> The cat purrs and says: "Third stair. Do not step on it." Then it washes its paw as if it had said nothing.
you> go in
hermes> It is round and cool. A staircase winds up. On the wall hang a **rope**, a **horn** and a **lemon**.
you> take lemon
hermes> You take the lemon. It is heavier than a lemon should be.
you> go up but jump over the third stair
hermes> You jump. Below you the third stair goes *click*, and something small rolls about inside the wall.
you> listen
hermes> It rolls down, down, and stops at the door. "Told you," says the cat, far away.
you> up up up
hermes> At the top stands the lamp, dark. Beside it an old keeper, who has lost his glasses and cannot read the riddle \
on the lamp:

*I am yellow and sour and I show what you hide.*
you> LEMON
hermes> The keeper laughs. You rub the lemon on the glass, and letters appear, written long ago: **Light me for the \
ones \
who are late.** The lamp begins to glow.
you> can we see papa's boat
hermes> Far out there is a small boat with a green light. It turns a little to the left. It is coming home.
you> Elias here. I am not crying, it is the lemon.
hermes> THE END. The cat says you may come back tomorrow.
""").end("lru_evict")

"""The signs the browser draws: their meanings, and their ASCII replacements.

Both take one cell, so that nothing shifts. Signs that stand for different states have different replacements.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from hermes_browse.store.wording import N_

MODES = ("auto", "ascii", "unicode")
"""Values of the option `glyphs`; `auto` is ASCII if the terminal's encoding is not UTF-8."""

_SIGNS = {
    # what a conversation or session is
    "●": "*", "○": "o", "∅": "0", "·": "-", "★": "!", "▪": "#", "⊕": "+", "↻": "@", "≡": "=", "⑂": "Y",
    # what happened to it
    "✓": "x", "✗": "X", "☑": "x", "☐": "_", "⊘": "/", "↺": "@", "◆": "*", "◇": "o", "▶": ">", "■": "#",
    # what opens, where it leads
    "▸": ">", "›": ">",
    "▾": "v", "▼": "v", "▲": "^", "◀": "<", "◂": "<", "→": ">", "←": "<", "↑": "^", "↓": "v", "↵": "<",
    "⏎": "<",
    # punctuation
    "…": "~", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "•": "*", "×": "x", "∞": "~",
    "¢": "c", "≥": ">", "≤": "<", "\u00a0": " ", "\ufffd": "?",
}  # fmt: skip


class Legend(NamedTuple):
    """The signs of one pane or screen, explained."""

    title: str
    folder: str
    """The folder of `tui/` that draws them."""
    place: str
    """Their screen, by the name of its table of commands."""
    signs: tuple[tuple[str, str], ...]
    """Each sign, or several of a kind, and its meaning."""


LEGENDS = (
    Legend(N_("Signs in the list"), "list", "main", (
        ("●", N_("live: Hermes has it open, or has just written to it")),
        ("○", N_("open: never ended, and nobody is writing")),
        ("·", N_("ended")),
        ("∅", N_("no messages")),
        ("★", N_("pinned: Hermes never deletes it by itself")),
        ("▪", N_("archived")),
        ("⊕", N_("subagent; ⊕2 has two of them")),
        ("↻", N_("automation: a cron job, a webhook")),
        ("≡3", N_("in 3 parts: Hermes compressed it twice")),
        ("⑂1", N_("1 branch")),
        ("✓", N_("marked")),
        ("▸ ▾", N_("runs of a job, folded or unfolded; hits that are not shown")),
        ("~", N_("messages by Hermes' own counters, until they are counted")),
        ("▌ ▏", N_("the cursor, in the pane that has the keys and in the others")),
        ("↓ ↑", N_("sorted by this, newest or biggest first; reversed")),
    )),
    Legend(N_("Signs in the lineage"), "list", "main", (
        ("◆", N_("where it began")),
        ("≡", N_("continued after a compression")),
        ("⑂", N_("branched off")),
        ("⊕", N_("delegated to a subagent")),
        ("↺", N_("went on after a reset")),
        ("?", N_("related in an unknown way")),
        ("◇", N_("orphan: its parent is gone")),
        ("▶", N_("resume opens this one")),
    )),
    Legend(N_("Compactions"), "compression", "main", (
        ("█ ░", N_("how much of the context was left after it")),
    )),
    Legend(N_("Signs in the transcript"), "transcript", "main", (
        ("▸ ▾", N_("folded, unfolded: Enter or a click turns it")),
        ("▎", N_("the current message; also a quotation")),
        ("│", N_("code, arguments of a tool and its output")),
        ("→", N_("what a tool answered")),
        ("┊", N_("reasoning, a summary")),
        ("──", N_("a seam: a compression, a day, a gap in time")),
        ("☐ ☑", N_("to do, done")),
    )),
    Legend(N_("Signs here"), "cleanup", "prune", (
        ("✓", N_("goes")),
        ("·", N_("removed from the plan: Space adds it again")),
        ("−", N_("some runs of this job go, or a part of this block")),
        ("⊘", N_("matches the rules and stays, with the reason")),
        ("⊕2", N_("2 subagents go along")),
        ("▸ ▾", N_("folded, unfolded")),
        ("█", N_("bytes: amber goes, grey stays; without colours █ goes, ░ stays")),
        ("▒", N_("matches the rules and stays")),
        ("░", N_("free in the file already")),
        ("│", N_("the cutoff: what is older goes")),
        ("▼", N_("sorted by this column")),
        ("›", N_("the way into the map")),
    )),
    Legend(N_("Signs here"), "cleanup", "retention", (
        ("★", N_("pinned: Hermes never deletes it by itself")),
        ("!", N_("deleted within a week")),
        ("·", N_("deleted later")),
    )),
    Legend(N_("Signs here"), "compression", "compactions", (
        ("▸", N_("before and after a compression")),
        ("█ ░", N_("how much of the context was left after it")),
    )),
    Legend(N_("Signs here"), "trash", "trash", (
        ("✓", N_("marked")),
        ("!", N_("damaged")),
        ("·", N_("a bundle")),
        ("◆", N_("the session that a resume opens")),
    )),
    Legend(N_("Signs here"), "insights", "insights", (
        ("█", N_("a bar, in the colour of its series; without colours █ ▓ ▒ ░ ╱")),
        ("·░▒▓█", N_("hours: from none to the busiest quarter")),
        ("▲ ◂", N_("the chosen column, the chosen hour")),
        ("▼", N_("sorted by this column")),
    )),
    Legend(N_("Signs here"), "doctor", "doctor", (
        ("✗", N_("error: something does not work")),
        ("!", N_("warning: it works, and may not tomorrow")),
        ("·", N_("note")),
        ("✓", N_("nothing to report")),
        ("→", N_("what to do")),
    )),
    Legend(N_("Signs on cards"), "export", "main", (
        ("● ○", N_("chosen, not chosen")),
    )),
    Legend(N_("Signs on cards"), "search", "main", (
        ("★", N_("a search that is kept")),
    )),
)  # fmt: skip
"""Meanings of all signs, in the order of the help; a test fails for a sign that is drawn and not here."""


def _drawn() -> dict[str, str]:
    """Return replacements of box drawing, blocks and Braille, ours and those of Textual's widgets."""
    signs: dict[str, str] = {}
    for code in range(0x2500, 0x2580):  # box drawing
        name = unicodedata.name(chr(code))
        is_level = "HORIZONTAL" in name and "VERTICAL" not in name and "DOWN" not in name and "UP" not in name
        is_upright = "VERTICAL" in name and not any(part in name for part in ("HORIZONTAL", "LEFT", "RIGHT"))
        signs[chr(code)] = "-" if is_level else "|" if is_upright else "+"
    signs |= {"╱": "/", "╲": "\\", "╳": "X", "├": "|", "└": "`"}  # the last two are tree lines
    for code in range(0x2580, 0x25A0):  # block elements: bars, columns, edges of boxes and scroll bars
        signs[chr(code)] = " "
    signs |= dict.fromkeys("█▉▊▋▓", "#") | dict.fromkeys("▌▍▎▏▐▕", "|") | {"▒": ":", "░": "."}
    signs |= dict.fromkeys("▁▂▃", "_") | dict.fromkeys("▄▅▆▇", "#")  # the tops of columns
    for code in range(0x2400, 0x2425):  # pictures of control characters
        signs[chr(code)] = "?"
    for code in range(0x2800, 0x2900):  # Braille patterns: spinners, plots
        signs[chr(code)] = " " if code == 0x2800 else ":"
    return signs


TABLE = {ord(sign): plain for sign, plain in (_drawn() | _SIGNS).items()}
"""All replacements, for `str.translate`."""


def plain(text: str) -> str:
    """Replace our signs by ASCII ones of the same width; other characters stay."""
    return text if text.isascii() else text.translate(TABLE)


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding can hold every character; True if it is unknown."""
    return encoding is None or encoding.lower().replace("_", "-").startswith("utf")


def are_plain(mode: str, encoding: str | None) -> bool:
    """Return whether signs must be ASCII in one of `MODES`, on a terminal's stream of this encoding."""
    return mode == "ascii" or (mode == "auto" and not is_unicode(encoding))


def encodable(text: str, encoding: str) -> str:
    """Replace characters of a printable text that an encoding lacks by a question mark per cell."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_or_question(letter, encoding) for letter in text)
    return text


def _or_question(letter: str, encoding: str) -> str:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return ""
        return "??" if unicodedata.east_asian_width(letter) in "WF" else "?"
    return letter


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: our signs become ASCII ones, the rest question marks.

    Raises:
        UnicodeError: `error` is not an encoding error.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return encodable(plain(error.object[error.start : error.end]), "ascii"), error.end

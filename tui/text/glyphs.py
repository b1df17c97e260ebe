"""The signs the browser draws and their meanings; the width of a text without Rich."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from hermes_browse.store.wording import N_


class Legend(NamedTuple):
    """The signs of one pane or screen, explained."""

    title: str
    folder: str
    """What draws them: a folder or module of `tui/`, as `screens/insights`."""
    scope: str
    """Their screen, by the name of its table of commands."""
    signs: Mapping[str, str]
    """Each sign, or several of a kind, and its meaning."""


_HERE = N_("Signs here")
LEGENDS = (
    Legend(N_("Signs in the list"), "browser/list", "main", N_({
        "?": "waits for you: A shows why",
        "+2": "2 new messages: not read here yet",
        "●": "live: Hermes has it open, or has just written to it",
        "○": "open: never ended, and nobody is writing",
        "·": "ended",
        "∅": "no messages",
        "★": "pinned: Hermes never deletes it by itself",
        "▪": "archived",
        "⊕": "subagent; ⊕2 has two of them",
        "↻": "automation: a cron job, a webhook",
        "≡3": "in 3 parts: Hermes compressed it twice",
        "⑂1": "1 branch",
        "✓": "marked",
        "▸ ▾": "runs of a job, folded or unfolded; hits that are not shown",
        "~": "messages by Hermes' own counters, until they are counted",
        "▌ ▏": "the cursor, in the pane that has the keys and in the others",
        "↓ ↑": "sorted by this, newest or biggest first; reversed",
    })),
    Legend(N_("Signs in the lineage"), "browser/lineage", "main", N_({
        "◆": "where it began",
        "≡": "continued after a compression",
        "⑂": "branched off",
        "⊕": "delegated to a subagent",
        "↺": "went on after a reset",
        "?": "related in an unknown way",
        "◇": "orphan: its parent is gone",
        "▶": "resume opens this one",
        "⇣": "compressed",
        "▸ ▾": "folded, unfolded",
    })),
    Legend(N_("Signs in the transcript"), "browser/transcript", "main", N_({
        "▸ ▾": "folded, unfolded: Enter or a click turns it",
        "▎": "the current message; also a quotation",
        "│": "code, arguments of a tool and its output",
        "→": "what a tool answered",
        "┊": "reasoning, a summary",
        "──": "a seam: a compression, a day, a gap in time",
        "☐ ☑": "to do, done",
    })),
    Legend(_HERE, "screens/cleanup", "prune", N_({
        "✓": "is deleted",
        "·": "removed from the plan: Space adds it again",
        "−": "some runs of this job are deleted, or a part of this tile",
        "⊘": "matches the filters and is protected, with the reason",
        "⊕2": "2 subagents are deleted too",
        "▸ ▾": "folded, unfolded",
        "█": "bytes: amber is deleted, grey is kept; without colours █ is deleted, ░ is kept",
        "▒": "matches the filters and is protected",
        "░": "free in the file already",
        "│": "the cutoff: what is older is deleted",
        "▼": "sorted by this column",
    })),
    Legend(_HERE, "screens/cleanup", "retention", N_({
        "★": "pinned: Hermes never deletes it by itself",
        "!": "deleted within a week",
        "·": "deleted later",
    })),
    Legend(_HERE, "screens/changes", "changes", N_({
        "·": "all that happened to this file is known",
        "?": "not all is known",
        "$": "a command that may have changed files",
    })),
    Legend(_HERE, "screens/run", "run", N_({
        "█": "turns, calls by tool, subagents; without colours █ ▓ ▒ ╱",
        "│": "here a part begins",
        "▼": "compressed here",
        "▲": "the time of the row under the cursor",
        "!": "stands out",
    })),
    Legend(_HERE, "screens/since", "since", N_({
        "?": "waits for you, by what Hermes stores",
        "…": "inferred from what was said or done",
        "✗": "went wrong",
        "+": "new messages",
        "●": "running",
    })),
    Legend(_HERE, "screens/bundles", "trash", N_({
        "✓": "marked; below, a conversation that is back",
        "!": "damaged",
        "·": "a deletion",
        "◆": "a conversation that can be restored",
    })),
    Legend(_HERE, "screens/insights", "insights", N_({
        "█": "a bar, in the colour of its series; without colours █ ▓ ▒ ░ ╱",
        "·░▒▓█": "hours: from none to the busiest quarter",
        "▲ ◂": "the chosen column, the chosen hour",
        "▼": "sorted by this column",
    })),
    Legend(_HERE, "screens/doctor", "doctor", N_({
        "✗": "error: something does not work",
        "!": "warning: it works, and may not tomorrow",
        "·": "note",
        "✓": "nothing to report",
        "→": "what to do",
    })),
    Legend(N_("Signs on cards"), "screens/exporting", "main", N_({
        "● ○": "chosen, not chosen",
    })),
    Legend(N_("Signs on cards"), "browser/search/history", "main", N_({
        "★": "a search that is kept",
        "#": "a tag",
    })),
)  # fmt: skip
"""Meanings of all signs, in the order of the help; a test fails for a sign that is drawn and not
here."""


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding can hold every character; True if it is unknown."""
    return encoding is None or encoding.lower().startswith("utf")


def _cells_of(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def cells(text: str) -> int:
    """Count the terminal cells of a printable text without Rich: wide characters are two, marks and
    joiners none."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))

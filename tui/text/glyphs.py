"""The signs the browser draws and their meanings, and what is printed where the encoding lacks a
character."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from hermes_browse.store.wording import N_


class Legend(NamedTuple):
    """The signs of one pane or screen, explained."""

    title: str
    folder: str
    """What draws them: a folder or module of `tui/`, as `screens/insights`."""
    place: str
    """Their screen, by the name of its table of commands."""
    signs: tuple[tuple[str, str], ...]
    """Each sign, or several of a kind, and its meaning."""


LEGENDS = (
    Legend(N_("Signs in the list"), "browser/list", "main", (
        ("?", N_("waits for you: A shows why")),
        ("+2", N_("2 new messages: not read here yet")),
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
    Legend(N_("Signs in the lineage"), "browser/lineage", "main", (
        ("◆", N_("where it began")),
        ("≡", N_("continued after a compression")),
        ("⑂", N_("branched off")),
        ("⊕", N_("delegated to a subagent")),
        ("↺", N_("went on after a reset")),
        ("?", N_("related in an unknown way")),
        ("◇", N_("orphan: its parent is gone")),
        ("▶", N_("resume opens this one")),
        ("⇣", N_("compressed")),
        ("▸ ▾", N_("folded, unfolded")),
    )),
    Legend(N_("Signs in the transcript"), "browser/transcript", "main", (
        ("▸ ▾", N_("folded, unfolded: Enter or a click turns it")),
        ("▎", N_("the current message; also a quotation")),
        ("│", N_("code, arguments of a tool and its output")),
        ("→", N_("what a tool answered")),
        ("┊", N_("reasoning, a summary")),
        ("──", N_("a seam: a compression, a day, a gap in time")),
        ("☐ ☑", N_("to do, done")),
    )),
    Legend(N_("Signs here"), "screens/cleanup", "prune", (
        ("✓", N_("is deleted")),
        ("·", N_("removed from the plan: Space adds it again")),
        ("−", N_("some runs of this job are deleted, or a part of this tile")),
        ("⊘", N_("matches the rules and is protected, with the reason")),
        ("⊕2", N_("2 subagents are deleted too")),
        ("▸ ▾", N_("folded, unfolded")),
        ("█", N_("bytes: amber is deleted, grey is kept; without colours █ is deleted, ░ is kept")),
        ("▒", N_("matches the rules and is protected")),
        ("░", N_("free in the file already")),
        ("│", N_("the cutoff: what is older is deleted")),
        ("▼", N_("sorted by this column")),
    )),
    Legend(N_("Signs here"), "screens/cleanup", "retention", (
        ("★", N_("pinned: Hermes never deletes it by itself")),
        ("!", N_("deleted within a week")),
        ("·", N_("deleted later")),
    )),
    Legend(N_("Signs here"), "screens/compactions", "compactions", (
        ("▸", N_("before and after a compression")),
        ("█ ░", N_("how much of the context was left after it")),
    )),
    Legend(N_("Signs here"), "screens/changes", "changes", (
        ("·", N_("all that happened to this file is known")),
        ("?", N_("not all is known")),
        ("$", N_("a command that may have changed files")),
    )),
    Legend(N_("Signs here"), "screens/run", "run", (
        ("█", N_("turns, calls by tool, subagents; without colours █ ▓ ▒ ╱")),
        ("│", N_("here a part begins")),
        ("▼", N_("compressed here")),
        ("▲", N_("the time of the row under the cursor")),
        ("!", N_("stands out")),
    )),
    Legend(N_("Signs here"), "screens/since", "since", (
        ("?", N_("waits for you, by what Hermes stores")),
        ("…", N_("inferred from what was said or done")),
        ("✗", N_("went wrong")),
        ("+", N_("new messages")),
        ("●", N_("running")),
    )),
    Legend(N_("Signs here"), "screens/bundles", "trash", (
        ("✓", N_("marked; below, a conversation that is back")),
        ("!", N_("damaged")),
        ("·", N_("a deletion")),
        ("◆", N_("a conversation that can be restored")),
    )),
    Legend(N_("Signs here"), "screens/insights", "insights", (
        ("█", N_("a bar, in the colour of its series; without colours █ ▓ ▒ ░ ╱")),
        ("·░▒▓█", N_("hours: from none to the busiest quarter")),
        ("▲ ◂", N_("the chosen column, the chosen hour")),
        ("▼", N_("sorted by this column")),
    )),
    Legend(N_("Signs here"), "screens/doctor", "doctor", (
        ("✗", N_("error: something does not work")),
        ("!", N_("warning: it works, and may not tomorrow")),
        ("·", N_("note")),
        ("✓", N_("nothing to report")),
        ("→", N_("what to do")),
    )),
    Legend(N_("Signs on cards"), "screens/exporting", "main", (
        ("● ○", N_("chosen, not chosen")),
    )),
    Legend(N_("Signs on cards"), "browser/search", "main", (
        ("★", N_("a search that is kept")),
        ("#", N_("a tag")),
    )),
)  # fmt: skip
"""Meanings of all signs, in the order of the help; a test fails for a sign that is drawn and not
here."""


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding can hold every character; True if it is unknown."""
    return encoding is None or encoding.lower().replace("_", "-").startswith("utf")


def _question_marks(character: str) -> str:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return ""
    return "??" if unicodedata.east_asian_width(character) in "WF" else "?"


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: a question mark for each cell, so that nothing behind it shifts.

    Raises:
        UnicodeError: `error` is not an encoding error.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_question_marks, error.object[error.start : error.end])), error.end

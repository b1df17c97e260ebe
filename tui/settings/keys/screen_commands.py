"""Commands of the other screens and of cards."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Shown, at, by_place

_EVERY = (
    N_("The screen"),
    Shown("back", "escape,q", "back", "Back to the list", "back"),
    Command("undo", "u", "undo", "Undo what was done last", "undo"),
    Shown("help", "question_mark", "help", "Keys, signs and words of this screen", "help"),
)
"""Commands of every screen except the main one."""
PRUNE = at(
    "prune",
    Shown("rules", "slash", "rules", "Edit the rules", "rules", priority=True),
    Shown(
        "take-leave",
        "space",
        "take/leave",
        "Take this one along, or leave it",
        "take",
    ),
    Shown(
        "archive",
        "a",
        "archive",
        "Archive the whole plan; no question, u undoes",
        "archive",
    ),
    Shown(
        "delete",
        "D",
        "delete",
        "Move the whole plan to the trash, after a question",
        "delete",
    ),
    Command("map", "tab,right", "map", "To the map, and back", "other_pane"),
    Command("plan", "left", "plan", "Back to the plan", "plan_pane"),
    Command("read", "o", "read", "Read this conversation", "read"),
    Shown(
        "less",
        "left_square_bracket",
        "cutoff",
        "Move the cutoff back in time by a week",
        "cut(7)",
        printed="[ ]",
    ),
    Command(
        "more",
        "right_square_bracket",
        "more",
        "Move the cutoff forward in time by a week",
        "cut(-7)",
    ),
    Command(
        "less-month",
        "left_curly_bracket",
        "less",
        "Move the cutoff back in time by a month",
        "cut(30)",
        printed="{",
    ),
    Command(
        "more-month",
        "right_curly_bracket",
        "more",
        "Move the cutoff forward in time by a month",
        "cut(-30)",
        printed="}",
    ),
    Command("measure", "m", "measure", "Bytes, conversations, messages or cost", "measure"),
    Shown(
        "sort",
        "s",
        "sort",
        "Sort the plan by idle time, size, cost, messages or title",
        "sort",
    ),
    Shown("reclaim", "v", "reclaim", "Shrink the file with Hermes' own command", "reclaim"),
    Command("", "1", "older 30d", "Rule on or off: idle for 30 days", "switch(0)"),
    Command("", "2", "90d", "Rule on or off: idle for 90 days", "switch(1)"),
    Command("", "3", "1y", "Rule on or off: idle for a year", "switch(2)"),
    Command("", "4", "automation", "Rule on or off: automation", "switch(3)"),
    Command("", "5", "empty", "Rule on or off: no messages", "switch(4)"),
    Command("", "6", "stale", "Rule on or off: open ones too, if stale", "switch(5)"),
    Command("", "7", "archived", "Rule on or off: archived ones, too", "switch(6)"),
    Command("", "8", "free 50%", "Rule on or off: until half of the store is free", "switch(7)"),
    *_EVERY,
)
TRASH = at(
    "trash",
    Shown(
        "restore",
        "r",
        "restore",
        "Restore the marked deletions, or the current one",
        "restore",
    ),
    Shown("mark", "space", "mark", "Mark this deletion, or unmark it", "mark"),
    Shown("check", "c", "check", "Check the whole deletion against its checksum", "check"),
    Shown("drop", "D", "delete for good", "Remove for good, after a question", "drop"),
    *_EVERY,
)
RETENTION = at(
    "retention",
    Shown("pin", "f", "pin", "Pin it: Hermes never deletes pinned conversations", "pin"),
    Shown(
        "bundle",
        "b",
        "back up",
        "Put a copy into the trash, from where it can be restored",
        "bundle",
    ),
    *_EVERY,
)
COMPACTIONS = at(
    "compactions",
    Shown(
        "next-lost",
        "n",
        "next lost",
        "To the next thing that nothing mentions any more",
        "lost(1)",
    ),
    Shown("previous-lost", "N", "lost before", "To the one before", "lost(-1)"),
    Shown(
        "copy",
        "c",
        "copy",
        "Copy what was replaced, as Markdown to paste into the conversation",
        "copy",
    ),
    Shown("copy-lost", "C", "copy lost", "Copy only what was lost, as Markdown", "copy_lost"),
    Shown("export", "e", "export", "Save what was replaced as Markdown or HTML", "export"),
    Shown("pane", "tab,right", "pane", "To the next pane", "pane(1)"),
    Command("previous-pane", "shift+tab,left", "pane back", "To the previous pane", "pane(-1)"),
    Shown("resume", "R", "resume", "Resume this conversation in Hermes", "resume"),
    Command("read", "o", "read", "Read the conversation where it was compressed", "read_there"),
    *_EVERY,
)
FILE_CHANGES = at(
    "changes",
    Shown("export", "e", "save diff", "Save one diff of all files", "export"),
    Shown("pane", "tab,shift+tab,right,left", "pane", "To the diff, and back", "pane"),
    *_EVERY,
)
RUN = at("run", *_EVERY)
SINCE = at(
    "since",
    Shown("all-read", "a", "all read", "Mark everything as read; u undoes", "all_read"),
    *_EVERY,
)
INSIGHTS = at(
    "insights",
    Shown("shorter", "left_square_bracket", "shorter", "A shorter period", "period(-1)"),
    Shown("longer", "right_square_bracket", "longer", "A longer period", "period(1)"),
    Shown(
        "measure",
        "m",
        "measure",
        "What is measured: cost, tokens, messages, sessions",
        "metric",
    ),
    Shown("day-week-month", "b", "day/week/month", "Columns of days, weeks or months", "unit"),
    Shown("stack", "s", "stack", "Stack columns by model, by source, or not at all", "stack"),
    Shown("next", "tab", "next", "Next grouping", "tab(1)"),
    Command("previous", "shift+tab", "previous", "Previous grouping", "tab(-1)"),
    Command("", "1", "time", "Group by time", "choose(0)"),
    Command("", "2", "model", "Group by model", "choose(1)"),
    Command("", "3", "source", "Group by source", "choose(2)"),
    Command("", "4", "tool", "Group by tool", "choose(3)"),
    Command("", "5", "directory", "Group by directory", "choose(4)"),
    Command("", "6", "hours", "Group by hours", "choose(5)"),
    Command("", "7", "biggest", "Group by conversation", "choose(6)"),
    Shown("search", "slash", "search", "The search for this line, in the list", "search"),
    Command("reload", "f5", "reload", "Read the store again", "reload"),
    *_EVERY,
)
DOCTOR = at(
    "doctor",
    Shown("look-again", "f5", "look again", "Check everything again", "again"),
    Shown("copy", "y", "copy", "Copy the report, to ask someone with it", "copy"),
    *_EVERY,
)
HELP = at(
    "help",
    Shown("filter", "slash", "filter", "Type to narrow what is listed", "filter"),
    Shown("back", "escape,q,question_mark", "back", "Show all again, then back", "back"),
    Command("down", "down,j", "down", call="scroll(1)"),
    Command("up", "up,k", "up", call="scroll(-1)"),
    Command("page-down", "pagedown,space,ctrl+f", "page down", call="page(1)"),
    Command("page-up", "pageup,ctrl+b", "page up", call="page(-1)"),
    Command("half-a-page-down", "ctrl+d", "half a page down", call="page(0.5)"),
    Command("half-a-page-up", "ctrl+u", "half a page up", call="page(-0.5)"),
    Command("start", "home,g", "start", call="to(0)"),
    Command("end", "end,G", "end", call="to(1)"),
)
RAW = at(
    "raw",
    Shown("copy", "c", "copy", call="copy"),
    Shown("back", "escape,q,ampersand", "back", call="dismiss(None)"),
)
REFERENCES = at(
    "references",
    Command("down", "j", "down", call="move(1)"),
    Command("up", "k", "up", call="move(-1)"),
    Shown("copy", "c,y", "copy", call="copy"),
    Shown("back", "escape,q,L", "back", call="dismiss(None)"),
)
PROFILES = at(
    "profiles",
    Command("down", "j", "down", call="move('down')"),
    Command("up", "k", "up", call="move('up')"),
    Shown("all", "a", "all profiles as one list", call="all"),
    Shown("back", "escape,q,0", "back", call="dismiss(None)"),
)
SEARCHES = at(
    "searches",
    Command("down", "down", "down", call="move('down')"),
    Command("up", "up", "up", call="move('up')"),
    Shown("keep", "ctrl+s", "keep ★", call="keep"),
    Shown("rename", "f2", "rename tag", call="rename"),
    Shown("forget", "delete", "forget", call="forget", priority=True),
    Shown("back", "escape,ctrl+r", "back", call="dismiss(None)"),
)
CHOICES = at(
    "choices",
    Command("down", "down,ctrl+n", "down", call="move(1)"),
    Command("up", "up,ctrl+p", "up", call="move(-1)"),
    Shown("back", "escape", "back", call="back"),
)
DETAILS = at(
    "details",
    Shown("copy", "c,y", "copy", call="copy"),
    Shown("changes", "F", "changes", call="dismiss('changes')"),
    Shown("run", "B", "run", call="dismiss('run')"),
    Shown("back", "escape,q,i", "back", call="dismiss(None)"),
)
EXPORTING = at(
    "exporting",
    Shown("format", "down,ctrl+f", "format", "The next format", "format(1)", priority=True),
    Shown("format-before", "up", "format", "The format before", "format(-1)", priority=True),
    Shown("secrets", "ctrl+r", "secrets", call="redact", priority=True),
    Shown(
        "everything",
        "ctrl+l",
        "everything",
        "Rewound and hidden messages too, and in JSONL compacted ones",
        "everything",
        priority=True,
    ),
    Command("replace", "ctrl+o", "replace", call="replace", priority=True),
    Shown("back", "escape", "back", call="dismiss(None)"),
)
RECLAIM = at(
    "reclaim",
    Shown("run", "y", "run it here", call="go"),
    Shown("copy-the-command", "c", "copy the command", call="copy"),
    Shown("back", "escape,q,n", "back", call="dismiss(False)"),
)
PREFLIGHT = at(
    "preflight",
    Shown("resume", "y", "resume", call="go"),
    Shown("copy-the-command", "c", "copy the command", call="copy"),
    Command("down", "down,j", "down", call="scroll(1)"),
    Command("up", "up,k", "up", call="scroll(-1)"),
    Shown("back", "escape,q,n", "back", call="dismiss(False)"),
)
TAGGING = at(
    "tagging",
    Shown("complete", "tab", "complete", call="complete", priority=True),
    Shown("back", "escape", "back", call="dismiss(None)"),
)
RENAMING = at("renaming", Shown("back", "escape", "back", call="dismiss(None)"))
PROGRESS = at("progress", Shown("stop", "escape,c", "stop", call="stop"))
DELETING = at(
    "deleting",
    Shown("delete", "y", "delete", call="go"),
    Command("down", "down", "down", call="scroll(1)"),
    Command("up", "up", "up", call="scroll(-1)"),
    Shown("back", "escape", "back", call="dismiss(False)"),
)
DROPPING = at("dropping", Shown("back", "escape", "back", call="dismiss(False)"))

SCREENS = by_place(PRUNE, TRASH, RETENTION, COMPACTIONS, FILE_CHANGES, RUN, SINCE, INSIGHTS, DOCTOR)
"""Screens except the main one, by the prefix of their command ids."""
CARDS = by_place(
    *(HELP, RAW, REFERENCES, PROFILES, SEARCHES, CHOICES, DETAILS, EXPORTING),
    *(RECLAIM, PREFLIGHT, TAGGING, RENAMING, PROGRESS, DELETING, DROPPING),
)
"""Cards, by the prefix of their command ids."""

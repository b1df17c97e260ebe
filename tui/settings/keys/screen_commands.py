"""Commands of the other screens and of cards."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Shown, at, by_scope, moves

_EVERY = (
    N_("The screen"),
    Shown("back", "escape,q", "back", "back", "Back to the list"),
    Command("undo", "u", "undo", "undo", "Undo what was done last"),
    Shown("help", "question_mark", "help", "help", "Keys, signs and words of this screen"),
)
"""Commands of every screen except the main one."""
PRUNE = at(
    "prune",
    Shown("rules", "slash", "filters", "rules", "Edit the filters", priority=True),
    Shown("take-leave", "space", "take/leave", "take", "Take this one along, or leave it"),
    Shown(
        "archive",
        "a",
        "archive all",
        "carry_out('archive')",
        "Archive the whole plan, after a question",
    ),
    Shown(
        "delete",
        "D",
        "delete all",
        "carry_out('delete')",
        "Move the whole plan to the trash, after a question",
    ),
    Command("map", "tab,right", "map", "other_pane", "To the map, and back"),
    Command("plan", "left", "plan", "plan_pane", "Back to the plan"),
    Command("read", "o", "read", "read", "Read this conversation"),
    Shown(
        "less",
        "left_square_bracket",
        "cutoff",
        "cut(7)",
        "Move the cutoff back in time by a week",
        printed="[ ]",
    ),
    Command(
        "more",
        "right_square_bracket",
        "more",
        "cut(-7)",
        "Move the cutoff forward in time by a week",
    ),
    Command(
        "less-month",
        "left_curly_bracket",
        "less",
        "cut(30)",
        "Move the cutoff back in time by a month",
    ),
    Command(
        "more-month",
        "right_curly_bracket",
        "more",
        "cut(-30)",
        "Move the cutoff forward in time by a month",
    ),
    Command("measure", "m", "measure", "measure", "Bytes, conversations, messages or cost"),
    Shown("sort", "s", "sort", "sort", "Sort the plan by idle time, size, cost, messages or title"),
    Shown("reclaim", "v", "reclaim", "reclaim", "Shrink the file with Hermes' own command"),
    Command("", "1", ">30d", "switch(0)", "Filter on or off: idle for 30 days"),
    Command("", "2", "90d", "switch(1)", "Filter on or off: idle for 90 days"),
    Command("", "3", "1y", "switch(2)", "Filter on or off: idle for a year"),
    Command("", "4", "auto", "switch(3)", "Filter on or off: automation"),
    Command("", "5", "empty", "switch(4)", "Filter on or off: no messages"),
    Command("", "6", "stale", "switch(5)", "Filter on or off: open ones too, if stale"),
    Command("", "7", "archived", "switch(6)", "Filter on or off: archived ones, too"),
    Command("", "8", "free 50%", "switch(7)", "Filter on or off: until half of the store is free"),
    *_EVERY,
)
TRASH = at(
    "trash",
    Shown("restore", "r", "restore", "restore", "Restore the marked deletions, or the current one"),
    Shown("mark", "space", "mark", "mark", "Mark this deletion, or unmark it"),
    Shown("check", "c", "check", "check", "Check the whole deletion against its checksum"),
    Shown("drop", "D", "delete for good", "drop", "Remove for good, after a question"),
    *_EVERY,
)
RETENTION = at(
    "retention",
    Shown("pin", "f", "pin", "pin", "Pin it: Hermes never deletes pinned conversations"),
    Shown(
        "bundle",
        "b",
        "back up",
        "bundle",
        "Put a copy into the trash, from where it can be restored",
    ),
    *_EVERY,
)
COMPACTIONS = at(
    "compactions",
    Shown("next-lost", "n", "next lost", "lost(1)", "To the next thing that the model lost"),
    Shown("previous-lost", "N", "lost before", "lost(-1)", "To the one before"),
    Shown(
        "copy",
        "c",
        "copy",
        "copy",
        "Copy what was replaced, as Markdown to paste into the conversation",
    ),
    Shown("copy-lost", "C", "copy lost", "copy_lost", "Copy only what was lost, as Markdown"),
    Shown("export", "e", "export", "export", "Save what was replaced as Markdown or HTML"),
    Shown("pane", "tab,right", "pane", "pane(1)", "To the next pane"),
    Command("previous-pane", "shift+tab,left", "pane back", "pane(-1)", "To the previous pane"),
    Shown("resume", "R", "resume", "resume", "Resume this conversation in Hermes"),
    Command("read", "o", "read", "read_there", "Read the conversation where it was compressed"),
    *_EVERY,
)
FILE_CHANGES = at(
    "changes",
    Shown("export", "e", "save diff", "export", "Save one diff of all files"),
    Shown("pane", "tab,shift+tab,right,left", "pane", "pane", "To the diff, and back"),
    *_EVERY,
)
RUN = at("run", *_EVERY)
SINCE = at(
    "since",
    Shown("all-read", "a", "all read", "all_read", "Mark everything as read; u undoes"),
    Command("refresh", "f5", "refresh", "refresh", "Look again, on all machines"),
    *_EVERY,
)
INSIGHTS = at(
    "insights",
    Shown("shorter", "left_square_bracket", "shorter", "period(-1)", "A shorter period"),
    Shown("longer", "right_square_bracket", "longer", "period(1)", "A longer period"),
    Shown(
        "measure", "m", "measure", "metric", "What is measured: cost, tokens, messages, sessions"
    ),
    Shown("day-week-month", "b", "day/week/month", "unit", "Columns of days, weeks or months"),
    Shown("stack", "s", "stack", "stack", "Stack columns by model, by source, or not at all"),
    Shown("next", "tab", "next", "tab(1)", "Next grouping"),
    Command("previous", "shift+tab", "previous", "tab(-1)", "Previous grouping"),
    Command("", "1", "time", "choose(0)", "Group by time"),
    Command("", "2", "model", "choose(1)", "Group by model"),
    Command("", "3", "source", "choose(2)", "Group by source"),
    Command("", "4", "tool", "choose(3)", "Group by tool"),
    Command("", "5", "directory", "choose(4)", "Group by directory"),
    Command("", "6", "hours", "choose(5)", "Group by hours"),
    Command("", "7", "biggest", "choose(6)", "Group by conversation"),
    Shown("search", "slash", "search", "search", "The search for this line, in the list"),
    Command("reload", "f5", "reload", "reload", "Read the store again"),
    *_EVERY,
)
DOCTOR = at(
    "doctor",
    Shown("look-again", "f5", "look again", "again", "Check everything again"),
    Shown("copy", "y", "copy", "copy", "Copy the report, to ask someone with it"),
    *_EVERY,
)
HELP = at(
    "help",
    Shown("filter", "slash", "filter", "filter", "Type to narrow what is listed"),
    Shown("back", "escape,q,question_mark", "back", "back", "Show all again, then back"),
    *moves("scroll", "page", down="pagedown,space,ctrl+f"),
    Command("start", "home,g", "start", "to(0)"),
    Command("end", "end,G", "end", "to(1)"),
)
MAP = at(
    "map",
    "The map",
    Command("", "down,j", "down", "go(0,1)"),
    Command("", "up,k", "up", "go(0,-1)"),
    Command("", "right,l", "right", "go(1,0)"),
    Command("", "left,h", "left", "go(-1,0)"),
    Command("", "enter,ctrl+j", "read", "enter"),
)
RAW = at(
    "raw",
    Shown("copy", "c", "copy", "copy"),
    Shown("back", "escape,q,ampersand", "back", "dismiss(None)"),
)
REFERENCES = at(
    "references",
    Command("down", "j", "down", "move(1)"),
    Command("up", "k", "up", "move(-1)"),
    Shown("copy", "c,y", "copy", "copy"),
    Shown("back", "escape,q,L", "back", "dismiss(None)"),
)
PROFILES = at(
    "profiles",
    Command("down", "j", "down", "move(1)"),
    Command("up", "k", "up", "move(-1)"),
    Shown("all", "a", "all profiles as one list", "all"),
    Shown("back", "escape,q,0", "back", "dismiss(None)"),
)
SEARCHES = at(
    "searches",
    Command("down", "down", "down", "move(1)"),
    Command("up", "up", "up", "move(-1)"),
    Shown("keep", "ctrl+s", "keep ★", "keep"),
    Shown("rename", "f2", "rename tag", "rename"),
    Shown("forget", "delete", "forget", "forget", priority=True),
    Shown("back", "escape,ctrl+r", "back", "dismiss(None)"),
)
CHOICES = at(
    "choices",
    Command("down", "down,ctrl+n", "down", "move(1)"),
    Command("up", "up,ctrl+p", "up", "move(-1)"),
    Shown("back", "escape", "back", "back"),
)
DETAILS = at(
    "details",
    Shown("copy", "c,y", "copy", "copy"),
    Shown("changes", "F", "changes", "dismiss('changes')"),
    Shown("run", "B", "run", "dismiss('run')"),
    Shown("back", "escape,q,i", "back", "dismiss(None)"),
)
EXPORTING = at(
    "exporting",
    Shown("format", "down,ctrl+f", "format", "format(1)", "The next format", priority=True),
    Shown("format-before", "up", "format", "format(-1)", "The format before", priority=True),
    Shown("secrets", "ctrl+r", "secrets", "toggle('redacts')", priority=True),
    Shown(
        "everything",
        "ctrl+l",
        "everything",
        "toggle('everything')",
        "Rewound and hidden messages too, and in JSONL compacted ones",
        priority=True,
    ),
    Command("replace", "ctrl+o", "replace", "replace", priority=True),
    Shown("back", "escape", "back", "dismiss(None)"),
)
RECLAIM = at(
    "reclaim",
    Shown("run", "y", "run it here", "go"),
    Shown("copy-the-command", "c", "copy the command", "copy"),
    Shown("back", "escape,q,n", "back", "dismiss(False)"),
)
PREFLIGHT = at(
    "preflight",
    Shown("resume", "y", "resume", "go"),
    Shown("copy-the-command", "c", "copy the command", "copy"),
    Command("down", "down,j", "down", "scroll(1)"),
    Command("up", "up,k", "up", "scroll(-1)"),
    Shown("back", "escape,q,n", "back", "dismiss(False)"),
)
TAGGING = at(
    "tagging",
    Shown("complete", "tab", "complete", "complete", priority=True),
    Shown("back", "escape", "back", "dismiss(None)"),
)
RENAMING = at("renaming", Shown("back", "escape", "back", "dismiss(None)"))
PROGRESS = at("progress", Shown("stop", "escape,c", "stop", "stop"))
DELETING = at(
    "deleting",
    Shown("delete", "y", "delete", "go"),
    Command("down", "down", "down", "scroll(1)"),
    Command("up", "up", "up", "scroll(-1)"),
    Shown("back", "escape", "back", "dismiss(False)"),
)
ARCHIVING = at(
    "archiving",
    Shown("archive", "y", "archive", "dismiss(True)"),
    Shown("back", "escape", "back", "dismiss(False)"),
)
DROPPING = at("dropping", Shown("back", "escape", "back", "dismiss(False)"))

SCREENS = by_scope(PRUNE, TRASH, RETENTION, COMPACTIONS, FILE_CHANGES, RUN, SINCE, INSIGHTS, DOCTOR)
"""Screens except the main one, by the prefix of their command ids."""
CARDS = by_scope(
    *(HELP, RAW, REFERENCES, PROFILES, SEARCHES, CHOICES, DETAILS, EXPORTING),
    *(RECLAIM, PREFLIGHT, TAGGING, RENAMING, PROGRESS, DELETING, ARCHIVING, DROPPING),
)
"""Cards, by the prefix of their command ids."""

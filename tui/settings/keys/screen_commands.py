"""Commands of the other screens and of cards."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Shown, at, by_place

_EVERY = (
    N_("The screen"),
    Shown("back", "escape,q", N_("back"), N_("Back to the list"), "back"),
    Command("undo", "u", N_("undo"), N_("Undo what was done last"), "undo"),
    Shown("help", "question_mark", N_("help"), N_("Keys, signs and words of this screen"), "help"),
)
"""Commands of every screen except the main one."""
PRUNE = at(
    "prune",
    Shown("rules", "slash", N_("rules"), N_("Edit the rules"), "rules", priority=True),
    Shown(
        "take-leave",
        "space",
        N_("take/leave"),
        N_("Take this one along, or leave it"),
        "take",
    ),
    Shown(
        "archive",
        "a",
        N_("archive"),
        N_("Archive the whole plan; no question, u undoes"),
        "carry_out('archive')",
    ),
    Shown(
        "delete",
        "D",
        N_("delete"),
        N_("Move the whole plan to the trash, after a question"),
        "carry_out('delete')",
    ),
    Command("map", "tab,right", N_("map"), N_("To the map, and back"), "other_pane"),
    Command("plan", "left", N_("plan"), N_("Back to the plan"), "plan_pane"),
    Command("read", "o", N_("read"), N_("Read this conversation"), "read"),
    Shown(
        "less",
        "left_square_bracket",
        N_("cutoff"),
        N_("Move the cutoff back in time by a week"),
        "cut(7)",
        printed="[ ]",
    ),
    Command(
        "more",
        "right_square_bracket",
        N_("more"),
        N_("Move the cutoff forward in time by a week"),
        "cut(-7)",
    ),
    Command(
        "less-month",
        "left_curly_bracket",
        N_("less"),
        N_("Move the cutoff back in time by a month"),
        "cut(30)",
        printed="{",
    ),
    Command(
        "more-month",
        "right_curly_bracket",
        N_("more"),
        N_("Move the cutoff forward in time by a month"),
        "cut(-30)",
        printed="}",
    ),
    Command("measure", "m", N_("measure"), N_("Bytes, conversations, messages or cost"), "measure"),
    Shown(
        "sort",
        "s",
        N_("sort"),
        N_("Sort the plan by idle time, size, cost, messages or title"),
        "sort",
    ),
    Shown("reclaim", "v", N_("reclaim"), N_("Shrink the file with Hermes' own command"), "reclaim"),
    Command("", "1", N_("older 30d"), N_("Rule on or off: idle for 30 days"), "switch(0)"),
    Command("", "2", N_("90d"), N_("Rule on or off: idle for 90 days"), "switch(1)"),
    Command("", "3", N_("1y"), N_("Rule on or off: idle for a year"), "switch(2)"),
    Command("", "4", N_("automation"), N_("Rule on or off: automation"), "switch(3)"),
    Command("", "5", N_("empty"), N_("Rule on or off: no messages"), "switch(4)"),
    Command("", "6", N_("stale"), N_("Rule on or off: open ones too, if stale"), "switch(5)"),
    Command("", "7", N_("archived"), N_("Rule on or off: archived ones, too"), "switch(6)"),
    Command(
        "", "8", N_("free 50%"), N_("Rule on or off: until half of the store is free"), "switch(7)"
    ),
    *_EVERY,
)
TRASH = at(
    "trash",
    Shown(
        "restore",
        "r",
        N_("restore"),
        N_("Restore the marked deletions, or the current one"),
        "restore",
    ),
    Shown("mark", "space", N_("mark"), N_("Mark this deletion, or unmark it"), "mark"),
    Shown("check", "c", N_("check"), N_("Check the whole deletion against its checksum"), "check"),
    Shown("drop", "D", N_("delete for good"), N_("Remove for good, after a question"), "drop"),
    *_EVERY,
)
RETENTION = at(
    "retention",
    Shown("pin", "f", N_("pin"), N_("Pin it: Hermes never deletes pinned conversations"), "pin"),
    Shown(
        "bundle",
        "b",
        N_("back up"),
        N_("Put a copy into the trash, from where it can be restored"),
        "bundle",
    ),
    *_EVERY,
)
COMPACTIONS = at(
    "compactions",
    Shown(
        "next-lost",
        "n",
        N_("next lost"),
        N_("To the next thing that nothing mentions any more"),
        "lost(1)",
    ),
    Shown("previous-lost", "N", N_("lost before"), N_("To the one before"), "lost(-1)"),
    Shown(
        "copy",
        "c",
        N_("copy"),
        N_("Copy what was replaced, as Markdown to paste into the conversation"),
        "copy",
    ),
    Shown(
        "copy-lost", "C", N_("copy lost"), N_("Copy only what was lost, as Markdown"), "copy_lost"
    ),
    Shown("export", "e", N_("export"), N_("Save what was replaced as Markdown or HTML"), "export"),
    Shown("pane", "tab,right", N_("pane"), N_("To the next pane"), "pane(1)"),
    Command(
        "previous-pane", "shift+tab,left", N_("pane back"), N_("To the previous pane"), "pane(-1)"
    ),
    Shown("resume", "R", N_("resume"), N_("Resume this conversation in Hermes"), "resume"),
    Command(
        "read", "o", N_("read"), N_("Read the conversation where it was compressed"), "read_there"
    ),
    *_EVERY,
)
FILE_CHANGES = at(
    "changes",
    Shown("export", "e", N_("save diff"), N_("Save one diff of all files"), "export"),
    Shown("pane", "tab,shift+tab,right,left", N_("pane"), N_("To the diff, and back"), "pane"),
    *_EVERY,
)
RUN = at("run", *_EVERY)
SINCE = at(
    "since",
    Shown("all-read", "a", N_("all read"), N_("Mark everything as read; u undoes"), "all_read"),
    Command("refresh", "f5", N_("refresh"), N_("Look again, on all machines"), "refresh"),
    *_EVERY,
)
INSIGHTS = at(
    "insights",
    Shown("shorter", "left_square_bracket", N_("shorter"), N_("A shorter period"), "period(-1)"),
    Shown("longer", "right_square_bracket", N_("longer"), N_("A longer period"), "period(1)"),
    Shown(
        "measure",
        "m",
        N_("measure"),
        N_("What is measured: cost, tokens, messages, sessions"),
        "metric",
    ),
    Shown(
        "day-week-month", "b", N_("day/week/month"), N_("Columns of days, weeks or months"), "unit"
    ),
    Shown(
        "stack", "s", N_("stack"), N_("Stack columns by model, by source, or not at all"), "stack"
    ),
    Shown("next", "tab", N_("next"), N_("Next grouping"), "tab(1)"),
    Command("previous", "shift+tab", N_("previous"), N_("Previous grouping"), "tab(-1)"),
    Command("", "1", N_("time"), N_("Group by time"), "choose(0)"),
    Command("", "2", N_("model"), N_("Group by model"), "choose(1)"),
    Command("", "3", N_("source"), N_("Group by source"), "choose(2)"),
    Command("", "4", N_("tool"), N_("Group by tool"), "choose(3)"),
    Command("", "5", N_("directory"), N_("Group by directory"), "choose(4)"),
    Command("", "6", N_("hours"), N_("Group by hours"), "choose(5)"),
    Command("", "7", N_("biggest"), N_("Group by conversation"), "choose(6)"),
    Shown("search", "slash", N_("search"), N_("The search for this line, in the list"), "search"),
    Command("reload", "f5", N_("reload"), N_("Read the store again"), "reload"),
    *_EVERY,
)
DOCTOR = at(
    "doctor",
    Shown("look-again", "f5", N_("look again"), N_("Check everything again"), "again"),
    Shown("copy", "y", N_("copy"), N_("Copy the report, to ask someone with it"), "copy"),
    *_EVERY,
)
HELP = at(
    "help",
    Shown("filter", "slash", N_("filter"), N_("Type to narrow what is listed"), "filter"),
    Shown("back", "escape,q,question_mark", N_("back"), N_("Show all again, then back"), "back"),
    Command("down", "down,j", N_("down"), call="scroll(1)"),
    Command("up", "up,k", N_("up"), call="scroll(-1)"),
    Command("page-down", "pagedown,space,ctrl+f", N_("page down"), call="page(1)"),
    Command("page-up", "pageup,ctrl+b", N_("page up"), call="page(-1)"),
    Command("half-a-page-down", "ctrl+d", N_("half a page down"), call="page(0.5)"),
    Command("half-a-page-up", "ctrl+u", N_("half a page up"), call="page(-0.5)"),
    Command("start", "home,g", N_("start"), call="to(0)"),
    Command("end", "end,G", N_("end"), call="to(1)"),
)
RAW = at(
    "raw",
    Shown("copy", "c", N_("copy"), call="copy"),
    Shown("back", "escape,q,ampersand", N_("back"), call="dismiss(None)"),
)
REFERENCES = at(
    "references",
    Command("down", "j", N_("down"), call="move(1)"),
    Command("up", "k", N_("up"), call="move(-1)"),
    Shown("copy", "c,y", N_("copy"), call="copy"),
    Shown("back", "escape,q,L", N_("back"), call="dismiss(None)"),
)
PROFILES = at(
    "profiles",
    Command("down", "j", N_("down"), call="move('down')"),
    Command("up", "k", N_("up"), call="move('up')"),
    Shown("all", "a", N_("all profiles as one list"), call="all"),
    Shown("back", "escape,q,0", N_("back"), call="dismiss(None)"),
)
SEARCHES = at(
    "searches",
    Command("down", "down", N_("down"), call="move('down')"),
    Command("up", "up", N_("up"), call="move('up')"),
    Shown("keep", "ctrl+s", N_("keep ★"), call="keep"),
    Shown("rename", "f2", N_("rename tag"), call="rename"),
    Shown("forget", "delete", N_("forget"), call="forget", priority=True),
    Shown("back", "escape,ctrl+r", N_("back"), call="dismiss(None)"),
)
CHOICES = at(
    "choices",
    Command("down", "down,ctrl+n", N_("down"), call="move(1)"),
    Command("up", "up,ctrl+p", N_("up"), call="move(-1)"),
    Shown("back", "escape", N_("back"), call="back"),
)
DETAILS = at(
    "details",
    Shown("copy", "c,y", N_("copy"), call="copy"),
    Shown("changes", "F", N_("changes"), call="dismiss('changes')"),
    Shown("run", "B", N_("run"), call="dismiss('run')"),
    Shown("back", "escape,q,i", N_("back"), call="dismiss(None)"),
)
EXPORTING = at(
    "exporting",
    Shown("format", "down,ctrl+f", N_("format"), N_("The next format"), "format(1)", priority=True),
    Shown(
        "format-before", "up", N_("format"), N_("The format before"), "format(-1)", priority=True
    ),
    Shown("secrets", "ctrl+r", N_("secrets"), call="redact", priority=True),
    Shown(
        "everything",
        "ctrl+l",
        N_("everything"),
        N_("Rewound and hidden messages too, and in JSONL compacted ones"),
        "everything",
        priority=True,
    ),
    Command("replace", "ctrl+o", N_("replace"), call="replace", priority=True),
    Shown("back", "escape", N_("back"), call="dismiss(None)"),
)
RECLAIM = at(
    "reclaim",
    Shown("run", "y", N_("run it here"), call="go"),
    Shown("copy-the-command", "c", N_("copy the command"), call="copy"),
    Shown("back", "escape,q,n", N_("back"), call="dismiss(False)"),
)
PREFLIGHT = at(
    "preflight",
    Shown("resume", "y", N_("resume"), call="go"),
    Shown("copy-the-command", "c", N_("copy the command"), call="copy"),
    Command("down", "down,j", N_("down"), call="scroll(1)"),
    Command("up", "up,k", N_("up"), call="scroll(-1)"),
    Shown("back", "escape,q,n", N_("back"), call="dismiss(False)"),
)
TAGGING = at(
    "tagging",
    Shown("complete", "tab", N_("complete"), call="complete", priority=True),
    Shown("back", "escape", N_("back"), call="dismiss(None)"),
)
RENAMING = at("renaming", Shown("back", "escape", N_("back"), call="dismiss(None)"))
PROGRESS = at("progress", Shown("stop", "escape,c", N_("stop"), call="stop"))
DELETING = at(
    "deleting",
    Shown("delete", "y", N_("delete"), call="go"),
    Command("down", "down", N_("down"), call="scroll(1)"),
    Command("up", "up", N_("up"), call="scroll(-1)"),
    Shown("back", "escape", N_("back"), call="dismiss(False)"),
)
DROPPING = at("dropping", Shown("back", "escape", N_("back"), call="dismiss(False)"))

SCREENS = by_place(PRUNE, TRASH, RETENTION, COMPACTIONS, FILE_CHANGES, RUN, SINCE, INSIGHTS, DOCTOR)
"""Screens except the main one, by the prefix of their command ids."""
CARDS = by_place(
    *(HELP, RAW, REFERENCES, PROFILES, SEARCHES, CHOICES, DETAILS, EXPORTING),
    *(RECLAIM, PREFLIGHT, TAGGING, RENAMING, PROGRESS, DELETING, DROPPING),
)
"""Cards, by the prefix of their command ids."""

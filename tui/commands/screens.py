"""What keys do on the screens behind the main one, and on cards."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_browse.store.wording import N_

from . import Command, at

_EVERY = (
    Command("back", "escape,q", N_("back"), N_("Back to the list"), "back", footer=True),
    Command("undo", "u", N_("undo"), N_("Take back what was done last"), "undo"),
    Command("help", "question_mark", N_("help"), N_("All keys of this screen"), "help", footer=True),
)
"""What every screen behind the main one offers."""
PRUNE = at(
    "prune",
    Command("rules", "slash", N_("rules"), N_("Edit the rules"), "rules", footer=True, priority=True),
    Command(
        "take-leave",
        "space",
        N_("take/leave"),
        N_("Take this one along, or leave it; in the map all of a line"),
        "take",
        footer=True,
    ),
    Command("archive", "a", N_("archive"), N_("Put all of these away; no question, u undoes"), "archive", footer=True),
    Command("delete", "D", N_("delete"), N_("Move all of these to the trash, after a question"), "delete", footer=True),
    Command("map", "tab,right", N_("map"), N_("To the map, and back"), "other_pane"),
    Command("plan", "left", N_("plan"), call="plan_pane"),
    Command("read", "o", N_("read"), N_("Read this conversation"), "read"),
    Command("reclaim", "v", N_("reclaim"), N_("Make the file smaller, by Hermes' own means"), "reclaim", footer=True),
    Command("", "1", N_("older 30d"), call="switch(0)"),
    Command("", "2", N_("90d"), call="switch(1)"),
    Command("", "3", N_("1y"), call="switch(2)"),
    Command("", "4", N_("automation"), call="switch(3)"),
    Command("", "5", N_("empty"), call="switch(4)"),
    Command("", "6", N_("stale"), call="switch(5)"),
    Command("", "7", N_("archived"), call="switch(6)"),
    *_EVERY,
)
TRASH = at(
    "trash",
    Command(
        "restore",
        "r",
        N_("restore"),
        N_("Put the marked bundles back, or the current one"),
        "restore",
        footer=True,
    ),
    Command("mark", "space", N_("mark"), N_("Mark this bundle, or unmark it"), "mark", footer=True),
    Command("check", "c", N_("check"), N_("Read the whole bundle against its sums"), "check", footer=True),
    Command("drop", "D", N_("drop"), N_("Remove for good, after a question"), "drop", footer=True),
    *_EVERY,
)
RETENTION = at(
    "retention",
    Command("pin", "f", N_("pin"), N_("Keep it: Hermes deletes nothing that is pinned"), "pin", footer=True),
    Command(
        "bundle",
        "b",
        N_("bundle"),
        N_("Put a copy into the trash, from where it can be brought back"),
        "bundle",
        footer=True,
    ),
    *_EVERY,
)
INSIGHTS = at(
    "insights",
    Command(
        "shorter",
        "left_square_bracket",
        N_("shorter"),
        N_("A shorter period"),
        "period(-1)",
        footer=True,
        printed="[",
    ),
    Command(
        "longer",
        "right_square_bracket",
        N_("longer"),
        N_("A longer period"),
        "period(1)",
        footer=True,
        printed="]",
    ),
    Command(
        "measure",
        "m",
        N_("measure"),
        N_("What bars and order go by: tokens, cost, messages, sessions"),
        "metric",
        footer=True,
    ),
    Command("day-week-month", "b", N_("day/week/month"), N_("Bars of days, weeks or months"), "unit", footer=True),
    Command("next", "tab", N_("next"), N_("Group by the next thing"), "tab(1)", footer=True),
    Command("previous", "shift+tab", N_("previous"), N_("Group by the thing before"), "tab(-1)"),
    Command("", "1", N_("time"), N_("Group by time"), "choose(0)"),
    Command("", "2", N_("model"), N_("Group by model"), "choose(1)"),
    Command("", "3", N_("source"), N_("Group by source"), "choose(2)"),
    Command("", "4", N_("tool"), N_("Group by tool"), "choose(3)"),
    Command("", "5", N_("directory"), N_("Group by directory"), "choose(4)"),
    Command("", "6", N_("hours"), N_("Group by hours"), "choose(5)"),
    Command("", "7", N_("biggest"), N_("Group by biggest"), "choose(6)"),
    Command("search", "slash", N_("search"), N_("The search for this line, in the list"), "search", footer=True),
    Command("reload", "f5", N_("reload"), N_("Read the store again"), "reload"),
    *_EVERY,
)
DOCTOR = at(
    "doctor",
    Command("look-again", "f5", N_("look again"), N_("Look at everything again"), "again", footer=True),
    Command("copy", "y", N_("copy"), N_("Copy the report, to ask someone with it"), "copy", footer=True),
    *_EVERY,
)
EVERYWHERE = at(
    "everywhere",
    Command("search", "slash", N_("search"), N_("Search all profiles"), "search", footer=True),
    Command(
        "resume",
        "R",
        N_("resume"),
        N_("Go on with it in Hermes, in its own profile"),
        "resume",
        footer=True,
        printed="↵",
    ),
    Command("open", "o,right", N_("open"), N_("Open it in its own profile"), "open", footer=True),
    Command("chats", "1", N_("chats"), N_("Show the chats"), "view('chats')"),
    Command("all", "4", N_("all"), N_("Show every session"), "view('all')"),
    Command("reload", "f5", N_("reload"), N_("Read all profiles again"), "reload"),
    *_EVERY,
)
HELP = at(
    "help",
    Command("back", "escape,q,question_mark", N_("back"), call="dismiss", footer=True),
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
    Command("copy", "c", N_("copy"), call="copy", footer=True),
    Command("back", "escape,q,ampersand", N_("back"), call="dismiss(None)", footer=True),
)
REFERENCES = at(
    "references",
    Command("down", "j", N_("down"), call="move(1)"),
    Command("up", "k", N_("up"), call="move(-1)"),
    Command("show-here", "v", N_("show here"), call="show_here", footer=True),
    Command("copy", "c,y", N_("copy"), call="copy", footer=True),
    Command("back", "escape,q,L", N_("back"), call="dismiss(None)", footer=True),
)
PROFILES = at(
    "profiles",
    Command("down", "j", N_("down"), call="move('down')"),
    Command("up", "k", N_("up"), call="move('up')"),
    Command("all", "a", N_("all profiles as one list"), call="all", footer=True),
    Command("back", "escape,q,0", N_("back"), call="dismiss(None)", footer=True),
)
SEARCHES = at(
    "searches",
    Command("down", "down", N_("down"), call="move('down')"),
    Command("up", "up", N_("up"), call="move('up')"),
    Command("keep", "ctrl+s", N_("keep ★"), call="keep", footer=True),
    Command("forget", "delete", N_("forget"), call="forget", footer=True, priority=True),
    Command("back", "escape,ctrl+r", N_("back"), call="dismiss(None)", footer=True),
)
DETAILS = at(
    "details",
    Command("copy", "c,y", N_("copy"), call="copy", footer=True),
    Command("back", "escape,q,i", N_("back"), call="dismiss(None)", footer=True),
)
EXPORTING = at(
    "exporting",
    Command("format", "down,ctrl+f", N_("format"), N_("The next format"), "format(1)", footer=True, priority=True),
    Command("format-before", "up", N_("format"), N_("The format before"), "format(-1)", footer=True, priority=True),
    Command("secrets", "ctrl+r", N_("secrets"), call="redact", footer=True, priority=True, printed="Ctrl+R"),
    Command(
        "everything",
        "ctrl+l",
        N_("everything"),
        N_("Rewound and hidden messages too, and in JSONL compacted ones"),
        "everything",
        footer=True,
        priority=True,
        printed="Ctrl+L",
    ),
    Command("replace", "ctrl+o", N_("replace"), call="replace", priority=True, printed="Ctrl+O"),
    Command("back", "escape", N_("back"), call="dismiss(None)", footer=True),
)
RECLAIM = at(
    "reclaim",
    Command("run", "y", N_("run it here"), call="go", footer=True),
    Command("copy-the-command", "c", N_("copy the command"), call="copy", footer=True),
    Command("back", "escape,q,n", N_("back"), call="dismiss(False)", footer=True),
)
PREFLIGHT = at(
    "preflight",
    Command("resume", "y", N_("resume"), call="go", footer=True),
    Command("copy-the-command", "c", N_("copy the command"), call="copy", footer=True),
    Command("down", "down,j", N_("down"), call="scroll(1)"),
    Command("up", "up,k", N_("up"), call="scroll(-1)"),
    Command("back", "escape,q,n", N_("back"), call="dismiss(False)", footer=True),
)
RENAMING = at(
    "renaming",
    Command("back", "escape", N_("back"), call="dismiss(None)", footer=True),
)
PROGRESS = at(
    "progress",
    Command("stop", "escape,c", N_("stop"), call="stop", footer=True),
)
DELETING = at(
    "deleting",
    Command("delete", "y", N_("delete"), call="go", footer=True),
    Command("down", "down", N_("down"), call="scroll(1)"),
    Command("up", "up", N_("up"), call="scroll(-1)"),
    Command("back", "escape", N_("back"), call="dismiss(False)", footer=True),
)
DROPPING = at(
    "dropping",
    Command("back", "escape", N_("back"), call="dismiss(False)", footer=True),
)

SCREENS: Mapping[str, tuple[Command, ...]] = {
    "prune": PRUNE,
    "trash": TRASH,
    "retention": RETENTION,
    "insights": INSIGHTS,
    "doctor": DOCTOR,
    "everywhere": EVERYWHERE,
}
"""Screens behind the main one, by the name their commands begin with."""
CARDS: Mapping[str, tuple[Command, ...]] = {
    "help": HELP,
    "raw": RAW,
    "references": REFERENCES,
    "profiles": PROFILES,
    "searches": SEARCHES,
    "details": DETAILS,
    "exporting": EXPORTING,
    "reclaim": RECLAIM,
    "preflight": PREFLIGHT,
    "renaming": RENAMING,
    "progress": PROGRESS,
    "deleting": DELETING,
    "dropping": DROPPING,
}
"""Cards, by the name their commands begin with."""

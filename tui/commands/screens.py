"""What keys do on the screens behind the main one, and on cards."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_browse.store.wording import N_

from . import Command, at


def _every(place: str) -> tuple[Command, ...]:
    """What every screen behind the main one offers."""
    return (
        Command(f"{place}-back", "escape,q", N_("back"), N_("Back to the list"), "back", footer=True),
        Command(f"{place}-undo", "u", N_("undo"), N_("Take back what was done last"), "undo"),
        Command(f"{place}-help", "question_mark", N_("help"), N_("All keys of this screen"), "help", footer=True),
    )


PRUNE = at(
    "prune",
    Command("prune-rules", "slash", N_("rules"), N_("Edit the rules"), "rules", footer=True, priority=True),
    Command(
        "prune-take-leave",
        "space",
        N_("take/leave"),
        N_("Take this one along, or leave it; in the map all of a line"),
        "take",
        footer=True,
    ),
    Command(
        "prune-archive", "a", N_("archive"), N_("Put all of these away; no question, u undoes"), "archive", footer=True
    ),
    Command(
        "prune-delete", "D", N_("delete"), N_("Move all of these to the trash, after a question"), "delete", footer=True
    ),
    Command("prune-map", "tab,right", N_("map"), N_("To the map, and back"), "other_pane"),
    Command("prune-plan", "left", N_("plan"), call="plan_pane"),
    Command("prune-read", "o", N_("read"), N_("Read this conversation"), "read"),
    Command(
        "prune-reclaim", "v", N_("reclaim"), N_("Make the file smaller, by Hermes' own means"), "reclaim", footer=True
    ),
    Command("", "1", N_("older 30d"), call="switch(0)"),
    Command("", "2", N_("90d"), call="switch(1)"),
    Command("", "3", N_("1y"), call="switch(2)"),
    Command("", "4", N_("automation"), call="switch(3)"),
    Command("", "5", N_("empty"), call="switch(4)"),
    Command("", "6", N_("stale"), call="switch(5)"),
    Command("", "7", N_("archived"), call="switch(6)"),
    *_every("prune"),
)
TRASH = at(
    "trash",
    Command(
        "trash-restore",
        "r",
        N_("restore"),
        N_("Put the marked bundles back, or the current one"),
        "restore",
        footer=True,
    ),
    Command("trash-mark", "space", N_("mark"), N_("Mark this bundle, or unmark it"), "mark", footer=True),
    Command("trash-check", "c", N_("check"), N_("Read the whole bundle against its sums"), "check", footer=True),
    Command("trash-drop", "D", N_("drop"), N_("Remove for good, after a question"), "drop", footer=True),
    *_every("trash"),
)
RETENTION = at(
    "retention",
    Command("retention-pin", "f", N_("pin"), N_("Keep it: Hermes deletes nothing that is pinned"), "pin", footer=True),
    Command(
        "retention-bundle",
        "b",
        N_("bundle"),
        N_("Put a copy into the trash, from where it can be brought back"),
        "bundle",
        footer=True,
    ),
    *_every("retention"),
)
INSIGHTS = at(
    "insights",
    Command(
        "insights-shorter",
        "left_square_bracket",
        N_("shorter"),
        N_("A shorter period"),
        "period(-1)",
        footer=True,
        printed="[",
    ),
    Command(
        "insights-longer",
        "right_square_bracket",
        N_("longer"),
        N_("A longer period"),
        "period(1)",
        footer=True,
        printed="]",
    ),
    Command(
        "insights-measure",
        "m",
        N_("measure"),
        N_("What bars and order go by: tokens, cost, messages, sessions"),
        "metric",
        footer=True,
    ),
    Command(
        "insights-day-week-month", "b", N_("day/week/month"), N_("Bars of days, weeks or months"), "unit", footer=True
    ),
    Command("insights-next", "tab", N_("next"), N_("Group by the next thing"), "tab(1)", footer=True),
    Command("insights-previous", "shift+tab", N_("previous"), N_("Group by the thing before"), "tab(-1)"),
    Command("", "1", N_("time"), N_("Group by time"), "choose(0)"),
    Command("", "2", N_("model"), N_("Group by model"), "choose(1)"),
    Command("", "3", N_("source"), N_("Group by source"), "choose(2)"),
    Command("", "4", N_("tool"), N_("Group by tool"), "choose(3)"),
    Command("", "5", N_("directory"), N_("Group by directory"), "choose(4)"),
    Command("", "6", N_("hours"), N_("Group by hours"), "choose(5)"),
    Command("", "7", N_("biggest"), N_("Group by biggest"), "choose(6)"),
    Command(
        "insights-search", "slash", N_("search"), N_("The search for this line, in the list"), "search", footer=True
    ),
    Command("insights-reload", "f5", N_("reload"), N_("Read the store again"), "reload"),
    *_every("insights"),
)
DOCTOR = at(
    "doctor",
    Command("doctor-look-again", "f5", N_("look again"), N_("Look at everything again"), "again", footer=True),
    Command("doctor-copy", "y", N_("copy"), N_("Copy the report, to ask someone with it"), "copy", footer=True),
    *_every("doctor"),
)
EVERYWHERE = at(
    "everywhere",
    Command("everywhere-search", "slash", N_("search"), N_("Search all profiles"), "search", footer=True),
    Command(
        "everywhere-resume",
        "R",
        N_("resume"),
        N_("Go on with it in Hermes, in its own profile"),
        "resume",
        footer=True,
        printed="↵",
    ),
    Command("everywhere-open", "o,right", N_("open"), N_("Open it in its own profile"), "open", footer=True),
    Command("everywhere-chats", "1", N_("chats"), N_("Show the chats"), "view('chats')"),
    Command("everywhere-all", "4", N_("all"), N_("Show every session"), "view('all')"),
    Command("everywhere-reload", "f5", N_("reload"), N_("Read all profiles again"), "reload"),
    *_every("everywhere"),
)
HELP = at(
    "help",
    Command("help-back", "escape,q,question_mark", N_("back"), call="dismiss", footer=True),
    Command("help-down", "down,j", N_("down"), call="scroll(1)"),
    Command("help-up", "up,k", N_("up"), call="scroll(-1)"),
    Command("help-page-down", "pagedown,space,ctrl+f", N_("page down"), call="page(1)"),
    Command("help-page-up", "pageup,ctrl+b", N_("page up"), call="page(-1)"),
    Command("help-half-a-page-down", "ctrl+d", N_("half a page down"), call="page(0.5)"),
    Command("help-half-a-page-up", "ctrl+u", N_("half a page up"), call="page(-0.5)"),
    Command("help-start", "home,g", N_("start"), call="to(0)"),
    Command("help-end", "end,G", N_("end"), call="to(1)"),
)
RAW = at(
    "raw",
    Command("raw-copy", "c", N_("copy"), call="copy", footer=True),
    Command("raw-back", "escape,q,ampersand", N_("back"), call="dismiss(None)", footer=True),
)
REFERENCES = at(
    "references",
    Command("references-down", "j", N_("down"), call="move(1)"),
    Command("references-up", "k", N_("up"), call="move(-1)"),
    Command("references-show-here", "v", N_("show here"), call="show_here", footer=True),
    Command("references-copy", "c,y", N_("copy"), call="copy", footer=True),
    Command("references-back", "escape,q,L", N_("back"), call="dismiss(None)", footer=True),
)
PROFILES = at(
    "profiles",
    Command("profiles-down", "j", N_("down"), call="move('down')"),
    Command("profiles-up", "k", N_("up"), call="move('up')"),
    Command("profiles-all", "a", N_("all profiles as one list"), call="all", footer=True),
    Command("profiles-back", "escape,q,0", N_("back"), call="dismiss(None)", footer=True),
)
SEARCHES = at(
    "searches",
    Command("searches-down", "down", N_("down"), call="move('down')"),
    Command("searches-up", "up", N_("up"), call="move('up')"),
    Command("searches-keep", "ctrl+s", N_("keep ★"), call="keep", footer=True),
    Command("searches-forget", "delete", N_("forget"), call="forget", footer=True, priority=True),
    Command("searches-back", "escape,ctrl+r", N_("back"), call="dismiss(None)", footer=True),
)
DETAILS = at(
    "details",
    Command("details-copy", "c,y", N_("copy"), call="copy", footer=True),
    Command("details-back", "escape,q,i", N_("back"), call="dismiss(None)", footer=True),
)
EXPORTING = at(
    "exporting",
    Command(
        "exporting-format", "down,ctrl+f", N_("format"), N_("The next format"), "format(1)", footer=True, priority=True
    ),
    Command(
        "exporting-format-before", "up", N_("format"), N_("The format before"), "format(-1)", footer=True, priority=True
    ),
    Command("exporting-secrets", "ctrl+r", N_("secrets"), call="redact", footer=True, priority=True, printed="Ctrl+R"),
    Command(
        "exporting-everything",
        "ctrl+l",
        N_("everything"),
        N_("Rewound and hidden messages too, and in JSONL compacted ones"),
        "everything",
        footer=True,
        priority=True,
        printed="Ctrl+L",
    ),
    Command("exporting-replace", "ctrl+o", N_("replace"), call="replace", priority=True, printed="Ctrl+O"),
    Command("exporting-back", "escape", N_("back"), call="dismiss(None)", footer=True),
)
RECLAIM = at(
    "reclaim",
    Command("reclaim-run", "y", N_("run it here"), call="go", footer=True),
    Command("reclaim-copy-the-command", "c", N_("copy the command"), call="copy", footer=True),
    Command("reclaim-back", "escape,q,n", N_("back"), call="dismiss(False)", footer=True),
)
PREFLIGHT = at(
    "preflight",
    Command("preflight-resume", "y", N_("resume"), call="go", footer=True),
    Command("preflight-copy-the-command", "c", N_("copy the command"), call="copy", footer=True),
    Command("preflight-down", "down,j", N_("down"), call="scroll(1)"),
    Command("preflight-up", "up,k", N_("up"), call="scroll(-1)"),
    Command("preflight-back", "escape,q,n", N_("back"), call="dismiss(False)", footer=True),
)
RENAMING = at(
    "renaming",
    Command("renaming-back", "escape", N_("back"), call="dismiss(None)", footer=True),
)
PROGRESS = at(
    "progress",
    Command("progress-stop", "escape,c", N_("stop"), call="stop", footer=True),
)
DELETING = at(
    "deleting",
    Command("deleting-delete", "y", N_("delete"), call="go", footer=True),
    Command("deleting-down", "down", N_("down"), call="scroll(1)"),
    Command("deleting-up", "up", N_("up"), call="scroll(-1)"),
    Command("deleting-back", "escape", N_("back"), call="dismiss(False)", footer=True),
)
DROPPING = at(
    "dropping",
    Command("dropping-back", "escape", N_("back"), call="dismiss(False)", footer=True),
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

"""Commands of the main screen and its panes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hermes_browse.store.wording import N_

from . import Command, Shown, at

APP = at(
    "app",
    N_("The screen"),
    Command("", "ctrl+q", N_("quit"), call="quit", priority=True),
    Command("", "ctrl+c", N_("quit"), call="quit", priority=True),
    Command(
        "palette",
        "ctrl+p",
        N_("palette"),
        N_("Command palette: every command by name, themes"),
        "command_palette",
        priority=True,
    ),
    # Without priority: in a text box it is a character.
    Command("", "colon", N_("palette"), call="command_palette"),
)
MAIN = at(
    "main",
    N_("Find"),
    Shown(
        "search",
        "slash",
        N_("search"),
        N_("Find conversations by what was said"),
        priority=True,
        does="focus_search",
    ),
    Command(
        "next-hit",
        "n",
        N_("next hit"),
        N_("To the next hit of the search"),
        does="search.step(1)",
    ),
    Command(
        "previous-hit",
        "N",
        N_("previous hit"),
        N_("To the previous hit of the search"),
        does="search.step(-1)",
    ),
    Command(
        "",
        "plus,equals_sign",
        N_("unfold hits"),
        N_("More hits of a conversation"),
        does="search.fold(1)",
    ),
    Command(
        "", "minus", N_("fold hits"), N_("Fewer hits of a conversation"), does="search.fold(-1)"
    ),
    Command(
        "hit-order",
        "o",
        N_("hits order"),
        N_("Hits newest, best or oldest first"),
        does="search.next_order",
    ),
    Command(
        "searches",
        "ctrl+r",
        N_("searches"),
        N_("Saved searches, tags, earlier searches"),
        does="choose_search",
    ),
    Command(
        "keep",
        "ctrl+s",
        N_("keep search"),
        N_("Save this search, or remove it"),
        does="query_line.keep",
    ),
    N_("Resume"),
    Shown(
        "resume",
        "R",
        N_("resume"),
        N_("Resume this conversation in Hermes"),
        does="resuming.resume",
    ),
    Command(
        "resume-window",
        "w",
        N_("window"),
        N_("Resume in a new window"),
        does="resuming.resume_in_window",
    ),
    Command(
        "copy-command",
        "Y",
        N_("copy command"),
        N_("Copy the command that resumes"),
        does="resuming.copy_command",
    ),
    N_("Tidy up"),
    Shown(
        "mark",
        "space",
        N_("mark"),
        N_("Mark this conversation, or unmark it"),
        does="edits.mark",
    ),
    Command(
        "mark-range",
        "V",
        N_("mark range"),
        N_("Begin a range of marks, end it"),
        does="edits.mark_range",
    ),
    Command(
        "mark-all",
        "asterisk",
        N_("mark all"),
        N_("Mark all listed, or none"),
        does="edits.mark_all",
    ),
    Shown(
        "archive",
        "a",
        N_("archive"),
        N_("Archive, or unarchive; no question, u undoes"),
        does="edits.archive",
    ),
    Shown(
        "delete",
        "D",
        N_("delete"),
        N_("Move to the trash, after a question"),
        does="edits.delete",
    ),
    Command("undo", "u", N_("undo"), N_("Undo what was done last"), does="edits.undo"),
    Command(
        "pin",
        "f",
        N_("pin"),
        N_("Pin, which protects from Hermes' auto-delete, or unpin"),
        does="edits.pin",
    ),
    Command("rename", "f2", N_("rename"), N_("Rename this conversation"), does="edits.rename"),
    Command("tag", "T", N_("tag"), N_("Give tags, or take them away"), does="edits.tag"),
    Shown(
        "prune",
        "P",
        N_("clean up"),
        N_("Clean up by rules: preview what is deleted and what that frees"),
        does="show_screen('prune')",
    ),
    Command(
        "trash",
        "X",
        N_("trash"),
        N_("Deleted conversations: read, restore or remove them"),
        does="show_screen('trash')",
    ),
    Command(
        "retention",
        "W",
        N_("retention"),
        N_("What Hermes will delete, and when"),
        does="show_screen('retention')",
    ),
    N_("The list"),
    Command("view-chats", "1", N_("chats"), N_("Show the chats"), does="show_view('chats')"),
    Command(
        "view-auto",
        "2",
        N_("automation"),
        N_("Show cron jobs, webhooks …"),
        does="show_view('automation')",
    ),
    Command(
        "view-archived",
        "3",
        N_("archived"),
        N_("Show what was archived"),
        does="show_view('archived')",
    ),
    Command("view-all", "4", N_("all"), N_("Show every session"), does="show_view('all')"),
    Command(
        "view-old",
        "5",
        N_("old transcripts"),
        N_("Show files without a session"),
        does="show_screen('old')",
    ),
    Shown("sort", "s", N_("sort"), N_("Choose the order of the list"), does="choose_sort"),
    Command(
        "reverse", "S", N_("reverse"), N_("Reverse the sort order"), does="listing.reverse_order"
    ),
    Command(
        "profiles",
        "0",
        N_("profiles"),
        N_("Another profile, or all at once"),
        does="switching.choose",
    ),
    N_("Read"),
    Shown(
        "lineage",
        "l",
        N_("lineage"),
        N_("To the family tree of this conversation"),
        does="toggle_lineage",
    ),
    Shown(
        "compactions",
        "M",
        N_("compactions"),
        N_("What Hermes compressed here, and what was lost"),
        does="open_compactions",
    ),
    Command(
        "tools",
        "t",
        N_("tools"),
        N_("Tool calls off, short, full"),
        does="transcript.action_cycle_tools",
    ),
    Command(
        "reasoning",
        "r",
        N_("reasoning"),
        N_("Show reasoning"),
        does="transcript.action_toggle_reasoning",
    ),
    Shown(
        "reading",
        "v",
        N_("view"),
        N_("What was said, what the model still sees, everything"),
        does="loader.next_mode",
    ),
    Command(
        "details",
        "i",
        N_("details"),
        N_("Everything about this conversation"),
        does="show_details",
    ),
    Command(
        "seen-here",
        "full_stop",
        N_("seen here"),
        N_("What the model saw at this message, the rest dimmed; and back"),
        does="toggle_seen_here",
    ),
    Command(
        "changes",
        "F",
        N_("changes"),
        N_("The files that this conversation changed, with a diff of each"),
        does="show_of_current('changes')",
    ),
    Command(
        "run",
        "B",
        N_("run"),
        N_("Where time and money of this conversation went"),
        does="show_of_current('run')",
    ),
    Command(
        "recap",
        "p",
        N_("recap"),
        N_("The recap Hermes shows on resume"),
        does="loader.show_recap",
    ),
    Shown("copy-id", "y", N_("copy id"), N_("Copy the id of the conversation"), does="copy_id"),
    Command("export", "e", N_("export"), N_("Save as Markdown, HTML or JSONL"), does="export"),
    N_("Look around"),
    Command(
        "since",
        "A",
        N_("since"),
        N_("What waits for you, went wrong, is new or running, everywhere"),
        does="show_screen('since')",
    ),
    Command(
        "insights",
        "I",
        N_("insights"),
        N_("Tokens, cost and activity over time"),
        does="show_screen('insights')",
    ),
    Command(
        "doctor",
        "H",
        N_("doctor"),
        N_("Health check of the store, Hermes and the terminal"),
        does="show_screen('doctor')",
    ),
    N_("The screen"),
    Command("next-pane", "tab,ctrl+w", N_("pane"), N_("To the next pane"), does="focus_pane(1)"),
    Command("", "right", N_("transcript"), N_("To the next pane"), does="focus_pane(1)"),
    Command(
        "previous-pane",
        "shift+tab",
        N_("pane back"),
        N_("To the previous pane"),
        does="focus_pane(-1)",
    ),
    Command("to-list", "left,h", N_("list"), N_("Back to the list"), does="focus_list"),
    Command("zoom", "z", N_("zoom"), N_("This pane alone, and back"), does="zoom"),
    Command("list-less", "less_than_sign", N_("narrower"), N_("Smaller list"), does="share(-1)"),
    Command("list-more", "greater_than_sign", N_("wider"), N_("Larger list"), does="share(1)"),
    Command(
        "mouse",
        "f9",
        N_("mouse"),
        N_("Give the mouse to the terminal, or take it back"),
        does="toggle_mouse",
    ),
    Command("reload", "f5", N_("reload"), N_("Read the store again"), does="listing.reload"),
    Shown(
        "help",
        "question_mark",
        N_("help"),
        N_("Keys, signs, and the query language"),
        does="show_help",
    ),
    Command("back", "escape", N_("back"), N_("One step back"), does="step_back"),
    Shown("quit", "q", N_("quit"), N_("Leave"), does="quit"),
)
NEEDED = ("search", "next-hit", "list-read", "resume", "archive", "delete", "undo", "prune")
"""Ids of the commands that the help begins with."""


def changed(
    changes: Mapping[str, Mapping[str, Any]], refused: Collection[str]
) -> tuple[Command, ...]:
    """Return the commands of a main screen over another store.

    Args:
        changes: What is different, by id.
        refused: Ids of those that make no sense there; they call `refuse`, and no footer shows
            them.
    """
    nothing: dict[str, Any] = {"does": "refuse", "footer": False}
    return tuple(
        command._replace(**nothing)
        if command.id in refused
        else command._replace(**changes.get(command.id, {}))
        for command in MAIN
    )

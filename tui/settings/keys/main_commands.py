"""Commands of the main screen and its panes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hermes_browse.store.wording import N_

from . import Command, Shown, at

APP = at(
    "app",
    N_("The screen"),
    Command("", "ctrl+q", "quit", call="quit", priority=True),
    Command("", "ctrl+c", "quit", call="quit", priority=True),
    Command(
        "palette",
        "ctrl+p",
        "palette",
        "Command palette: every command by name, themes",
        "command_palette",
        priority=True,
    ),
    # Without priority: in a text box it is a character.
    Command("", "colon", "palette", call="command_palette"),
)
MAIN = at(
    "main",
    N_("Find"),
    Shown(
        "search",
        "slash",
        "search",
        "Find conversations by what was said",
        priority=True,
        does="focus_search",
    ),
    Command(
        "next-hit",
        "n",
        "next hit",
        "To the next hit of the search",
        does="search.step(1)",
    ),
    Command(
        "previous-hit",
        "N",
        "previous hit",
        "To the previous hit of the search",
        does="search.step(-1)",
    ),
    Command(
        "",
        "plus,equals_sign",
        "unfold hits",
        "More hits of a conversation",
        does="search.fold(1)",
    ),
    Command("", "minus", "fold hits", "Fewer hits of a conversation", does="search.fold(-1)"),
    Command(
        "hit-order",
        "o",
        "hits order",
        "Hits newest, best or oldest first",
        does="search.next_order",
    ),
    Command(
        "searches",
        "ctrl+r",
        "searches",
        "Saved searches, tags, earlier searches",
        does="choose_search",
    ),
    Command(
        "keep",
        "ctrl+s",
        "keep search",
        "Save this search, or remove it",
        does="query_line.keep",
    ),
    N_("Resume"),
    Shown(
        "resume",
        "R",
        "resume",
        "Resume this conversation in Hermes",
        does="resuming.resume",
    ),
    Command(
        "resume-window",
        "w",
        "window",
        "Resume in a new window",
        does="resuming.resume_in_window",
    ),
    Command(
        "copy-command",
        "Y",
        "copy command",
        "Copy the command that resumes",
        does="resuming.copy_command",
    ),
    N_("Tidy up"),
    Shown(
        "mark",
        "space",
        "mark",
        "Mark this conversation, or unmark it",
        does="edits.mark",
    ),
    Command(
        "mark-range",
        "V",
        "mark range",
        "Begin a range of marks, end it",
        does="edits.mark_range",
    ),
    Command(
        "mark-all",
        "asterisk",
        "mark all",
        "Mark all listed, or none",
        does="edits.mark_all",
    ),
    Shown(
        "archive",
        "a",
        "archive",
        "Archive, or unarchive; no question, u undoes",
        does="edits.archive",
    ),
    Shown(
        "delete",
        "D",
        "delete",
        "Move to the trash, after a question",
        does="edits.delete",
    ),
    Command("undo", "u", "undo", "Undo what was done last", does="edits.undo"),
    Command(
        "pin",
        "f",
        "pin",
        "Pin, which protects from Hermes' auto-delete, or unpin",
        does="edits.pin",
    ),
    Command("rename", "f2", "rename", "Rename this conversation", does="edits.rename"),
    Command("tag", "T", "tag", "Give tags, or take them away", does="edits.tag"),
    Shown(
        "prune",
        "P",
        "clean up",
        "Clean up by rules: preview what is deleted and what that frees",
        does="show_screen('prune')",
    ),
    Command(
        "trash",
        "X",
        "trash",
        "Deleted conversations: read, restore or remove them",
        does="show_screen('trash')",
    ),
    Command(
        "retention",
        "W",
        "retention",
        "What Hermes will delete, and when",
        does="show_screen('retention')",
    ),
    N_("The list"),
    Command("view-chats", "1", "chats", "Show the chats", does="show_view('chats')"),
    Command(
        "view-auto",
        "2",
        "automation",
        "Show cron jobs, webhooks …",
        does="show_view('automation')",
    ),
    Command(
        "view-archived",
        "3",
        "archived",
        "Show what was archived",
        does="show_view('archived')",
    ),
    Command("view-all", "4", "all", "Show every session", does="show_view('all')"),
    Command(
        "view-old",
        "5",
        "old transcripts",
        "Show files without a session",
        does="show_screen('old')",
    ),
    Shown("sort", "s", "sort", "Choose the order of the list", does="choose_sort"),
    Command("reverse", "S", "reverse", "Reverse the sort order", does="listing.reverse_order"),
    Command(
        "profiles",
        "0",
        "profiles",
        "Another profile, or all at once",
        does="switching.choose",
    ),
    N_("Read"),
    Shown(
        "lineage",
        "l",
        "lineage",
        "To the family tree of this conversation",
        does="toggle_lineage",
    ),
    Shown(
        "compactions",
        "M",
        "compactions",
        "What Hermes compressed here, and what was lost",
        does="open_compactions",
    ),
    Command(
        "tools",
        "t",
        "tools",
        "Tool calls off, short, full",
        does="transcript.action_cycle_tools",
    ),
    Command(
        "reasoning",
        "r",
        "reasoning",
        "Show reasoning",
        does="transcript.action_toggle_reasoning",
    ),
    Shown(
        "reading",
        "v",
        "view",
        "What was said, what the model still sees, everything",
        does="loader.next_mode",
    ),
    Command(
        "details",
        "i",
        "details",
        "Everything about this conversation",
        does="show_details",
    ),
    Command(
        "seen-here",
        "full_stop",
        "seen here",
        "What the model saw at this message, the rest dimmed; and back",
        does="toggle_seen_here",
    ),
    Command(
        "changes",
        "F",
        "changes",
        "The files that this conversation changed, with a diff of each",
        does="show_of_current('changes')",
    ),
    Command(
        "run",
        "B",
        "run",
        "Where time and money of this conversation went",
        does="show_of_current('run')",
    ),
    Command(
        "recap",
        "p",
        "recap",
        "The recap Hermes shows on resume",
        does="loader.show_recap",
    ),
    Shown("copy-id", "y", "copy id", "Copy the id of the conversation", does="copy_id"),
    Command("export", "e", "export", "Save as Markdown, HTML or JSONL", does="export"),
    N_("Look around"),
    Command(
        "since",
        "A",
        "since",
        "What waits for you, went wrong, is new or running, everywhere",
        does="show_screen('since')",
    ),
    Command(
        "insights",
        "I",
        "insights",
        "Tokens, cost and activity over time",
        does="show_screen('insights')",
    ),
    Command(
        "doctor",
        "H",
        "doctor",
        "Health check of the store, Hermes and the terminal",
        does="show_screen('doctor')",
    ),
    N_("The screen"),
    Command("next-pane", "tab,ctrl+w", "pane", "To the next pane", does="focus_pane(1)"),
    Command("", "right", "transcript", "To the next pane", does="focus_pane(1)"),
    Command(
        "previous-pane",
        "shift+tab",
        "pane back",
        "To the previous pane",
        does="focus_pane(-1)",
    ),
    Command("to-list", "left,h", "list", "Back to the list", does="focus_list"),
    Command("zoom", "z", "zoom", "This pane alone, and back", does="zoom"),
    Command("list-less", "less_than_sign", "narrower", "Smaller list", does="share(-1)"),
    Command("list-more", "greater_than_sign", "wider", "Larger list", does="share(1)"),
    Command(
        "mouse",
        "f9",
        "mouse",
        "Give the mouse to the terminal, or take it back",
        does="toggle_mouse",
    ),
    Command("reload", "f5", "reload", "Read the store again", does="listing.reload"),
    Shown(
        "help",
        "question_mark",
        "help",
        "Keys, signs, and the query language",
        does="show_help",
    ),
    Command("back", "escape", "back", "One step back", does="step_back"),
    Shown("quit", "q", "quit", "Leave", does="quit"),
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

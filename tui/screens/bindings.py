"""One table for everything the main screen does: keys, footer, palette and help come from it."""

from __future__ import annotations

from textual.binding import Binding

MAIN_BINDINGS = [
    # With priority: what is typed right behind it must find the box focused, however fast it comes.
    Binding("slash", "search", "search", tooltip="Find conversations by what was said", priority=True, id="search"),
    Binding("R", "resume", "resume", tooltip="Go on with this conversation in Hermes", key_display="↵", id="resume"),
    Binding("space", "mark", "mark", tooltip="Mark this conversation, or unmark it", id="mark"),
    Binding("V", "mark_range", "mark range", tooltip="Begin a range of marks, end it", show=False, id="mark-range"),
    Binding("asterisk", "mark_all", "mark all", tooltip="Mark all listed, or none", show=False, id="mark-all"),
    Binding("a", "archive", "archive", tooltip="Put away, or bring back; no question, u undoes", id="archive"),
    Binding("D", "delete", "delete", tooltip="Move to the trash, after a question", id="delete"),
    Binding("u", "undo", "undo", tooltip="Take back what was done last", show=False, id="undo"),
    Binding("f", "pin", "pin", tooltip="Keep from what Hermes deletes by itself, or let go", show=False, id="pin"),
    Binding("T,f2", "rename", "rename", tooltip="Give it another title", show=False, id="rename"),
    Binding("e", "export", "export", tooltip="Save as Markdown, HTML or JSONL", show=False, id="export"),
    Binding("P", "prune", "prune", tooltip="Clean up by rules: what would go, and what it frees", id="prune"),
    Binding("X", "trash", "trash", tooltip="What was deleted: restore it, or drop it", show=False, id="trash"),
    Binding("W", "retention", "retention", tooltip="What Hermes will delete, and when", show=False, id="retention"),
    Binding("I", "insights", "insights", tooltip="Tokens, cost and activity over time", show=False, id="insights"),
    Binding(
        "H", "doctor", "doctor", tooltip="How store, Hermes and terminal are, and what to do", show=False, id="doctor"
    ),
    Binding("tab", "next_pane", "pane", tooltip="To the next pane", show=False, id="next-pane"),
    Binding("shift+tab", "previous_pane", "pane back", tooltip="To the previous pane", show=False, id="previous-pane"),
    Binding("right", "next_pane", "transcript", tooltip="To the next pane", show=False),
    Binding("left", "to_list", "list", tooltip="Back to the list", show=False, id="to-list"),
    Binding("n", "hit(1)", "next hit", tooltip="To the next hit of the search", show=False, id="next-hit"),
    Binding("N", "hit(-1)", "previous hit", tooltip="To the previous hit of the search", show=False, id="previous-hit"),
    Binding("1", "view('chats')", "chats", tooltip="Show the chats", show=False, id="view-chats"),
    Binding("2", "view('automation')", "automation", tooltip="Show cron jobs, webhooks …", show=False, id="view-auto"),
    Binding("3", "view('archived')", "archived", tooltip="Show what was archived", show=False, id="view-archived"),
    Binding("4", "view('all')", "all", tooltip="Show every session", show=False, id="view-all"),
    Binding("5", "old", "old transcripts", tooltip="Show files without a session", show=False, id="view-old"),
    Binding("0", "profiles", "profiles", tooltip="Another profile, or all at once", show=False, id="profiles"),
    Binding("s", "sort", "sort", tooltip="Order the list by something else", id="sort"),
    Binding("S", "reverse", "reverse", tooltip="Turn the order of the list round", show=False, id="reverse"),
    Binding("o", "search_order", "hits order", tooltip="Hits newest, best or oldest first", show=False, id="hit-order"),
    Binding("plus,equals_sign", "fold(1)", "unfold hits", tooltip="More hits of a conversation", show=False),
    Binding("minus", "fold(-1)", "fold hits", tooltip="Fewer hits of a conversation", show=False),
    Binding("ctrl+r", "searches", "searches", tooltip="Kept and earlier searches", show=False, id="searches"),
    Binding("ctrl+s", "keep_search", "keep search", tooltip="Keep this search, or no longer", show=False, id="keep"),
    Binding("l", "lineage", "lineage", tooltip="To the family tree of this conversation", id="lineage"),
    Binding("t", "transcript('cycle_tools')", "tools", tooltip="Tool calls off, short, full", id="tools"),
    Binding("r", "transcript('toggle_reasoning')", "reasoning", tooltip="Show reasoning", show=False, id="reasoning"),
    Binding("v", "reading", "said/live", tooltip="What was said, what the model still sees, everything", id="reading"),
    Binding("i", "details", "details", tooltip="Everything about this conversation", show=False, id="details"),
    Binding("p", "recap", "recap", tooltip="The recap Hermes shows on resume", show=False, id="recap"),
    Binding("y", "copy_id", "copy id", tooltip="Copy the id of the conversation", id="copy-id"),
    Binding(
        "Y", "copy_command", "copy command", tooltip="Copy the command that resumes", show=False, id="copy-command"
    ),
    Binding("w", "resume_window", "window", tooltip="Resume in a new window", show=False, id="resume-window"),
    Binding("less_than_sign", "share(-1)", "narrower", tooltip="Less room for the list", show=False, id="list-less"),
    Binding("greater_than_sign", "share(1)", "wider", tooltip="More room for the list", show=False, id="list-more"),
    Binding("f9", "mouse", "mouse", tooltip="Leave the mouse to the terminal, or take it back", show=False, id="mouse"),
    Binding("z", "zoom", "zoom", tooltip="This pane alone, and back", show=False, id="zoom"),
    Binding("f5", "reload", "reload", tooltip="Read the store again", show=False, id="reload"),
    Binding("question_mark", "help", "help", tooltip="All keys and the query language", id="help"),
    Binding("escape", "step_back", "back", tooltip="One step back", show=False, id="back"),
    Binding("q", "quit", "quit", tooltip="Leave", id="quit"),
]
"""Bindings of the main screen; `id` is what a keymap names."""

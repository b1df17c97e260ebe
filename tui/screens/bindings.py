"""One table for everything the main screen does: keys, footer, palette and help come from it."""

from __future__ import annotations

from textual.binding import Binding

from hermes_browse.store.wording import N_

MAIN_BINDINGS = [
    # With priority: what is typed right behind it must find the box focused, however fast it comes.
    Binding(
        "slash", "search", N_("search"), tooltip=N_("Find conversations by what was said"), priority=True, id="search"
    ),
    Binding(
        "R", "resume", N_("resume"), tooltip=N_("Go on with this conversation in Hermes"), key_display="↵", id="resume"
    ),
    Binding("space", "mark", N_("mark"), tooltip=N_("Mark this conversation, or unmark it"), id="mark"),
    Binding(
        "V", "mark_range", N_("mark range"), tooltip=N_("Begin a range of marks, end it"), show=False, id="mark-range"
    ),
    Binding("asterisk", "mark_all", N_("mark all"), tooltip=N_("Mark all listed, or none"), show=False, id="mark-all"),
    Binding("a", "archive", N_("archive"), tooltip=N_("Put away, or bring back; no question, u undoes"), id="archive"),
    Binding("D", "delete", N_("delete"), tooltip=N_("Move to the trash, after a question"), id="delete"),
    Binding("u", "undo", N_("undo"), tooltip=N_("Take back what was done last"), show=False, id="undo"),
    Binding(
        "f", "pin", N_("pin"), tooltip=N_("Keep from what Hermes deletes by itself, or let go"), show=False, id="pin"
    ),
    Binding("T,f2", "rename", N_("rename"), tooltip=N_("Give it another title"), show=False, id="rename"),
    Binding("e", "export", N_("export"), tooltip=N_("Save as Markdown, HTML or JSONL"), show=False, id="export"),
    Binding("P", "prune", N_("prune"), tooltip=N_("Clean up by rules: what would go, and what it frees"), id="prune"),
    Binding("X", "trash", N_("trash"), tooltip=N_("What was deleted: restore it, or drop it"), show=False, id="trash"),
    Binding(
        "W", "retention", N_("retention"), tooltip=N_("What Hermes will delete, and when"), show=False, id="retention"
    ),
    Binding(
        "I", "insights", N_("insights"), tooltip=N_("Tokens, cost and activity over time"), show=False, id="insights"
    ),
    Binding(
        "H",
        "doctor",
        N_("doctor"),
        tooltip=N_("How store, Hermes and terminal are, and what to do"),
        show=False,
        id="doctor",
    ),
    Binding("tab", "next_pane", N_("pane"), tooltip=N_("To the next pane"), show=False, id="next-pane"),
    Binding(
        "shift+tab",
        "previous_pane",
        N_("pane back"),
        tooltip=N_("To the previous pane"),
        show=False,
        id="previous-pane",
    ),
    Binding("right", "next_pane", N_("transcript"), tooltip=N_("To the next pane"), show=False),
    Binding("left", "to_list", N_("list"), tooltip=N_("Back to the list"), show=False, id="to-list"),
    Binding("n", "hit(1)", N_("next hit"), tooltip=N_("To the next hit of the search"), show=False, id="next-hit"),
    Binding(
        "N",
        "hit(-1)",
        N_("previous hit"),
        tooltip=N_("To the previous hit of the search"),
        show=False,
        id="previous-hit",
    ),
    Binding("1", "view('chats')", N_("chats"), tooltip=N_("Show the chats"), show=False, id="view-chats"),
    Binding(
        "2",
        "view('automation')",
        N_("automation"),
        tooltip=N_("Show cron jobs, webhooks …"),
        show=False,
        id="view-auto",
    ),
    Binding(
        "3", "view('archived')", N_("archived"), tooltip=N_("Show what was archived"), show=False, id="view-archived"
    ),
    Binding("4", "view('all')", N_("all"), tooltip=N_("Show every session"), show=False, id="view-all"),
    Binding("5", "old", N_("old transcripts"), tooltip=N_("Show files without a session"), show=False, id="view-old"),
    Binding("0", "profiles", N_("profiles"), tooltip=N_("Another profile, or all at once"), show=False, id="profiles"),
    Binding("s", "sort", N_("sort"), tooltip=N_("Order the list by something else"), id="sort"),
    Binding("S", "reverse", N_("reverse"), tooltip=N_("Turn the order of the list round"), show=False, id="reverse"),
    Binding(
        "o",
        "search_order",
        N_("hits order"),
        tooltip=N_("Hits newest, best or oldest first"),
        show=False,
        id="hit-order",
    ),
    Binding("plus,equals_sign", "fold(1)", N_("unfold hits"), tooltip=N_("More hits of a conversation"), show=False),
    Binding("minus", "fold(-1)", N_("fold hits"), tooltip=N_("Fewer hits of a conversation"), show=False),
    Binding("ctrl+r", "searches", N_("searches"), tooltip=N_("Kept and earlier searches"), show=False, id="searches"),
    Binding(
        "ctrl+s", "keep_search", N_("keep search"), tooltip=N_("Keep this search, or no longer"), show=False, id="keep"
    ),
    Binding("l", "lineage", N_("lineage"), tooltip=N_("To the family tree of this conversation"), id="lineage"),
    Binding("t", "transcript('cycle_tools')", N_("tools"), tooltip=N_("Tool calls off, short, full"), id="tools"),
    Binding(
        "r", "transcript('toggle_reasoning')", N_("reasoning"), tooltip=N_("Show reasoning"), show=False, id="reasoning"
    ),
    Binding(
        "v",
        "reading",
        N_("said/live"),
        tooltip=N_("What was said, what the model still sees, everything"),
        id="reading",
    ),
    Binding("i", "details", N_("details"), tooltip=N_("Everything about this conversation"), show=False, id="details"),
    Binding("p", "recap", N_("recap"), tooltip=N_("The recap Hermes shows on resume"), show=False, id="recap"),
    Binding("y", "copy_id", N_("copy id"), tooltip=N_("Copy the id of the conversation"), id="copy-id"),
    Binding(
        "Y",
        "copy_command",
        N_("copy command"),
        tooltip=N_("Copy the command that resumes"),
        show=False,
        id="copy-command",
    ),
    Binding("w", "resume_window", N_("window"), tooltip=N_("Resume in a new window"), show=False, id="resume-window"),
    Binding(
        "less_than_sign", "share(-1)", N_("narrower"), tooltip=N_("Less room for the list"), show=False, id="list-less"
    ),
    Binding(
        "greater_than_sign", "share(1)", N_("wider"), tooltip=N_("More room for the list"), show=False, id="list-more"
    ),
    Binding(
        "f9",
        "mouse",
        N_("mouse"),
        tooltip=N_("Leave the mouse to the terminal, or take it back"),
        show=False,
        id="mouse",
    ),
    Binding("z", "zoom", N_("zoom"), tooltip=N_("This pane alone, and back"), show=False, id="zoom"),
    Binding("f5", "reload", N_("reload"), tooltip=N_("Read the store again"), show=False, id="reload"),
    Binding("question_mark", "help", N_("help"), tooltip=N_("All keys and the query language"), id="help"),
    Binding("escape", "step_back", N_("back"), tooltip=N_("One step back"), show=False, id="back"),
    Binding("q", "quit", N_("quit"), tooltip=N_("Leave"), id="quit"),
]
"""Bindings of the main screen; `id` is what a keymap names."""

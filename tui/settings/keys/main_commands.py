"""Commands of the main screen, its panes and its fields."""

from __future__ import annotations

from . import Command, Does, Shown, ShownDoes, at, by_scope, moves

_COMPACTIONS = ShownDoes(
    "compactions",
    "M",
    "compactions",
    "open_compactions",
    "What Hermes compressed here, and what was lost",
)
_SEEN_HERE = Does(
    "seen-here",
    "full_stop",
    "seen here",
    "toggle_seen_here",
    "What the model saw at this message, the rest dimmed; and back",
)
APP = at(
    "app",
    "The screen",
    Command("", "ctrl+q,ctrl+c", "quit", "quit", priority=True),
    Command(
        "stop",
        "ctrl+z",
        "stop",
        "suspend_process",
        "Back to the shell, whose `fg` goes on here",
        priority=True,
    ),
    Command(
        "palette",
        "ctrl+p",
        "palette",
        "command_palette",
        "Command palette: every command by name, themes",
        priority=True,
    ),
    Command(
        "mouse",
        "f9",
        "mouse",
        "toggle_mouse",
        "Give the mouse to the terminal, or take it back",
        priority=True,
    ),
    # Without priority: in a text box it is a character.
    Command("", "colon", "palette", "command_palette"),
)
MAIN = at(
    "main",
    "Find",
    ShownDoes(
        "search",
        "slash",
        "search",
        "focus_on('box')",
        "Find conversations by what was said",
        priority=True,
    ),
    Does("next-hit", "n", "next hit", "search.step(1)", "To the next hit of the search"),
    Does(
        "previous-hit", "N", "previous hit", "search.step(-1)", "To the previous hit of the search"
    ),
    Does("", "plus,equals_sign", "unfold hits", "search.fold(1)", "More hits of a conversation"),
    Does("", "minus", "fold hits", "search.fold(-1)", "Fewer hits of a conversation"),
    Does("hit-order", "o", "hits order", "search.next_order", "Hits newest, best or oldest first"),
    Does(
        "searches", "ctrl+r", "searches", "choose_search", "Saved searches, tags, earlier searches"
    ),
    Does("keep", "ctrl+s", "keep search", "query_line.keep", "Save this search, or remove it"),
    "Resume",
    ShownDoes("resume", "R", "resume", "resuming.resume", "Resume this conversation in Hermes"),
    Does("resume-window", "w", "window", "resuming.resume('window')", "Resume in a new window"),
    Does(
        "copy-command",
        "Y",
        "copy command",
        "resuming.copy_command",
        "Copy the command that resumes",
    ),
    "Tidy up",
    ShownDoes("mark", "space", "mark", "edits.mark", "Mark this conversation, or unmark it"),
    Does("mark-range", "V", "mark range", "edits.mark_range", "Begin a range of marks, end it"),
    Does("mark-all", "asterisk", "mark all", "edits.mark_all", "Mark all listed, or none"),
    ShownDoes(
        "archive", "a", "archive", "edits.archive", "Archive, or unarchive; no question, u undoes"
    ),
    ShownDoes("delete", "D", "delete", "edits.delete", "Move to the trash, after a question"),
    Does("undo", "u", "undo", "edits.undo", "Undo what was done last"),
    Does("pin", "f", "pin", "edits.pin", "Pin, which protects from Hermes' auto-delete, or unpin"),
    Does("rename", "f2", "rename", "edits.rename", "Rename this conversation"),
    Does("tag", "T", "tag", "edits.tag", "Give tags, or take them away"),
    ShownDoes(
        "prune",
        "P",
        "clean up",
        "show_screen('prune')",
        "Clean up by filters: preview what is deleted and what that frees",
    ),
    Does(
        "trash",
        "X",
        "trash",
        "show_screen('trash')",
        "Deleted conversations: read, restore or remove them",
    ),
    Does(
        "retention",
        "W",
        "retention",
        "show_screen('retention')",
        "What Hermes will delete, and when",
    ),
    "The list",
    Does("view-chats", "1", "chats", "show_view('chats')", "Show the chats"),
    Does("view-auto", "2", "automation", "show_view('automation')", "Show cron jobs, webhooks …"),
    Does("view-archived", "3", "archived", "show_view('archived')", "Show what was archived"),
    Does("view-all", "4", "all", "show_view('all')", "Show every conversation"),
    Does("view-old", "5", "old transcripts", "show_screen('old')", "Show files without a session"),
    ShownDoes("sort", "s", "sort", "choose_sort", "Choose the order of the list"),
    Does("reverse", "S", "reverse", "listing.reverse_order", "Reverse the sort order"),
    Does("profiles", "0", "profiles", "switching.choose", "Another profile, or all at once"),
    "Read",
    ShownDoes(
        "lineage", "l", "lineage", "toggle_lineage", "To the family tree of this conversation"
    ),
    _COMPACTIONS,
    Does("tools", "t", "tools", "transcript.action_cycle_tools", "Tool calls off, short, full"),
    Does("reasoning", "r", "reasoning", "transcript.action_toggle_reasoning", "Show reasoning"),
    ShownDoes(
        "reading",
        "v",
        "view",
        "loader.next_mode",
        "What was said, what the model still sees, everything",
    ),
    Does("details", "i", "details", "show_details", "Everything about this conversation"),
    _SEEN_HERE,
    Does(
        "changes",
        "F",
        "changes",
        "show_of_current('changes')",
        "The files that this conversation changed, with a diff of each",
    ),
    Does(
        "run",
        "B",
        "run",
        "show_of_current('run')",
        "Where time and money of this conversation went",
    ),
    Does("recap", "p", "recap", "loader.toggle_recap", "The recap Hermes shows on resume"),
    ShownDoes("copy-id", "y", "copy id", "copy_id", "Copy the id of the conversation"),
    Does("export", "e", "export", "export", "Save as Markdown, HTML or JSONL"),
    "Look around",
    Does(
        "since",
        "A",
        "since",
        "show_screen('since')",
        "What waits for you, went wrong, is new or running, everywhere",
    ),
    Does(
        "insights",
        "I",
        "insights",
        "show_screen('insights')",
        "Tokens, cost and activity over time",
    ),
    Does(
        "doctor",
        "H",
        "doctor",
        "show_screen('doctor')",
        "Health check of the store, Hermes and the terminal",
    ),
    "The screen",
    Does("next-pane", "tab,ctrl+w", "pane", "focus_pane(1)", "To the next pane"),
    Does("", "right", "transcript", "focus_pane(1)", "To the next pane"),
    Does("previous-pane", "shift+tab", "pane back", "focus_pane(-1)", "To the previous pane"),
    Does("to-list", "left,h", "list", "focus_on('rows')", "Back to the list"),
    Does("zoom", "z", "zoom", "zoom", "This pane alone, and back"),
    Does("list-less", "less_than_sign", "narrower", "share(-1)", "Smaller list"),
    Does("list-more", "greater_than_sign", "wider", "share(1)", "Larger list"),
    Does("reload", "f5", "reload", "reload", "Read the store again"),
    ShownDoes("help", "question_mark", "help", "show_help", "Keys, signs, and the query language"),
    Does("back", "escape", "back", "step_back", "One step back"),
    ShownDoes("quit", "q", "quit", "app.exit", "Leave"),
)
NEEDED = ("search", "next-hit", "list-read", "resume", "archive", "delete", "undo", "prune")
"""Ids of the commands that the help begins with."""
_IN_ROWS = (
    *moves("move", "page"),
    Command("first", "home,g", "first", "jump(0)"),
    Command("last", "end,G", "last", "jump(-1)"),
)
LIST = at(
    "list",
    "Move",
    *_IN_ROWS,
    "Read",
    Command(
        "read",
        "enter,ctrl+j",
        "read",
        "select",
        "Read it, at the hit if there is one; on a job list its runs",
    ),
)
TRANSCRIPT = at(
    "transcript",
    "Move",
    *moves("scroll_lines", "scroll_pages", down="pagedown,space,ctrl+f"),
    Command("start", "home,g", "start", "to_start"),
    Command("end", "end,G", "end", "to_end"),
    Command("next-prompt", "J", "next prompt", "step(1, 'user')"),
    Command("previous-prompt", "K", "previous prompt", "step(-1, 'user')"),
    Command("next-message", "right_curly_bracket", "next message", "step(1, '')"),
    Command("previous-message", "left_curly_bracket", "previous message", "step(-1, '')"),
    Command("next-day", "right_square_bracket", "next day", "step(1, 'day')"),
    Command("previous-day", "left_square_bracket", "previous day", "step(-1, 'day')"),
    Command("next-segment", "right_parenthesis", "next part", "step(1, 'seam')"),
    Command("previous-segment", "left_parenthesis", "previous part", "step(-1, 'seam')"),
    Command("mark", "m", "mark", "mark", "Remember this place"),
    Command(
        "back", "apostrophe", "back", "to_mark", "Back to the mark, or to where the last jump began"
    ),
    "Find",
    ShownDoes(
        "find-here",
        "backslash,ctrl+s",
        "find here",
        "finding.open",
        "Find in this conversation",
        priority=True,
    ),
    Does(
        "go-to",
        "number_sign",
        "go to",
        "finding.open_go_to",
        "To a message by its number",
        priority=True,
    ),
    Command("next-find", "n", "next find", "find(1)", "While finding: to the next find"),
    Command(
        "previous-find", "N", "previous find", "find(-1)", "While finding: to the previous find"
    ),
    Command("end-finding", "escape", "end finding", "find(0)", "While finding: no longer"),
    "Read",
    Shown(
        "more-less",
        "enter,ctrl+j",
        "fold",
        "toggle_fold",
        "Unfold or fold this message",
    ),
    "Copy and open",
    ShownDoes("copy", "c", "copy", "copying.copy('text')", "Copy this message"),
    Does(
        "copy-code",
        "C",
        "copy code",
        "copying.copy('code')",
        "Copy its code block; again: the next one",
    ),
    Does(
        "copy-output",
        "ctrl+y",
        "copy output",
        "copying.copy('output')",
        "Copy its tool output; again: the next",
    ),
    Does("pager", "O", "pager", "copying.open_in_pager", "Open this message in $PAGER"),
    Does(
        "editor", "E", "editor", "copying.open_in_editor", "Open a copy of this message in $EDITOR"
    ),
    Does("raw", "ampersand", "raw", "copying.show_raw", "This message as it is stored, as JSON"),
    Does(
        "links",
        "L",
        "links",
        "copying.show_references",
        "Links and images of this message: open, copy",
    ),
    "Read",
    Shown("tools", "t", "tools", "cycle_tools", "Tool calls off, short, full"),
    Shown("reasoning", "r", "reasoning", "toggle_reasoning", "Reasoning folded or shown"),
    _SEEN_HERE._replace(footer=True),
    _COMPACTIONS,
)
OF_COMPRESSED = frozenset(
    ("compactions", "transcript-compactions", "lineage-compactions", "transcript-seen-here")
)
"""Ids of commands that the footer shows for a conversation that was compressed."""
OF_MARKED = frozenset(("archive", "delete", "export"))
"""Ids of commands that act on what is marked, or else on the conversation here."""
OF_CONVERSATION = OF_MARKED | frozenset(
    ("resume", "mark", "lineage", "reading", "copy-id", "details", "rename")
)
"""Ids of commands that the footer shows where there is a conversation to act on."""
LINEAGE = at(
    "lineage",
    "Move",
    *_IN_ROWS,
    "Read",
    Command(
        "read", "enter,ctrl+j", "read", "select", "Read this session, or inspect this compression"
    ),
    Shown("fold", "space", "fold", "toggle_node", "Fold or unfold what is below"),
    Command("inwards", "right", "unfold", "inwards", "Unfold; then to the first below"),
    Command("outwards", "left", "fold", "outwards", "Fold; then to what it is below"),
    _COMPACTIONS,
)
LINES = at(
    "lines",
    "Move",
    Command("", "down,j", "down", "move(1)"),
    Command("", "up,k", "up", "move(-1)"),
    Command("", "pagedown,space,ctrl+f", "page down", "page(1)"),
    Command("", "pageup,ctrl+b", "page up", "page(-1)"),
    Command("", "home,g", "start", "scroll_home"),
    Command("", "end,G", "end", "scroll_end"),
)
SEARCH_BOX = at(
    "search",
    ShownDoes("", "down", "next hit", "move_from_box(1)"),
    Does("", "up", "previous", "move_from_box(-1)"),
    Does("", "pagedown", "page down", "rows.action_page(1)"),
    Does("", "pageup", "page up", "rows.action_page(-1)"),
    ShownDoes("", "enter,ctrl+j", "read", "open_result"),
    ShownDoes("", "escape", "clear, then the list", "leave_box"),
    Command("", "tab", "complete", "accept"),
)
QUERY_BOX = at("query", Command("", "tab", "complete", "accept"))
_UNDONE = ShownDoes("", "escape", "back", "finding.cancel")
FIND_BOX = at(
    "find",
    ShownDoes("", "enter,ctrl+j", "done", "finding.accept"),
    ShownDoes("", "down", "next", "finding.step(1)"),
    ShownDoes("", "up", "previous", "finding.step(-1)"),
    _UNDONE,
)
GO_TO_BOX = at(
    "go-to",
    ShownDoes("", "enter,ctrl+j", "done", "finding.go_to"),
    _UNDONE,
)

MAIN_SCOPES = by_scope(MAIN, LIST, TRANSCRIPT, LINEAGE, APP)
"""Places whose keys can be changed, in the order of the sample configuration."""
PANES = ("list", "transcript", "lineage")
"""Places whose keys work only while they have the focus."""

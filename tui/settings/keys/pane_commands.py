"""Commands of the panes of the main screen and of its fields."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Does, Shown, ShownDoes, at, by_place
from .main_commands import APP, MAIN

_COMPACTIONS = ShownDoes(
    "compactions",
    "M",
    "compactions",
    "open_compactions",
    "What Hermes compressed here, and what was lost",
)
_MOVES = (
    N_("Move"),
    Command("down", "down,j", "down", "move(1)"),
    Command("up", "up,k", "up", "move(-1)"),
    Command("page-down", "pagedown,ctrl+f", "page down", "page(1)"),
    Command("page-up", "pageup,ctrl+b", "page up", "page(-1)"),
    Command("half-a-page-down", "ctrl+d", "half a page down", "page(0.5)"),
    Command("half-a-page-up", "ctrl+u", "half a page up", "page(-0.5)"),
    Command("first", "home,g", "first", "jump(0)"),
    Command("last", "end,G", "last", "jump(-1)"),
)
"""How lists and the tree are moved in."""
LIST = at(
    "list",
    *_MOVES,
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
    Command("down", "down,j", "down", "scroll_lines(1)"),
    Command("up", "up,k", "up", "scroll_lines(-1)"),
    Command("page-down", "pagedown,space,ctrl+f", "page down", "scroll_pages(1)"),
    Command("page-up", "pageup,ctrl+b", "page up", "scroll_pages(-1)"),
    Command("half-a-page-down", "ctrl+d", "half a page down", "scroll_pages(0.5)"),
    Command("half-a-page-up", "ctrl+u", "half a page up", "scroll_pages(-0.5)"),
    Command("start", "home,g", "start", "to_start"),
    Command("end", "end,G", "end", "to_end"),
    Command("next-prompt", "J", "next prompt", "step(1, 'user')"),
    Command("previous-prompt", "K", "previous prompt", "step(-1, 'user')"),
    Command("next-message", "right_curly_bracket", "next message", "step(1, '')"),
    Command("previous-message", "left_curly_bracket", "previous message", "step(-1, '')"),
    Command("next-day", "right_square_bracket", "next day", "step_rule(1, 'day')"),
    Command("previous-day", "left_square_bracket", "previous day", "step_rule(-1, 'day')"),
    Command("next-segment", "right_parenthesis", "next part", "step_rule(1, 'seam')"),
    Command("previous-segment", "left_parenthesis", "previous part", "step_rule(-1, 'seam')"),
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
        "finding.open('id')",
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
        printed="Enter",
    ),
    "Copy and open",
    ShownDoes("copy", "c", "copy", "copying.take('message')", "Copy this message"),
    Does(
        "copy-code",
        "C",
        "copy code",
        "copying.take('code')",
        "Copy its code block; again: the next one",
    ),
    Does(
        "copy-output",
        "ctrl+y",
        "copy output",
        "copying.take('output')",
        "Copy its tool output; again: the next",
    ),
    Does("pager", "O", "pager", "copying.take('pager')", "Open this message in $PAGER"),
    Does(
        "editor", "E", "editor", "copying.take('editor')", "Open a copy of this message in $EDITOR"
    ),
    Does("raw", "ampersand", "raw", "copying.take('raw')", "This message as it is stored, as JSON"),
    Does(
        "links",
        "L",
        "links",
        "copying.take('links')",
        "Links and images of this message: open, copy",
    ),
    "Read",
    Shown("tools", "t", "tools", "cycle_tools", "Tool calls off, short, full"),
    Shown("reasoning", "r", "reasoning", "toggle_reasoning", "Reasoning folded or shown"),
    ShownDoes(
        "seen-here",
        "full_stop",
        "seen here",
        "toggle_seen_here",
        "What the model saw at this message, the rest dimmed; and back",
    ),
    _COMPACTIONS,
)
OF_COMPRESSED = frozenset(
    ("compactions", "transcript-compactions", "lineage-compactions", "transcript-seen-here")
)
"""Ids of commands that the footer shows for a conversation that was compressed."""
LINEAGE = at(
    "lineage",
    *_MOVES,
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
MAP = at(
    "map",
    "The map",
    Command("", "down,j", "down", "go(0,1)"),
    Command("", "up,k", "up", "go(0,-1)"),
    Command("", "right,l", "right", "go(1,0)"),
    Command("", "left,h", "left", "go(-1,0)"),
    Command("", "enter,ctrl+j", "read", "enter"),
)
SEARCH_BOX = at(
    "search",
    ShownDoes("", "down", "next hit", "move_from_box('down')"),
    Does("", "up", "previous", "move_from_box('up')"),
    Does("", "pagedown", "page down", "move_from_box('pagedown')"),
    Does("", "pageup", "page up", "move_from_box('pageup')"),
    ShownDoes("", "enter,ctrl+j", "read", "open_result", printed="Enter"),
    ShownDoes("", "escape", "clear, then the list", "leave_box"),
    Command("", "tab", "complete", "accept"),
)
QUERY_BOX = at("query", Command("", "tab", "complete", "accept"))
ASK = at(
    "ask",
    Shown("", "enter,ctrl+j", "done", "submit", printed="Enter"),
    Shown("", "down", "next", "step(1)"),
    Shown("", "up", "previous", "step(-1)"),
    Shown("", "escape", "back", "leave"),
)

PLACES = by_place(MAIN, LIST, TRANSCRIPT, LINEAGE, APP)
"""Places whose keys can be changed, in the order of the sample configuration."""
PANES = ("list", "transcript", "lineage")
"""Places whose keys work only while they have the focus."""

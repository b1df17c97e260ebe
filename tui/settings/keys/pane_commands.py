"""Commands of the panes of the main screen and of its fields."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Shown, at, by_place
from .main_commands import APP, MAIN

_COMPACTIONS = Shown(
    "compactions",
    "M",
    "compactions",
    "What Hermes compressed here, and what was lost",
    does="open_compactions",
)
_MOVES = (
    N_("Move"),
    Command("down", "down,j", "down", call="move(1)"),
    Command("up", "up,k", "up", call="move(-1)"),
    Command("page-down", "pagedown,ctrl+f", "page down", call="page(1)"),
    Command("page-up", "pageup,ctrl+b", "page up", call="page(-1)"),
    Command("half-a-page-down", "ctrl+d", "half a page down", call="page(0.5)"),
    Command("half-a-page-up", "ctrl+u", "half a page up", call="page(-0.5)"),
    Command("first", "home,g", "first", call="jump(0)"),
    Command("last", "end,G", "last", call="jump(-1)"),
)
"""How lists and the tree are moved in."""
LIST = at(
    "list",
    *_MOVES,
    N_("Read"),
    Command(
        "read",
        "enter,ctrl+j",
        "read",
        "Read it, at the hit if there is one; on a job list its runs",
        "select",
    ),
)
TRANSCRIPT = at(
    "transcript",
    N_("Move"),
    Command("down", "down,j", "down", call="scroll_lines(1)"),
    Command("up", "up,k", "up", call="scroll_lines(-1)"),
    Command("page-down", "pagedown,space,ctrl+f", "page down", call="scroll_pages(1)"),
    Command("page-up", "pageup,ctrl+b", "page up", call="scroll_pages(-1)"),
    Command("half-a-page-down", "ctrl+d", "half a page down", call="scroll_pages(0.5)"),
    Command("half-a-page-up", "ctrl+u", "half a page up", call="scroll_pages(-0.5)"),
    Command("start", "home,g", "start", call="to_start"),
    Command("end", "end,G", "end", call="to_end"),
    Command("next-prompt", "J", "next prompt", call="step(1, 'user')"),
    Command("previous-prompt", "K", "previous prompt", call="step(-1, 'user')"),
    Command("next-message", "right_curly_bracket", "next message", call="step(1, '')"),
    Command("previous-message", "left_curly_bracket", "previous message", call="step(-1, '')"),
    Command("next-day", "right_square_bracket", "next day", call="step_rule(1, 'day')"),
    Command("previous-day", "left_square_bracket", "previous day", call="step_rule(-1, 'day')"),
    Command("next-segment", "right_parenthesis", "next part", call="step_rule(1, 'seam')"),
    Command("previous-segment", "left_parenthesis", "previous part", call="step_rule(-1, 'seam')"),
    Command("mark", "m", "mark", "Remember this place", "mark"),
    Command(
        "back",
        "apostrophe",
        "back",
        "Back to the mark, or to where the last jump began",
        "to_mark",
    ),
    N_("Find"),
    Shown(
        "find-here",
        "backslash,ctrl+s",
        "find here",
        "Find in this conversation",
        does="finding.open",
        priority=True,
    ),
    Command(
        "go-to",
        "number_sign",
        "go to",
        "To a message by its number",
        does="finding.open_for_id",
        priority=True,
    ),
    Command("next-find", "n", "next find", "While finding: to the next find", "find(1)"),
    Command(
        "previous-find",
        "N",
        "previous find",
        "While finding: to the previous find",
        "find(-1)",
    ),
    Command("end-finding", "escape", "end finding", "While finding: no longer", "find(0)"),
    N_("Read"),
    Shown(
        "more-less",
        "enter,ctrl+j",
        "fold",
        "Unfold or fold this message",
        "toggle_fold",
        printed="Enter",
    ),
    N_("Copy and open"),
    Shown("copy", "c", "copy", "Copy this message", does="copying.take('message')"),
    Command(
        "copy-code",
        "C",
        "copy code",
        "Copy its code block; again: the next one",
        does="copying.take('code')",
    ),
    Command(
        "copy-output",
        "ctrl+y",
        "copy output",
        "Copy its tool output; again: the next",
        does="copying.take('output')",
    ),
    Command("pager", "O", "pager", "Open this message in $PAGER", does="copying.take('pager')"),
    Command(
        "editor",
        "E",
        "editor",
        "Open a copy of this message in $EDITOR",
        does="copying.take('editor')",
    ),
    Command(
        "raw",
        "ampersand",
        "raw",
        "This message as it is stored, as JSON",
        does="copying.take('raw')",
    ),
    Command(
        "links",
        "L",
        "links",
        "Links and images of this message: open, copy",
        does="copying.take('links')",
    ),
    N_("Read"),
    Shown("tools", "t", "tools", "Tool calls off, short, full", "cycle_tools"),
    Shown("reasoning", "r", "reasoning", "Reasoning folded or shown", "toggle_reasoning"),
    Shown(
        "seen-here",
        "full_stop",
        "seen here",
        "What the model saw at this message, the rest dimmed; and back",
        does="toggle_seen_here",
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
    N_("Read"),
    Command(
        "read",
        "enter,ctrl+j",
        "read",
        "Read this session, or inspect this compression",
        "select",
    ),
    Shown("fold", "space", "fold", "Fold or unfold what is below", "toggle_node"),
    Command("inwards", "right", "unfold", "Unfold; then to the first below", "inwards"),
    Command("outwards", "left", "fold", "Fold; then to what it is below", "outwards"),
    _COMPACTIONS,
)
LINES = at(
    "lines",
    N_("Move"),
    Command("", "down,j", "down", call="move(1)"),
    Command("", "up,k", "up", call="move(-1)"),
    Command("", "pagedown,space,ctrl+f", "page down", call="page(1)"),
    Command("", "pageup,ctrl+b", "page up", call="page(-1)"),
    Command("", "home,g", "start", call="scroll_home"),
    Command("", "end,G", "end", call="scroll_end"),
)
MAP = at(
    "map",
    N_("The map"),
    Command("", "down,j", "down", call="go(0,1)"),
    Command("", "up,k", "up", call="go(0,-1)"),
    Command("", "right,l", "right", call="go(1,0)"),
    Command("", "left,h", "left", call="go(-1,0)"),
    Command("", "enter,ctrl+j", "read", call="enter"),
)
SEARCH_BOX = at(
    "search",
    Shown("", "down", "next hit", call="move('down')"),
    Command("", "up", "previous", call="move('up')"),
    Command("", "pagedown", "page down", call="move('pagedown')"),
    Command("", "pageup", "page up", call="move('pageup')"),
    Shown("", "enter,ctrl+j", "read", call="submit", printed="Enter"),
    Shown("", "escape", "clear, then the list", call="step_back"),
    Command("", "tab", "complete", call="accept"),
)
QUERY_BOX = at("query", Command("", "tab", "complete", call="accept"))
ASK = at(
    "ask",
    Shown("", "enter,ctrl+j", "done", call="submit", printed="Enter"),
    Shown("", "down", "next", call="step(1)"),
    Shown("", "up", "previous", call="step(-1)"),
    Shown("", "escape", "back", call="leave"),
)

PLACES = by_place(MAIN, LIST, TRANSCRIPT, LINEAGE, APP)
"""Places whose keys can be changed, in the order of the sample configuration."""
PANES = ("list", "transcript", "lineage")
"""Places whose keys work only while they have the focus."""

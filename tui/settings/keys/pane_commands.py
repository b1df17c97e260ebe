"""Commands of the panes of the main screen and of its fields."""

from __future__ import annotations

from hermes_browse.store.wording import N_

from . import Command, Shown, at, by_place
from .main_commands import APP, MAIN

_COMPACTIONS = Shown(
    "compactions",
    "M",
    N_("compactions"),
    N_("What Hermes compressed here, and what was lost"),
    does="open_compactions",
)
_MOVES = (
    N_("Move"),
    Command("down", "down,j", N_("down"), call="move(1)"),
    Command("up", "up,k", N_("up"), call="move(-1)"),
    Command("page-down", "pagedown,ctrl+f", N_("page down"), call="page(1)"),
    Command("page-up", "pageup,ctrl+b", N_("page up"), call="page(-1)"),
    Command("half-a-page-down", "ctrl+d", N_("half a page down"), call="page(0.5)"),
    Command("half-a-page-up", "ctrl+u", N_("half a page up"), call="page(-0.5)"),
    Command("first", "home,g", N_("first"), call="jump(0)"),
    Command("last", "end,G", N_("last"), call="jump(-1)"),
)
"""How lists and the tree are moved in."""
LIST = at(
    "list",
    *_MOVES,
    N_("Read"),
    Command(
        "read",
        "enter,ctrl+j",
        N_("read"),
        N_("Read it, at the hit if there is one; on a job list its runs"),
        "select",
    ),
)
TRANSCRIPT = at(
    "transcript",
    N_("Move"),
    Command("down", "down,j", N_("down"), call="scroll_lines(1)"),
    Command("up", "up,k", N_("up"), call="scroll_lines(-1)"),
    Command("page-down", "pagedown,space,ctrl+f", N_("page down"), call="scroll_pages(1)"),
    Command("page-up", "pageup,ctrl+b", N_("page up"), call="scroll_pages(-1)"),
    Command("half-a-page-down", "ctrl+d", N_("half a page down"), call="scroll_pages(0.5)"),
    Command("half-a-page-up", "ctrl+u", N_("half a page up"), call="scroll_pages(-0.5)"),
    Command("start", "home,g", N_("start"), call="to_start"),
    Command("end", "end,G", N_("end"), call="to_end"),
    Command("next-prompt", "J", N_("next prompt"), call="step(1, 'user')"),
    Command("previous-prompt", "K", N_("previous prompt"), call="step(-1, 'user')"),
    Command("next-message", "right_curly_bracket", N_("next message"), call="step(1, '')"),
    Command("previous-message", "left_curly_bracket", N_("previous message"), call="step(-1, '')"),
    Command("next-day", "right_square_bracket", N_("next day"), call="step_rule(1, 'day')"),
    Command("previous-day", "left_square_bracket", N_("previous day"), call="step_rule(-1, 'day')"),
    Command("next-segment", "right_parenthesis", N_("next part"), call="step_rule(1, 'seam')"),
    Command(
        "previous-segment", "left_parenthesis", N_("previous part"), call="step_rule(-1, 'seam')"
    ),
    Command("mark", "m", N_("mark"), N_("Remember this place"), "mark"),
    Command(
        "back",
        "apostrophe",
        N_("back"),
        N_("Back to the mark, or to where the last jump began"),
        "to_mark",
    ),
    N_("Find"),
    Shown(
        "find-here",
        "backslash,ctrl+s",
        N_("find here"),
        N_("Find in this conversation"),
        does="finding.open",
        priority=True,
    ),
    Command(
        "go-to",
        "number_sign",
        N_("go to"),
        N_("To a message by its number"),
        does="finding.open('id')",
        priority=True,
    ),
    Command("next-find", "n", N_("next find"), N_("While finding: to the next find"), "find(1)"),
    Command(
        "previous-find",
        "N",
        N_("previous find"),
        N_("While finding: to the previous find"),
        "find(-1)",
    ),
    Command("end-finding", "escape", N_("end finding"), N_("While finding: no longer"), "find(0)"),
    N_("Read"),
    Shown(
        "more-less",
        "enter,ctrl+j",
        N_("fold"),
        N_("Unfold or fold this message"),
        "toggle_fold",
        printed="Enter",
    ),
    N_("Copy and open"),
    Shown("copy", "c", N_("copy"), N_("Copy this message"), does="copying.take('message')"),
    Command(
        "copy-code",
        "C",
        N_("copy code"),
        N_("Copy its code block; again: the next one"),
        does="copying.take('code')",
    ),
    Command(
        "copy-output",
        "ctrl+y",
        N_("copy output"),
        N_("Copy its tool output; again: the next"),
        does="copying.take('output')",
    ),
    Command(
        "pager", "O", N_("pager"), N_("Open this message in $PAGER"), does="copying.take('pager')"
    ),
    Command(
        "editor",
        "E",
        N_("editor"),
        N_("Open a copy of this message in $EDITOR"),
        does="copying.take('editor')",
    ),
    Command(
        "raw",
        "ampersand",
        N_("raw"),
        N_("This message as it is stored, as JSON"),
        does="copying.take('raw')",
    ),
    Command(
        "links",
        "L",
        N_("links"),
        N_("Links and images of this message: open, copy"),
        does="copying.take('links')",
    ),
    N_("Read"),
    Shown("tools", "t", N_("tools"), N_("Tool calls off, short, full"), "cycle_tools"),
    Shown("reasoning", "r", N_("reasoning"), N_("Reasoning folded or shown"), "toggle_reasoning"),
    Shown(
        "seen-here",
        "full_stop",
        N_("seen here"),
        N_("What the model saw at this message, the rest dimmed; and back"),
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
        N_("read"),
        N_("Read this session, or inspect this compression"),
        "select",
    ),
    Shown("fold", "space", N_("fold"), N_("Fold or unfold what is below"), "toggle_node"),
    Command("inwards", "right", N_("unfold"), N_("Unfold; then to the first below"), "inwards"),
    Command("outwards", "left", N_("fold"), N_("Fold; then to what it is below"), "outwards"),
    _COMPACTIONS,
)
LINES = at(
    "lines",
    N_("Move"),
    Command("", "down,j", N_("down"), call="move(1)"),
    Command("", "up,k", N_("up"), call="move(-1)"),
    Command("", "pagedown,space,ctrl+f", N_("page down"), call="page(1)"),
    Command("", "pageup,ctrl+b", N_("page up"), call="page(-1)"),
    Command("", "home,g", N_("start"), call="scroll_home"),
    Command("", "end,G", N_("end"), call="scroll_end"),
)
MAP = at(
    "map",
    N_("The map"),
    Command("", "down,j", N_("down"), call="go(0,1)"),
    Command("", "up,k", N_("up"), call="go(0,-1)"),
    Command("", "right,l", N_("right"), call="go(1,0)"),
    Command("", "left,h", N_("left"), call="go(-1,0)"),
    Command("", "enter,ctrl+j", N_("read"), call="enter"),
)
SEARCH_BOX = at(
    "search",
    Shown("", "down", N_("next hit"), call="move('down')"),
    Command("", "up", N_("previous"), call="move('up')"),
    Command("", "pagedown", N_("page down"), call="move('pagedown')"),
    Command("", "pageup", N_("page up"), call="move('pageup')"),
    Shown("", "enter,ctrl+j", N_("read"), call="submit", printed="Enter"),
    Shown("", "escape", N_("clear, then the list"), call="step_back"),
    Command("", "tab", N_("complete"), call="accept"),
)
QUERY_BOX = at("query", Command("", "tab", N_("complete"), call="accept"))
ASK = at(
    "ask",
    Shown("", "enter,ctrl+j", N_("done"), call="submit", printed="Enter"),
    Shown("", "down", N_("next"), call="step(1)"),
    Shown("", "up", N_("previous"), call="step(-1)"),
    Shown("", "escape", N_("back"), call="leave"),
)

PLACES = by_place(MAIN, LIST, TRANSCRIPT, LINEAGE, APP)
"""Places whose keys can be changed, in the order of the sample configuration."""
PANES = ("list", "transcript", "lineage")
"""Places whose keys work only while they have the focus."""

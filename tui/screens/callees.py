"""What each command of the main screen calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial

from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ..context import Context
from ..textual_private import driver_of
from .by_name import load
from .controllers import Controllers
from .panes import Panes

Callee = Callable[[], Coroutine[None, None, None] | None]
"""What a command calls; a coroutine is awaited."""


def _take(by: Controllers, what: str) -> None:
    """Copy or open something of the message under the cursor."""
    by.copying.take(what)


def _toggle_mouse(context: Context, panes: Panes) -> None:
    """Leave the mouse to the terminal, for selecting text, or take it back."""
    toggle = getattr(driver_of(panes.app), "toggle_mouse", None)
    if toggle is None:
        context.say(_("the mouse is not the browser's to give here"))
    elif toggle():
        context.say(_("the mouse is the browser's"))
    else:
        context.say(_("the mouse is left to the terminal · F9 takes it back"))


def _show_help(panes: Panes) -> None:
    """Show all keys, and the query language."""
    panes.app.push_screen(load("help")())


def callees(by: Controllers, panes: Panes) -> dict[str, Callee]:
    """What each command calls, by the name `do` has; keys of the transcript ask for some of them.

    Args:
        by: The controllers; those that are loaded later are asked for when a key is pressed.
        panes: The main screen.
    """
    context, transcript = by.context, panes.transcript
    calls: dict[str, Callee] = {
        "search": lambda: panes.set_focus(panes.box),
        "resume": by.of_current(lambda each: by.resuming.start(each.id)),
        "resume-window": by.of_current(lambda each: by.resuming.start_in_window(each.id)),
        "copy-id": by.of_current(lambda each: by.copying.copy(each.id, each.id)),
        "copy-command": by.of_current(lambda each: by.resuming.plan_command(each.id, by.copying.copy_command)),
        "details": by.of_current(lambda each: load("details")(context, panes.app, each)),
        "compactions": by.of_current(lambda each: by.open_screen("compactions")),
        "mark": lambda: by.changing.mark(),
        "mark-range": lambda: by.changing.mark_range(),
        "mark-all": lambda: by.changing.mark_all(),
        "archive": lambda: by.changing.archive(),
        "pin": lambda: by.changing.pin(),
        "rename": lambda: by.changing.rename(),
        "undo": lambda: by.changing.undo(),
        "delete": lambda: by.of_targets(by.cleaning.delete),
        "export": lambda: by.of_targets(partial(load("export"), context, panes.app)),
        "next-hit": lambda: by.searching.hits.step(1),
        "previous-hit": lambda: by.searching.hits.step(-1),
        "more-hits": lambda: by.searching.hits.fold(1),
        "fewer-hits": lambda: by.searching.hits.fold(-1),
        "hit-order": lambda: by.searching.next_order(),
        "searches": lambda: by.typing.list_searches(),
        "keep": lambda: by.typing.keep(),
        "find": lambda: by.finding.open(),
        "go-to-id": lambda: by.finding.open(for_id=True),
        "profiles": lambda: by.switching.choose(),
        "view-chats": lambda: by.set_view(View.CHATS),
        "view-auto": lambda: by.set_view(View.AUTOMATION),
        "view-archived": lambda: by.set_view(View.ARCHIVED),
        "view-all": lambda: by.set_view(View.ALL),
        "view-old": by.old_files.open,
        "sort": by.listing.next_sort,
        "reverse": by.listing.turn_round,
        "reload": by.listing.reload,
        "reading": by.reading.next_reading,
        "seen-here": lambda: load("here")(context, transcript, by.reading.fit_titles),
        "recap": by.reading.show_recap,
        "tools": transcript.action_cycle_tools,
        "reasoning": transcript.action_toggle_reasoning,
        "next-pane": lambda: panes.focus_pane(1),
        "previous-pane": lambda: panes.focus_pane(-1),
        "to-list": lambda: panes.set_focus(panes.rows),
        "lineage": panes.toggle_lineage,
        "list-less": lambda: panes.share(-1),
        "list-more": lambda: panes.share(1),
        "zoom": panes.zoom,
        "mouse": lambda: _toggle_mouse(context, panes),
        "help": lambda: _show_help(panes),
        "quit": context.host.finish,
    }
    for name in ("prune", "trash", "retention", "insights", "doctor"):
        calls[name] = partial(by.open_screen, name)
    for what in ("message", "code", "output", "pager", "editor", "raw", "links"):
        calls[f"take-{what}"] = partial(_take, by, what)
    return calls

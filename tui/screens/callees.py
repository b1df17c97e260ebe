"""Map the commands of the main screen to their callees."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from functools import partial

from hermes_browse.store.hosts.host import Host
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ..commands.main_commands import APP, LIST, MAIN, TRANSCRIPT, VIEW_COMMANDS
from ..context import Context
from ..textual_private import driver_of
from .by_name import load
from .controllers import Controllers
from .panes import Panes

Callee = Callable[[], Coroutine[None, None, None] | None]
"""Called for a command; a returned coroutine is awaited."""

_THERE = {
    "trash": "hermes-browse trash list --host {name}",
    "doctor": "hermes-browse doctor --host {name}",
    "retention": "ssh -t {ssh} {command}",
    "view-old": "hermes-browse list --old --host {name}",
}
"""Commands that show files beside a store, and what shows those of another machine."""


def _say_there(context: Context, host: Host, words: str) -> None:
    command = words.format(**host._asdict())
    context.say(
        _("this is kept on {name} and shown by `{command}`").format(name=host.name, command=command)
    )


def _toggle_mouse(context: Context, panes: Panes) -> None:
    """Release the mouse to the terminal, for selecting text, or capture it again."""
    toggle = getattr(driver_of(panes.app), "toggle_mouse", None)
    if toggle is None:
        context.say(_("the mouse cannot be switched here"))
    elif toggle():
        context.say(_("the browser has the mouse"))
    else:
        context.say(_("the terminal has the mouse · F9 gives it back to the browser"))


def show_help(panes: Panes, refused: Collection[str] = ()) -> None:
    """Show the keys that work here, the signs, and the query language; not the commands with ids in
    `refused`."""
    commands = [each for each in (*TRANSCRIPT, *MAIN, *LIST, *APP) if each.id not in refused]
    panes.app.push_screen(load("help")(panes, commands))


def callees(controllers: Controllers, panes: Panes) -> dict[str, Callee]:
    """Return the callees by the names that the action `do` takes, including those for keys of the
    transcript.

    Lambdas defer the controllers that are imported on first use.
    """
    context, transcript = controllers.context, panes.transcript
    calls: dict[str, Callee] = {
        "search": lambda: panes.set_focus(panes.box),
        "resume": lambda: controllers.of_current(lambda each: controllers.resuming.start(each.id)),
        "resume-window": lambda: controllers.of_current(
            lambda each: controllers.resuming.start_in_window(each.id)
        ),
        "copy-id": lambda: controllers.of_current(lambda each: controllers.copying.copy(each.id)),
        "copy-command": lambda: controllers.of_current(
            lambda each: controllers.resuming.plan_command(each.id, controllers.copying.copy)
        ),
        "details": lambda: controllers.of_current(
            lambda each: load("details")(context, panes.app, each)
        ),
        "compactions": lambda: controllers.of_current(
            lambda each: controllers.open_screen("compactions")
        ),
        "mark": lambda: controllers.changing.mark(),
        "mark-range": lambda: controllers.changing.mark_range(),
        "mark-all": lambda: controllers.changing.mark_all(),
        "archive": lambda: controllers.changing.archive(),
        "pin": lambda: controllers.changing.pin(),
        "rename": lambda: controllers.changing.rename(),
        "undo": lambda: controllers.changing.undo(),
        "delete": lambda: controllers.of_targets(controllers.cleaning.delete),
        "export": lambda: controllers.of_targets(partial(load("export"), context, panes.app)),
        "next-hit": lambda: controllers.searching.hits.step(1),
        "previous-hit": lambda: controllers.searching.hits.step(-1),
        "more-hits": lambda: controllers.searching.hits.fold(1),
        "fewer-hits": lambda: controllers.searching.hits.fold(-1),
        "hit-order": lambda: controllers.searching.next_order(),
        "searches": lambda: controllers.typing.list_searches(),
        "keep": lambda: controllers.typing.keep(),
        "find": lambda: controllers.finding.open(),
        "go-to-id": lambda: controllers.finding.open(for_id=True),
        "profiles": lambda: controllers.switching.choose(),
        "view-old": controllers.old_files.open,
        "sort": controllers.listing.next_sort,
        "reverse": controllers.listing.reverse_order,
        "reload": controllers.listing.reload,
        "reading": controllers.reading.next_reading,
        "seen-here": lambda: load("seen-here")(context, transcript, controllers.reading.fit_titles),
        "recap": controllers.reading.show_recap,
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
        "help": lambda: show_help(panes),
        "quit": context.host.finish,
    }
    calls |= {
        name: partial(controllers.set_view, view)
        for name, view in zip(VIEW_COMMANDS, View, strict=True)
    }
    for name in ("prune", "trash", "retention", "insights", "doctor"):
        calls[name] = partial(controllers.open_screen, name)
    if (host := context.location.host) is not None:
        calls |= {name: partial(_say_there, context, host, words) for name, words in _THERE.items()}
    for what in ("message", "code", "output", "pager", "editor", "raw", "links"):
        calls[f"take-{what}"] = partial(lambda part: controllers.copying.take(part), what)
    return calls

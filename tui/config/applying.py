"""What is set takes hold: keys, times, and a sentence where something in the file does not hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.widget import Widget

from hermes_browse.store.wording import _

from ..shared.glyphs import are_plain
from ..textual_private import set_bindings
from .actions import PANES, SCREENS, pane_action
from .rows import set_rows

if TYPE_CHECKING:
    from ..app import BrowseApp


def with_names(bindings: Sequence[BindingType], pane: str) -> list[BindingType]:
    """Bindings of a pane by the names a keymap calls them by; those that have one keep it."""
    return [
        replace(each, id=pane_action(pane, each.description)) if isinstance(each, Binding) and not each.id else each
        for each in bindings
    ]


def _name_keys_of(widget: type[Widget]) -> None:
    """Give the keys of a pane names, before there is a pane: without a keymap nobody asks for them."""
    set_bindings(widget, with_names(widget.BINDINGS, {**PANES, **SCREENS}[widget.__name__]))


def _name_keys_of_screens() -> None:
    """The same for the screens behind the main one; they are loaded for it, so only where one of their keys is set."""
    from ..screens.doctor import DoctorScreen
    from ..screens.everywhere import EverywhereScreen
    from ..screens.insights import InsightsScreen
    from ..screens.prune import PruneScreen
    from ..screens.retention import RetentionScreen
    from ..screens.trash import TrashScreen

    for screen in (DoctorScreen, EverywhereScreen, InsightsScreen, PruneScreen, RetentionScreen, TrashScreen):
        _name_keys_of(screen)


def set_up(app: BrowseApp) -> None:
    """Apply what is set to an application that has no screen yet.

    Args:
        app: With its start.
    """
    set_rows(app.start.options)
    encoding = getattr(sys.__stderr__, "encoding", None)  # Textual paints there
    if are_plain(app.start.options.glyphs, encoding):
        from ..shared.lines import GlyphFilter

        app.glyph_filter = GlyphFilter(encoding)
    configuration = app.start.configuration
    if configuration is None:
        return
    from ..list.conversation_list import ConversationList
    from ..transcript.view import TranscriptView
    from .keymap import resolve_keymap

    keymap, troubles = resolve_keymap(configuration)
    if keymap:
        for widget in (ConversationList, TranscriptView):
            _name_keys_of(widget)
        if any(name.partition("-")[0] in SCREENS.values() for name in keymap):
            _name_keys_of_screens()
        app.keymap = keymap
        app.set_keymap(keymap)
    found = [*configuration.troubles, *troubles]
    theme = configuration.options.theme
    if theme is not None and theme not in app.available_themes:
        from .lines import line_of
        from .reading import Trouble, similar

        line = line_of(configuration.text, "", "theme")
        text = _("there is no theme “{name}”.").format(name=theme)
        found.append(Trouble(line, text, similar(theme, app.available_themes)))
    if found:
        first = min(found, key=lambda each: each.line or 0)
        app.trouble = first.sentence(configuration.path.name)
        if len(found) > 1:
            more = _("{count} more: `hermes-browse config show`").format(count=len(found) - 1)
            app.trouble = f"{app.trouble} · {more}"

"""What Hermes will delete by itself, for the commands that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.sessions.models import Conversation

if TYPE_CHECKING:
    from hermes_browse.store.connect import Reader
    from hermes_browse.store.prune.radar import Radar

    from .run import Context


def read_radar_of(context: Context, reader: Reader) -> Radar:
    """The radar of the store a command works with; its home's `config.yaml` lies beside it.

    Args:
        context: Of the command.
        reader: An open reader of its store.
    """
    from ..places import read_radar_at

    return read_radar_at(context.location, reader, context.now)


def prune_in_days(radar: Radar | None, conversation: Conversation) -> float | None:
    """Days until Hermes deletes a conversation; None when it does not, when nobody can tell, or without a radar."""
    return None if radar is None else radar.fate(conversation).prune_in_days

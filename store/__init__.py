"""The session store of Hermes Agent, read safely; no Textual, no Rich."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import OpenStore, open_store

__all__ = ["OpenStore", "open_store"]


def __getattr__(name: str) -> Any:
    """Import the façade when it is asked for: the first rows on screen do without it."""
    if name not in __all__:
        raise AttributeError(name)
    from . import api

    return getattr(api, name)

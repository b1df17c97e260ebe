"""Why a place cannot be read."""

from __future__ import annotations

from ..errors import BrowseError, StoreEmptyError, StoreMissingError
from ..hermes.homes import Location
from ..wording import _


def short_reason(error: BrowseError, location: Location) -> str:
    """Return why a store cannot be read, without its folder, which the profile's name implies."""
    if isinstance(error, StoreMissingError | StoreEmptyError):
        return _("it has not been used yet")
    return error.sentence.replace(str(location.path), location.path.name)

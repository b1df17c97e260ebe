"""The card of profiles: the figures of each, or why it cannot be read, and an entry for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..commands.screens import PROFILES
from ..screens.card import Card, keys_line
from .reading import Profile


class ProfilesScreen(Card["Profile | bool | None"]):
    """Returns the profile chosen, True for all of them, or None.

    Args:
        profiles: The profiles.
        current: Location of the store on screen.
        now: Unix seconds.
    """

    AUTO_FOCUS = "#profiles"
    KEYS = PROFILES

    def __init__(self, profiles: Sequence[Profile], current: Location, now: float) -> None:
        super().__init__()
        self._profiles, self._current, self._now = profiles, current, now

    def compose(self) -> ComposeResult:
        """Compose the list of profiles and the keys."""
        with Vertical(id="card"):
            yield Static(Content.styled(_("Profiles"), "bold"))
            yield OptionList(id="profiles", markup=False)
            yield keys_line(self.told_keys(_("Enter open")))

    def on_mount(self) -> None:
        """Fill the list; the cursor begins on the first other profile that can be read."""
        box = self.query_one(OptionList)
        box.add_options([Option(self._line(each)) for each in self._profiles])
        sessions = sum(each.sessions for each in self._profiles)
        count = ngettext("1 session", "{count:,} sessions", sessions).format(count=sessions)
        whole = _("all profiles as one list")
        box.add_option(Option(Content(f"  {whole} · {count}")))
        others = [index for index, each in enumerate(self._profiles) if not self._is_current(each) and not each.error]
        box.highlighted = others[0] if others else 0

    def _is_current(self, profile: Profile) -> bool:
        return profile.location.path == self._current.path

    def _line(self, profile: Profile) -> Content:
        mark = "● " if self._is_current(profile) else "  "
        name = formats.fit(one_line(profile.name, 60), 18)
        if profile.error:
            wrong = _("cannot be read: ")
            return Content.assemble(mark, (name, ""), (wrong, "$error"), one_line(profile.error, 200))
        count = _("{count:>9,} sessions").format(count=profile.sessions)
        figures = f"{count}  {formats.fit(formats.size(profile.bytes), 9, right=True)}"
        age = formats.age(profile.last_active, self._now) if profile.last_active is not None else _("never used")
        return Content.assemble(mark, (name, "bold"), (f"{figures}  {age}", "dim"))

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice; switching to a broken profile tries again and reports why it fails."""
        index = event.option_index
        self.dismiss(self._profiles[index] if index < len(self._profiles) else True)

    def action_move(self, way: str) -> None:
        """Move the cursor `up` or `down` (Vim's keys)."""
        getattr(self.query_one(OptionList), f"action_cursor_{way}")()

    def action_all(self) -> None:
        """Choose all profiles."""
        self.dismiss(True)

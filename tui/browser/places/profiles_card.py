"""The card of profiles: the figures of each, or why it cannot be read, and an entry for all of
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import PROFILES
from ...text import formats
from ...widgets.card import Card, keys_line
from .read_profiles import Figures, Profile


class ProfilesCard(Card["Profile | Host | bool | None"]):
    """Returns the profile, or the host, that was chosen, True for all of them, or None.

    `current` is the location of the store on screen, and `now` is in Unix seconds.
    """

    AUTO_FOCUS = "#profiles"
    KEYS = PROFILES
    TITLE_OF_CARD: ClassVar[str] = N_("Profiles")
    ALL: ClassVar[str] = N_("all profiles as one list")

    def __init__(self, profiles: Sequence[Profile], current: Location, now: float) -> None:
        super().__init__()
        self.profiles, self.current, self.now = profiles, current, now

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield Static(Content.styled(_(self.TITLE_OF_CARD), "bold"))
            yield OptionList(id="profiles", markup=False)
            yield keys_line(self.keys_told())

    def keys_told(self) -> str:
        """Describe the keys."""
        return self.keys_text(_("Enter open"))

    def on_mount(self) -> None:
        box = self.query_one(OptionList)
        box.add_options([Option(each) for each in [*self.lines(), self.last_line()]])

        def is_other(choice: Profile | Host) -> bool:
            return not self._is_current(choice) and (isinstance(choice, Host) or not choice.error)

        box.highlighted = next(
            (index for index, each in enumerate(self.choices()) if is_other(each)), 0
        )

    def lines(self) -> list[Content]:
        """Return a line for each choice, except the last."""
        return [self._line(each) for each in self.profiles]

    def sessions(self) -> int:
        """Return how many sessions there are in all."""
        return sum(each.figures.sessions for each in self.profiles)

    def last_line(self) -> Content:
        """Return the line for all of them."""
        return Content(f"  {_(self.ALL)} · {formats.counted(self.sessions(), 'session')}")

    def _is_current(self, choice: Profile | Host) -> bool:
        if isinstance(choice, Host):
            return choice == self.current.host
        return choice.location.path == self.current.path

    def mark(self, choice: Profile | Host) -> str:
        """Return the first cells of a line, which mark the store on screen."""
        return "● " if self._is_current(choice) else "  "

    def _line(self, profile: Profile) -> Content:
        mark = self.mark(profile)
        name = formats.fit(one_line(profile.name, 60), 18)
        if profile.error:
            wrong = _("cannot be read: ")
            return Content.assemble(
                mark, (name, ""), (wrong, "$error"), one_line(profile.error, 200)
            )
        return Content.assemble(mark, (name, "bold"), (self.figures(profile.figures), "dim"))

    def figures(self, figures: Figures) -> str:
        """Return the columns of a line."""
        count = _("{count:>9,} sessions", count=figures.sessions)
        active = figures.last_active
        age = formats.age(active, self.now) if active is not None else _("never used")
        return f"{count}  {formats.fit(formats.size(figures.bytes), 9, right=True)}  {age}"

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice; switching to a broken profile tries again and reports why it fails."""
        choices = self.choices()
        self.dismiss(choices[event.option_index] if event.option_index < len(choices) else True)

    def choices(self) -> Sequence[Profile | Host]:
        """Return the choices, except the last."""
        return self.profiles

    def action_move(self, way: str) -> None:
        """Move the cursor `up` or `down` (Vim's keys)."""
        getattr(self.query_one(OptionList), f"action_cursor_{way}")()

    def action_all(self) -> None:
        """Choose all profiles."""
        self.dismiss(True)

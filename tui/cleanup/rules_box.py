"""The line of rules above a plan, and the switches that stand for some of them."""

from __future__ import annotations

from hermes_browse.store.cleanup.selection import Selection, parse_line, toggled, with_age
from hermes_browse.store.search.filters import Vocabulary
from hermes_browse.store.wording import N_, _

from ..screens.sub_screen import SubScreen
from ..search.box import QueryBox
from ..search.completion import complete

SWITCHES = (
    (N_("older 30d"), "older:30d"),
    (N_("90d"), "older:90d"),
    (N_("1y"), "older:365d"),
    (N_("automation"), "is:automation"),
    (N_("empty"), "is:empty"),
    (N_("stale"), "include:stale"),
    (N_("archived"), "include:archived"),
)
_HINT = "older:30d source:cron is:automation size>10M free:50% title:… cwd:~/src"


class RulesBox(QueryBox):
    """A box for rules; `hint` is shown while it is empty."""

    def __init__(self, owner: SubScreen, rules: str, hint: str = "") -> None:
        super().__init__(rules, placeholder=hint or _HINT, id="rules")
        self._owner, self._shared, self._vocabulary = owner, owner.main, Vocabulary()
        self.parsed = parse_line(rules, owner.main.clock())

    def on_mount(self) -> None:
        self.watch(self, "value", self._edited)
        self._owner.start("vocabulary", self._read_vocabulary)

    async def _read_vocabulary(self) -> None:
        catalog = self._shared.catalog
        self._vocabulary = await self._owner.read(lambda store: store.vocabulary(catalog))

    def _edited(self, text: str) -> None:
        """Mark what is read as a filter, and offer to complete the last one; called within the
        keystroke."""
        now = self._shared.clock()
        self.parsed = query = parse_line(text, now)
        offered = complete(text, self._vocabulary, now, for_cleanup=True) if text else None
        typing = len(text) if offered is not None else -1
        problems = [each for each in query.problems if each.end != typing]
        self.marks = [("filter", each.start, each.end) for each in query.filters]
        self.marks += [("problem", each.start, each.end) for each in problems]
        self.offer(text[: offered.start] + offered.choices[0] if offered is not None else "")

    @property
    def age(self) -> float | None:
        """The age from which on conversations go, in seconds; None without such a rule."""
        if self.parsed.problems:
            return None
        return Selection(self.parsed).age(self._shared.clock())

    def set_age(self, days: int) -> None:
        self.value = with_age(self.value, days)

    def why_none(self, selection: Selection) -> str:
        """Say why no plan can be made of what the rules select; empty if one can."""
        if self.parsed.problems:
            words = _("; ").join(each.text for each in self.parsed.problems)
            return _("A filter cannot be read: {problems}").format(problems=words)
        if not selection.nothing:
            return ""
        if self.parsed.filters:
            return _("include: only adds to what others choose: 1 to 5 say which ones go.")
        return _("No filters yet: 1 to 7 switch some on, / edits them, Esc leaves.")

    def switches(self) -> list[tuple[str, bool]]:
        """Return the names of the switches, and which of them are on."""
        words = self.value.split()
        return [(_(name), word in words) for name, word in SWITCHES]

    def switch(self, index: int) -> None:
        """Add the rule of a switch, or remove it."""
        self.value = toggled(self.value, SWITCHES[index][1])

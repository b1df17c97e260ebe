"""The line of rules above a plan, and the switches that stand for some of them."""

from __future__ import annotations

from collections.abc import Callable

from textual.reactive import var

from hermes_browse.store.cleanup.selection import Selection, parse_line, toggled
from hermes_browse.store.search.query import EMPTY, Query, Vocabulary
from hermes_browse.store.wording import N_, _

from ...browser.search.box import QueryBox
from ...browser.search.query_line import complete

SWITCHES = (
    (N_("older 30d"), "older:30d"),
    (N_("90d"), "older:90d"),
    (N_("1y"), "older:365d"),
    (N_("automation"), "is:automation"),
    (N_("empty"), "is:empty"),
    (N_("stale"), "include:stale"),
    (N_("archived"), "include:archived"),
    (N_("free 50%"), "free:50%"),
)
_HINT = "older:30d source:cron is:automation size>10M free:50% title:… cwd:~/src"


class RulesBox(QueryBox):
    """A box for rules; `hint` is shown while it is empty, and `clock` returns Unix seconds."""

    parsed: var[Query] = var(EMPTY, init=False, always_update=True)
    """The rules, set within the keystroke that edits them."""

    def __init__(self, rules: str, hint: str, clock: Callable[[], float]) -> None:
        super().__init__(rules, placeholder=hint or _HINT, id="rules")
        self._clock, self.vocabulary = clock, Vocabulary()
        self.set_reactive(RulesBox.parsed, parse_line(rules, clock()))

    def on_mount(self) -> None:
        self.watch(self, "value", self._edited, init=False)
        self._mark()

    def _edited(self, text: str) -> None:
        self.parsed = parse_line(text, self._clock())
        self._mark()

    def _mark(self) -> None:
        """Mark what is read as a filter, and offer to complete the last one."""
        query, text, now = self.parsed, self.value, self._clock()
        offered = complete(text, self.vocabulary, now, for_cleanup=True) if text else None
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
        return Selection(self.parsed).age(self._clock())

    def switches(self) -> list[tuple[str, bool]]:
        """Return the names of the switches, and which of them are on."""
        words = self.value.split()
        return [(_(name), word in words) for name, word in SWITCHES]

    def switch(self, index: int) -> None:
        """Add the rule of a switch, or remove it."""
        self.value = toggled(self.value, SWITCHES[index][1])


def why_none(selection: Selection) -> str:
    """Say why no plan can be made of a selection; empty if one can."""
    query = selection.query
    if query.problems:
        words = _("; ").join(problem.text for problem in query.problems)
        return _("A filter cannot be read: {problems}", problems=words)
    if not selection.nothing:
        return ""
    if query.filters:
        return _("include: only adds to what others choose: 1 to 5 say which ones go.")
    return _("No filters yet: 1 to 8 switch some on, / edits them, Esc leaves.")

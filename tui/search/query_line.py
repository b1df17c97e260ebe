"""The controller of the search box: marks, completion of filters and of their values in this store,
history."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_browse.store.search.filters import Vocabulary
from hermes_browse.store.search.query import Query, parse, unknown_filters
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .completion import Offer, complete
from .history import QueryHistory
from .searches import SearchesCard


class Typing:
    """Parses the query at each keystroke and passes it on.

    `ask` is called with it, messages about its problems, and why it must not be run, empty if it
    may be.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        history: QueryHistory,
        ask: Callable[[Query, Sequence[str], str], None],
    ) -> None:
        self._context, self._panes, self.history, self._ask = context, panes, history, ask
        self.offered: Offer | None = None
        """Completions of the end of the query."""
        self._recalling = False
        self._remark = ""
        self._vocabulary: Vocabulary | None = None
        self._vocabulary_of: Catalog | None = None

    def edited(self, text: str) -> None:
        """Take the changed text of the box; called within the keystroke."""
        if not self._recalling:
            self.history.stop()
        query = parse(text)
        self._offer(text)
        # An incomplete filter that is still being typed is no problem yet.
        typing = (
            len(text) if self.offered is not None or text.endswith((":", "<", ">", "=")) else -1
        )
        problems = [
            each for each in (*query.problems, *unknown_filters(query)) if each.end != typing
        ]
        marks = [("filter", each.start, each.end) for each in query.filters]
        self._panes.box.marks = marks + [("problem", each.start, each.end) for each in problems]
        messages = [each.text for each in problems]
        refusal = next((each.text for each in problems if each.is_value), "")
        self._ask(query, [*messages, self._remark] if self._remark else messages, refusal)

    def recall(self, key: str) -> bool:
        """Put the previous or next search of the history into the box.

        Args:
            key: `up` in an empty box or with the cursor on the first row; then `down`. Others do
                nothing.

        Returns:
            Whether the key was handled.
        """
        box, history = self._panes.box, self.history
        if key == "up" and (not box.value or history.is_walked or self._panes.rows.cursor == 0):
            text = history.older(box.value)
            if text is None:
                self._context.say(_("no earlier search"))
                return True
        elif key == "down" and history.is_walked:
            text = history.newer()
        else:
            return False
        if text is not None:
            self.put(text)
        return True

    def put(self, text: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self._recalling, self._remark = True, remark
        try:
            self._panes.box.value = text
        finally:
            self._recalling, self._remark = False, ""
        self._panes.box.cursor_position = len(text)

    def remember(self) -> None:
        """Add this search to the history."""
        self.history.add(self._panes.box.value)

    def keep(self) -> None:
        """Keep the search in the box, or stop keeping it."""
        text = self._panes.box.value.strip()
        if text:
            kept = self.history.keep(text)
            self._context.say(
                _("search kept: Ctrl+R lists it") if kept else _("search no longer kept")
            )

    def list_searches(self) -> None:
        """Let the user choose a kept or earlier search."""

        def chosen(text: str | None) -> None:
            if text is not None:
                self._panes.set_focus(self._panes.box)
                self.put(text)

        self._panes.app.push_screen(SearchesCard(self.history), chosen)

    def _offer(self, text: str) -> None:
        """Offer completions of the end of the query: the first behind the cursor, all above the
        list."""
        vocabulary = self._vocabulary or Vocabulary()
        before, offered = (
            self.offered,
            complete(text, vocabulary, self._context.clock()) if text else None,
        )
        self.offered = offered
        self._panes.box.offer(
            text[: offered.start] + offered.choices[0] if offered is not None else ""
        )
        if before != offered:
            self._context.show_header()
        catalog = self._context.catalog
        if ":" not in text or self._vocabulary_of is catalog:
            return
        self._vocabulary_of = catalog
        self._panes.start("vocabulary", self._read_vocabulary, catalog, text)

    async def _read_vocabulary(self, catalog: Catalog, text: str) -> None:
        self._vocabulary = await self._panes.read(lambda store: store.vocabulary(catalog))
        if self._panes.box.value == text:
            self._offer(text)

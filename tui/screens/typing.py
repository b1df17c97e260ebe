"""What is typed into the search box: marked, completed, remembered and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.wording import _

from ..history import History, history_path

if TYPE_CHECKING:
    from hermes_browse.store.sessions.catalog import Catalog

    from ..completion import Offer, Vocabulary
    from .main import MainScreen


class Typing:
    """Takes each keystroke, and hands the query on."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.history = History(None if screen.location.demo else history_path(), self._tell)
        """Searches of the past; those in the demo are forgotten."""
        self.offered: Offer | None = None
        """What the end of the query can become."""
        self._recalling = False
        self._word = ""
        self._vocabulary: Vocabulary | None = None
        self._vocabulary_of: Catalog | None = None

    def _tell(self, text: str) -> None:
        """Say something from another thread."""
        self._screen.call_later(self._screen.say, text)

    def edited(self, text: str) -> None:
        """The text is another one; called within the keystroke."""
        from hermes_browse.store.search import parse, unknown_filters

        if not self._recalling:
            self.history.stop()
        query = parse(text)
        self._offer(text)
        # What is being typed right now and can still become something is no mistake yet.
        typing = len(text) if self.offered is not None or text.endswith((":", "<", ">", "=")) else -1
        problems = [each for each in (*query.problems, *unknown_filters(query)) if each.end != typing]
        marks = [("filter", each.start, each.end) for each in query.filters]
        self._screen.box.marks = marks + [("problem", each.start, each.end) for each in problems]
        said = [each.text for each in problems]
        self._screen.searching.asked(query, [*said, self._word] if self._word else said)

    def recall(self, key: str) -> bool:
        """Put an earlier search into the box, or a later one.

        Args:
            key: `up` in the empty box or above the first row, `down` back again; others do nothing.

        Returns:
            Whether the key was for this.
        """
        box, history = self._screen.box, self.history
        if key == "up" and (not box.value or history.is_walked or self._screen.rows.cursor == 0):
            text = history.older(box.value)
            if text is None:
                self._screen.say(_("no earlier search"))
                return True
        elif key == "down" and history.is_walked:
            text = history.newer()
        else:
            return False
        if text is not None:
            self.put(text)
        return True

    def put(self, text: str, word: str = "") -> None:
        """Search for something that was not typed just now.

        Args:
            text: The query.
            word: What is to be said of it beside what it finds.
        """
        self._recalling, self._word = True, word
        try:
            self._screen.box.value = text
        finally:
            self._recalling, self._word = False, ""
        self._screen.box.cursor_position = len(text)

    def remember(self) -> None:
        """Something came of this search: it is worth remembering."""
        if self._screen.searching.is_active:
            self.history.add(self._screen.box.value)

    def keep(self) -> None:
        """Keep the search that stands in the box, or keep it no longer."""
        text = self._screen.box.value.strip()
        if text:
            kept = self.history.keep(text)
            self._screen.say(_("search kept: Ctrl+r lists it") if kept else _("search no longer kept"))

    def list_searches(self) -> None:
        """Choose among kept and earlier searches."""
        from .searches import SearchesScreen

        def chosen(text: str | None) -> None:
            if text is not None:
                self._screen.set_focus(self._screen.box)
                self.put(text)

        self._screen.app.push_screen(SearchesScreen(self.history), chosen)

    def _offer(self, text: str) -> None:
        """Offer what the end of the query can be completed to: the first behind the cursor, all above the list."""
        from .. import completion

        known = self._vocabulary or completion.Vocabulary()
        before, self.offered = self.offered, completion.complete(text, known, self._screen.clock()) if text else None
        self._screen.box.offer(self.offered.apply(text) if self.offered is not None else "")
        if before != self.offered:
            self._screen.show_header()
        catalog = self._screen.listing.catalog
        if ":" not in text or self._vocabulary_of is catalog:
            return
        self._vocabulary_of = catalog

        def done(found: Vocabulary) -> None:
            self._vocabulary = found
            if self._screen.box.value == text:
                self._offer(text)

        self._screen.page_worker.submit(
            "vocabulary", lambda reader: completion.read_vocabulary(reader, catalog), done, self._screen.failed
        )

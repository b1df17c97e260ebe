"""The cards of changes: another title, the confirmation of a delete, the progress of long work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, ProgressBar, Static

from hermes_browse.store.edit.delete_plan import long_lock_warning
from hermes_browse.store.edit.titles import LONGEST_TITLE, check_title
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.models import Conversation, Relation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ...settings.keys.screen_commands import DELETING, PROGRESS, RENAMING
from ...settings.store_paths import trash_folder
from ...text import formats
from ...text.plan_lines import along_line, spared_line, totals_line
from ...widgets.card import Card, CountCard, CountWords, keys_line
from ...widgets.lines import TextBox

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.plan import Plan

NAMED = 12
"""Maximum number of conversations that the card names."""
SPARED = 6
"""Maximum number of spared ones it names."""
KEPT = 3
"""Maximum number of kept relatives it names."""


class RenameCard(Card[None]):
    """Asks for a title and stays open until it is stored, so that a refused one can be edited.

    Args:
        conversation: The conversation.
        wanted: Called with the text; is to call `done` or `refused`.
    """

    KEYS = RENAMING

    def __init__(self, conversation: Conversation, wanted: Callable[[str], None]) -> None:
        super().__init__()
        self._conversation, self._wanted = conversation, wanted
        self._is_submitted = False

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield Static(
                Content.assemble(
                    (_("Rename") + "  ", "bold"),
                    (one_line(formats.name(self._conversation), 200), "dim"),
                )
            )
            yield TextBox(
                one_line(self._conversation.title or "", LONGEST_TITLE),
                id="title-box",
                select_on_focus=False,
            )
            yield Static(id="verdict")
            yield keys_line(self.keys_text(_("Enter rename")))

    def on_mount(self) -> None:
        self._check(self.query_one(Input).value)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        event.stop()
        self._check(event.value)

    def _check(self, typed: str) -> None:
        checked = check_title(typed)
        verdict = self.query_one("#verdict", Static)
        count = _("{count} of {limit}", count=checked.length, limit=LONGEST_TITLE)
        if checked.problem:
            verdict.update(Content.styled(checked.problem, "$error"))
        elif checked.title is None:
            verdict.update(Content.styled(_("no title: Hermes will show how it begins"), "dim"))
        elif checked.differs:
            verdict.update(
                Content.assemble((f"{count} · " + _("stored as "), "dim"), one_line(checked.title))
            )
        else:
            verdict.update(Content.styled(count, "dim"))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not check_title(event.value).problem and not self._is_submitted:
            self._is_submitted = True
            self._wanted(event.value)

    def done(self) -> None:
        if self.is_current:
            self.dismiss(None)

    def refused(self, error: BrowseError) -> bool:
        """Show why the title was not stored.

        Returns:
            False if the card was closed meanwhile, so that the error must be shown elsewhere.
        """
        if not self.is_current:
            return False
        self._is_submitted = False
        self.query_one("#verdict", Static).update(
            Content.styled(one_line(str(error), 1000), "$error")
        )
        return True


def and_more(count: int) -> list[Content]:
    """Return the line for items that a list leaves out, if there are any."""
    return (
        [Content.styled("  " + _("… and {count:,} more", count=count), "dim")] if count > 0 else []
    )


def _kept(conversations: Sequence[Conversation], count: int) -> str:
    """Return a sentence on the conversations that lose their parent: the first ones by name, with
    what is peculiar about each, of so many."""
    names = []
    for conversation in conversations:
        name, note = one_line(formats.name(conversation), 40), one_line(conversation.note, 40)
        if conversation.relation is Relation.UNKNOWN:  # a marked one goes along
            note = _("possibly a subagent")
        names.append(f"{name} ({note})" if note else name)
    listed = pgettext("list", ", ").join(names)
    if count > len(names):
        return _(
            "{names} and {count:,} more stay, without their parent",
            names=listed,
            count=count - len(names),
        )
    return ngettext(
        "{names} stays, without its parent",
        "{names} stay, without their parent",
        count,
        names=listed,
    )


class DeleteCard(CountCard):
    """Asks for a key to delete one conversation, for their number to delete several.

    Args:
        plan: The deletion, with the names of its first conversations.
        marks: The tips of those that were marked by hand.
        kept: The first `KEPT` conversations that stay and lose their parent.
        location: Of the store.
    """

    KEYS = DELETING

    def __init__(
        self,
        plan: Plan,
        marks: Collection[str],
        kept: Sequence[Conversation],
        location: Location,
    ) -> None:
        super().__init__(len(plan.selected))
        self._plan, self._marks, self._kept, self._location = plan, marks, kept, location
        # Made where the card is made, on a reading thread: a plan may have 100,000 conversations.
        self._totals, self._doomed = totals_line(plan), self._lines()
        self._warning = long_lock_warning(max(each.rows for each in plan.selected))

    def words(self, count: int) -> CountWords:
        return CountWords(
            ngettext(
                "type {count} to delete it", "type {count} to delete them", count, count=count
            ),
            _("{count} and Enter delete", count=count),
            _("that is not {count} · nothing is deleted", count=count),
        )

    def compose(self) -> ComposeResult:
        count = len(self._plan.selected)
        with Vertical(id="card"):
            yield Static(
                Content.styled(
                    ngettext(
                        "Move 1 conversation to the trash?",
                        "Move {count:,} conversations to the trash?",
                        count,
                        count=count,
                    ),
                    "bold",
                )
            )
            yield Static(Content.styled(self._totals, "$accent"))
            with VerticalScroll(id="doomed", can_focus=False):
                for line in self._doomed:
                    yield Static(line)
            yield Static(Content.styled(self._trash(), "dim"))
            if self._warning:
                yield Static(Content.styled(self._warning, "$warning"))
            if count > 1:
                yield from self.question()
            else:
                yield keys_line(self.keys_text())

    def _trash(self) -> str:
        """Return a sentence on where they go."""
        location = self._location
        if location.host is not None:
            return _("They go to the trash of {name}: u restores them.", name=location.host.name)
        trash = one_line(str(trash_folder(location)), 300)
        if location.demo:
            trash = _("the sample store's trash")
        return _("They go to the trash ({trash}): u restores them, X shows it.", trash=trash)

    def _lines(self) -> list[Content]:
        plan = self._plan
        lines = []
        for each in plan.selected[:NAMED]:
            conversation = each.conversation
            facts = [
                one_line(conversation.source, 20),
                formats.messages(each.own.shown),
                formats.size(each.bytes),
                formats.money(conversation.cost_usd),
            ]
            if along := len(each.subagents):
                text = ngettext(
                    "with 1 subagent ({messages})", "with {count:,} subagents ({messages})", along
                )
                messages = formats.counted(each.of_subagents.shown, "message")
                cost = (
                    formats.money(each.cost_usd) if each.cost_usd != conversation.cost_usd else ""
                )
                facts.append(f"{text.format(count=along, messages=messages)} {cost}".rstrip())
            name = one_line(formats.name(conversation), 36)
            lines.append(
                Content.assemble("  ", name, (f"  {' · '.join(filter(None, facts))}", "dim"))
            )
        lines += and_more(len(plan.selected) - NAMED)
        if plan.reparented:
            kept = _kept(self._kept, len(plan.reparented))
            lines.append(Content.styled(f"  {kept}", "dim"))
        if plan.spared:
            stay = filter(None, (along_line(plan, self._marks), spared_line(plan)))
            lines.append(Content.styled(f"  {' · '.join(stay)}", "$warning"))
            for spared in plan.spared[:SPARED]:
                name = one_line(formats.name(spared.conversation), 42)
                stays, why = "    " + _("kept") + "  ", f"  {one_line(spared.why.words, 300)}"
                lines.append(Content.assemble((stays, "dim"), name, (why, "dim")))
        return lines

    def action_go(self) -> None:
        """Delete a single conversation; several need their number."""
        if len(self._plan.selected) == 1:
            self.dismiss(True)

    def action_scroll(self, lines: int) -> None:
        self.query_one("#doomed", VerticalScroll).scroll_relative(y=lines, animate=False)


class ProgressCard(Card[None]):
    """Shows progress until `finish` is called."""

    KEYS = PROGRESS

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._finished = False
        self.stopped = threading.Event()
        """Set when the user stops the work."""

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield ProgressBar(total=1.0, show_eta=False, id="progress")
            yield Static(_("beginning …"), id="numbers")
            yield Static(
                Content.styled(
                    _("Hermes can write between two portions and while one is being saved."), "dim"
                )
            )
            yield keys_line(
                _("{key} stops; what is done stays done, and can be undone", key=self.key("stop"))
            )

    def show(self, share: float, words: str) -> None:
        """Show progress: a share from 0 to 1, and the same in numbers."""
        if self.is_whole:
            self.query_one(ProgressBar).update(progress=share)
            self.query_one("#numbers", Static).update(words)

    def finish(self) -> None:
        if self.app.screen is self:
            self.dismiss(None)
        else:
            self._finished = True  # another screen is over it: close when that is closed

    def on_screen_resume(self) -> None:
        """Close the card if the work finished while another screen was over it."""
        if self._finished and self.app.screen is self:
            self._finished = False
            self.dismiss(None)

    def action_stop(self) -> None:
        """Stop the work; the portion under way is cancelled if that is still possible."""
        self.stopped.set()
        if self.is_whole:
            self.query_one("#answer", Static).update(Content.styled(_("stopping …"), "$accent"))

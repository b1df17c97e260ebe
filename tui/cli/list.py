"""`list`: a page of conversations, and a count of the hidden ones, of one store or of several."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.stored_values import Json
from hermes_browse.store.hermes.homes import sessions_folder
from hermes_browse.store.sessions.catalog import is_descending, sort_key
from hermes_browse.store.sessions.list_page import ListPage
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import _

from ..text import formats, sentences
from .output import (
    TableColumn,
    conversation_json,
    note,
    print_table,
    store_json,
    title_or_preview,
)
from .parser import ALL_HOSTS, SOURCE, VIEWS, Argument, Count, Flag
from .several import Answers, ManyStoresCommand, place_columns

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.retention import RetentionRules


class _Listed(NamedTuple):
    """What one store has answered."""

    page: ListPage
    rules: RetentionRules | None
    """For JSON."""
    store: Json | None = None
    """The STORE of the JSON contract; None among several."""
    old_files: int = 0


class _Row(NamedTuple):
    place: Json
    conversation: Conversation
    rules: RetentionRules | None


class ListCommand(ManyStoresCommand[_Listed]):
    """List a page of conversations."""

    arguments = (
        Argument("--view", "default chats", choices=VIEWS, default=View.CHATS.value),
        SOURCE,
        Argument("--sort", choices=[sort.value for sort in Sort], default=Sort.ACTIVITY.value),
        Flag("--reverse", "the other way round"),
        Count("--limit", "most rows, 0 for all (default 50)", default=50),
        Count("--offset", "rows to leave out first", default=0),
        Flag("--all-profiles", "of all profiles, as one list"),
        ALL_HOSTS,
    )

    def ask(self, store: OpenStore, now: float) -> _Listed:
        """Read a page of a store; among several all rows that may be in the merged one."""
        given = self.given
        is_one = not (given.all_profiles or given.all_hosts)
        offset = given.offset if is_one else 0
        page = store.list_page(
            now,
            View(given.view),
            sort=Sort(given.sort),
            reverse=given.reverse,
            sources=given.source,
            offset=offset,
            limit=given.limit and given.limit + given.offset - offset,
        )
        rules = store.retention(now) if given.json else None
        if not is_one:
            return _Listed(page, rules)
        summary = store.summary()
        self.remark(*(warning.text for warning in summary.warnings))
        old_files = 0
        if store.location.host is None:
            old_files = store.old_files(sessions_folder(store.location)).files
        return _Listed(page, rules, store_json(summary), old_files)

    def report(self, answers: Answers[_Listed]) -> None:
        rows = _page(answers, self.given)
        counts = {each: sum(one.page.counts[each] for one in answers.values) for each in View}
        hidden = _hidden(counts, View(self.given.view), len(rows))
        old_files = 0 if answers.single is None else answers.single.old_files
        if self.given.json:
            document: Json = {
                "store": answers.single and answers.single.store,
                **answers.facts,
                "view": self.given.view,
                "shown": len(rows),
                "total": counts[View.ALL],
                "hidden": hidden,
                **({} if answers.single is None else {"old_transcripts": old_files}),
                "conversations": [  # of thousands, it takes as long as reading them
                    row.place | conversation_json(row.conversation, row.rules) for row in rows
                ],
            }
            self.print_json(document)
        else:
            print_table([*place_columns(answers), *_COLUMNS], rows)
            words = _shown_line(len(rows), counts[View.ALL], hidden, old_files)
            note(formats.joined(words, answers.summary))


def _page(answers: Answers[_Listed], arguments: SimpleNamespace) -> list[_Row]:
    """Return the rows of all stores in one order."""
    rows = [
        _Row(place, conversation, answer.rules)
        for place, answer in answers.placed
        for conversation in answer.page.conversations
    ]
    if answers.single is not None:
        return rows
    sort = Sort(arguments.sort)
    key, activity = sort_key(sort, {}), sort_key(Sort.ACTIVITY, {})
    rows.sort(key=lambda row: activity(row.conversation), reverse=True)  # of those alike, as in one
    is_reversed = is_descending(sort, reverse=arguments.reverse)
    rows.sort(key=lambda row: key(row.conversation), reverse=is_reversed)
    return rows[arguments.offset : arguments.offset + arguments.limit if arguments.limit else None]


def _hidden(counts: Mapping[View, int], view: View, shown: int) -> dict[str, int]:
    """Count what is not printed, by reason: with the `shown` ones of a view it sums up to all."""
    elsewhere = {
        each.value: 0 if view in (each, View.ALL) else counts[each]
        for each in (View.AUTOMATION, View.ARCHIVED)
    }
    return elsewhere | {"other": counts[View.ALL] - shown - sum(elsewhere.values())}


def _shown_line(shown: int, total: int, hidden: Mapping[str, int], old_files: int) -> str:
    line = _("{count:,} of {total:,} shown", count=shown, total=total)
    counts = {
        _("{count:,} automation"): hidden["automation"],
        _("{count:,} archived"): hidden["archived"],
        _("{count:,} others (subagents, hidden, other sources or pages)"): hidden["other"],
        _("{count:,} old transcripts: --old"): old_files,
    }
    phrases = [phrase.format(count=count) for phrase, count in counts.items() if count]
    return formats.joined(line, *phrases)


def _state(conversation: Conversation) -> str:
    unpinned = "archived" if conversation.archived else conversation.status
    return sentences.status("pinned" if conversation.pinned else unpinned)


def _costs(conversation: Conversation) -> str:
    return formats.own_and_tree(conversation.cost_usd, conversation.tree_cost_usd, formats.dollars)


def _title(conversation: Conversation) -> str:
    title, remark = title_or_preview(conversation), conversation.note
    return _("{name} ({note})", name=title, note=remark) if remark else title


_COLUMNS = [
    TableColumn("last active", "conversation.last_active", dropped=5, form=formats.timestamp),
    TableColumn("status", "conversation", dropped=3, form=_state),
    TableColumn("source", "conversation.source", dropped=2),
    TableColumn("msgs", "conversation.message_count", right=True, dropped=4, form=formats.number),
    TableColumn("cost", "conversation", right=True, dropped=1, form=_costs),
    TableColumn("title", "conversation", is_flexible=True, form=_title),
    TableColumn("id", "conversation.id"),
]

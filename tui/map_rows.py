"""The space map as rows: sources, jobs, conversations, and what each of them is made of."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from hermes_browse.store.wording import N_, _

from . import formats
from .clean_rows import KindRow, SpaceRow
from .rows import ListRow, NoteRow

if TYPE_CHECKING:
    from hermes_browse.store.prune.spacemap import Space, SpaceMap
    from hermes_browse.store.sessions.catalog import Catalog

    from .list_model import Details

_MOST_BELOW = 100
"""Conversations shown of one source or job: the biggest."""
_KINDS = (
    (N_("tool output"), "tool_output"),
    (N_("said"), "text"),
    (N_("tool calls"), "tool_calls"),
    (N_("reasoning"), "reasoning"),
    (N_("images"), "images"),
    (N_("system prompts"), "prompts"),
    (N_("search index, estimated"), "search"),
)


def freed_sums(space_map: SpaceMap, freed: Mapping[str, int]) -> dict[str, int]:
    """Bytes that go of each line of the map, by its place there; lines of which nothing goes are missing.

    Looks at every conversation of the map: not for the screen's thread.

    Args:
        space_map: Any.
        freed: By the tip of each conversation.
    """
    found: dict[str, int] = {}

    def add(space: Space, depth: int) -> int:
        if space.level == "conversation":
            size = freed.get(space.name, 0)
        else:
            size = sum(add(each, depth + 1) for each in space.below)
        if size:
            found[SpaceRow.key_of(space, depth)] = size
        return size

    for source in space_map.sources:
        add(source, 0)
    return found


def below(space: Space) -> Iterator[Space]:
    """The conversations of a line of the map."""
    if space.level == "conversation":
        yield space
    for each in space.below:
        yield from below(each)


def space_rows(
    space_map: SpaceMap, sums: Mapping[str, int], catalog: Catalog, details: Details, opened: Container[str]
) -> list[ListRow]:
    """The map line by line: sources, and of what is open its kinds of content, jobs and conversations.

    Args:
        space_map: Any.
        sums: Bytes that go of each line, from `freed_sums`.
        catalog: For names.
        details: Previews read so far.
        opened: Keys of rows that are open.
    """

    def name_of(space: Space) -> str:
        if space.level != "conversation":
            count = (
                f" · {space.conversations:,}"
                if space.level == "source"
                else f" · {formats.counted(space.conversations, 'run')}"
            )
            return f"{formats.source(space.name) if space.level == 'source' else space.name}{count}"
        conversation = catalog.of_session(space.name)
        return formats.name(details.complete(conversation)[0]) if conversation is not None else space.name

    rows: list[ListRow] = []
    whole = space_map.total.total

    def add(space: Space, depth: int) -> None:
        key = SpaceRow.key_of(space, depth)
        is_open = key in opened
        rows.append(SpaceRow(space, depth, is_open, whole, sums.get(key, 0), name_of(space)))
        if not is_open:
            return
        kinds = [(name, getattr(space.sizes, field)) for name, field in _KINDS]
        rows.extend(KindRow(_(name), size, whole, depth + 1, key) for name, size in kinds if size)
        if not space.below and not space.sizes.total:
            rows.append(NoteRow(f"{'  ' * (depth + 1)}  {_('nothing in it')}"))
        for each in space.below[:_MOST_BELOW]:
            add(each, depth + 1)
        if len(space.below) > _MOST_BELOW:
            more = len(space.below) - _MOST_BELOW
            told = _("… and {count:,} smaller ones").format(count=more)
            rows.append(NoteRow(f"{'  ' * (depth + 1)}  {told}"))

    for source in space_map.sources:
        add(source, 0)
    return rows or [NoteRow(_("This store has no sessions."))]

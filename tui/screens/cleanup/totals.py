"""The lines below a plan: what goes, what stays, and the file before and after."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from hermes_browse.store.cleanup.sizes import FileSpace, SpaceMap
from hermes_browse.store.wording import _

from ...text import formats
from .plan_view import PlanView


def what_goes(view: PlanView | None, space: SpaceMap | None, *, is_old: bool) -> Content:
    """Say what a plan deletes; `is_old` if another plan is being made."""
    if view is None:
        return Content("")
    totals = view.totals
    if not totals.conversations:
        return Content.styled(" " + _("nothing to clean up"), "dim")
    parts = [formats.counted(totals.conversations, "conversation")]
    if space is not None and space.total >= totals.bytes > 0:  # else it was deleted by now
        parts.append(_("{share:.0%} of the store", share=totals.bytes / space.total))
    line = Content(f" ✓ {' · '.join([*parts, view.sentence])}")
    return line.stylize("dim") if is_old else line.stylize("bold $accent", 0, len(parts[0]) + 3)


def before_and_after(
    name: str, file: FileSpace, goes: int, given_back: int, width: int, signs: str = "██░"
) -> Content:
    """Draw the file as a bar of what stays, what goes and what is free already, then its sizes as
    far as they fit.

    `goes` are the bytes that the plan frees for new rows at once, `given_back` those by which the
    file shrinks after that; `width` is in cells; the parts are filled with `signs`.
    """
    whole = max(file.file_bytes, 1)
    size = max(min(width // 5, 40), 8)
    free = min(round(file.free_bytes / whole * size), size)
    freed = min(max(round(goes / whole * size), 1 if goes else 0), size - free)
    parts = [(f" {name} {formats.size(file.file_bytes)} ", "")]
    counts, looks = (size - freed - free, freed, free), ("$secondary-muted", "$warning", "dim")
    parts += [(sign * count, look) for sign, count, look in zip(signs, counts, looks, strict=True)]
    room = width - 1 - sum(cell_len(text) for text, _look in parts)
    words = _sizes(file, goes, given_back)
    while words and cell_len(" · ".join(words)) > room:
        words.pop()
    return Content.assemble(*parts, (f" {' · '.join(words)}", "dim"))


def _sizes(file: FileSpace, goes: int, given_back: int) -> list[str]:
    words = []
    if goes:
        words.append(_("{size} freed at once", size=formats.size(goes)))
    if file.free_bytes:
        words.append(_("{size} free already", size=formats.size(file.free_bytes)))
    if file.shrinks_itself:
        words.append(_("the file gets smaller by itself"))
    elif given_back or file.free_bytes:
        returned = formats.size(given_back + file.free_bytes)
        words.append(_("v shrinks the file by {size}", size=returned))
    if file.wal_bytes:
        words.append(_("log {size}", size=formats.size(file.wal_bytes)))
    return words


def file_line(
    name: str, space: SpaceMap, view: PlanView | None, width: int, *, no_color: bool
) -> Content:
    """Draw the file before and after a plan, if there is one; `name` is printable, `width` in
    cells."""
    used = space.file.file_bytes - space.file.free_bytes
    freed = given_back = 0
    if view is not None:
        freed = min(view.totals.free_bytes, used)
        given_back = min(view.totals.given_back_bytes, used)
    signs = "░█·" if no_color else "██░"
    return before_and_after(name, space.file, freed, given_back, width, signs)

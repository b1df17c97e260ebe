"""The lines below a plan: what goes, what stays, and the file before and after."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from hermes_browse.store.cleanup.space_map import FileSpace, SpaceMap
from hermes_browse.store.wording import _

from .. import formats
from ..shared.lines import TextLine
from .plan_view import PlanView


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
    words = []
    if goes:
        words.append(_("{size} freed at once").format(size=formats.size(goes)))
    if file.free_bytes:
        words.append(_("{size} free already").format(size=formats.size(file.free_bytes)))
    if file.shrinks_itself:
        words.append(_("the file gets smaller by itself"))
    elif given_back or file.free_bytes:
        returned = formats.size(given_back + file.free_bytes)
        words.append(_("v shrinks the file by {size}").format(size=returned))
    if file.wal_bytes:
        words.append(_("log {size}").format(size=formats.size(file.wal_bytes)))
    used = sum(cell_len(text) for text, _look in parts) + 1
    text = ""
    for each in words:
        longer = f"{text} · {each}" if text else each
        if used + cell_len(longer) > width:
            break
        text = longer
    return Content.assemble(*parts, (f" {text}", "dim"))


class TotalLines(Vertical):
    """What a plan does, in numbers; `name` is that of the file, printable."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._file_name = name

    def compose(self) -> ComposeResult:
        yield TextLine(id="totals")
        yield TextLine(id="stays")
        yield TextLine(id="file")

    def show(self, view: PlanView | None, space: SpaceMap | None, *, is_old: bool) -> None:
        """Show a plan, and the file as far as it was measured.

        Args:
            is_old: The plan is that of the rules before.
        """
        goes = Content("")
        if view is not None and not view.goes:
            goes = Content.styled(" " + _("nothing to clean up"), "dim")
        elif view is not None:
            count = formats.counted(view.goes, "conversation")
            parts = [view.totals]
            if space is not None and space.total >= view.bytes > 0:  # else it was deleted by now
                share = _("{share:.0%} of the store").format(share=view.bytes / space.total)
                parts.insert(0, share)
            goes = Content.assemble((f" ✓ {count}", "bold $accent"), f" · {' · '.join(parts)}")
            if is_old:
                goes = Content.styled(goes.plain, "dim")
        self.query_one("#totals", TextLine).update(goes)
        stays = Content.styled(f" {view.stays if view is not None else ''}", "dim")
        self.query_one("#stays", TextLine).update(stays)
        if space is None:
            return
        file = space.file
        used = file.file_bytes - file.free_bytes
        freed = min(view.free_bytes if view is not None else 0, used)
        given_back = min(view.given_back_bytes if view is not None else 0, used)
        signs = "░█·" if self.app.no_color else "██░"
        width = self.screen.size.width
        text = before_and_after(self._file_name, file, freed, given_back, width, signs)
        self.query_one("#file", TextLine).update(text)

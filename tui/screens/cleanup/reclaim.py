"""Make the file smaller with `hermes sessions optimize`: the card that says what it needs, and the
run."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import Any, NamedTuple

from textual.app import ComposeResult, SuspendNotSupported
from textual.screen import Screen

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import FileSpace
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hermes.resume_command import find_hermes, hermes_word
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ...browser.main import MainScreen
from ...settings.keys.screen_commands import RECLAIM
from ...terminal.programs import how_it_ended
from ...text import formats
from ...widgets.card import Card, styled


class Reclaim(NamedTuple):
    """The command, and the facts on the card."""

    argv: tuple[str, ...]
    home: str
    executable: str | None
    file: FileSpace
    disk_free: int
    """Bytes free on the disk of the store."""

    @property
    def shell(self) -> str:
        return f"HERMES_HOME={shlex.quote(self.home)} {shlex.join(self.argv)}"

    @property
    def needed(self) -> int:
        """The most bytes that it takes on the disk: VACUUM writes a copy, in WAL mode twice
        (https://sqlite.org/lang_vacuum.html)."""
        return 2 * (self.file.file_bytes - self.file.free_bytes)


class ReclaimCard(Card[bool]):
    """Says what `hermes sessions optimize` does before it runs."""

    KEYS = RECLAIM

    def __init__(self, reclaim: Reclaim) -> None:
        super().__init__()
        self._reclaim = reclaim

    def content(self) -> ComposeResult:
        reclaim = self._reclaim
        file = reclaim.file
        yield styled(_("Shrink the file"), "bold")
        gained = _(
            "{free} of {size} are free inside the file",
            free=formats.size(file.free_bytes),
            size=formats.size(file.file_bytes),
        )
        yield styled(gained, "$accent")
        merges = _(
            "Hermes merges its search index and rewrites the whole file without the free part."
        )
        needed = _(
            "It needs up to {needed} beside it while it runs; {free} are free on that disk.",
            needed=formats.size(reclaim.needed),
            free=formats.size(reclaim.disk_free),
        )
        alone = _(
            "No other program can write while it runs, which takes minutes on a large store, so stop the "
            "gateway first. Since 0.22 Hermes refuses while another process has the file open; this "
            "program closes it before."
        )
        for text in (merges, needed, alone):
            yield styled(text, "dim", classes="paragraph")
        if reclaim.disk_free < reclaim.needed:
            yield styled("! " + _("there may not be enough room"), "$warning")
        if reclaim.executable is None:
            warning = _("there is no hermes on PATH or in ~/.local/bin: copy the command")
            yield styled(f"! {warning}", "$warning")
        yield styled(printable(reclaim.shell), "dim", id="command")

    def keys_text(self) -> str:
        return self.named_keys(without=("run",) if self._reclaim.executable is None else ())

    def action_go(self) -> None:
        if self._reclaim.executable is not None:
            self.dismiss(True)

    def action_copy(self) -> None:
        self.copy(self._reclaim.shell)


def open_reclaim(main: MainScreen) -> None:
    """Read the sizes of the file, then open the card."""
    location = main.location
    if location.demo:
        main.say(_("this is the sample store: in your own one, v makes the file smaller"))
    else:
        main.start("file", _open_card, main, location, main.app.screen)


async def _open_card(main: MainScreen, location: Location, over: Screen[Any]) -> None:
    location.refuse_without_home()

    def measure(store: OpenStore) -> Reclaim:
        executable = find_hermes()
        return Reclaim(
            argv=(
                hermes_word(executable),
                "-p",
                location.profile or "default",
                "sessions",
                "optimize",
            ),
            home=str(location.root),
            executable=executable,
            file=store.file_space(),
            disk_free=shutil.disk_usage(location.path.parent).free,
        )

    reclaim = await main.read(measure)
    if await main.ask(ReclaimCard(reclaim), over):
        _run(main, reclaim)


def _run(main: MainScreen, reclaim: Reclaim) -> None:
    """Run Hermes, and report the outcome.

    Raises:
        BrowseError: A change is under way, or it cannot be started.
    """
    assert reclaim.executable is not None
    before = main.store.sizes()[0]
    command = [reclaim.executable, *reclaim.argv[1:]]
    environment = {**os.environ, "HERMES_HOME": reclaim.home}
    try:
        code = main.app.run_hermes(command, environment, is_shown=True)
    except SuspendNotSupported:
        main.warn(_("This terminal cannot be lent to Hermes and taken back."))
        return
    # Before 0.22 Hermes always ends with 0, so the size of the file is reported.
    sizes = _(
        "size of the file: {before} before, {after} now",
        after=formats.size(main.store.sizes()[0]),
        before=formats.size(before),
    )
    main.say(_("hermes {ended}: {told}", ended=how_it_ended(code), told=sizes) if code else sizes)
    main.listing.read()

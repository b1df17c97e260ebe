"""Profiles and hosts: the card of both, and all their conversations as one list.

Profiles are shown at once. Each host is asked on a thread of its own, and its rows come when it
answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from textual import on
from textual.content import Content
from textual.timer import Timer
from textual.widgets import OptionList

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Links
from hermes_browse.store.hosts.remote import store_at
from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..list.conversation_list import ConversationList
from ..list.list_rows import ListRow
from ..screens.controllers import Controllers
from ..shared.lines import Paragraph
from .asking import (
    AGAIN_SECONDS,
    Asking,
    HostListing,
    complete_there,
    list_there,
    on_own_thread,
    search_there,
)
from .everywhere import EverywhereScreen
from .profile_rows import AwayRow, FoundRow, Preview, preview, read_preview_of
from .profiles_card import ProfilesCard
from .read_profiles import AllProfiles, FoundHits, Profile, ProfileMatch, newest_first

_TOGETHER = 0.05
"""Seconds in which answers of several hosts are shown together."""


def _hosts(count: int) -> str:
    return ngettext("1 host", "{count:,} hosts", count).format(count=count)


def _names(names: Sequence[str]) -> str:
    """Return names of hosts, as many as a line takes."""
    shown = ", ".join(f"@{each}" for each in names[:3])
    return (
        shown
        if len(names) <= 3
        else _("{names} and {count:,} more").format(names=shown, count=len(names) - 3)
    )


class HostsCard(ProfilesCard):
    """The card of profiles and hosts."""

    TITLE_OF_CARD = N_("Profiles and hosts")
    ALL = N_("everything as one list")

    def __init__(
        self,
        profiles: Sequence[Profile],
        current: Location,
        now: float,
        hosts: Sequence[Host],
        links: Links,
    ) -> None:
        super().__init__(profiles, current, now)
        self._hosts = hosts
        self._asking: Asking[HostListing] = Asking(
            links, hosts, lambda: now, partial(self.run_worker, group="ask"), self._answered
        )

    def on_mount(self) -> None:
        """Ask the hosts; Textual calls the inherited handler, which fills the list, as well."""
        self._asking.ask(partial(list_there, view=View.ALL, limit=1))
        self.set_interval(AGAIN_SECONDS, self._asking.again)

    def keys_told(self) -> str:
        """Describe the keys, with this card's own text for the key that shows everything."""
        key = self.key("all")
        return self.keys_text(
            _("Enter open"), *([f"{key} {_(self.ALL)}"] if key else []), without=("all",)
        )

    def choices(self) -> Sequence[Profile | Host]:
        """Return profiles, then hosts."""
        return [*self.profiles, *self._hosts]

    def lines(self) -> list[Content]:
        """Return a line for each profile, then for each host."""
        return [*super().lines(), *map(self._line_of_host, self._hosts)]

    def sessions(self) -> int:
        """Return how many sessions there are in all that have been heard of."""
        return super().sessions() + sum(each.sessions for each in self._asking.answers.values())

    def _line_of_host(self, host: Host) -> Content:
        mark = self.mark(host)
        name = formats.fit(f"@{host.name}", 18)
        if (listing := self._asking.answers.get(host.name)) is not None:
            newest = listing.found[0].conversation.last_active if listing.found else None
            return Content.assemble(
                mark, (name, "bold"), (self.figures(listing.sessions, listing.bytes, newest), "dim")
            )
        if host.name in self._asking.away:
            return Content.assemble(mark, (name, ""), (self._asking.reason(host), "$error"))
        return Content.assemble(mark, (name, ""), (_("asking …"), "dim"))

    def _answered(self) -> None:
        if not self.is_whole:
            return
        box = self.query_one(OptionList)
        for index, line in enumerate([*self.lines(), self.last_line()]):
            box.replace_option_prompt_at_index(index, line)


class HostsScreen(EverywhereScreen):
    """The list of all profiles and hosts."""

    HELP_TITLE = N_("All profiles and hosts")
    NAME = N_("all profiles and hosts")
    PLACEHOLDER = N_("search all profiles and hosts")
    PLACE = N_("where")

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._links, hosts = self.context.host.links, self.context.options.hosts
        run = partial(self.run_worker, group="ask")
        self._lists: Asking[HostListing] = Asking(
            self._links, hosts, self.context.clock, run, self._answered
        )
        self._searches: Asking[FoundHits] = Asking(
            self._links, hosts, self.context.clock, run, self._answered
        )
        self._stores: dict[Path, Store] = {}
        self._soon: Timer | None = None
        self._is_about_host = False
        self._newer: set[str] = set()
        """Keys of rows that have come above the view and have not been on screen since."""

    def on_mount(self) -> None:
        """Ask those that are away from time to time; Textual calls the inherited handler as
        well."""
        self.set_interval(AGAIN_SECONDS, self._ask_again)

    @property
    def is_pending(self) -> bool:
        """Whether something is being read, or answers are about to be shown."""
        return super().is_pending or self._soon is not None

    @property
    def _asking(self) -> Asking[HostListing] | Asking[FoundHits]:
        return self._searches if self.is_searching else self._lists

    # Asking

    def action_reload(self) -> None:
        """Read all profiles, and ask all hosts."""
        self._lists.ask(partial(list_there, view=self.view))
        if self.context.host.here.root is None:
            self.everywhere = AllProfiles((), (), ())
            self.begin()
            self.show()
        super().action_reload()

    def show(self) -> None:
        """Ask the hosts at once if there is something to search for, and show or search the
        profiles."""
        if self.is_searching:
            known = {name: each.found for name, each in self._lists.answers.items()}
            self._searches.ask(partial(search_there, text=self.asked, known=known))
        else:
            self._searches.stop()
        super().show()

    def _ask_again(self) -> None:
        self._lists.again()
        self._searches.again()

    def _answered(self) -> None:
        if self._soon is None:
            self._soon = self.set_timer(_TOGETHER, self._show_answers)

    def _show_answers(self) -> None:
        self._soon = None
        if not self.is_whole:
            return
        self.show_rows()
        if self.is_searching and not self._is_about_host:
            self.tell_hits()

    # What is shown

    def begin(self) -> None:
        """Expect other rows, of which none is newer than what was there."""
        super().begin()
        self._newer.clear()

    def show_rows(self) -> None:
        """Show what is known; rows that come above the view are counted, as nothing else shows
        them."""
        known = {row.key for row in self._rows}
        super().show_rows()
        above = self._rows[: self.found.scroll_offset.y]
        news = {row.key for row in above if isinstance(row, FoundRow) and row.key not in known}
        if known and news:
            self._count_newer(self._newer | news)

    @on(ConversationList.Shown)
    def newer_shown(self, event: ConversationList.Shown) -> None:
        """Count only what is still above the view; Textual calls the inherited handler as well."""
        if self._newer:
            self._count_newer(self._newer & {row.key for row in self._rows[: event.first]})

    def _count_newer(self, newer: set[str]) -> None:
        """Say how many there are, if that has changed."""
        before, self._newer = self._newer, newer
        if len(before) == len(newer) or self._is_about_host:
            return
        if not self.is_searching:
            self.tell_keys()
        elif self.answer is not None or self._searches.answers:
            self.tell_hits()

    def _newer_words(self) -> str:
        """Return how many rows have come above the view, and the key that shows them; empty if none
        has."""
        count = len(self._newer)
        return (
            ngettext("1 newer above · g", "{count:,} newer above · g", count).format(count=count)
            if count
            else ""
        )

    def found_here(self) -> Sequence[ProfileMatch]:
        """Return the conversations, or the hits, of the profiles and of the hosts that have
        answered."""
        here, elsewhere = (
            super().found_here(),
            [each.found for each in self._asking.answers.values()],
        )
        return newest_first(chain(here, *elsewhere)) if elsewhere else here

    def notes(self) -> list[ListRow]:
        """Return the sentences above the rows, and a line for each host that is away."""
        asking = self._asking
        away = [
            AwayRow(host, asking.reason(host)) for host in asking.hosts if host.name in asking.away
        ]
        return [*super().notes(), *away]

    def empty(self) -> str:
        """Return the sentence instead of rows."""
        if self._asking.waiting:
            return _("asking {hosts} …").format(hosts=_names(self._asking.names_waiting))
        if self.is_reading or (self.is_searching and self.answer is None):
            return ""
        if self.is_searching:
            return _("nothing like this in any profile or on any host")
        return super().empty()

    def summary(self) -> str:
        """Return what the list covers, for the header; what is missing comes first, for narrow
        terminals."""
        everywhere, lists = self.everywhere or AllProfiles((), (), ()), self._lists
        found = [
            *everywhere.found,
            *chain.from_iterable(each.found for each in lists.answers.values()),
        ]
        total = everywhere.conversations + sum(each.total for each in lists.answers.values())
        asking, without = _("asking {hosts} …"), _("without {hosts}")
        part = _("{count:,} of {total:,} of @{host}")
        parts = [
            _("{count:,} {view}").format(count=len(found), view=_(self.view.value)),
            asking.format(hosts=_names(lists.names_waiting)) if lists.waiting else "",
            without.format(hosts=_names(list(lists.away))) if lists.away else "",
            _("{count:,} cannot be read").format(count=len(everywhere.broken))
            if everywhere.broken
            else "",
            *(
                part.format(count=len(each.found), total=each.total, host=name)
                for name, each in lists.answers.items()
                if each.is_part
            ),
            _("{conversations} in {profiles} and {hosts}").format(
                conversations=formats.counted(total, "conversation"),
                profiles=formats.counted(len(everywhere.catalogs), "profile"),
                hosts=_hosts(len(lists.answers)),
            ),
        ]
        return " · ".join(filter(None, parts))

    def tell_hits(self) -> None:
        """Say in the status line what was found, and how many hosts have answered."""
        searches, answer, found = self._searches, self.answer, self.found_here()
        answers = [*([] if answer is None else [answer]), *searches.answers.values()]
        hits = f"{len(found):,}{'+' if any(each.more for each in answers) else ''}"
        answered = _("{answered:,} of {hosts} have answered").format(
            answered=len(searches.answers), hosts=_hosts(len(searches.hosts))
        )
        without = (
            _("without {hosts}").format(hosts=_names(list(searches.away))) if searches.away else ""
        )
        here = _("searching the profiles …") if answer is None else ""
        count = ngettext("1 hit", "{count} hits", len(found)).format(count=hits)
        notes = chain.from_iterable(each.notes for each in answers)
        self.tell_parts(self._newer_words(), count, here, answered, without, *notes)

    def tell_keys(self) -> None:
        """Say in the status line what can be done with a conversation."""
        keys = _("Enter resumes it where it is · o opens it there · / searches all")
        self.say(
            self._newer_words() or keys
        )  # both need a second line at 80 columns, and the list would jump

    # The row under the cursor

    @on(ConversationList.Highlighted, "#found")
    def host_highlighted(self, event: ConversationList.Highlighted) -> None:
        """Say in the status line what to do about a host that is away."""
        if isinstance(event.row, AwayRow):
            self._is_about_host = True
            more = _("`hermes-browse hosts check {name}` says more").format(
                name=event.row.host.name
            )
            self.tell_parts(_("Enter asks it again"), more, self._remedy(event.row))
        elif self._is_about_host:
            self._is_about_host = False
            (self.tell_hits if self.is_searching else self.tell_keys)()

    def _remedy(self, row: AwayRow) -> str:
        error = self._asking.away.get(row.host.name)
        mend = (
            error.mend
            if isinstance(error, HostError)
            else error.remedy
            if error is not None
            else ""
        )
        return one_line(mend, 300)

    def about(self, row: ListRow | None) -> Content:
        """Return why a host is away, and what to do about it."""
        if not isinstance(row, AwayRow):
            return super().about(row)
        again = _("It is asked again every {seconds:.0f} seconds; Enter asks it now.").format(
            seconds=AGAIN_SECONDS
        )
        parts = [
            Content.styled(f"@{row.host.name}", "bold"),
            Content.styled(row.reason, "$error"),
            Content(self._remedy(row)),
            Content(_("`hermes-browse hosts check {name}` says more.").format(name=row.host.name)),
            Content.styled(again, "dim"),
        ]
        return Content("\n\n").join(part for part in parts if str(part))

    def action_resume(self) -> None:
        """Resume the current conversation where it is; ask a host again that is away."""
        row = self.found.current
        if isinstance(row, AwayRow):
            self.tell_parts(_("asking {hosts} …").format(hosts=_names([row.host.name])))
            self._asking.again(row.host)
        else:
            super().action_resume()

    def open_there(self, found: ProfileMatch) -> None:
        """Open a conversation where it is; one of which only the id is known is read first."""
        if found.location.host is None or found.conversation.rows is not None:
            super().open_there(found)
            return

        async def run() -> None:
            work = partial(complete_there, self._store_of(found), [found], self.context.clock())
            read = await on_own_thread(work, "open")
            self.controllers.switching.open(
                found._replace(conversation=read.get(found.place, found.conversation))
            )

        self.run_worker(run(), group="open", exclusive=True)

    def reading(self, found: ProfileMatch) -> None:
        """Say that a host is asked for the preview."""
        if found.location.host is not None:
            note = _("asking {hosts} …").format(hosts=_names([found.location.host.name]))
            self.query_one("#preview", Paragraph).update(
                preview(Preview(found, note=note), self.context.clock())
            )

    async def read_preview(self, found: ProfileMatch) -> Preview:
        """Read the preview of a row, there if it is of a host."""
        host = found.location.host
        if host is None:
            return await super().read_preview(found)
        leases: list[OpenStore] = []
        work = partial(read_preview_of, found, self._store_of(found), leases.append)
        try:
            return await on_own_thread(work, f"preview {host.name}")
        except asyncio.CancelledError:
            for lease in leases:
                lease.interrupt()  # the cursor has moved on
            raise

    def _store_of(self, found: ProfileMatch) -> Store:
        """Return its store; it is kept, as what it knows of the schema takes ten questions."""
        return self._stores.setdefault(found.location.path, store_at(found.location, self._links))

    def complete(self, lacking: Sequence[ProfileMatch]) -> None:
        """Read previews and counts of conversations on screen, those of each host there."""
        by_host = {
            host: [each for each in lacking if each.location.host == host]
            for host in self._lists.hosts
        }
        if here := [each for each in lacking if each.location.host is None]:
            super().complete(here)
        for host, found in by_host.items():
            if found:
                work = partial(
                    complete_there, self._store_of(found[0]), found, self.context.clock()
                )
                self.fill_in(partial(on_own_thread, work, f"names {host.name}"))

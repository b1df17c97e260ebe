"""One-line texts of the main screen as `Content`: titles, views, status."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.places import id_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Lineage, Status, View
from hermes_browse.store.since import Attention
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext, pgettext

from ..text import formats
from ..text.formats import clip
from .list.views import view_labels


def _style(text: str, style: str) -> Content:
    return Content.styled(text, style) if text else Content("")


def store_name(location: Location) -> str:
    return one_line(location.name, 30)


def title(location: Location, attention: str, shown: str, width: int) -> Content:
    """Build the title: program, store, what asks for attention, and the counts of shown and hidden
    conversations, of which the last are left out where there is no room."""
    left = " hermes-browse  "
    name = store_name(location)
    asks = f"  {attention}" if attention else ""
    room = width - cell_len(left) - cell_len(name) - cell_len(asks) - 1
    shown = formats.fitting(shown, room - 2)
    click = Style.from_meta({"@click": "screen.do(\"show_screen('since')\")"})
    return Content.assemble(
        (left, "bold"),
        (name, "$accent"),
        _style(asks, "bold $accent").stylize(click),
        " " * max(room - cell_len(shown), 2),
        (shown, "dim"),
    )


def attention(found: Attention) -> str:
    """Return what asks for attention, with the key that shows it; empty if nothing does."""
    waiting, failed, new = len(found.waiting), found.failures, len(found.unread)
    facts = {
        ngettext("{count:,} waits", "{count:,} wait", waiting, count=waiting): waiting,
        ngettext("{count:,} job failed", "{count:,} jobs failed", failed, count=failed): failed,
        _("{count:,} new", count=new): new,
    }
    shown = [fact for fact, count in facts.items() if count]
    return f"A {' · '.join(shown)}" if shown else ""


def marked(count: int, messages: int) -> str:
    return _("✓ {count:,} marked · {messages}", count=count, messages=formats.messages(messages))


def views(
    catalog: Catalog, view: View | None, suffix: str, old: int, width: int, look: str = "dim"
) -> Content:
    """Build the line of views with their counts, which ends with a suffix of a look; the other
    arguments are those of `view_labels`."""
    parts: list[Content] = [Content(" ")]
    calls = [*(f"show_view('{each.value}')" for each in View), "show_screen('old')"]
    labels = view_labels(catalog, view, suffix, width, old)
    for (label, is_current), call in zip(labels, calls, strict=False):
        click = Style.from_meta({"@click": f"screen.do({call!r})"})
        label_look = "bold reverse" if is_current else "dim"
        parts += [_style(f" {label} ", label_look).stylize(click), Content(" ")]
    return Content("").join([*parts, _style(f"  {suffix}", look)])


def offers(choices: Sequence[str], width: int) -> Content:
    """Build the line of completions, as many as fit."""
    key = _("Tab takes") + " "
    parts, left = [Content.assemble("  ", (key, "dim"))], width - cell_len(key) - 3
    for number, choice in enumerate(choices):
        label = one_line(choice, 60).strip()
        left -= cell_len(label) + 2
        if left < 0:
            break
        parts += [_style(label, "bold $accent" if number == 0 else "dim"), Content("  ")]
    return Content("").join(parts)


def status(text: str, state: str, *, look: str = "dim") -> Content:
    """Build the status line: a sentence, and the state of writers; `look` is empty for the answer
    to a key."""
    between = " │ " if text and state else ""
    return Content.assemble((one_line(text, 400), look), (between + one_line(state, 200), "dim"))


def writers(text: str, writing: str, width: int) -> str:
    """Return who writes if there is room for it in the line of a sentence, else nothing: it is not
    worth a line of its own."""
    return writing if cell_len(text) + cell_len(writing) + len("  │  ") <= width else ""


def failure(text: str) -> Content:
    return Content.styled(one_line(text, 400), "$error")


_TITLE = 32
"""Cells of a title that facts beside it leave free."""


def conversation_title(conversation: Conversation, width: int) -> Content:
    """Build the title of the transcript: name, source, model, number of messages."""
    model = one_line((conversation.model or "").rpartition("/")[2], 30)
    about = "~" if conversation.rows is None else ""
    messages = about + formats.messages(conversation.message_count)
    facts = [fact for fact in (one_line(conversation.source, 20), model, messages) if fact]
    name = one_line(formats.name(conversation), 300)
    wanted = min(cell_len(name), _TITLE)
    while facts and width - 5 - cell_len(" · ".join(facts)) < wanted:
        del facts[0]
    right = " · ".join(facts)
    name = clip(name, max(width - cell_len(right) - 5, 10))
    space = max(width - cell_len(name) - cell_len(right) - 3, 1)
    return Content.assemble("  ", (name, "bold"), " " * space, (right, "dim"))


def conversation_facts(
    conversation: Conversation, reading: Reading, width: int, here: str = ""
) -> Content:
    """Build the facts line: what the model saw at a message, state, resume target, directory,
    branch, tokens, cost."""
    state = formats.status(conversation.status)
    if conversation.status is Status.ENDED:
        state = formats.end_reason(conversation.tip.end_reason) or state
    count, total = len(conversation.segments), conversation.tokens.total
    readings = {
        Reading.SAID: "",
        Reading.LIVE: _("what the model still sees"),
        Reading.EVERYTHING: pgettext("reading", "everything"),
    }
    resumes = _(
        "resumes …{id} (newest of {count} parts)", id=id_of(conversation.id)[-6:], count=count
    )
    facts = formats.joined(
        here,
        readings[reading],
        one_line(conversation.note, 60),
        state,
        _("archived") if conversation.archived else "",
        _("pinned") if conversation.pinned else "",
        formats.hashtags(conversation.tags),
        resumes if count > 1 else "",
        one_line(conversation.cwd or "", 60),
        one_line(conversation.git_branch or "", 30),
        _("{count} tok", count=formats.number(total)) if total else "",
        formats.costs(conversation),
    )
    return Content.assemble("  ", (clip(facts, width - 3), "dim"))


def lineage_title(lineage: Lineage, compactions: int) -> Content:
    """Build the title of the tree: its size, and a warning if Hermes would resume another
    session."""
    count = len(lineage.nodes)
    label = "  " + ngettext("Lineage · 1 session", "Lineage · {count} sessions", count, count=count)
    if lineage.predicted != lineage.resume.id:
        warning = "  " + _("Hermes would open {id} instead", id=one_line(lineage.predicted, 60))
        return Content.assemble((label, "bold"), (warning, "$warning"))
    is_chain = sum(node.on_path for node in lineage.nodes) > 1
    facts = f" · {lineage.resume.reason}" if is_chain else ""
    cost = formats.money(lineage.nodes[0].tree_cost_usd) if count > 1 else ""
    facts += " · " + _("{cost} in all", cost=cost) if cost else ""
    if compactions:
        facts += " · " + ngettext(
            "compressed once", "compressed {count:,} times", compactions, count=compactions
        )
    return Content.assemble((label, "bold"), (facts, "dim"))

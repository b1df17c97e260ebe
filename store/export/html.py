"""Conversations as one HTML file that needs nothing else: read, searched and folded from disk, without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from ..text import one_line
from ..wording import _, language
from .commonmark import is_closed, split_fences
from .page import STYLE, policy, script, theme_words
from .source import Day, Seam, Source, Telling, day_name, laid_out, local_time, speaker, state_word

_HINT = 100
_INLINE = re.compile(r"`([^`\n]{1,400})`|\*\*((?:[^*`\n]|`[^`\n]{1,400}`){1,400}+)\*\*")


def _inline(match: re.Match[str]) -> str:
    if match[1] is not None:
        return f"<code>{match[1]}</code>"
    return f"<strong>{_INLINE.sub(_inline, match[2])}</strong>"


def _prose(text: str) -> str:
    """Escaped text with its inline code and bold words; white space is kept by the style sheet."""
    return _INLINE.sub(_inline, escape(text))


def _said(text: str) -> str:
    """What was said: code blocks as such, the rest as it was written."""
    found: list[str] = []
    for fence, block in split_fences(text):
        if not fence:
            said = "\n".join(block).strip("\n")
            if said:
                found.append(f'<div class="said">{_prose(said)}</div>')  # not shown
        else:
            code = block[1:-1] if is_closed(fence, block) else block[1:]
            found.append(_pre("\n".join(code)))
    return "\n".join(found)


def _pre(text: str) -> str:
    # A line end right after the tag is not part of the text (HTML, "pre"): one more, and none is lost.
    return f"<pre><code>\n{escape(text)}</code></pre>"


def _fold(kind: str, summary: str, body: str) -> str:
    return f'<details class="{kind}"><summary>{escape(summary)}</summary>\n{body}\n</details>'  # not shown


def _time(telling: Telling) -> str:
    moment = local_time(telling.message.timestamp)
    if moment is None:
        return ""
    return f'<time datetime="{moment.isoformat(timespec="seconds")}">{moment:%H:%M:%S}</time>'  # not shown


def article(telling: Telling) -> str:
    """One chat message: what was said open; tools, reasoning and summaries folded.

    Args:
        telling: Printable, without secrets.
    """
    message = telling.message
    role = message.role if message.role in ("user", "assistant", "tool", "system") else "other"
    state = state_word(message.state)
    if state:
        state = f'<span class="state">{escape(state)}</span>'  # not shown
    body: list[str] = []
    if telling.summary:
        body.append(_fold("summary", _("Compaction summary"), _said(telling.summary)))
    if telling.reasoning:
        body.append(_fold("reasoning", _("Reasoning"), _said(telling.reasoning)))
    if telling.tool:
        hint = one_line(telling.said, _HINT) or _("no output")
        body.append(_fold("result", hint, _pre(telling.said)))
    elif telling.said:
        body.append(_said(telling.said))
    for called, arguments in telling.calls:
        hint = f"→ {called} {one_line(arguments, _HINT)}".rstrip()
        body.append(_fold("call", hint, _pre(laid_out(arguments) or arguments)))
    return (
        f'<article class="{role}" id="m{message.id}" tabindex="-1">\n'  # not shown
        f"<header><strong>{escape(speaker(telling))}</strong>{_time(telling)}{state}</header>\n"
        '<div class="body">\n' + "\n".join(body) + "\n</div>\n</article>\n"
    )


def _head(title: str) -> str:
    theme = escape(_("Theme: {name}").format(name=theme_words()["auto"]))
    press, search, unfold = escape(_("Search: press /")), escape(_("Search the messages")), escape(_("Unfold all"))
    previous, following = escape(_("Previous hit")), escape(_("Next hit"))
    return (
        f'<!DOCTYPE html>\n<html lang="{language().replace("_", "-")}">\n<head>\n<meta charset="utf-8">\n'  # not shown
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        '<div class="bar" role="search">\n'
        f'<input id="search" type="search" placeholder="{press}" aria-label="{search}" '
        'autocomplete="off" spellcheck="false">\n<output id="hits" for="search"></output>\n'
        f'<button id="previous" type="button" title="N" aria-label="{previous}">↑</button>\n'
        f'<button id="next" type="button" title="n" aria-label="{following}">↓</button>\n'
        f'<button id="fold" type="button" title="f" aria-pressed="false">{unfold}</button>\n'
        f'<button id="theme" type="button" title="t">{theme}</button>\n</div>\n'
    )


def _several(sources: Sequence[Source]) -> str:
    return _("{count:,} conversations").format(count=len(sources))


def _index(sources: Sequence[Source]) -> str:
    named, several = escape(_("Conversations")), escape(_several(sources))
    lines = [f'<nav class="index" aria-label="{named}">\n<h1>{several}</h1>\n<ol>\n']  # not shown
    for number, source in enumerate(sources, 1):
        day = local_time(source.conversation.last_active)
        facts = f"{day:%Y-%m-%d} · " if day else ""
        facts += escape(_("{count:,} messages").format(count=source.conversation.message_count))
        link = f'<a href="#c{number}">{escape(source.name)}</a>'  # not shown
        lines.append(f'<li>{link} <span class="facts">{facts}</span></li>\n')  # not shown
    return "".join([*lines, "</ol>\n</nav>\n"])


def _conversation(source: Source, number: int, level: int) -> Iterator[str]:
    facts = " · ".join(escape(text) for _label, text in source.facts())
    yield (
        f'<section class="conversation" id="c{number}" aria-labelledby="t{number}">\n'  # not shown
        f'<h{level} id="t{number}">{escape(source.name)}</h{level}>\n<p class="facts">{facts}</p>\n'
    )
    for event in source.events():
        if isinstance(event, Day):
            yield f'<h3 class="day">{escape(day_name(event.date))}</h3>\n'
        elif isinstance(event, Seam):
            seam = _("Compressed here, continued in {session}").format(session=event.session_id)
            yield f'<p class="seam">{escape(seam)}</p>\n'  # not shown
        else:
            yield article(event)
    yield "</section>\n"


def html_pieces(sources: Sequence[Source], *, exporter: str, now: float) -> Iterator[str]:
    """Conversations as one HTML document, in pieces of a message each.

    Args:
        sources: At least one; several get an index.
        exporter: Name and version of the program.
        now: Unix seconds.
    """
    several = len(sources) > 1
    yield _head(_several(sources) if several else sources[0].name)
    if several:
        yield _index(sources)
    yield "<main>\n"
    for number, source in enumerate(sources, 1):
        yield from _conversation(source, number, 2 if several else 1)
    yield "</main>\n"
    moment = local_time(now)
    kept = _("secrets redacted where known") if sources[0].redactor.active else _("secrets kept")
    made = f"{moment:%Y-%m-%d %H:%M}" if moment else ""
    yield f"<footer>{escape(exporter)} · {made} · {escape(kept)}</footer>\n"
    yield f"<script>{script()}</script>\n</body>\n</html>\n"

"""Export conversations as one self-contained HTML page, with search and folding, that needs no
network.

`page.html`, `page.css` and `page.js` beside this file are its frame, style and script.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from html import escape
from pathlib import Path

from ..amounts import local_time
from ..connection.stored_values import write_json
from ..messages.chat_message import CALL, RESULT, Block
from ..text import one_line
from ..wording import _, language, pgettext
from .markdown import split_fences
from .source import (
    ExportedConversation,
    RenderedMessage,
    day_name,
    indented_json,
    marks,
)

_FOLDER = Path(__file__).resolve().parent
STYLE = "\n" + (_FOLDER / "page.css").read_text(encoding="utf-8")
SCRIPT = "\n" + (_FOLDER / "page.js").read_text(encoding="utf-8")
_HEAD, _FOOT = map(
    string.Template, (_FOLDER / "page.html").read_text(encoding="utf-8").split("$conversations\n")
)

_ROLES = ("user", "assistant", "tool", "system")
_HINT = 100
_INLINE = re.compile(r"`([^`\n]{1,400})`|\*\*((?:[^*`\n]|`[^`\n]{1,400}`){1,400}+)\*\*")


def _words() -> dict[str, str]:
    """Return the texts of the script in the current language; it fills in their fields."""
    return {
        "count": _("{shown} of {total} messages"),
        "fold": _("Fold all"),
        "unfold": _("Unfold all"),
        "theme": _("Theme: {name}"),
        "auto": pgettext("theme of a page", "auto"),
        "light": pgettext("theme of a page", "light"),
        "dark": pgettext("theme of a page", "dark"),
    }


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


# Without network, style and script but these two (https://www.w3.org/TR/CSP3/).
_POLICY = (
    f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; base-uri 'none'; "
    "form-action 'none'"
)


def _inline(match: re.Match[str]) -> str:
    if match[1] is not None:
        return f"<code>{match[1]}</code>"
    return f"<strong>{_INLINE.sub(_inline, match[2])}</strong>"


def _prose(text: str) -> str:
    """Return escaped text with inline code and bold words; the style sheet preserves white
    space."""
    return _INLINE.sub(_inline, escape(text))


def _text(text: str) -> str:
    """Return the text of a message: code blocks with what is behind their fence, and the rest as
    written."""
    parts: list[str] = []
    for fence, block, is_closed in split_fences(text):
        if fence:
            if info := block[0].removeprefix(fence).strip():  # the language, a file, or more words
                parts.append(f'<div class="info">{escape(info)}</div>')
            parts.append(_pre("\n".join(block[1:-1] if is_closed else block[1:])))
        elif prose := "\n".join(block).strip("\n"):
            parts.append(f'<div class="said">{_prose(prose)}</div>')
    return "\n".join(parts)


def _pre(text: str) -> str:
    # HTML drops a line end right after the tag, so one is added.
    return f"<pre><code>\n{escape(text)}</code></pre>"


def _block(block: Block) -> str:
    """Return a block: the text open; tools, reasoning and summaries folded."""
    if block.kind is RESULT:
        hint, body = one_line(block.body, _HINT) or _("no output"), _pre(block.body)
    elif block.kind is CALL:
        hint = f"→ {block.tool} {one_line(block.body, _HINT)}".rstrip()
        body = _pre(indented_json(block.body) or block.body)
    elif block.kind.exported:
        hint, body = _(block.kind.exported), _text(block.body)
    else:
        return _text(block.body)
    return (
        f'<details class="{block.kind.name}"><summary>{escape(hint)}</summary>\n{body}\n</details>'
    )


def _article(rendered: RenderedMessage) -> str:
    message = rendered.message
    role = message.role if message.role in _ROLES else "other"
    marked, moment, clock = marks(message), local_time(message.timestamp), ""
    if marked:
        marked = f'<span class="state">{escape(marked)}</span>'
    if moment is not None:
        stamp = moment.astimezone().isoformat(timespec="seconds")
        clock = f'<time datetime="{stamp}">{moment:%H:%M:%S}</time>'
    return (
        f'<article class="{role}" id="m{message.id}" tabindex="-1">\n'
        f"<header><strong>{escape(rendered.speaker)}</strong>{clock}{marked}</header>\n"
        '<div class="body">\n' + "\n".join(map(_block, rendered.blocks)) + "\n</div>\n</article>\n"
    )


def _count(conversations: Sequence[ExportedConversation]) -> str:
    return _("{count:,} conversations", count=len(conversations))


def _index(conversations: Sequence[ExportedConversation]) -> Iterator[str]:
    label, count = escape(_("Conversations")), escape(_count(conversations))
    yield f'<nav class="index" aria-label="{label}">\n<h1>{count}</h1>\n<ol>\n'
    for number, exported in enumerate(conversations, 1):
        day = local_time(exported.conversation.last_active)
        facts = f"{day:%Y-%m-%d} · " if day else ""
        facts += escape(_("{count:,} messages", count=len(exported.ids)))
        link = f'<a href="#c{number}">{escape(exported.name)}</a>'
        yield f'<li>{link} <span class="facts">{facts}</span></li>\n'
    yield "</ol>\n</nav>\n"


def _conversation(exported: ExportedConversation, number: int, level: int) -> Iterator[str]:
    facts = " · ".join(escape(text) for _label, text in exported.facts())
    yield (
        f'<section class="conversation" id="c{number}" aria-labelledby="t{number}">\n'
        f'<h{level} id="t{number}">{escape(exported.name)}</h{level}>\n<p class="facts">{facts}</p>\n'
    )
    for event in exported.events():
        if isinstance(event, date):
            yield f'<h3 class="day">{escape(day_name(event))}</h3>\n'
        elif isinstance(event, str):
            seam = _("Compressed here, continued in {session}", session=event)
            yield f'<p class="seam">{escape(seam)}</p>\n'
        else:
            yield _article(event)
    yield "</section>\n"


def html_pieces(conversations: Sequence[ExportedConversation]) -> Iterator[str]:
    """Yield conversations as one HTML document, a message at a time."""
    export, several, words = conversations[0].export, len(conversations) > 1, _words()
    yield _HEAD.substitute(
        language=language().replace("_", "-"),
        policy=escape(_POLICY),
        words=escape(write_json(words)),
        title=escape(_count(conversations) if several else conversations[0].name),
        style=STYLE,
        press=escape(_("Search: press /")),
        search=escape(_("Search the messages")),
        previous=escape(_("Previous hit")),
        next=escape(_("Next hit")),
        unfold=escape(words["unfold"]),
        theme=escape(words["theme"].format(name=words["auto"])),
    )
    if several:
        yield from _index(conversations)
    yield "<main>\n"
    for number, exported in enumerate(conversations, 1):
        yield from _conversation(exported, number, 2 if several else 1)
    yield "</main>\n"
    moment = datetime.fromtimestamp(export.now)
    secrets = _("secrets redacted where known") if export.redactor.active else _("secrets kept")
    about = f"{escape(export.exporter)} · {moment:%Y-%m-%d %H:%M} · {escape(secrets)}"
    yield _FOOT.substitute(about=about, script=SCRIPT)

"""A conversation as Markdown to be read: all segments with their seams, tools and reasoning folded."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from ..text import HOSTILE, STRAY, one_line
from ..wording import _, ngettext
from .commonmark import fenced, longest_run, neutral
from .source import Day, Seam, Source, Telling, day_name, laid_out, local_time, speaker, state_word

_AS_CODE = ("id", "folder", "branch")
_HINT = 80
# What YAML does not take as it is, what it takes for a line end, and what a terminal would act on.
_BEYOND_YAML = re.compile(f"{HOSTILE}|{STRAY}|[\ufffe\uffff]")
_PUNCTUATION = re.compile(r"[\\`*\[\]<>|~&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|#(?=#*$)")


def plain(text: str) -> str:
    """One line of text that Markdown shows as it is.

    Args:
        text: Printable, without line ends.
    """
    return _PUNCTUATION.sub(lambda match: "\\" + match[0], text)


def code(text: str) -> str:
    """One line of text as a code span, whatever backticks are in it.

    Args:
        text: Printable, without line ends.
    """
    ticks = "`" * (longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def yaml_value(value: object) -> str:
    """A value as YAML 1.1 and 1.2 read it back: JSON, with what YAML does not print escaped.

    Args:
        value: A text, number, flag, None, or a list of such.
    """
    if isinstance(value, list):
        return "[" + ", ".join(map(yaml_value, value)) + "]"
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and "." not in text:
        return text.replace("e", ".0e")  # YAML 1.1 takes 1e-06 for a word
    return _BEYOND_YAML.sub(lambda match: f"\\U{ord(match[0]):08X}", text)


def _iso(moment: float | None) -> str | None:
    if moment is None:
        return None
    try:
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def front_matter(source: Source, exporter: str, now: float) -> str:
    """What a program reads first, as YAML.

    Args:
        source: The conversation.
        exporter: Name and version of the program.
        now: Unix seconds.
    """
    each = source.conversation
    clean = source.redactor.optional
    fields: dict[str, object] = {
        "session_id": each.id,
        "title": clean(each.title),
        "source": each.source,
        "model": clean(each.model),
        "cwd": clean(each.cwd),
        "git_branch": clean(each.git_branch),
        "created_at": _iso(each.root.started_at),
        "updated_at": _iso(each.last_active),
        "ended_at": _iso(each.tip.ended_at),
        "end_reason": each.tip.end_reason,
        "archived": each.archived,
        "pinned": each.pinned,
        "message_count": each.message_count,
        "tool_call_count": each.tool_call_count,
        "cost_usd": None if each.cost_usd is None else round(each.cost_usd, 6),
        "lineage_session_ids": [segment.id for segment in each.segments],
        "secrets": "redacted" if source.redactor.active else "kept",
        "format": "markdown",
        "exported_at": _iso(now),
        "exporter": exporter,
    }
    lines = [f"{name}: {yaml_value(value)}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---", ""])


def _fold(summary: str, body: str) -> str:
    """A section that is closed until someone opens it; the summary line is HTML and escaped as such."""
    return f"<details>\n<summary>{html.escape(summary)}</summary>\n\n{body}\n\n</details>\n"


def _heading(telling: Telling) -> str:
    moment = local_time(telling.message.timestamp)
    state = state_word(telling.message.state)
    clock = moment.strftime(" · %H:%M:%S") if moment else ""
    return f"### {plain(speaker(telling))}{clock}{f' ({state})' if state else ''}\n"


def _json_or_text(text: str) -> str:
    """Arguments in a fence, laid out where they are JSON."""
    found = laid_out(text)
    return fenced(text) if found is None else fenced(found, "json")


def _call_title(name: str, arguments: str) -> str:
    return f"{name} {one_line(arguments, _HINT)}".rstrip()


def message_text(telling: Telling) -> str:
    """One chat message as Markdown: what was said open, all the rest folded.

    Args:
        telling: Printable, without secrets.
    """
    parts = [_heading(telling)]
    if telling.summary:
        parts.append(_fold(_("Compaction summary"), neutral(telling.summary)))
    if telling.reasoning:
        parts.append(_fold(_("Reasoning"), neutral(telling.reasoning)))
    if telling.tool:
        lines = telling.said.count("\n") + 1 if telling.said else 0
        said = ngettext("Result of {tool}, 1 line", "Result of {tool}, {count:,} lines", lines)
        summary = said.format(tool=telling.tool, count=lines)
        nothing = _("no output")
        parts.append(_fold(summary, fenced(telling.said)) if telling.said else f"*{nothing}*\n")
    elif telling.said:
        parts.append(neutral(telling.said) + "\n")
    parts += [_fold(_call_title(name, arguments), _json_or_text(arguments)) for name, arguments in telling.calls]
    return "\n".join(parts)


def markdown_pieces(source: Source, *, exporter: str, now: float) -> Iterator[str]:
    """A conversation as a Markdown document, in pieces of a message each.

    Args:
        source: The conversation.
        exporter: Name and version of the program.
        now: Unix seconds.
    """
    yield front_matter(source, exporter, now)
    facts = " · ".join(code(text) if label in _AS_CODE else plain(text) for label, text in source.facts())
    yield f"\n# {plain(source.name)}\n\n{facts}\n"
    for event in source.events():
        if isinstance(event, Day):
            yield f"\n## {day_name(event.date)}\n"
        elif isinstance(event, Seam):
            seam = _("Compressed here, continued in {session}").format(session=code(event.session_id))
            yield f"\n---\n\n*{seam}*\n"
        else:
            yield "\n" + message_text(event)

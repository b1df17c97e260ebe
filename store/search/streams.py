"""Where candidates come from: the word index, the trigram index, or a scan of the rows, newest first.

Each group of terms has one main stream, from the index that fits it, and further ones for what that index does not
find: words in another spelling, messages with images, rows it lacks, rows it holds a part of. The caller checks the
candidates. Where the word index alone decides (`CompiledQuery.index_decides`), each other stream checks its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ..connection.schema import FtsIndex, FtsKind
from ..wording import _, ngettext
from .coverage import left_out_of_trigram
from .index_terms import read_terms
from .joined_words import find_joined
from .spelled import Escapes, any_spelling, other_spellings
from .terms import CompiledQuery, Matcher, fts_string, has_emoji
from .trigrams import by_letters, is_absent, superset, with_accents
from .walk import ScannedTo, Walk, accepted, indexed, merge, scanned

# Times: one million messages, SQLite 3.40, 2 cores. The first row of `d*` takes 500 ms, of `do*` 80 ms, of `doc*` 5 ms;
# a row is read and folded in some 0.035 ms.
_GLANCE = 350
"""Newest rows that are scanned, in some 10 ms, before an index is queried for a prefix: they fill a page where one word
in ten begins so."""
_FAR = 20_000
"""The same for a character beside a short prefix, where the index would merge both."""
_TRIED = 500
"""Rows with the rest of a query that are read, in some 20 ms, before the index is queried for a short prefix too."""
_MOST_TRIGRAMS = 300
"""With more trigrams that begin with a term, the term is common, and the rows themselves are scanned."""
_CHECKED = 64
"""Rows that are read at a time to be checked: two pages."""
_FIRST_PICTURES = 12
"""Messages with images that are read at first: with some kilobytes of JSON each they are slow to parse."""
_MOST_CUT = 1000
"""Partly indexed rows that one search reads whole: tens of megabytes, half a second."""


def _checked(walk: Walk, group: Sequence[Matcher], ids: Iterator[int], only: str = "") -> Iterator[int]:
    """Yield the ids whose rows have the terms, and `ScannedTo` between chunks so that no stream is read ahead.

    `only` is SQL for the rows of `messages m` that can match at all, where that is cheap to test.
    """
    compiled = CompiledQuery((tuple(group),), ())
    while chunk := list(islice(ids, _CHECKED)):
        yield walk.scanned_before(chunk[0])
        if only:
            rows = walk.reader.rows_in(f"SELECT m.id FROM messages m WHERE m.id IN ({{keys}}) AND {only}", chunk)
            possible = {row[0] for row in rows}
            chunk = [key for key in chunk if key in possible]
        yield from accepted(walk, chunk, compiled)


def _other_spellings(walk: Walk, words: FtsIndex, group: Sequence[Matcher], *, whole: bool = False) -> Iterator[int]:
    """Yield rows with a term of the group in another spelling; `whole` includes short prefixes, which are expensive.

    `hat` behind a line break is `that` to the index: of the rows with such a word only those with JSON are read.
    """
    if walk.stop():
        return
    match = other_spellings(walk.reader, words, group, whole=whole)
    if walk.reader.cached(Escapes).is_cut:
        walk.tally.skipped = True
        walk.notes.append(_("There are too many words with an emoji in them to look for all; `*word*` finds them."))
    if match:
        yield from _checked(walk, group, indexed(walk, words, match), "" if has_emoji(match) else _may_be_json(walk))


def _joined(walk: Walk, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield rows with a word of the group behind an emoji that is inside a word."""
    low, high = walk.bounds()
    edges = walk.cache.edges(walk.reader)
    while low <= high and not walk.stop():
        # Where such rows are not known yet, no more rows are read than a page needs.
        known = find_joined(walk.reader, edges, low if walk.ascending else high, walk.stop)
        oldest = max(known.oldest, low)
        ids = sorted((key for key in known.having(group) if oldest <= key <= high), reverse=not walk.ascending)
        yield from _checked(walk, group, iter(ids))
        high = oldest - 1
        if low <= high:
            yield ScannedTo(oldest)


def _may_be_json(walk: Walk) -> str:
    """Return SQL for the rows of `messages m` that may hold JSON."""
    schema = walk.reader.schema
    content = schema.message("content")
    called = f"COALESCE({schema.message('tool_calls')}, '') <> ''"
    return f"({called} OR typeof({content}) = 'blob' OR substr({content}, 1, 1) IN ('', '{{', '[', '\"'))"


def _partly_indexed(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield matching rows that an index holds only a part of, of as many as can be read in a moment."""
    cut = walk.cache.holes(walk.reader, index).cut
    ids = [key for key in (cut if walk.ascending else reversed(cut)) if walk.low <= key <= walk.high]
    for start in range(0, len(ids), _CHECKED):
        chunk = ids[start : start + _CHECKED]
        yield walk.scanned_before(chunk[0])
        if walk.tally.read_whole >= _MOST_CUT:
            walk.tally.skipped = True
            note = _("Hermes' index has only the beginning of {count:,} messages; {read:,} of them were read in full.")
            walk.notes.append(note.format(count=len(cut), read=walk.tally.read_whole))
            return
        if walk.stop():
            return
        walk.tally.read_whole += len(chunk)
        yield from _checked(walk, group, iter(chunk))


def _not_indexed(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """Return streams of the rows that an index lacks, or holds a part of."""
    holes = walk.cache.holes(walk.reader, index)
    streams = [_partly_indexed(walk, index, group)] if holes.cut else []
    if holes.ranges:
        walk.engines.add("scan")
        note = ngettext(
            "Hermes' index lacks 1 message: it is scanned.",
            "Hermes' index lacks {count:,} messages: they are scanned.",
            holes.count,
        )
        walk.notes.append(note.format(count=holes.count))
        streams += [scanned(walk.within(low, high), group) for low, high in holes.ranges]
    return streams


def _word_stream(
    walk: Walk, index: FtsIndex, group: Sequence[Matcher], trigram: FtsIndex | None = None
) -> Iterator[int]:
    """Yield candidates for a group with at least one word; `trigram` is an index that holds all rows."""
    terms = [each for each in group if each.index_words]
    walk.engines.add("fts5")
    if trigram is not None and any(each.is_prefix and not each.is_short for each in terms):
        if any(is_absent(walk, index, each) for each in terms if each.is_prefix):
            return
        wide = superset(walk.reader, trigram, [word for each in terms for word in each.index_words])
        if wide:
            yield from by_letters(walk, index, trigram, terms, wide, _with_images(walk, index, terms))
            return
    if any(each.is_short for each in terms):
        yield from _short_stream(walk, index, terms, trigram)
        return
    if any(each.is_prefix for each in terms):
        newest, walk = walk.split(_GLANCE)
        yield from scanned(newest, terms)
        walk.tally.is_certain = True
    yield from indexed(walk, index, " AND ".join(each.match for each in terms))


def _short_stream(walk: Walk, index: FtsIndex, terms: Sequence[Matcher], trigram: FtsIndex | None) -> Iterator[int]:
    """Yield candidates for words with a prefix of one or two letters, with which a tenth of all words begin.

    They are checked in the text, of the newest rows or of those that have the rest of the query; only when that finds
    too few is the index queried for the prefix.
    """
    cheap = any_spelling(walk.reader, index, terms, cheap=True)
    if cheap:
        seen, last = 0, 0
        for last in indexed(walk, index, cheap, most=_TRIED):
            seen += 1
            yield last
        if seen < _TRIED:
            return
        walk = walk.beyond(last)
        literal = [each.spelling for each in terms if each.is_short and not each.is_plain and each.spelling.isascii()]
        wide = superset(walk.reader, trigram, literal) if trigram is not None and literal else ""
        if trigram is not None and wide:  # "don't": its trigrams find it, and nothing is merged for the t
            yield from merge(walk, [indexed(walk, trigram, wide), _with_images(walk, index, terms)])
            return
    else:
        newest, walk = walk.split(_GLANCE)
        yield from scanned(newest, terms)
        walk.tally.is_certain = True
    yield walk.scanned_before(
        walk.low if walk.ascending else walk.high
    )  # these may be enough: show them before the prefix is merged
    yield from indexed(walk, index, any_spelling(walk.reader, index, terms))


def _substring_stream(walk: Walk, index: FtsIndex, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield candidates for a group with terms that are found inside words: CJK, emoji, punctuation."""
    # ASCII letters may be accented in the text.
    spelled = [with_accents(walk.reader, index, each.anchor) for each in group if each.has_trigram]
    match = " AND ".join(filter(None, spelled))
    if not match:
        walk.engines.add("scan")
        walk.notes.append(_("The substring index cannot tell letters with accents here: the rows are scanned."))
        yield from scanned(walk, group)
        return
    walk.engines.add("trigram")
    streams = [indexed(walk, index, match), _with_images(walk, words, group)]
    only = left_out_of_trigram(walk.reader.schema, index)
    if only:
        walk.engines.add("scan")
        walk.notes.append(_("Tool output and automation are not in the substring index: those rows are scanned."))
        streams.append(scanned(walk, group, only=only))
    yield from merge(walk, streams)


def _with_images(walk: Walk, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield messages with images a group may be in. The trigram index has none of them: it stops at the NUL ahead.

    In the word index each begins with the word `json`. The newest are read without regard to the words; then the index
    is queried for the words too, as far as that is cheap.
    """
    if words is None:
        return
    seen, last = 0, 0
    for last in indexed(walk, words, '^ "json"', most=_CHECKED, first=_FIRST_PICTURES):
        seen += 1
        yield last
    if seen >= _CHECKED:
        plain = any_spelling(walk.reader, words, group, cheap=True)
        yield from indexed(walk.beyond(last), words, f'^ "json" AND {plain}' if plain else '^ "json"')


def _trigrams_of_tiny(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> str:
    """Return for MATCH all trigrams that begin with a term of one or two characters; empty when they are too many.

    Every row with the term has one of them: each row of an inline index ends with more than two other characters.
    """
    for each in group:
        between = each.range_of_trigrams
        if between is not None:
            trigrams = read_terms(walk.reader, index, between, _MOST_TRIGRAMS + 1)
            if len(trigrams) <= _MOST_TRIGRAMS:
                return (
                    " OR ".join(map(fts_string, trigrams)) or f'"{between[0]}"'
                )  # the latter matches nothing: too short
    return ""


def _tiny_stream(walk: Walk, trigram: FtsIndex, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield candidates for a group with a term of one or two characters that is found inside words.

    Without a word beside it the newest rows are scanned first: where the term is common they fill a page.
    """
    terms = [each for each in group if each.index_words and not each.is_short] if words is not None else []
    if walk.stop():
        return
    if not terms:
        newest, walk = walk.split(_GLANCE)
        yield from scanned(newest, group)
    match = "" if walk.stop() else _trigrams_of_tiny(walk, trigram, group)
    if match:
        walk.engines.add("trigram")
        wide = superset(walk.reader, trigram, [word for each in terms for word in each.index_words])
        ids = indexed(walk, trigram, f"({match}) AND {wide}" if wide else match)
        yield from merge(walk, [ids, _with_images(walk, words, group)])
    elif words is not None and any(each.index_words for each in group):
        if not terms:  # beside a short prefix, which is expensive to merge, and so many trigrams soon occur
            newest, walk = walk.split(_FAR)
            yield from scanned(newest, group)
        yield from _word_stream(walk, words, group)
    else:
        walk.engines.add("scan")
        yield from scanned(walk, group)


def _group_streams(walk: Walk, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """Return the streams for one group of terms: of the best index for it, and of what that index does not find."""
    schema = walk.reader.schema
    stale = schema.note("fts_stale") is not None
    words, trigram = (None, None) if stale else (schema.fts, schema.trigram)
    if words is None:
        walk.notes.append(
            _("Hermes has marked the search index as stale: the rows themselves are scanned.")
            if stale
            else _("There is no search index to use: the rows themselves are scanned.")
        )
    partial = trigram is not None and bool(left_out_of_trigram(schema, trigram))
    has_words = words is not None and any(each.index_words for each in group)
    is_tiny = any(each.range_of_trigrams is not None for each in group)
    queried: list[FtsIndex]
    if trigram is not None and any(each.has_trigram for each in group) and not (partial and has_words):
        queried, streams = [trigram], [_substring_stream(walk, trigram, words, group)]
    elif trigram is not None and is_tiny and trigram.kind is FtsKind.INLINE:
        queried, streams = [trigram], [_tiny_stream(walk, trigram, words, group)]
    elif words is not None and has_words:
        queried = [words]
        wide = any(each.is_prefix and not (each.is_short and each.is_plain) for each in group)
        is_whole = trigram is not None and wide and not partial and not walk.cache.holes(walk.reader, trigram)
        streams = [_word_stream(walk, words, group, trigram if is_whole else None)]
    else:
        walk.engines.add("scan")
        return [scanned(walk, group)]
    if words is not None and not (queried == [words] and any(each.is_short for each in group)):
        # The stream of a short prefix queries all spellings itself.
        streams.append(_other_spellings(walk, words, group))
        queried = list(dict.fromkeys((*queried, words)))
    if has_words:
        streams.append(_joined(walk, group))
    for index in queried:
        streams += _not_indexed(walk, index, group)
    return streams


def other_spellings_of(walk: Walk, words: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Yield rows that have the plain words of a group though MATCH does not find them; checked in their texts."""
    streams = [_other_spellings(walk, words, group, whole=True), _joined(walk, group)]
    return (each for each in merge(walk, streams) if not isinstance(each, ScannedTo))


def _by_id(walk: Walk) -> Iterator[int]:
    """Yield the ids that may match the query, in order, each once."""
    if walk.compiled.in_reasoning:
        walk.engines.add("scan")
        walk.notes.append(_("Reasoning is in no index: it is scanned."))
        columns = walk.reader.schema.message_columns & {"reasoning", "reasoning_content"}
        only = " OR ".join(f"COALESCE(m.{column}, '') <> ''" for column in sorted(columns))
        yield from scanned(walk, (), only=f"({only})" if only else "0")
    elif not walk.compiled.groups:
        walk.engines.add("scan")
        yield from scanned(walk, ())
    else:
        yield from merge(walk, [stream for group in walk.compiled.groups for stream in _group_streams(walk, group)])


def candidates(walk: Walk) -> Iterator[int]:
    """Yield the ids that may match the query, in the order of time, each once; the caller checks the texts."""
    order = walk.order
    if order is None or order.follows_ids:
        yield from _by_id(walk.beyond(walk.after[1]) if walk.after is not None else walk)
        return
    total = max(len(order.ids), 1)
    for window in order.windows(ascending=walk.ascending, after=walk.after):
        ids: set[int] = set()
        for low, high in window.ranges():
            part = replace(walk.within(low, high), progress=lambda share: None)
            ids.update(each for each in _by_id(part) if not isinstance(each, ScannedTo) and each in window)
            if walk.stop():
                return
        yield from sorted(ids, key=order.place, reverse=not walk.ascending)
        walk.progress(window.end / total if walk.ascending else 1 - window.first / total)
        yield ScannedTo(0)

"""Where candidates come from: the word index, the trigram index, or the rows themselves, newest first.

Each group of terms has one main stream, from the index that fits it, and beside it what that index does not lead to:
words in another spelling, messages with pictures, rows it lacks, rows it holds a part of. What is given is checked by
the caller, except where the word index alone decides (`Plan.index_decides`): there all the others check for themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ..connection.schema import FtsIndex, FtsKind
from ..wording import _, ngettext
from .coverage import left_out_of_trigram
from .rows import read_rows
from .spelled import Escapes, any_spelling, find_joined, other_spellings
from .terms import Matcher, Plan, has_emoji
from .trigrams import by_letters, is_absent, quoted, superset, with_accents
from .walk import Passed, Walk, beginning, bounds, holes, indexed, merge, scanned

# Times: one million messages, SQLite 3.40, 2 cores. The first row of `d*` takes 500 ms, of `do*` 80 ms, of `doc*` 5 ms;
# a row is read and folded in some 0.035 ms.
_GLANCE = 350
"""Newest rows that are looked through, in some 10 ms, before an index is asked for the beginning of a word: where one
word in ten begins so, they fill a page."""
_FAR = 20_000
"""The same for a character beside the beginning of a word, where the index would merge both."""
_TRIED = 500
"""Rows with the rest of a query that are read, in some 20 ms, before the index is asked for a short prefix too."""
_MOST_TRIGRAMS = 300
"""With more trigrams that begin with a term, the term is common, and the rows themselves are read."""
_CHECKED = 64
"""Rows that are read at a time to be checked: two pages."""
_FIRST_PICTURES = 12
"""Messages with pictures that are read first: with some kilobytes of JSON each they are slow to take apart."""
_MOST_CUT = 1000
"""Rows that the index holds a part of and that one search reads whole: tens of megabytes, half a second."""


def _checked(walk: Walk, group: Sequence[Matcher], ids: Iterator[int], only: str = "") -> Iterator[int]:
    """Those of the ids whose rows have the terms; between them it gives `Passed`, so that none is read too early.

    Args:
        walk: The run.
        group: All must be there.
        ids: In the order of the walk.
        only: SQL for the rows of `messages m` that can have them at all, where that is cheap to tell.
    """
    plan = Plan((tuple(group),), ())
    while chunk := list(islice(ids, _CHECKED)):
        yield Passed(chunk[0] - 1 if walk.ascending else chunk[0] + 1)
        if only:
            read = walk.reader.rows_in(f"SELECT m.id FROM messages m WHERE m.id IN ({{keys}}) AND {only}", chunk)
            kept = {row[0] for row in read}
            chunk = [key for key in chunk if key in kept]
        rows = read_rows(walk.reader, chunk, walk.kept)
        said = ((key, rows[key].said) for key in chunk if key in rows)
        yield from (key for key, text in said if text is not None and text.is_accepted(plan))


def _other_spellings(walk: Walk, words: FtsIndex, group: Sequence[Matcher], *, whole: bool = False) -> Iterator[int]:
    """Rows that have a term of the group in another spelling than the index is asked for.

    `hat` behind a line break is `that` to the index: of the rows that have such a word only those with JSON in them
    are read. `whole` asks for the beginnings of words too that are dear to ask for.
    """
    match = "" if walk.stop() else other_spellings(walk.reader, words, group, whole=whole)
    if walk.reader.keep(Escapes).is_cut:
        walk.tally.left_out = True
        walk.notes.append(_("There are too many words with an emoji in them to look for all; `*word*` finds them."))
    if match:
        yield from _checked(walk, group, indexed(walk, words, match), "" if has_emoji(match) else _json(walk))


def _joined(walk: Walk, group: Sequence[Matcher]) -> Iterator[int]:
    """Rows that have a word of the group which only an emoji parts from what stands before it."""
    low, high = bounds(walk)
    edges = walk.kept.edges(walk.reader)
    while low <= high and not walk.stop():
        # Where that is still to be found out, no more rows are read than a page needs.
        known = find_joined(walk.reader, edges, low if walk.ascending else high, walk.stop)
        oldest = max(known.oldest, low)
        ids = sorted((key for key in known.having(group) if oldest <= key <= high), reverse=not walk.ascending)
        yield from _checked(walk, group, iter(ids))
        high = oldest - 1
        if low <= high:
            yield Passed(oldest)


def _json(walk: Walk) -> str:
    """SQL for the rows of `messages m` that JSON may be in."""
    schema = walk.reader.schema
    content = schema.message("content")
    called = f"COALESCE({schema.message('tool_calls')}, '') <> ''"  # not shown
    return f"({called} OR typeof({content}) = 'blob' OR substr({content}, 1, 1) IN ('', '{{', '[', '\"'))"  # not shown


def _partly_indexed(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Rows that an index holds only a part of, as many as can be read in a moment."""
    ids = [key for key in holes(walk, index).cut if walk.low <= key <= walk.high]
    if not ids:
        return
    ids = ids if walk.ascending else ids[::-1]
    for start in range(0, len(ids), _CHECKED):
        chunk = ids[start : start + _CHECKED]
        yield Passed(chunk[0] - 1 if walk.ascending else chunk[0] + 1)
        if walk.tally.read_whole >= _MOST_CUT:
            walk.tally.left_out = True
            note = _("Hermes' index holds only a part of {count:,} messages; {read:,} of them were read whole.")
            walk.notes.append(note.format(count=len(holes(walk, index).cut), read=walk.tally.read_whole))
            return
        if walk.stop():
            return
        walk.tally.read_whole += len(chunk)
        yield from _checked(walk, group, iter(chunk))


def _not_indexed(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """Streams of what an index does not hold, or holds a part of."""
    missing = holes(walk, index)
    streams = [_partly_indexed(walk, index, group)] if missing.cut else []
    if missing.ranges:
        walk.engines.add("scan")
        note = ngettext(
            "Hermes' index does not hold 1 message: it is scanned.",
            "Hermes' index does not hold {count:,} messages: they are scanned.",
            missing.count,
        )
        walk.notes.append(note.format(count=missing.count))
        streams += [scanned(walk, group, low=low, high=high) for low, high in missing.ranges]
    return streams


def _word_stream(
    walk: Walk, index: FtsIndex, group: Sequence[Matcher], trigram: FtsIndex | None = None
) -> Iterator[int]:
    """Candidates for a group with at least one term the word index knows; `trigram` is one that holds all rows."""
    known = [each for each in group if each.asked]
    walk.engines.add("fts5")
    if trigram is not None and any(each.is_prefix and not each.is_short for each in known):
        if any(is_absent(walk, index, each) for each in known if each.is_prefix):
            return
        wide = superset(walk.reader, trigram, [word for each in known for word in each.asked])
        if wide:
            yield from by_letters(walk, index, trigram, known, wide, _with_pictures(walk, index, known))
            return
    if any(each.is_short for each in known):
        yield from _short_stream(walk, index, known, trigram)
        return
    if any(each.is_prefix for each in known):
        low, high = beginning(walk, _GLANCE)
        yield from scanned(walk, known, low=low, high=high)
        walk = walk.behind(low, high)
        walk.tally.is_sure = True
    yield from indexed(walk, index, " AND ".join(each.fts for each in known))


def _short_stream(walk: Walk, index: FtsIndex, known: Sequence[Matcher], trigram: FtsIndex | None) -> Iterator[int]:
    """Candidates for words of which one has only begun: one or two letters, with which a tenth of all words begin.

    They are looked for by hand, among the newest rows or among those that have the rest of the query; only when that
    gives too little is the index asked for them.
    """
    cheap = any_spelling(walk.reader, index, known, cheap=True)
    if cheap:
        seen, last = 0, 0
        for last in indexed(walk, index, cheap, most=_TRIED):
            seen += 1
            yield last
        if seen < _TRIED:
            return
        walk = walk.beyond(last)
        literal = [each.spelling for each in known if each.is_short and not each.is_plain and each.spelling.isascii()]
        wide = superset(walk.reader, trigram, literal) if trigram is not None and literal else ""
        if trigram is not None and wide:  # "don't": the letters lead to it, and nothing is merged for the t
            yield from merge(walk, [indexed(walk, trigram, wide), _with_pictures(walk, index, known)])
            return
    else:
        low, high = beginning(walk, _GLANCE)
        yield from scanned(walk, known, low=low, high=high)
        walk = walk.behind(low, high)
        walk.tally.is_sure = True
    yield walk.passed_so_far  # it may be enough: whoever waits for a full batch would have all of them merged
    yield from indexed(walk, index, any_spelling(walk.reader, index, known))


def _substring_stream(walk: Walk, index: FtsIndex, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with terms that are found inside words: CJK, emoji, punctuation."""
    inside = [each for each in group if each.is_inside and each.trigram]
    # What is ASCII may stand there with accents.
    asked = [with_accents(walk.reader, index, each.anchor) for each in inside]
    match = " AND ".join(filter(None, asked))
    if not match:
        walk.engines.add("scan")
        walk.notes.append(_("The substring index cannot tell letters with accents here: the rows are scanned."))
        yield from scanned(walk, group)
        return
    walk.engines.add("trigram")
    streams = [indexed(walk, index, match), _with_pictures(walk, words, group)]
    only = left_out_of_trigram(walk.reader.schema, index)
    if only:
        walk.engines.add("scan")
        walk.notes.append(_("Tool output and automation are not in the substring index: those rows are scanned."))
        streams.append(scanned(walk, group, only=only))
    yield from merge(walk, streams)


def _with_pictures(walk: Walk, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Messages with pictures a group may be in. The trigram index has none of them: it stops at the NUL ahead.

    In the word index each begins with the word `json`. The newest are taken as they come; then they are asked for by
    words, as far as that is cheap.
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
    """For MATCH: all trigrams that begin with a term of one or two characters; empty when they are too many.

    They lead to every row that has the term: each row of an inline index ends with more than two characters
    that are not its text.
    """
    for each in group:
        between = each.range_of_trigrams
        if between is not None:
            terms = walk.reader.index_terms(index.name, *between, _MOST_TRIGRAMS + 1)
            if len(terms) <= _MOST_TRIGRAMS:
                return " OR ".join(map(quoted, terms)) or f'"{between[0]}"'  # the latter is in no row: too short
    return ""


def _tiny_stream(walk: Walk, trigram: FtsIndex, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with a term of one or two characters that is found inside words.

    Without a word beside it the newest rows are looked through first: where the term is common they fill a page.
    """
    known = [each for each in group if each.asked and not each.is_short] if words is not None else []
    if walk.stop():
        return
    if not known:
        low, high = beginning(walk, _GLANCE)
        yield from scanned(walk, group, low=low, high=high)
        walk = walk.behind(low, high)
    match = "" if walk.stop() else _trigrams_of_tiny(walk, trigram, group)
    if match:
        walk.engines.add("trigram")
        wide = superset(walk.reader, trigram, [word for each in known for word in each.asked])
        ids = indexed(walk, trigram, f"({match}) AND {wide}" if wide else match)
        yield from merge(walk, [ids, _with_pictures(walk, words, group)])
    elif words is not None and any(each.asked for each in group):
        if not known:  # beside the beginning of a word, which is dear to merge; so many trigrams are soon met with
            low, high = beginning(walk, _FAR)
            yield from scanned(walk, group, low=low, high=high)
            walk = walk.behind(low, high)
        yield from _word_stream(walk, words, group)
    else:
        walk.engines.add("scan")
        yield from scanned(walk, group)


def _group_streams(walk: Walk, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """The streams for one group of terms: the better index for it, and what that index does not lead to."""
    schema = walk.reader.schema
    stale = schema.note("fts_stale") is not None
    words, trigram = (None, None) if stale else (schema.fts, schema.trigram)
    if words is None:
        walk.notes.append(
            _("Hermes has marked the search index as stale: the rows themselves are scanned.")
            if stale
            else _("There is no search index to use: the rows themselves are scanned.")
        )
    by_trigram = trigram is not None and any(each.is_inside and each.trigram for each in group)
    partial = trigram is not None and bool(left_out_of_trigram(schema, trigram))
    has_words = words is not None and any(each.asked for each in group)
    tiny = any(each.range_of_trigrams is not None for each in group)
    asked: list[FtsIndex] = []
    if trigram is not None and by_trigram and not (partial and has_words):
        asked, streams = [trigram], [_substring_stream(walk, trigram, words, group)]
    elif trigram is not None and tiny and trigram.kind is FtsKind.INLINE:
        asked, streams = [trigram], [_tiny_stream(walk, trigram, words, group)]
    elif words is not None and has_words:
        asked = [words]
        wide = any(each.is_prefix and not (each.is_short and each.is_plain) for each in group)
        whole = trigram if wide and trigram is not None and not partial and not holes(walk, trigram) else None
        streams = [_word_stream(walk, words, group, whole)]
    else:
        walk.engines.add("scan")
        return [scanned(walk, group)]
    if words is not None and not (asked == [words] and any(each.is_short for each in group)):
        # The stream of a short prefix asks for all spellings itself.
        streams.append(_other_spellings(walk, words, group))
        asked = list(dict.fromkeys((*asked, words)))
    if has_words:
        streams.append(_joined(walk, group))
    for index in asked:
        streams += _not_indexed(walk, index, group)
    return streams


def other_spellings_of(walk: Walk, words: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Rows that MATCH does not give for the plain words of a group, though they have them; checked in their texts."""
    streams = [_other_spellings(walk, words, group, whole=True), _joined(walk, group)]
    return (each for each in merge(walk, streams) if not isinstance(each, Passed))


def _of_ids(walk: Walk) -> Iterator[int]:
    """Ids that may match the plan, in the order of ids, each once."""
    if walk.plan.in_reasoning:
        walk.engines.add("scan")
        walk.notes.append(_("Reasoning is in no index: it is scanned."))
        columns = walk.reader.schema.message_columns & {"reasoning", "reasoning_content"}
        only = " OR ".join(f"COALESCE(m.{column}, '') <> ''" for column in sorted(columns))
        yield from scanned(walk, (), only=f"({only})" if only else "0")
        return
    if not walk.plan.groups:
        walk.engines.add("scan")
        yield from scanned(walk, ())
        return
    yield from merge(walk, [stream for group in walk.plan.groups for stream in _group_streams(walk, group)])


def candidates(walk: Walk) -> Iterator[int]:
    """Ids that may match the plan, in the order of time, each once; the caller checks the texts."""
    order = walk.order
    if order is None or order.follows_ids:
        if walk.after is not None:
            walk = walk.beyond(walk.after[1])
        yield from _of_ids(walk)
        return
    total = max(len(order.ids), 1)
    for window in order.windows(ascending=walk.ascending, after=walk.after):
        found: set[int] = set()
        for low, high in window.ranges():
            run = replace(walk.within(low, high), progress=lambda share: None)
            found.update(each for each in _of_ids(run) if not isinstance(each, Passed) and each in window)
            if walk.stop():
                return
        yield from sorted(found, key=order.place, reverse=not walk.ascending)
        walk.progress(window.end / total if walk.ascending else 1 - window.first / total)
        yield Passed(0)

"""Where candidates come from: the word index, the trigram index, or the rows themselves, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import ceil

from ..schema import FtsIndex, FtsKind
from ..wording import _, ngettext
from .accents import accented
from .coverage import left_out_of_trigram
from .kept import read_rows
from .terms import Matcher, Plan
from .trigrams import newest, superset
from .walk import Passed, Walk, beginning, bounds, indexed, merge, missing, scanned

_RECENT = 1000
"""Rows looked through before a short prefix is asked of the index after all."""
_TRIED = 500
"""Rows with the rest of a query tried for a short prefix before the same."""
_MOST_TRIGRAMS = 300
"""A term that more trigrams than this begin with is common: the rows themselves are read."""
_FIRST_MULTIMODAL, _TRIED_MULTIMODAL = 12, 64
"""Multimodal messages tried one after another before they are asked for by their words: each may hold pictures."""
_GLANCE = 350
"""Rows looked through before a longer prefix is: where it is common that fills a page."""


_FEW, _MANY = 15_000, 150_000
"""Rows with a prefix that the word index merges in no time, and those that it merges when all else is slow too."""
_NEAR, _PAGE, _SAMPLE = 20_000, 64, 2000
"""Ids among which there are to be so many candidates, else they are far between; and ids a word is counted in."""
_ENOUGH = 24
"""Candidates that are read before it is said how many of them are hits."""
_ROW_COST, _MERGE_COST = 35.0, 0.1
"""What it costs to read a candidate, and to merge a row of a prefix: microseconds, on any machine in this relation."""


def _is_absent(walk: Walk, index: FtsIndex, prefix: Matcher) -> bool:
    """Whether no word begins so. Where each of its trigrams is common and they never meet, they are slow to tell."""
    if index.tokenizer != "unicode61":
        return False
    word = prefix.words[-1]
    if walk.reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"']):
        return False
    longer = (f"{word}0", word[:-1] + chr(ord(word[-1]) + 1))
    return walk.reader.index_has_terms(index.name, [longer]) == [False]


def _merged(walk: Walk, trigram: FtsIndex, known: Sequence[Matcher], whole: int) -> float:
    """About how many rows the word index has to merge for the words that are still being typed, at the most."""
    found = 0.0
    for each in known:
        letters = superset(walk.reader, trigram, each.words[-1:]) if each.is_prefix else ""
        if letters:
            most = ceil(_MANY * _SAMPLE / whole) + 1
            found += len(newest(walk, trigram, letters, _SAMPLE, most)) * max(whole / _SAMPLE, 1)
    return found


def _by_letters(walk: Walk, index: FtsIndex, trigram: FtsIndex, known: Sequence[Matcher], wide: str) -> Iterator[int]:
    """Candidates for words of which one is still being typed: rows with its letters, or what the word index gives.

    Letters lead to their rows at once where there are many of them; where there are few, it is slow to see where
    all meet, and the word index has little to merge. What there is shows in the newest rows, and in how many of
    those with the letters have the words.
    """
    match, tally = " AND ".join(each.fts for each in known), walk.tally
    low, high = bounds(walk)
    whole = max(high - low + 1, 1)
    is_one = len(known) == 1 and len(known[0].words) == 1
    near = newest(walk, trigram, wide, _NEAR, _PAGE) if whole > _FEW else []
    is_dense = len(near) == _PAGE
    if whole <= _FEW:
        merged = 0.0
    elif is_one:
        merged = len(near) * whole / (abs(near[-1] - near[0]) + 1 if is_dense else _NEAR)
    else:
        merged = _merged(walk, trigram, known, whole)
    if merged <= _FEW or (not is_dense and merged <= _MANY):
        tally.is_sure = True
        yield from indexed(walk, index, match)
        return
    letters = chain(near, indexed(walk.beyond(near[-1]) if near else walk, trigram, wide, most=_TRIED))
    for seen, last in enumerate(merge(walk, [letters, _multimodal(walk, index, known)]), 1):
        yield last
        share = max(tally.had_terms, 1) / max(tally.looked_at, 1)
        lacking = (tally.wanted - tally.had_terms) if tally.wanted else _TRIED
        # With one word the rows that have it are that share of those with its letters.
        cost = merged * (share if is_one else 1.0) * _MERGE_COST
        if seen >= _TRIED or (tally.looked_at >= _ENOUGH and lacking / share * _ROW_COST > cost):
            tally.is_sure = True
            yield from indexed(walk.beyond(last), index, match)
            return


def _word_stream(
    walk: Walk, index: FtsIndex, group: Sequence[Matcher], trigram: FtsIndex | None = None
) -> Iterator[int]:
    """Candidates for a group with at least one term the word index knows.

    A short prefix is first looked for by hand, among the newest rows or among those that have the
    rest of the query; only when that gives too little is the index asked for it.
    """
    known = [each for each in group if each.words]
    match = " AND ".join(each.fts for each in known)
    walk.engines.add("fts5")
    literal = [each.spelling for each in known if each.is_short and not each.is_plain and each.spelling.isascii()]
    if trigram is not None and any(each.is_prefix and not each.is_short for each in known):
        if any(_is_absent(walk, index, each) for each in known if each.is_prefix):
            return
        wide = superset(walk.reader, trigram, [word for each in known for word in each.words])
        if wide:
            yield from _by_letters(walk, index, trigram, known, wide)
            return
    short = any(each.is_short for each in known)
    cheap = " AND ".join(each.cheap_fts for each in known if each.cheap_fts) if short else ""
    if cheap:
        seen, last = 0, 0
        for last in indexed(walk, index, cheap, most=_TRIED):
            seen += 1
            yield last
        if seen < _TRIED:
            return
        walk = walk.beyond(last)
        wide = superset(walk.reader, trigram, literal) if trigram is not None and literal else ""
        if trigram is not None and wide:  # "don't": the letters lead to it, and nothing is merged for the t
            yield from merge(walk, [indexed(walk, trigram, wide), _multimodal(walk, index, known)])
            return
    elif short or any(each.is_prefix for each in known):
        for rows in (_GLANCE, _RECENT - _GLANCE) if short else (_GLANCE,):
            low, high = beginning(walk, rows)
            given = 0
            for message_id in scanned(walk, known, low=low, high=high):
                given += not isinstance(message_id, Passed)
                yield message_id
            walk = walk.behind(low, high)
            if not given:
                break  # so rare that the index has little to merge
        walk.tally.is_sure = True
    if short and walk.before is not None:
        yield Passed(walk.before)  # it may be enough: whoever waits for a full batch would have all of them merged
    yield from indexed(walk, index, match)


def _substring_stream(walk: Walk, index: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with terms that are found inside words: CJK, emoji, punctuation."""
    match = " AND ".join(each.trigram for each in group if each.is_substring and each.trigram)
    if index is None or not match:
        walk.engines.add("scan")
        yield from scanned(walk, group)
        return
    walk.engines.add("trigram")
    streams = [indexed(walk, index, match), _multimodal(walk, walk.reader.schema.fts, group)]
    only = left_out_of_trigram(walk.reader.schema, index)
    if only:
        walk.engines.add("scan")
        walk.notes.append(_("Tool output and automation are not in the substring index: those rows are scanned."))
        streams.append(scanned(walk, group, only=only))
    yield from merge(walk, streams)


def _escaped(walk: Walk, words: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Multimodal messages with accents or other signs that are no ASCII: their JSON spells those as escapes.

    What the word index gives is believed, so these are read before they are given.
    """
    if any(each.spelled for each in group):
        spelled = [each.spelled or each.cheap_fts for each in group if each.words]
        match = " AND ".join(['^ "json"', *filter(None, spelled)])
    else:
        match = accented(walk.reader, words, group)
    found = indexed(walk, words, match) if match else iter(())
    plan = Plan((tuple(group),), ())
    while chunk := list(islice(found, _TRIED_MULTIMODAL)):
        rows = read_rows(walk.reader, chunk, walk.kept)
        said = ((key, rows[key].said) for key in chunk if key in rows)
        yield from (key for key, text in said if text is not None and plan.accepts_said(text))


def _multimodal(walk: Walk, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Multimodal messages a group may be in. The trigram index has none of them: it stops at the NUL they begin with.

    In the word index each begins with the word `json`. Where a prefix makes it dear to ask for the terms, as the
    JSON spells them, the newest are taken as they come first.
    """
    if words is None:
        return
    is_escaped = any(each.escaped for each in group)
    if not is_escaped:
        seen, last = 0, 0
        for last in indexed(walk, words, '^ "json"', most=_TRIED_MULTIMODAL, first=_FIRST_MULTIMODAL):
            seen += 1
            yield last
        if seen < _TRIED_MULTIMODAL:
            return
        walk = walk.beyond(last)
    # Escapes are rare enough: beside them no words that begin so are merged.
    plain = [("" if is_escaped and each.is_prefix else each.cheap_fts) for each in group]
    terms = [(each.spelled or word) if each.words else each.escaped for each, word in zip(group, plain, strict=True)]
    yield from indexed(walk, words, " AND ".join(['^ "json"', *filter(None, terms)]))


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
                quoted = ['"' + term.replace('"', '""') + '"' for term in terms]
                return " OR ".join(quoted) or f'"{between[0]}"'  # the latter is in no row: too short
    return ""


def _tiny_stream(walk: Walk, trigram: FtsIndex, words: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with a term of one or two characters that is found inside words.

    Without a word beside it the newest rows are looked through first: where the term is common they fill a page.
    """
    known = [each for each in group if each.words and not each.is_short] if words is not None else []
    if walk.stop():
        return
    if not known:
        low, high = beginning(walk, _GLANCE)
        yield from scanned(walk, group, low=low, high=high)
        walk = walk.behind(low, high)
    match = "" if walk.stop() else _trigrams_of_tiny(walk, trigram, group)
    if match:
        walk.engines.add("trigram")
        wide = superset(walk.reader, trigram, [word for each in known for word in each.words])
        ids = indexed(walk, trigram, f"({match}) AND {wide}" if wide else match)
        yield from merge(walk, [ids, _multimodal(walk, words, group)])
    elif words is not None and any(each.words for each in group):
        if not known:  # beside the beginning of a word, which is dear to merge; so many trigrams are soon met with
            low, high = beginning(walk, _NEAR)
            yield from scanned(walk, group, low=low, high=high)
            walk = walk.behind(low, high)
        yield from _word_stream(walk, words, group)
    else:
        walk.engines.add("scan")
        yield from scanned(walk, group)


def _group_streams(walk: Walk, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """The streams for one group of terms: the better index for it, and the rows that index does not hold."""
    schema = walk.reader.schema
    stale = schema.note("fts_stale") is not None
    words, trigram = (None, None) if stale else (schema.fts, schema.trigram)
    if words is None:
        walk.notes.append(
            _("Hermes has marked the search index as stale: the rows themselves are scanned.")
            if stale
            else _("There is no search index to use: the rows themselves are scanned.")
        )
    by_trigram = trigram is not None and any(each.is_substring and each.trigram for each in group)
    partial = trigram is not None and bool(left_out_of_trigram(schema, trigram))
    has_words = any(each.words for each in group)
    tiny = any(each.range_of_trigrams is not None for each in group)
    if by_trigram and not (partial and has_words and words is not None):
        index, streams = trigram, [_substring_stream(walk, trigram, group)]
    elif tiny and trigram is not None and trigram.kind is FtsKind.INLINE:
        index, streams = trigram, [_tiny_stream(walk, trigram, words, group)]
    elif words is not None and has_words:
        wide = any(each.is_prefix and not (each.is_short and each.is_plain) for each in group)
        wide = wide and trigram is not None and not partial
        whole = trigram if wide and trigram is not None and not missing(walk, trigram) else None
        index, streams = words, [_word_stream(walk, words, group, whole)]
        streams.append(_escaped(walk, words, group))
    else:
        walk.engines.add("scan")
        return [scanned(walk, group)]
    for low, high in missing(walk, index) if index is not None else ():
        walk.engines.add("scan")
        note = ngettext(
            "Hermes' index does not hold 1 row yet: it is scanned.",
            "Hermes' index does not hold {count:,} rows yet: they are scanned.",
            high - low + 1,
        )
        walk.notes.append(note.format(count=high - low + 1))
        streams.append(scanned(walk, group, low=low, high=high))
    return streams


def candidates(walk: Walk) -> Iterator[int]:
    """Ids that may match the plan, in order, each once; the caller checks the texts."""
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

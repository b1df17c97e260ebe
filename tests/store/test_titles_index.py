"""Looking through titles finds what looking through each of them would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.sessions.title_index import TitleIndex

_NAMES = st.lists(st.text(alphabet="abAB \nßİ日", max_size=8), max_size=12)
_WORDS = st.lists(st.text(alphabet="abB \nßİ日", max_size=3), max_size=3)


@given(_NAMES, _WORDS)
def test_as_each_name_by_itself(names: list[str], words: list[str]) -> None:
    """A name is found when it contains all words; a line end in a name is a space, in a word it is nowhere."""
    index = TitleIndex([str(number) for number in range(len(names))], iter(names))
    expected = [
        str(number)
        for number, name in enumerate(names)
        if all(word.casefold() in name.casefold().replace("\n", " ") for word in words)
    ]
    assert list(index.find(words)) == expected


def test_nothing_is_found_where_there_is_nothing() -> None:
    """An empty store."""
    assert list(TitleIndex((), ()).find(["a"])) == []
    assert list(TitleIndex(["k"], [""]).find(["a"])) == []

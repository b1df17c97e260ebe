"""Conversations by name: looking through all names at once finds what looking at each would."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Session

_TITLES = st.lists(st.text(alphabet="abAB \nßİ日", max_size=8) | st.none(), max_size=12)
_WORDS = st.lists(st.text(alphabet="abB \nßİ日", max_size=3), max_size=3)


@given(_TITLES, _WORDS)
def test_as_each_name_by_itself(titles, words):
    """A conversation is found when title and id together contain all words, the newest first."""
    sessions = [
        Session(f"id{at}", "cli", title=title, last_active=float(at))
        for at, title in enumerate(titles)
    ]
    catalog = Catalog(sessions)
    names = {each.id: f"{each.title or ''} {each.id}".casefold() for each in reversed(sessions)}
    expected = [
        key for key, name in names.items() if all(each.casefold() in name for each in words)
    ]
    assert list(catalog.named(words)) == expected


def test_the_name_of_a_chain_is_that_of_all_its_segments():
    sessions = [
        Session("one", "cli", title="Ferry", ended_at=1.0, end_reason="compression"),
        Session("two", "cli", "one", title="Quay", started_at=2.0),
    ]
    catalog = Catalog(sessions)
    for words in (["ferry"], ["FERRY", "quay"], ["one", "two"], []):
        assert list(catalog.named(words)) == ["one"]
    assert list(catalog.named(["ferry", "three"])) == []
    assert list(Catalog(()).named(["a"])) == []

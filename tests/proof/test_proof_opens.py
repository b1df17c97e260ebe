"""Opened and left: hundreds of times, in every way there is, beside the real Hermes that writes at
full speed."""

import random

from counts import setting
from driver import ENDINGS, Driven
from platforms import needs_hermes, posix_only
from watching import BESIDE, Watch, check_and_count, faultless
from writers import writing

IDEA = "opened and left"
pytestmark = [posix_only, needs_hermes]


def test_opened_and_left_in_every_way(store, tell):
    """Opened, and ended by a key, TERM, HUP, KILL or the loss of its terminal, at any moment,
    beside a writer."""
    chance = random.Random(7)
    opens = setting("OPENS", 5, 400)
    with writing(store, 1) as writers, Watch(store) as watch:
        for number in range(opens):
            browser = Driven(store)
            browser.opened()
            for keys in chance.sample(("jj", "\t", "l", "/zebra", "P", "4", "G", "v"), 2):
                browser.send(keys)
                browser.read(chance.random() * 0.15)
            if number % 3 == 0:
                browser.suspend()
            browser.finish(ENDINGS[number % len(ENDINGS)])
            tell("opens")
            tell(f"ended by {ENDINGS[number % len(ENDINGS)]}")
        inodes, names = set(watch.inodes), set(watch.names)
        written = faultless(tell, writers.stop())
    assert len(inodes) == 1 and names <= BESIDE
    assert check_and_count(store) == written
    tell("integrity checks ok")

"""Counts, sizes and amounts of money as people write them: one reader for the search, the clean-up
and the options."""

import pytest

from hermes_browse.store.amounts import parse_bytes, parse_count, parse_money


def test_sizes():
    """In thousands, as sizes are shown; with an i in 1024s."""
    sizes = {
        "0": 0, "1024": 1024, "10M": 10_000_000, "10mb": 10_000_000, "1.5G": 1_500_000_000, "2k": 2000,
        "4MiB": 4 * 1024 * 1024, "1T": 10**12, "7B": 7, "1 K": 1000,
    }  # fmt: skip
    assert {text: parse_bytes(text) for text in sizes} == sizes


def test_counts():
    """Whole, with separators or units."""
    texts = ("0", " 5 ", "1,000", "1,234,567", "20k", "1.5M")
    assert [parse_count(text) for text in texts] == [0, 5, 1000, 1_234_567, 20_000, 1_500_000]


def test_money():
    """With and without the sign."""
    amounts = {"5": 5, "$0.50": 0.5, ".5": 0.5, "2k": 2e3, "$1.5M": 1.5e6, "0": 0}
    assert {text: parse_money(text) for text in amounts} == amounts


@pytest.mark.parametrize(
    ("parse", "words", "texts"),
    [
        (parse_bytes, "wants a size", "M -1 10X 1i 1e3 inf 99999999T"),
        (parse_count, "wants a whole number", "k few -5 1.5 1_000 1,00 99999999999999999999 inf 1e3 $5"),
        (parse_money, "wants an amount", "$ . x -1 nan inf 1e99 99999999M"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused(parse, words, texts):
    """Nothing is none either, and a part of a message is no message."""
    for text in ("", *texts.split()):
        with pytest.raises(ValueError, match=words):
            parse(text)

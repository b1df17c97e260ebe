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


@pytest.mark.parametrize("text", ["", "M", "-1", "10X", "1i", "1e3", "inf", "99999999T"])
def test_no_sizes(text):
    """What is no size is refused."""
    with pytest.raises(ValueError, match="wants a size"):
        parse_bytes(text)


def test_counts():
    """Whole, with separators or units."""
    texts = ("0", " 5 ", "1,000", "1,234,567", "20k", "1.5M")
    assert [parse_count(text) for text in texts] == [0, 5, 1000, 1_234_567, 20_000, 1_500_000]


@pytest.mark.parametrize(
    "text", ["", "k", "few", "-5", "1.5", "1_000", "1,00", "9" * 20, "inf", "1e3", "$5"]
)
def test_no_counts(text):
    """A part of a message is no message."""
    with pytest.raises(ValueError, match="wants a whole number"):
        parse_count(text)


def test_money():
    """With and without the sign."""
    amounts = {"5": 5, "$0.50": 0.5, ".5": 0.5, "2k": 2e3, "$1.5M": 1.5e6, "0": 0}
    assert {text: parse_money(text) for text in amounts} == amounts


@pytest.mark.parametrize("text", ["", "$", ".", "x", "-1", "nan", "inf", "1e99", "99999999M"])
def test_no_money(text):
    """What is no amount is refused."""
    with pytest.raises(ValueError, match="wants an amount"):
        parse_money(text)

"""What helps against an error: with options on a command line, without them on a screen."""

import pytest

from hermes_browse.store.errors import Advice, BrowseError
from hermes_browse.tui.cli.output import remedy_of, with_advice


@pytest.mark.parametrize("advice", [each for each in Advice if each])
def test_each_advice_has_a_sentence_with_an_option_or_a_command(advice):
    error = BrowseError("It failed.", remedy="Do something.", advice=advice)
    assert "--" in remedy_of(error) or "hermes-browse" in remedy_of(error)
    assert with_advice(error) == f"It failed. {remedy_of(error)}"
    assert str(error) == "It failed. Do something."


def test_an_error_without_advice_has_its_own_remedy():
    assert with_advice(BrowseError("It failed.", remedy="Wait.")) == "It failed. Wait."

"""The calls of `serve` and the commands behind them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from commandline import copy_store

from hermes_browse.store.hermes.homes import locate
from hermes_browse.store.hosts.calls import CALLS, read_call
from hermes_browse.tui.cli import serve
from hermes_browse.tui.cli.calls import CARRIED_OUT_BY, call_of
from hermes_browse.tui.cli.registry import parse


def test_every_call_is_carried_out() -> None:
    """By a command that there is."""
    assert CARRIED_OUT_BY.keys() == CALLS.keys()
    assert all(serve.load(command) for command, _fixed in CARRIED_OUT_BY.values())


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("trash", "trash"),
        ("trash list", "trash"),
        ("delete one two --yes", "delete"),
        ("trash restore one --only two", "restore"),
        ("trash restore one --yes", None),
        ("trash drop one --yes", None),
        ("doctor", None),
    ],
)
def test_what_is_asked_as_a_call(line: str, call: str | None) -> None:
    """With every argument as it was typed; other command lines run there as they are."""
    arguments, _command = parse(line.split())
    found = call_of(arguments)
    assert (found and found[0]) == call
    if found is not None:
        name, values = found
        assert read_call(name, msgspec.json.encode(values)).values == values


def test_a_call_that_prints_without_end_is_refused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it fills the memory."""
    copy_store("state-v22", tmp_path)
    monkeypatch.setattr(serve, "_PRINTED", 1_000)
    call = read_call("list", b"{}")
    reply = serve.carry_out_call(locate(home=str(tmp_path)), call, lambda: False)
    assert reply.code == 5 and "too large" in reply.err and len(reply.out) <= 1_000

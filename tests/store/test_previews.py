"""A preview reads no more texts than it needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import T0, make_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages import preview as module
from hermes_browse.store.sessions.session import Session


@pytest.mark.parametrize(("rewound", "read"), [(0, 1), (2, 3), (6, 6)])
def test_only_the_first_that_stands_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rewound: int, read: int
) -> None:
    """After what was taken back the first that was not; where all of it was, the first of all."""
    messages = [
        {"session_id": "a", "content": f"text {at}", "timestamp": T0 + at, "active": int(at >= rewound)}
        for at in range(6)
    ]
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}], messages)
    decoded: list[object] = []
    plain = module._readable

    def readable(content: object) -> str:
        decoded.append(content)
        return plain(content)

    monkeypatch.setattr(module, "_readable", readable)
    with Store(path).reader() as reader:
        session = Session("a", "cli", message_count=6)
        assert module.read_preview(reader, [session]) == f"text {rewound % 6}"
    assert decoded[:read] == [f"text {at}" for at in range(read)]
    if rewound < 6:
        assert len(decoded) == read

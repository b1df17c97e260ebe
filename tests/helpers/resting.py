"""Keys sent to an application, and waiting until it is at rest again: messages are counted, where
Textual's pilot guesses."""

from __future__ import annotations

import asyncio
import time
import unicodedata
from typing import Any

from textual.app import App
from textual.events import Key
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

PATIENCE = 120.0
"""Seconds after which a test gives up waiting: only a fault takes that long, also on a busy
machine."""

_handled = 0
_in_handlers = 0
_dispatch = MessagePump._dispatch_message


async def _dispatch_counted(pump: MessagePump, message: Message) -> None:
    global _handled, _in_handlers
    _handled += 1
    _in_handlers += 1
    try:
        await _dispatch(pump, message)
    finally:
        _in_handlers -= 1


MessagePump._dispatch_message = _dispatch_counted  # type: ignore[method-assign,assignment]  # `drain` must know


_asking: set[Worker[Any]] = set()
_push_screen_wait = App.push_screen_wait


async def _ask(app: App[Any], screen: Screen[Any]) -> Any:
    worker = get_current_worker()
    _asking.add(worker)
    try:
        return await _push_screen_wait(app, screen)
    finally:
        _asking.discard(worker)


App.push_screen_wait = _ask  # type: ignore[method-assign,assignment]  # `is_asking` must know


def is_asking(worker: Worker[Any]) -> bool:
    """Whether a coroutine waits for the answer of a card."""
    return worker in _asking


def handled() -> int:
    """How many messages have been handled so far, by all applications."""
    return _handled


def press_key(app: App[Any], key: str) -> None:
    """Send a key to an app, as a terminal does; `Pilot.press` also waits until the processor looks
    idle."""
    if len(key) == 1 and not key.isalnum():
        key = _character_to_key(key)
    try:
        character: str | None = unicodedata.lookup(
            _get_unicode_name_from_key(REPLACED_KEYS.get(key, key))
        )
    except KeyError:
        character = key if len(key) == 1 else None
    event = Key(key, character)
    event.set_sender(app)
    app.post_message(event)


async def drain(pilot: Pilot[Any]) -> None:
    """Wait until no widget has a message left and the last frame is drawn, however long or short
    that takes.

    `Pilot.pause` guesses instead, from the processor time the process has used, that nothing is
    left to do: 20 ms at least, up to a second on a busy machine.
    """
    app = pilot.app
    end = time.monotonic() + PATIENCE
    while _goes_on(app):
        before, turns = _handled, 0
        while turns < 3 or (_goes_on(app) and _has_messages(app)):
            assert time.monotonic() < end, "messages never end"
            await asyncio.sleep(0 if turns < 100 else 0.001)
            turns += 1
        await app.animator.wait_until_complete()
        if not _goes_on(app) or (_handled == before and not _has_frame(app.screen)):
            return
        app.screen._on_timer_update()  # the frame that a timer would draw a sixtieth of a second later


def _goes_on(app: App[Any]) -> bool:
    return app.is_running and not app._exit and app._exception is None


def _has_messages(app: App[Any]) -> bool:
    """Whether a message is being handled, or waits in the queue of something that still handles
    messages."""
    pumps: list[MessagePump] = [app, *app.screen_stack, *app.screen.walk_children()]
    return _in_handlers > 0 or any(
        pump.is_running
        and not pump._closing
        and (pump._next_callbacks or not pump._message_queue.empty())
        for pump in pumps
    )


def _has_frame(screen: Screen[Any]) -> bool:
    """Whether something of a screen is to be laid out or drawn, or waits for that."""
    changed = screen._layout_required or screen._scroll_required or screen._repaint_required
    return bool(changed or screen._recompose_required or screen._dirty_widgets or screen._callbacks)

"""Text to the clipboard by the best way there is, and a sentence that says which way it went.

What cannot be known is not said: the terminal (OSC 52) never answers.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from hermes_browse.store.wording import _

from .clipboard_tools import Tool, harmless, tools

_PATIENCE = 2.0
"""Seconds a tool may take."""
_OSC_LIMIT = 74_994
"""Bytes xterm takes by OSC 52: 100,000 of base64, less what stands around it. Others take more, some less."""


def run_tool(text: str, candidates: Sequence[Tool]) -> str | None:
    """Give text to the first tool that takes it.

    Args:
        text: What to copy.
        candidates: From `tools`.

    Returns:
        What that tool fills; None when none took it.
    """
    for tool in candidates:
        program = shutil.which(tool.argv[0])
        if program is None:
            continue
        try:
            # No pipes for what it says: xclip and wl-copy stay behind to serve the text and would keep them open.
            ended = subprocess.run(
                [program, *tool.argv[1:]],
                input=text.encode(tool.encoding, "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue  # the next way; the sentence at the end says which one it was
        if ended.returncode == 0:
            return tool.where
    return None


async def copy(text: str, to_terminal: Callable[[str], None]) -> str:
    """Put text on the clipboard; other keys are answered meanwhile.

    Args:
        text: What to copy.
        to_terminal: Sends it by OSC 52 (`App.copy_to_clipboard`).

    Returns:
        Which way it went, to follow what was copied: "copied with wl-copy".
    """
    safe = harmless(text)
    where = await asyncio.to_thread(run_tool, safe, tools(os.environ))
    if where is not None:
        return where
    to_terminal(safe)
    size = len(safe.encode("utf-8", "replace"))
    if size > _OSC_LIMIT:
        return _("sent to the terminal's clipboard (OSC 52; more than some terminals take)")
    return _("sent to the terminal's clipboard (OSC 52; it does not say whether it took it)")

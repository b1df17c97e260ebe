"""Images of a conversation, outside of it: in a private file for the system's viewer, or on the terminal itself.

What draws on a terminal that can (Kitty's protocol, Sixel: iTerm2, WezTerm, foot, xterm) is textual-image, an extra
that need not be there. It asks the terminal what it can while it is loaded, so that is done when the terminal is lent.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from hermes_browse.store.messages.images import LONGEST_HEAD, suffix_of
from hermes_browse.store.temporary import TemporaryFolder
from hermes_browse.store.wording import N_, _

from ..shared.programs import start_quietly

HOW_TO_GET = N_("pip install 'hermes-browse[images]' shows images here · Enter opens outside")
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""Formats that are decoded; of the many others Pillow reads, some run programs."""
_PATIENCE = 1.5
"""Seconds a viewer's starter may take to say that it failed."""
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic")


class Pictures:
    """Files of images that were opened, in a folder of our own (0700); gone when the browser ends."""

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None
        self._count = 0

    def keep(self, data: bytes) -> Path | None:
        """A file only its owner can read (0600) that holds an image; None for what is no image known here."""
        suffix = suffix_of(data[:LONGEST_HEAD])
        if not suffix:
            return None
        if self._folder is None:
            self._folder = TemporaryFolder("images")
        self._count += 1
        path = self._folder.path / f"image-{self._count}{suffix}"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        return path

    def close(self) -> None:
        """Remove them all."""
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.remove()


def is_image_file(path: str) -> bool:
    """Whether a path leads to a regular file that is an image by its suffix and by its first bytes; asks the disk.

    Args:
        path: As it stands in a message; of another machine (`//server/…`) it is not even asked for.
    """
    if not path.lower().endswith(_SUFFIXES) or path.startswith(("//", "\\\\")) or "\x00" in path:
        return False
    try:
        found = Path(path).expanduser()
        if not found.is_absolute() or not found.is_file():
            return False
        with found.open("rb") as file:
            return bool(suffix_of(file.read(LONGEST_HEAD)))
    except (OSError, ValueError, RuntimeError):
        return False


def _viewer() -> list[str] | None:
    names = {"darwin": ["open"], "win32": ["explorer"]}.get(sys.platform, ["xdg-open", "wslview"])
    return next(([found] for name in names if (found := shutil.which(name))), None)


def open_outside(path: Path) -> str:
    """Hand an image to the system's viewer, without waiting for it.

    Args:
        path: An absolute path.

    Returns:
        A sentence about what is known of it.
    """
    command = _viewer()
    if command is None:
        return _("no program here that opens images (xdg-open)")
    name = Path(command[0]).stem
    try:
        # Some starters run as long as the viewer does. The explorer of Windows ends with 1 whatever came of it.
        failed = start_quietly([*command, str(path)], _PATIENCE) not in (0, None) and sys.platform != "win32"
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return _("{program} could not be started: {reason}").format(program=name, reason=reason)
    return (_("{program} did not take it") if failed else _("handed to {program}")).format(program=name)


def cells_of(width: int, height: int, columns: int, rows: int) -> tuple[int, int]:
    """Cells for an image, taken to be twice as high as wide: all that is there, but small images stay small.

    Args:
        width: Of the image, pixels.
        height: Of the image, pixels.
        columns: The most cells across.
        rows: The most cells down.
    """
    across = min(columns, max(width // 8, 6))
    down = round(across * height / max(width, 1) / 2)
    if down > rows:
        across, down = round(2 * rows * width / max(height, 1)), rows
    return max(across, 1), max(down, 1)


def can_show() -> bool:
    """Whether what draws images on a terminal is installed; loads nothing of it."""
    return all(importlib.util.find_spec(name) is not None for name in ("textual_image", "PIL"))


def show_here(path: Path) -> str:
    """Draw an image on the terminal, which must be free, and wait for Enter.

    Args:
        path: Of an image.

    Returns:
        What went wrong, in a sentence; empty when nothing did.
    """
    from PIL import Image as Pillow
    from rich.console import Console

    try:
        from textual_image.renderable import Image

        with Pillow.open(path, formats=_FORMATS) as picture:
            picture.load()
            console = Console(file=sys.__stdout__)
            width, height = max(console.width - 1, 1), max(console.height - 3, 1)
            columns, rows = cells_of(picture.width, picture.height, width, height)
            shown = Image(picture.convert("RGB"), width=columns, height=rows)
            console.print(shown, width=width, height=height)
            console.print(f"\n{_('Enter goes back')}", style="dim", end="")
            sys.stdin.readline()
            shown.cleanup()
    except (OSError, ValueError, SyntaxError, Pillow.DecompressionBombError) as error:
        return _("this image cannot be drawn: {reason}").format(reason=type(error).__name__)
    return ""

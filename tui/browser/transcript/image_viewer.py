"""Images of a conversation as files: embedded ones are written to a private folder."""

from __future__ import annotations

import os
from pathlib import Path

from hermes_browse.store.files import open_regular
from hermes_browse.store.messages.decode import IMAGE_HEAD, suffix_of
from hermes_browse.store.temporary import TemporaryFolder

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic")


class Pictures:
    """Files of images that were opened, in a private folder (0700) that is removed when the browser
    ends."""

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None
        self._count = 0

    def write(self, data: bytes) -> Path | None:
        """Write an image to a private file (0600); None for an unknown format."""
        suffix = suffix_of(data[:IMAGE_HEAD])
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
        """Remove the folder."""
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.remove()


def is_image_file(path: str) -> bool:
    """Whether a path in a message is that of a regular file with the suffix and the first bytes of
    an image.

    A path on another machine (`//server/…`) is never accessed.
    """
    if not path.lower().endswith(_SUFFIXES) or path.startswith(("//", "\\\\")) or "\x00" in path:
        return False
    try:
        absolute = Path(path).expanduser()
        if not absolute.is_absolute() or not absolute.is_file():
            return False
        with open_regular(absolute) as file:
            return bool(suffix_of(file.read(IMAGE_HEAD)))
    except (OSError, ValueError, RuntimeError):
        return False

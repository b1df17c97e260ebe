"""Files through the tool calls of conversations, each under its present path."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from .edited_file import Edit, EditedFile

Step = Callable[[EditedFile], bool]
"""Something that happened to a file, or was seen of it; False if it does not fit to what is known
of the file."""


class TrackedFile:
    """One file through its edits."""

    def __init__(self, path: str) -> None:
        self.first_path = path
        """Another one than the present path if it was moved."""
        self.edits: list[Edit] = []
        self.versions = [EditedFile(set())]
        """Another one begins where an edit does not fit: somebody else has changed the file."""
        self.is_unclear = False
        """Whether it is not known what an edit changed."""

    @property
    def last(self) -> EditedFile:
        """The file as it was left."""
        return self.versions[-1]

    def take(self, step: Step, *, is_certain: bool) -> None:
        """Do a step."""
        if not step(self.last):
            self.versions.append(EditedFile(self.last.shown))
            if not step(self.last):
                self.is_unclear, is_certain = True, False
        self.last.is_certain = self.last.is_certain and is_certain


class Replay:
    """Does what tool calls did.

    Args:
        name: Without folders: the calls are those about files of this name alone, so that other
            files are left out, and nothing is known of a file that had another name before.
    """

    def __init__(self, name: str = "") -> None:
        self.files: dict[str, TrackedFile] = {}
        self._name = name

    def file(self, path: str) -> TrackedFile:
        """Return a file; nothing is known of a new one."""
        return self.files.setdefault(path, TrackedFile(path))

    def take(
        self, path: str, step: Step, edit: Edit | None = None, *, is_certain: bool = True
    ) -> None:
        """Do a step; without an edit, it only looks."""
        if self._is_followed(path):
            file = self.file(path)
            if edit is not None:
                file.edits.append(edit)
            file.take(step, is_certain=is_certain)

    def move(self, path: str, to: str, edit: Edit) -> None:
        """Move a file."""
        self.take(path, lambda version: True, edit)
        if self._is_followed(to):
            self.files[to] = self.files.pop(path, TrackedFile(path))

    def _is_followed(self, path: str) -> bool:
        return self._name in ("", posixpath.basename(path))

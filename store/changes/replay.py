"""Files through the tool calls of conversations, each under its present path."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from .edited_file import Edit, EditedFile

Step = Callable[..., bool]
"""A method of `EditedFile`: something that happened to a file, or was seen of it; False if it does
not fit to what is known of the file."""


class TrackedFile:
    """One file through its edits."""

    def __init__(self, path: str) -> None:
        self.first_path = path
        """Another one than the present path if it was moved."""
        self.edits: list[Edit] = []
        self.versions = [EditedFile(set())]
        """Another one begins where an edit does not fit: somebody else has changed the file."""
        self.is_certain = True
        """Whether nothing else has changed it, as far as is known."""
        self.is_unclear = False
        """Whether it is not known what an edit changed."""


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
        self,
        path: str,
        step: Step,
        *facts: object,
        edit: Edit | None = None,
        is_certain: bool = True,
    ) -> None:
        """Do a step of an edit, or one that only looks.

        Args:
            path: Of the file.
            step: What happened.
            facts: Arguments of the step; the edit is its last one.
            edit: If it is one.
            is_certain: Whether nothing else has changed the file, as far as is known.
        """
        if not self._is_followed(path):
            return
        file = self.file(path)
        if edit is not None:
            file.edits.append(edit)
            facts = *facts, edit
        file.is_certain = file.is_certain and is_certain
        if not step(file.versions[-1], *facts):
            file.versions.append(EditedFile(file.versions[-1].shown))
            file.is_certain = False
            if not step(file.versions[-1], *facts):
                file.is_unclear = True

    def move(self, path: str, to: str, edit: Edit) -> None:
        """Move a file."""
        self.take(path, lambda *_facts: True, edit=edit)
        if self._is_followed(to):
            self.files[to] = self.files.pop(path, TrackedFile(path))

    def _is_followed(self, path: str) -> bool:
        return self._name in ("", posixpath.basename(path))

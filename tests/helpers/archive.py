"""Build a wheel and a source archive that are the same to the byte wherever and whenever they are
built.

    SOURCE_DATE_EPOCH=1767258000 python tests/helpers/archive.py dist

Setuptools heeds SOURCE_DATE_EPOCH in a wheel. Into a source archive it writes the ages and owners
of the files, so that is packed again here: the one age, no owner, sorted by name.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import tarfile
from pathlib import Path

import setuptools.build_meta as backend


def repack(path: Path, moment: int) -> None:
    """Pack a `.tar.gz` anew.

    Args:
        path: Is replaced.
        moment: Unix seconds; the age of every file.
    """
    packed = io.BytesIO()
    with (
        tarfile.open(path) as old,
        gzip.GzipFile("", "wb", 9, packed, mtime=moment) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    path.write_bytes(packed.getvalue())


def build(kind: str, folder: Path) -> Path:
    """Build what is in the working directory.

    Args:
        kind: `wheel` or `sdist`.
        folder: Where it goes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name: str = (
        backend.build_wheel(str(folder)) if kind == "wheel" else backend.build_sdist(str(folder))
    )
    path = folder / name
    if kind == "sdist":
        repack(path, int(os.environ.get("SOURCE_DATE_EPOCH", "1767258000")))
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    for each in sys.argv[2:] or ("wheel", "sdist"):
        print(build(each, target))

"""A sample store for newcomers, pictures and tests: the shape of Hermes 0.22, a year and a half of one person's work.

Noor, who writes software for a small ferry line, and everything she asks of Hermes: code, storms, bread, Italian.
Every feature of a store occurs at least once. Nothing in it is real; all of it is relative to the moment given.
"""

from .player import build, build_home

__all__ = ["build", "build_home"]

"""Fixtures of the command line."""

from __future__ import annotations

from hosting import machines

__all__ = ["machines"]

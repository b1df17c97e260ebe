"""Cleaning up, seen: time, bytes, and what would go."""

"""Conversations saved as files."""

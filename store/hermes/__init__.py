"""Hermes beside its store: where its homes are, how it resumes, who holds the file, how healthy it
is."""

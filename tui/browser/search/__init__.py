"""Searching as you type: the box, the run, its results as rows, and what is found out behind
them."""

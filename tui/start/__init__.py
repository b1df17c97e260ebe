"""From the first painted rows to a running browser."""
